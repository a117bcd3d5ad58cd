"""Fork-safe locks, and a limit for the BLAS threads of numpy."""

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
    """Register functions to call at each fork. No-op on Windows."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**callbacks)


def make_lock() -> Any:
    """Make a re-entrant lock that is acquired before each fork. A child process has
    only the thread that forked, and could not release a lock held by another thread.

    Create nested locks from the innermost to the outermost: forks acquire locks in
    the reverse order of creation.
    """
    lock = threading.RLock()

    def take() -> None:
        while True:
            with suppress(KeyboardInterrupt):  # a fork would ignore it and continue
                lock.acquire()
                return

    at_fork(before=take, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


# Locks for the number of BLAS threads, for cached codes of words, and for values
# computed from parameters; innermost first.
blas_threads_lock = make_lock()
codes_lock = make_lock()
derived_lock = make_lock()


class _Limit:
    """Limit BLAS to one thread while any token is inside, and restore the number after.

    `_owed` is the original number if it may not have been restored: after an interrupt,
    or if other code has set its own limit inside ours and later restored ours. If the
    next entry finds one thread, the original number is restored on leaving.
    """

    def __init__(self, get: Callable[[], int], put: Callable[[int], object]) -> None:
        self._get, self._put = get, put
        self._inside: WeakSet[_Token] = WeakSet()
        self._before = self._owed = 1
        at_fork(after_in_child=self._inside.clear)  # other threads do not exist there

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
    """Token of a block inside the limit, freed even after an interrupt."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numpy's BLAS to one thread in the whole process, if it is OpenBLAS.

    OpenBLAS starts a thread per core, and its threads wait for each other. One thread
    is faster if other processes use the cores, such as those of `n_process`.
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
    # numpy's wheels add both affixes
    names = [f"{a}openblas_{name}{z}" for a in ("scipy_", "") for z in ("64_", "")]
    return find_function("numpy._core._multiarray_umath", names, restype)


def find_function(
    module: str, names: Sequence[str], restype: Any
) -> Callable[..., Any] | None:
    """Find a C function in an extension module or its linked libraries, or None."""
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
