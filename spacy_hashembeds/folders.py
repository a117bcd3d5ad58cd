"""Replacing folders so that the old or the new one stands in its place at any time."""

import ctypes
import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO

#: Ends the names of the folders that new ones are made in, beside their place.
_SUFFIX = ".replacing"

# From Linux's headers: paths as seen from the working directory; swap the two.
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
#: What a system or file system answers that can't swap folders.
_CANT_SWAP = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
#: What it answers where there is no room, on a device or for a user.
_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for what is needed only for a while, and remove it.

    RAISES (OSError): If there is no room for it, naming the folder of such folders and
        how to choose another.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    except OSError as e:
        if e.errno not in _FULL:
            raise
        where = f"temporary files are in '{tempfile.gettempdir()}'"
        remedy = "Make room there, or set TMPDIR to a folder with more."
        message = f"{os.strerror(e.errno)}: {where}. {remedy}"
        raise OSError(e.errno, message) from e


@contextmanager
def replacing_folder(path: str | Path, check: Callable[[], None]) -> Iterator[Path]:
    """Make a folder beside its place and move it there once it is complete.

    Whenever the process is killed, the old folder or the new one stands in its place.
    What it leaves beside it, the next call for the same place removes, but nothing of
    a process that is still alive. Where a file system can't swap two folders, as NFS,
    there is a moment between two moves: after a kill in it, the next call puts the old
    folder back.

    path (str | Path): The folder to make or replace. Of a link, what it points to is
        replaced.
    check (Callable[[], None]): Raises if what stands at `path` is not to be replaced.
        Called before the block, and again after it.
    YIELDS (Path): The folder to make. If the block raises, it is removed, and what
        stood at `path` stays as it was.
    """
    path = Path(os.path.realpath(path))
    _clear_remains(path)
    check()
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch, lock = _make_scratch(path)
    with lock:
        try:
            yield scratch / "new"
            check()
            _put(scratch, path)
        finally:
            _remove(scratch, path)


def _clear_remains(path: Path) -> None:
    for scratch in path.parent.glob(f".{escape(path.name)}-????????{_SUFFIX}"):
        # another process may have it, or another user may have made it
        with suppress(OSError):
            if _is_ours(scratch):
                with _lock(scratch):
                    _remove(scratch, path)


def _is_ours(scratch: Path) -> bool:
    found = scratch.lstat()
    get_user = getattr(os, "geteuid", lambda: found.st_uid)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == get_user()


def _make_scratch(path: Path) -> tuple[Path, IO[str]]:
    prefix = f".{path.name}-"
    while True:
        scratch = Path(tempfile.mkdtemp(_SUFFIX, prefix, path.parent))
        # Until it is locked, another process may take it for remains and remove it.
        with suppress(BlockingIOError, FileNotFoundError):
            return scratch, _lock(scratch)


def _lock(scratch: Path) -> IO[str]:
    """Lock a folder for as long as a file is open, or until the process ends anyhow.

    RAISES (BlockingIOError): If another process has it.
    RAISES (FileNotFoundError): If another process has removed it.
    """
    # never a link or a pipe that somebody else may have put there
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(scratch / "lock", flags | getattr(os, "O_NONBLOCK", 0), 0o600)
    file = os.fdopen(handle, "r+", encoding="utf8")
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BlockingIOError(errno.EAGAIN, "This is no lock of ours", file.name)
        _lock_file(file)
        if not os.fstat(handle).st_nlink:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file.name)
    except OSError:
        file.close()
        raise
    return file


def _lock_file(file: IO[str]) -> None:
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as e:
            raise BlockingIOError(e.errno, e.strerror, file.name) from e
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _put(scratch: Path, path: Path) -> None:
    new = scratch / "new"
    if not path.exists():
        os.rename(new, path)
    elif not _swap(new, path):
        os.rename(path, scratch / "old")
        os.rename(new, path)


def _swap(new: Path, path: Path) -> bool:
    """Swap two folders in one step, unless the system or file system can't."""
    if sys.platform == "win32":
        return False  # nor can its C library be had by no name
    swap = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if swap is None:
        return False
    old, place = os.fsencode(new), os.fsencode(path)
    if swap(_AT_FDCWD, old, _AT_FDCWD, place, _RENAME_EXCHANGE) == 0:
        return True
    error = ctypes.get_errno()
    if error in _CANT_SWAP:
        return False
    raise OSError(error, os.strerror(error), str(new), None, str(path))


def _remove(scratch: Path, path: Path) -> None:
    if not path.exists():
        with suppress(FileNotFoundError):
            os.rename(scratch / "old", path)
    # What can't be removed now is tried again by the next call.
    shutil.rmtree(scratch, ignore_errors=True)
