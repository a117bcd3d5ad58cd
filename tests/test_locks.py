"""A lock that a fork waits for."""

import os
import signal
import threading
import time

import pytest

from spacy_hashembeds.threads import make_lock


def test_nobody_enters_while_it_is_held_however_long():
    lock, inside, entered = make_lock(), threading.Event(), []
    let_go = threading.Event()

    def hold() -> None:
        with lock, lock:  # the same thread can take it again
            inside.set()
            let_go.wait(60)
            entered.append("holder")

    def wait() -> None:
        with lock:
            entered.append("waiter")

    threads = [threading.Thread(target=hold)]
    threads[0].start()
    assert inside.wait(60)
    threads += [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads[1:]:
        thread.start()
    time.sleep(1)  # longer than anybody takes to enter
    assert entered == []
    let_go.set()
    for thread in threads:
        thread.join()
    assert entered == ["holder"] + ["waiter"] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_waits_until_what_is_guarded_is_whole():
    inner = make_lock()
    outer = make_lock()
    parts = [0, 0]
    inside = threading.Event()

    def change() -> None:
        with outer, inner:
            parts[0] = 1
            inside.set()
            time.sleep(0.5)  # while the other thread forks
            parts[1] = 1

    thread = threading.Thread(target=change)
    thread.start()
    assert inside.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # instead of waiting for ever
        taken: list[bool] = []
        with outer, inner:
            taken.append(parts == [1, 1])
        other = threading.Thread(target=lambda: taken.append(outer.acquire(timeout=5)))
        other.start()
        other.join()
        os._exit(0 if taken == [True, True] else 1)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
    with outer, inner:
        pass


def test_an_error_opens_it():
    lock = make_lock()
    with pytest.raises(ZeroDivisionError), lock:
        1 / 0  # noqa: B018
    taken = []

    def take() -> None:
        taken.append(lock.acquire(timeout=60))
        lock.release()  # or no test after this one could fork

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    assert taken == [True]
