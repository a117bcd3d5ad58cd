"""Locks that a fork waits for."""

import threading
from contextlib import suppress
from typing import Any

from ..systems import at_fork


def make_lock() -> Any:
    """Make a re-entrant lock for as long as the process lives.

    Only the thread that forks is in the child: a lock that another one held there would
    never be released, and what it guards would stay half done. So a fork takes the lock
    first. Locks that are taken inside of others are made before these: forks take the
    one that was made last first.
    """
    lock = threading.RLock()

    def take() -> None:
        while True:
            with suppress(KeyboardInterrupt):  # or the fork would go on without
                lock.acquire()
                return

    at_fork(before=take, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


# The inner ones first:

#: Guards how many threads numpy's products take.
thread_limit = make_lock()

#: Guards the codes of words that are cached.
codes = make_lock()

#: Guards what is computed from parameters.
derived = make_lock()
