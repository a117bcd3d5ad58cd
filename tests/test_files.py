"""Atomic writing of files and folders, JSON, and checks of outputs."""

import errno
import json
import os
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spacy_hashembeds import files
from spacy_hashembeds.files import (
    MAX_QUOTED,
    STANDARD_OUTPUT,
    check_targets,
    choose_suffix,
    quote,
    read_json,
    replacing,
    replacing_folder,
    write_json,
)

OLD = {"config.cfg": "old", "vocab/strings.json": "old", "vocab/vectors": "old"}
NEW = {"config.cfg": "new", "vocab/strings.json": "new"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scores.json"
    path.write_text("old")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "out[1].v2"
    fill(folder, OLD)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path | str, error: type[BaseException] | None = None):
    """Replace a file, or raise an error in the block."""
    with replacing(path) as temporary:
        temporary.write_text("new")
        if error is not None:
            raise error


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def read(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def write_folder(
    place: Path | str,
    error: type[BaseException] | None = None,
    check: Callable[[], None] = lambda: None,
) -> None:
    """Replace a folder, or raise an error in the block."""
    with replacing_folder(place, check) as new:
        fill(new, NEW)
        if error is not None:
            raise error


# A file


def test_file_is_replaced_on_exit(path):
    # in the same folder, since moves between file systems are not atomic; with the same
    # suffix, since matplotlib and numpy depend on it
    with replacing(path) as temporary:
        assert temporary.parent == path.parent
        assert temporary.suffix == ".json"
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(path.parent) == ["scores.json"]


@pytest.mark.parametrize("name", ["scores.json", "new.txt"])
def test_failure_keeps_the_old_file(path, name):
    with pytest.raises(KeyboardInterrupt):
        write(path.with_name(name), KeyboardInterrupt)
    assert path.read_text() == "old"
    assert names(path.parent) == ["scores.json"]


def test_permissions(path, tmp_path):
    new = tmp_path / "a" / "b" / "new.txt"
    path.chmod(0o664)
    before = os.umask(0o027)
    try:
        write(str(new))
        write(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    assert stat.S_IMODE(path.stat().st_mode) == 0o664
    assert names(new.parent) == ["new.txt"]


@pytest.mark.parametrize("is_new", [False, True])
def test_target_of_a_link_is_replaced(path, tmp_path, is_new):
    target = tmp_path / "new.json" if is_new else path
    link = tmp_path / "links" / "link.json"
    link.parent.mkdir()
    link.symlink_to(Path("..") / target.name)
    write(link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert names(link.parent) == ["link.json"]


def test_pipe_gets_complete_output(tmp_path):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    # for reading and writing, so that neither end waits for the other
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    with pytest.raises(ZeroDivisionError):
        write(pipe, ZeroDivisionError)
    with pytest.raises(BlockingIOError):
        os.read(reader, 100)
    write(pipe)
    assert os.read(reader, 100) == b"new"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_standard_output_is_appended_to(path, monkeypatch):
    with path.open("w") as file:
        monkeypatch.setitem(files._STREAMS, str(STANDARD_OUTPUT), file.fileno())
        file.write("before ")
        file.flush()
        write(STANDARD_OUTPUT)
        file.write(" after")
    assert path.read_text() == "before new after"
    assert names(path.parent) == ["scores.json"]


def test_errors_name_folder_or_full_device(tmp_path, full_device):
    with pytest.raises(IsADirectoryError, match=f"'{tmp_path}'"):
        write(tmp_path, ZeroDivisionError)
    assert names(tmp_path) == []
    with pytest.raises(OSError, match=f"No space left on device: '{full_device}'"):
        write(full_device)
    assert full_device.is_char_device()


# Folders


@pytest.mark.parametrize("is_link", [False, True])
def test_folder_is_replaced_on_exit(folder, tmp_path, is_link):
    place = folder
    if is_link:
        place = tmp_path / "link"
        place.symlink_to(folder)

    checked: list[dict[str, str]] = []
    write_folder(str(place), check=lambda: checked.append(read(folder)))
    assert checked == [OLD, OLD]  # before and after the block
    assert place.is_symlink() == is_link
    assert read(folder) == NEW
    assert names(tmp_path) == [*(["link"] if is_link else []), folder.name]


@pytest.mark.parametrize("name", ["file/out", "loop", "x" * 255])
def test_impossible_folders_raise(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match=name):
        write_folder(tmp_path / name)
    assert names(tmp_path) == ["file", "loop"]


@pytest.mark.parametrize("old", [None, "a file"])
def test_parent_folders_are_made(tmp_path, old):
    place = tmp_path / "a" / "b"
    if old is not None:
        fill(tmp_path, {"a/b": old})
    write_folder(place)
    assert read(place) == NEW
    assert names(tmp_path / "a") == ["b"]


def test_failure_keeps_the_old_folder(folder):
    with pytest.raises(KeyboardInterrupt):
        write_folder(folder, KeyboardInterrupt)
    assert read(folder) == OLD
    assert names(folder.parent) == [folder.name]


def fail_on_new(source: str) -> None:
    if Path(source).name == "new":
        raise OSError(errno.EACCES, "no")


@pytest.mark.parametrize(
    ("happens", "error", "left"),
    [
        (lambda _: signal.raise_signal(signal.SIGINT), KeyboardInterrupt, NEW),
        (lambda _: signal.raise_signal(signal.SIGTERM), SystemExit, NEW),
        (fail_on_new, OSError, OLD),
    ],
)
def test_interrupted_moves_leave_a_whole_folder(
    folder, monkeypatch, happens, error, left
):
    move = os.rename

    def rename(source, target):
        happens(source)
        move(source, target)

    monkeypatch.setattr(os, "rename", rename)
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(number))
    try:
        with pytest.raises(error):
            write_folder(folder)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert read(folder) == left
    assert names(folder.parent) == [folder.name]


# JSON


@pytest.mark.parametrize("text", ["Zoë", "caf\udce9"])
def test_json_format(path, text):
    """Bytes that are not UTF-8, as in file names, are escaped."""
    data = {"name": text, "f": None, "scores": [0.5]}
    write_json(path, data)
    written = path.read_bytes().decode("utf8")
    assert '\n  "name": "' in written
    assert written.endswith("}\n")
    assert ("ë" in written) is ("ë" in text)
    assert json.loads(written) == read_json(path) == data
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"f": float("nan")})
    assert read_json(path) == data


