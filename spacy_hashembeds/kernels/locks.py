"""A lock that neither a fork nor an interrupt can leave locked for ever."""

import os
import threading
from collections.abc import Callable
from typing import Any


class Lock:
    """A re-entrant lock for work of a moment, whose holder may disappear.

    Only the thread that forks is in a forked process: if another one had the lock, it
    is open there. And where Ctrl-C interrupts a thread between taking a lock and
    knowing so, nobody is left to open it: whoever has waited much longer than the work
    can take goes on without. Meant for locks that live as long as the process.

    timeout (float): How long to wait, in seconds.
    after_fork (Callable, optional): What else to do in a forked process.
    """

    def __init__(
        self, timeout: float, after_fork: Callable[[], None] | None = None
    ) -> None:
        self._lock = threading.RLock()
        self._timeout = timeout
        self._after_fork = after_fork
        if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
            os.register_at_fork(after_in_child=self._renew)

    def hold(self) -> "_Hold":
        """Hold the lock for as long as the block of a `with` takes."""
        return _Hold(self)

    def _renew(self) -> None:
        self._lock = threading.RLock()
        if self._after_fork is not None:
            self._after_fork()


class _Hold:
    # not by a generator, which takes twice as long

    __slots__ = ("_held", "_owner")

    def __init__(self, owner: Lock) -> None:
        self._owner = owner
        self._held: Any = None

    def __enter__(self) -> None:
        lock = self._owner._lock
        if lock.acquire(timeout=self._owner._timeout):
            self._held = lock
        else:
            self._owner._lock = threading.RLock()

    def __exit__(self, *_: object) -> None:
        if self._held is not None:
            self._held.release()
