"""Locks that are safe to fork, and a limit for the threads of numpy's products."""

import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any
from weakref import WeakSet


def at_fork(**callbacks: Callable[[], object]) -> None:
    """Register functions to call at each fork. Windows has no forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**callbacks)


def make_lock() -> Any:
    """Make a re-entrant lock that a fork acquires first. The child process has only the
    thread that forked, so that a lock held by another thread would never be released.

    Make inner locks before the outer locks inside which they are taken: forks acquire
    locks in the reverse order of their creation.
    """
    lock = threading.RLock()

    def take() -> None:
        while True:
            with suppress(KeyboardInterrupt):  # else the fork would continue without it
                lock.acquire()
                return

    at_fork(before=take, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


# Locks for the number of threads of numpy's products, for the cached codes of words,
# and for values computed from parameters; inner ones first.
blas_threads_lock = make_lock()
codes_lock = make_lock()
derived_lock = make_lock()


class _Limit:
    """Limit BLAS to one thread while any token is inside, and restore the number after.

    Other code may set its own limit inside ours, and later restore the one thread that
    it found, or an interrupt may prevent us from restoring. The original number is
    therefore kept in `_owed`: if one thread is found on the next entry, the original
    number is restored on leaving.
    """

    def __init__(self, get: Callable[[], int], put: Callable[[int], object]) -> None:
        self._get, self._put = get, put
        self._inside: WeakSet[_Token] = WeakSet()
        self._before = self._owed = 1
        # a child process has only the thread that forked
        at_fork(after_in_child=self._inside.clear)

    def enter(self, token: "_Token") -> None:
        with blas_threads_lock:
            is_first = not self._inside
            self._inside.add(token)
            if not is_first:
                return
            found = self._get()
            self._before = self._owed if found == 1 else found
            if self._owed == 1:
                self._owed = found
            if found != 1:
                self._put(1)

    def leave(self, token: "_Token") -> None:
        with blas_threads_lock:
            self._inside.discard(token)
            if self._inside or self._before == 1 or self._get() != 1:
                return
            self._put(self._before)
            if self._before == self._owed:
                self._owed = 1


class _Token:
    """A block inside the limit. The token is freed however the block ends."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Restrict numpy's BLAS to one thread, if it is OpenBLAS, in the whole process.

    OpenBLAS would start a thread for each core, and its threads wait for each other. If
    other processes use the cores, such as those of `n_process`, one thread is faster.
    """
    limit = _find_limit()
    if limit is None:
        yield
        return
    token = _Token()
    try:
        limit.enter(token)
        yield
    finally:
        limit.leave(token)


@cache
def _find_limit() -> _Limit | None:
    get_threads = find_openblas("get_num_threads", ctypes.c_int)
    set_threads = find_openblas("set_num_threads", None)
    return _Limit(get_threads, set_threads) if get_threads and set_threads else None


@cache
def find_openblas(name: str, restype: Any) -> Callable[..., Any] | None:
    """Find a C function of the OpenBLAS in numpy's wheels, or None."""
    # function names in numpy's wheels have both affixes
    names = [f"{a}openblas_{name}{z}" for a in ("scipy_", "") for z in ("64_", "")]
    return find_function("numpy._core._multiarray_umath", names, restype)


def find_function(
    module: str, names: Sequence[str], restype: Any
) -> Callable[..., Any] | None:
    """Find a C function in an extension module or in the libraries that it links."""
    try:
        library = ctypes.CDLL(import_module(module).__file__)
    except (ImportError, OSError):
        return None
    for name in names:
        if hasattr(library, name):
            function = getattr(library, name)
            function.restype = restype
            return function
    return None
