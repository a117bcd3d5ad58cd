"""Locks and forks."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from spacy_hashembeds.threads import at_fork, make_lock


@pytest.fixture
def interrupt() -> Iterator[Callable[..., None]]:
    """Raise a KeyboardInterrupt after 0.1 s, if `is_due` returns True."""
    before = signal.getsignal(signal.SIGALRM)

    def interrupt(is_due: Callable[[], bool]) -> None:
        def stop(*_) -> None:
            if is_due():
                raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.1)

    yield interrupt
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("is_interrupted", [False, True])
def test_fork_waits_for_the_lock(is_interrupted, interrupt):
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
    if is_interrupted:
        interrupt(lambda: parts == [1, 0])
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)  # against a deadlock
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
        with outer, inner, outer, inner:  # re-entrant
            taken_again.set()

    threading.Thread(target=take, daemon=True).start()
    assert taken_again.wait(60)


def test_at_fork_without_fork(monkeypatch):
    monkeypatch.delattr(os, "register_at_fork")
    at_fork(before=lambda: 1 / 0)
