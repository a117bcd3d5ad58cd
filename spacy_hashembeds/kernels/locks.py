"""Locks that survive a fork."""

import os
import threading
from collections.abc import Callable
from types import TracebackType


class ForkedLock:
    """A lock that a forked process finds open, whichever thread had it.

    Only the thread that forks is in the new process: if another one had a plain lock,
    that would stay locked there for ever. Meant for locks that live as long as the
    process.

    after_fork (Callable, optional): What else to do in the new process.
    """

    def __init__(self, after_fork: Callable[[], None] | None = None) -> None:
        self._lock = threading.Lock()
        self._after_fork = after_fork
        if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
            os.register_at_fork(after_in_child=self._renew)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()

    def _renew(self) -> None:
        self._lock = threading.Lock()
        if self._after_fork is not None:
            self._after_fork()