@pytest.mark.parametrize(
    "raw",
    [
        *(b'{"a": [1, 2', b"[1, 2]", b'"' + b"x" * 10**6 + b'"', b'{"a": "\xff"}'),
        *(b'{"a": 1, "b": 2, "a": 3}', b'{"a": NaN}', b'{"a": -Infinity}'),
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids="truncated list long bytes twice NaN infinity deep".split(),
)
def test_invalid_json_raises(path, raw):
    path.write_bytes(raw)
    with pytest.raises(ValueError) as error:  # noqa: PT011 messages of libraries
        read_json(path)
    assert len(str(error.value)) < 200


ENDLESS: list[object] = []
ENDLESS += [ENDLESS] * 9


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, list("abc" * 1000), 10**3000, ENDLESS],
    ids="text list number endless".split(),
)
def test_quotes_are_short(value):
    assert len(quote(value)) <= MAX_QUOTED
    assert "..." in quote(value)


# Checks of outputs


@pytest.mark.parametrize(
    ("output", "source"),
    [
        *((name, "scores.json") for name in ("scores.json", "link", "twin")),
        *((name, "model") for name in ("model/new", "model/a/new", "inside/new")),
    ],
)
def test_output_over_input_raises(path, output, source, monkeypatch):
    monkeypatch.chdir(path.parent)
    fill(Path("model"), {"old.json": "{}"})
    Path("link").symlink_to(path)
    Path("inside").symlink_to("model")
    os.link(path, "twin")
    with pytest.raises(FileExistsError, match=f"'{output}'.*'{source}'"):
        check_targets([None, "a/b", output], iter([None, "a_package", source]))


def test_valid_outputs(path):
    neighbor = path.with_name("neighbor")
    neighbor.mkdir()
    check_targets([path], [neighbor, path.with_name("gone")])
    check_targets([None, path.parent / "a" / "b.json"], [path])
    check_targets(["/dev/stdout"], [path])
    check_targets(["/dev/null", "/dev/null"], ["/dev/null"])
    check_targets([path.parent / name for name in ("a.json", "b/c.png", "b/a.json")])
    assert names(path.parent) == ["neighbor", "scores.json"]
    assert path.read_text() == "old"


def test_existing_outputs_need_force(path):
    with pytest.raises(FileExistsError, match="already exists"):
        check_targets([path.with_name("new"), path], force=False)
    check_targets([path.with_name("new"), path.parent, "/dev/null"], force=False)


def test_linked_corpus_files_are_never_replaced(path):
    (corpus := path.with_name("corpus")).mkdir()
    (corpus / "a.spacy").symlink_to(path)
    (corpus / "gone.spacy").symlink_to("gone.spacy")
    with pytest.raises(FileExistsError, match=r"a.spacy', which is read"):
        check_targets([path], [corpus])


def test_nothing_is_written_into_a_saved_pipeline(tmp_path):
    fill(folder := tmp_path / "model", {"config.cfg": "", "meta.json": ""})
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "elsewhere").touch()
    (folder / "tokenizer").symlink_to(tmp_path / "elsewhere")
    (outside := tmp_path / "outside.cfg").symlink_to(folder / "config.cfg")
    names = ("config.cfg", "tokenizer", "deep/n.cfg")
    for path in (outside, *map(folder.joinpath, names), tmp_path / "link/n"):
        with pytest.raises(FileExistsError, match="saved pipeline"):
            check_targets([path])
    check_targets([tmp_path / "new.cfg"])


@pytest.mark.parametrize("name", ["scores.json/x.json", "n" * 300, "n" * 250])
def test_unwritable_outputs_raise(path, name):
    with pytest.raises(OSError, match=f"{path.parent}/{name}'"):
        check_targets([path.parent / name])
    assert names(path.parent) == ["scores.json"]


@pytest.mark.parametrize("other", ["a.json", "made/../a.json", "link"])
def test_equal_outputs_raise(tmp_path, other):
    (tmp_path / "link").symlink_to("a.json")
    with pytest.raises(FileExistsError):
        check_targets([tmp_path / "a.json", None, tmp_path / other])


def test_choose_suffix():
    suffixes = (".json", ".html")
    found = [choose_suffix(name, suffixes) for name in ("a/p.html", STANDARD_OUTPUT)]
    assert found == [".html", ".json"]
    for name in ("e.txt", "e", "e.HTML"):
        with pytest.raises(ValueError, match=f"'output'.*'{name}'"):
            choose_suffix(name, suffixes)
