"""Files and folders written so that nobody ever sees half of one, and JSON read."""

import errno
import json
import os
import reprlib
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import Any

from .systems import find_descriptor, open_file

#: The most characters of bad input that a message quotes.
MAX_QUOTED = 80

# What YAML makes of anchors may have no end, so that repr() would have none either.
_REPR = reprlib.Repr()
_REPR.maxlevel = 2
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = MAX_QUOTED

# What a system answers where there is no room, on a device or for a user.
_FULL = (errno.ENOSPC, errno.EDQUOT)


def quote(value: object, limit: int = MAX_QUOTED) -> str:
    """Quote bad input, of whatever size and depth, in at most `limit` characters."""
    text = _REPR.repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object, as `parse_json` does. Errors don't name the file."""
    return parse_json(Path(path).read_text(encoding="utf8"))


def parse_json(text: str) -> dict[str, Any]:
    """Parse a JSON object, as `load_json` does."""
    data = load_json(text)
    if not isinstance(data, dict):
        raise ValueError(f"it should be an object, but is {quote(data)}")
    return data


def load_json(text: str) -> Any:
    """Parse JSON. Refuses NaN, infinite numbers and keys that come twice."""
    try:
        return json.loads(
            text,
            parse_constant=_parse_number,
            parse_float=_parse_number,
            object_pairs_hook=_make_object,
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _parse_number(text: str) -> float:
    """Refuse NaN and what is infinite, or larger than any float."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"it holds {text}, which is no number in JSON")
    return number


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"it holds {quote(key)} twice in one object")
        made[key] = value
    return made


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Write a file beside its place, with its suffix, and move it there once it is
    complete. If the block raises, what stood at `path` stays as it was. Permissions of
    a file that is replaced are kept, and a link itself. What is no file to replace,
    such as a device, a pipe or `/dev/fd/3`, is written to once all is there to write.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    is_stream = _is_stream(path)
    target = Path(os.path.realpath(path))
    with _naming(path, instead_of=str(path)):
        folder = Path(tempfile.gettempdir()) if is_stream else target.parent
    with _naming(path, instead_of=str(folder / f".{path.stem}-")):
        folder.mkdir(parents=True, exist_ok=True)
        is_new = not is_stream and not target.exists()
        temporary = _make_beside(path, folder, 0o666 if is_new else 0o600)
        try:
            yield temporary
            if is_stream:
                _copy(temporary, path)
            else:
                if not is_new:
                    shutil.copymode(target, temporary)
                os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


def check_targets(
    paths: Iterable[str | Path | None], inputs: Iterable[str | Path | None] = ()
) -> None:
    """Check, before the work, that files can be written, and without a loss: none is an
    input, or in one, or is another file to write, or a folder for it. Open files and
    devices are passed over, and inputs that are no paths, such as names of packages.
    """
    sources = [Path(source) for source in inputs if source is not None]
    places: list[Path] = []
    for path in (Path(path) for path in paths if path is not None):
        if _is_stream(path):
            continue
        for source in filter(Path.exists, sources):
            _check_is_no_input(path, source)
        _check_place(path)
        place = Path(os.path.realpath(path))
        if any(p in (place, *place.parents) or place in p.parents for p in places):
            raise FileExistsError(
                f"'{path}' can't be written: it would replace another file that is to "
                "be written. Name two files that differ."
            )
        places.append(place)


def choose_suffix(path: str | Path, suffixes: Sequence[str]) -> str:
    """Choose a file's form by its suffix, for open files the first, or refuse it."""
    if find_descriptor(path) is not None:
        return suffixes[0]
    suffix = Path(path).suffix
    if suffix not in suffixes:
        *others, last = suffixes
        ends = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"'output' should end in {ends}, but is '{path}'.")
    return suffix


def _is_stream(path: Path) -> bool:
    """Tell whether a path names an open file, or what is no file to replace."""
    is_there = path.exists() and not path.is_file()
    return is_there or find_descriptor(path) is not None


