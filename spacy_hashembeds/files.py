"""Atomic writing of files and folders, and strict reading of JSON."""

import errno
import json
import os
import reprlib
import secrets
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import IO, Any

#: Maximum number of characters of invalid input that a message quotes.
MAX_QUOTED = 80

# YAML anchors can make an object contain itself: limit the depth of its repr().
_REPR = reprlib.Repr()
_REPR.maxlevel = 2
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = MAX_QUOTED

STANDARD_INPUT, STANDARD_OUTPUT = Path("/dev/stdin"), Path("/dev/stdout")

_STREAMS = {str(STANDARD_INPUT): 0, str(STANDARD_OUTPUT): 1}


def find_descriptor(path: str | Path) -> int | None:
    """Return the file descriptor of standard input or output, or None."""
    return _STREAMS.get(str(path))


def open_file(path: Path, mode: str, **settings: Any) -> IO[Any]:
    """Open a file, or duplicate a standard stream at its current position."""
    descriptor = find_descriptor(path)
    return open(path if descriptor is None else os.dup(descriptor), mode, **settings)


def quote(value: object, limit: int = MAX_QUOTED) -> str:
    """Quote invalid input of any size and depth in at most `limit` characters."""
    text = _REPR.repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object, as `load_json` does. Errors don't name the file."""
    return parse_json(Path(path).read_text(encoding="utf8"))


def parse_json(text: str) -> dict[str, Any]:
    """Parse a JSON object, as `load_json` does."""
    data = load_json(text)
    if not isinstance(data, dict):
        raise ValueError(f"it should be an object, but is {quote(data)}")
    return data


def load_json(text: str) -> Any:
    """Parse JSON. Refuse NaN, infinite numbers and duplicate keys."""
    try:
        return json.loads(
            text, parse_constant=_refuse_number, object_pairs_hook=_make_object
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_number(text: str) -> float:
    raise ValueError(f"it holds {text}, which is not a JSON number")


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        (duplicate, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"it holds {quote(duplicate)} twice in one object")
    return data


def write_json(path: str | Path, data: Any) -> None:
    """Write data as indented JSON, atomically. Refuse NaN and infinity."""
    with replacing(path) as temporary:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
        # file names may hold bytes that are not UTF-8: write them as JSON escapes
        temporary.write_text(text + "\n", encoding="utf8", errors="backslashreplace")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path with the same suffix, and move the file to `path` on exit.

    If the block raises, an existing file is unchanged. Permissions are kept. The target
    of a link is replaced. If `path` is a device, a pipe or a standard stream, the
    complete output is appended to it.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with _naming(path):
        if _is_stream(path):
            with tempfile.TemporaryDirectory(prefix=f".{path.stem}-") as scratch:
                yield (temporary := Path(scratch, path.name))
                with open_file(path, "ab") as file:
                    file.write(temporary.read_bytes())
            return
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        is_new = not target.exists()
        temporary = _make_beside(path, target.parent, 0o666 if is_new else 0o600)
        try:
            yield temporary
            if not is_new:
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name `path` in OSErrors that name no file or a temporary file."""
    try:
        yield
    except OSError as e:
        is_named = e.filename is not None and f".{path.stem}-" not in str(e.filename)
        if e.errno is None or is_named:
            raise
        raise OSError(e.errno, e.strerror, str(path)) from e


def _make_beside(path: Path, folder: Path, mode: int) -> Path:
    """Make an empty temporary file in a folder, with the suffix of `path`."""
    temporary = folder / f".{path.stem}-{secrets.token_hex(4)}{path.suffix}"
    temporary.touch(mode, exist_ok=False)
    return temporary


def _is_stream(path: Path) -> bool:
    """True for a standard stream, or an existing path that is not a regular file."""
    is_special = path.exists() and not path.is_file()
    return is_special or find_descriptor(path) is not None


def is_pipeline(folder: Path) -> bool:
    """True if a folder is a saved pipeline."""
    return (folder / "config.cfg").is_file() and (folder / "meta.json").is_file()


def check_targets(
    paths: Iterable[str | Path | None],
    inputs: Iterable[str | Path | None] = (),
    *,
    force: bool = True,
) -> None:
    """Check that output files can be written, and overwrite no input, no other output,
    no file of a saved pipeline and, without `force`, no file at all.

    Streams, devices, and inputs that are not paths, such as package names, are skipped.
    """
    sources = [Path(x) for x in inputs if x is not None and Path(x).exists()]
    # a corpus may consist of links
    sources += [x for each in sources for x in each.rglob("*.spacy") if x.exists()]
    places: set[Path] = set()
    for path in (Path(path) for path in paths if path is not None):
        if _is_stream(path):
            continue
        place = Path(os.path.realpath(path))
        # with and without links resolved
        parents = [*Path(os.path.abspath(path)).parents, *place.parents]
        if any(map(is_pipeline, parents)):
            raise FileExistsError(f"'{path}' is in a saved pipeline. Use another path.")
        around = [each for each in (place, *place.parents) if each.exists()]
        for source in sources:
            # a file may have several hard links
            if any(map(source.samefile, around)):
                raise FileExistsError(
                    f"'{path}' can't be written: it would overwrite, or be put into, "
                    f"'{source}', which is read. Choose another path for the output."
                )
        _check_place(path)
        if place in places:
            raise FileExistsError(
                f"'{path}' can't be written: it would replace another file that is to "
                "be written. Choose different paths."
            )
        places.add(place)
        if path.is_file() and not force:
            raise FileExistsError(f"'{path}' already exists. Rename it or use --force.")


def choose_suffix(path: str | Path, suffixes: Sequence[str]) -> str:
    """Return the suffix of a file, or the first suffix for a stream."""
    if find_descriptor(path) is not None:
        return suffixes[0]
    suffix = Path(path).suffix
    if suffix not in suffixes:
        *others, last = suffixes
        ends = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"'output' should end in {ends}, but is '{path}'.")
    return suffix


def _check_place(path: Path) -> None:
    """Check that a temporary file can be made in the nearest existing folder."""
    parents = Path(os.path.realpath(path)).parents
    with _naming(path):
        folder = next(folder for folder in parents if os.path.lexists(folder))
        _make_beside(path, folder, 0o600).unlink()


@contextmanager
def replacing_folder(path: str | Path, check: Callable[[], None]) -> Iterator[Path]:
    """Yield a temporary folder beside `path`, and move it to `path` on exit.

    `check` runs before and after the block. If one of them raises, an existing folder
    is unchanged. A killed process leaves hidden folders beside `path`; after a kill
    between the two moves, the old folder is one of them.
    """
    path = Path(os.path.realpath(path))
    check()
    _check_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch_folder = tempfile.TemporaryDirectory(
        prefix=f".{path.stem}-", dir=path.parent, ignore_cleanup_errors=True
    )
    with _naming(path), scratch_folder as scratch:
        new, old = Path(scratch, "new"), Path(f"{scratch}-old")
        yield new
        check()
        with uninterrupted():
            try:
                if path.exists():
                    os.rename(path, old)
                os.rename(new, path)
            except OSError:
                # restore, unless another process has created `path`
                if old.exists() and not path.exists():
                    os.rename(old, path)
                raise
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink(missing_ok=True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay SIGINT, SIGTERM and SIGHUP until the block ends. No-op in other threads
    than the main one, which receives all signals.
    """
    if current_thread() is not main_thread():
        yield
        return
    received: list[int] = []
    numbers = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGINT)}
    handlers = {n: signal.signal(n, lambda n, _: received.append(n)) for n in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in received:
            signal.raise_signal(number)
