"""Threads: locks that a fork waits for, and how many numpy's products take."""

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
    """Call functions at each fork, as Python does. Windows has none."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**callbacks)


def make_lock() -> Any:
    """Make a re-entrant lock that a fork waits for, as only the thread that forks is in
    the child: a lock that another one held there would never be released.

    Locks that are taken inside of others are made before these: forks take the one that
    was made last first.
    """
    lock = threading.RLock()

    def take() -> None:
        while True:
            with suppress(KeyboardInterrupt):  # or the fork would go on without
                lock.acquire()
                return

    at_fork(before=take, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


# They guard how many threads numpy's products take, the codes of words that are cached,
# and what is computed from parameters. The inner ones first.
blas_threads_lock = make_lock()
codes_lock = make_lock()
derived_lock = make_lock()


class _Limit:
    """A limit of one thread while anybody is inside, and the number before it after.

    Other code may set a limit inside ours, and later restore the one thread that it
    found. So the number before us is owed: where one thread is found on the next entry,
    that number is restored on leaving, as after an interrupt.
    """

    def __init__(self, get: Callable[[], int], put: Callable[[int], object]) -> None:
        self._get, self._put = get, put
        self._inside: WeakSet[_Token] = WeakSet()
        self._before = self._owed = 1
        # only the thread that forks is in a child
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
    """Somebody inside, for as long as the block runs, however it ends."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Restrict numpy's BLAS to one thread, if it is OpenBLAS, in the whole process.

    OpenBLAS would start a thread for each core, and they wait for each other: where
    other processes use the cores, such as those of `n_process`, one is faster.
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
    """Find a C function of the OpenBLAS that numpy brings, or None."""
    # numpy's wheels bring a build of their own, whose names have both affixes
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