def _check_is_no_input(path: Path, source: Path) -> None:
    target, place = (Path(os.path.realpath(name)) for name in (path, source))
    # a file may have several names, without being a link
    if target == place or (path.exists() and path.samefile(source)):
        loss = f"replace '{source}'"
    elif source.is_dir() and place in target.parents:
        loss = f"be put into the folder '{source}'"
    else:
        return
    raise FileExistsError(
        f"'{path}' can't be written: it would {loss}, which is read. Name a file "
        "elsewhere to write."
    )


def _check_place(path: Path) -> None:
    """Make what `replacing` would make, in the nearest folder that is there."""
    target = Path(os.path.realpath(path))
    folder = next(folder for folder in target.parents if os.path.lexists(folder))
    if not folder.is_dir():
        raise NotADirectoryError(
            f"'{path}' can't be written: '{folder}' is a file, and no folder. Name a "
            "place elsewhere."
        )
    with _naming(path, instead_of=str(folder)):
        for name in target.relative_to(folder).parts:
            with suppress(FileNotFoundError):
                os.lstat(folder / name)  # fails if the name is too long
        _make_beside(path, folder, 0o600).unlink()


def _make_beside(path: Path, folder: Path, mode: int) -> Path:
    """Make an empty file that is written in place of another, with its suffix."""
    temporary = folder / f".{path.stem}-{secrets.token_hex(4)}{path.suffix}"
    temporary.touch(mode, exist_ok=False)
    return temporary


def write_json(path: str | Path, data: Any) -> None:
    """Write data as indented JSON, whole or not at all. Refuses NaN and infinity."""
    with replacing(path) as temporary:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
        # names of files may hold bytes that are no text: JSON's escapes for them
        temporary.write_text(text + "\n", encoding="utf8", errors="backslashreplace")


@contextmanager
def _naming(path: Path, instead_of: str) -> Iterator[None]:
    """Name a file in errors of the system that name none, or a temporary one."""
    try:
        yield
    except OSError as e:
        is_named = e.filename is not None and not str(e.filename).startswith(instead_of)
        if e.errno is None or is_named:
            raise
        raise OSError(e.errno, e.strerror, str(path)) from e


def _copy(temporary: Path, path: Path) -> None:
    # Whoever read from a pipe and has gone has read enough.
    with (
        suppress(BrokenPipeError),
        open_file(path, "wb") as file,
        temporary.open("rb") as source,
    ):
        shutil.copyfileobj(source, file)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder, and remove it. Where there is no room, say how to have another."""
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
    block raises, or `check` before or after it, what stood at `path` stays as it was. A
    process that is killed leaves a hidden folder beside the place, with the old folder
    in it if that is between the two moves.
    """
    path = Path(os.path.realpath(path))
    if os.path.ismount(path) or (os.path.lexists(path) and not path.exists()):
        raise FileExistsError(
            f"'{path}' can't be replaced: it is a mount point, or a link to nothing. "
            "Name another folder, such as one inside it."
        )
    check()
    _check_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{path.name}-"
    with (
        _naming(path, instead_of=str(path.parent / prefix)),
        tempfile.TemporaryDirectory(
            prefix=prefix, dir=path.parent, ignore_cleanup_errors=True
        ) as scratch,
    ):
        new, old = Path(scratch, "new"), Path(scratch, "old")
        yield new
        check()
        try:
            if path.exists():
                os.rename(path, old)
            os.rename(new, path)
        except BaseException:  # such as Ctrl-C after either move
            if old.exists() and not path.exists():
                os.rename(old, path)
            raise


def bytes_on_disk(path: str | Path) -> int:
    """Sum the sizes of a file, or of all files below a folder, in bytes."""
    path = Path(path)
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file_.stat().st_size for file_ in files if file_.is_file())
