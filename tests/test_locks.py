"""A lock that a fork waits for."""

import os
import signal
import threading
import time

import pytest

from spacy_hashembeds.threads import make_lock


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
    taken_again = threading.Event()

    def take() -> None:
        with outer, inner, outer, inner:  # the same thread can take them again
            taken_again.set()

    threading.Thread(target=take, daemon=True).start()
    assert taken_again.wait(60)
