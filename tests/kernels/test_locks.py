"""A lock whose holder may disappear."""

import threading
from time import monotonic

from spacy_hashembeds.kernels.locks import Lock


def test_one_thread_at_a_time_and_the_same_one_again():
    lock, inside = Lock(timeout=20), []

    def work() -> None:
        for _ in range(200):
            with lock.hold(), lock.hold():
                inside.append(threading.get_ident())
                assert len(inside) == 1
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside == []


def test_a_lock_that_nobody_opens_is_passed_by():
    """As where Ctrl-C interrupts a thread between taking it and knowing so."""
    lock = Lock(timeout=0.1)
    thread = threading.Thread(target=lock._lock.acquire)
    thread.start()
    thread.join()
    start = monotonic()
    for _ in range(5):
        with lock.hold():
            pass
    assert 0.1 <= monotonic() - start < 5


def test_an_error_opens_it():
    lock = Lock(timeout=5)
    try:
        with lock.hold():
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    thread = threading.Thread(target=lambda: taken.append(lock._lock.acquire(False)))
    taken: list[bool] = []
    thread.start()
    thread.join()
    assert taken == [True]
