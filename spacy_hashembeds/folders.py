"""Folders that are replaced as a whole, or needed only for a while."""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

#: What a system answers where there is no room, on a device or for a user.
_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder, and remove it afterwards. If there is no room, say how to choose
    another place.
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
    """Make a folder beside its place, and move it there once it is complete. If the
    block raises, what stood at `path` stays as it was.

    `check` raises, before the block and after it, if that is not to be replaced. Of a
    link, what it points to is replaced. A process that is killed leaves a hidden folder
    beside the place. If that is between the two moves, the old folder is in there.
    """
    path = Path(os.path.realpath(path))
    check()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f".{path.name}-", dir=path.parent, ignore_cleanup_errors=True
    ) as scratch:
        new, old = Path(scratch, "new"), Path(scratch, "old")
        yield new
        check()
        if path.exists():
            os.rename(path, old)
        try:
            os.rename(new, path)
        except BaseException:
            if old.exists():
                os.rename(old, path)
            raise
