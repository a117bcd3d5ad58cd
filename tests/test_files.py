"""Files and folders that are replaced as a whole, JSON, and what is refused before."""

import errno
import json
import os
import re
import resource
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from spacy_hashembeds.files import (
    MAX_QUOTED,
    bytes_on_disk,
    check_targets,
    choose_suffix,
    quote,
    read_json,
    replacing,
    replacing_folder,
    temporary_folder,
    write_json,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scores.json"
    path.write_text("old")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "out[1]"
    fill(folder, OLD)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path | str, error: type[BaseException] | BaseException | None = None):
    """Replace a file, or fail in the middle of it."""
    with replacing(path) as temporary:
        temporary.write_text("new")
        if error is not None:
            raise error


OLD = {"config.cfg": "old", "vocab/strings.json": "old", "vocab/vectors": "old"}
NEW = {"config.cfg": "new", "vocab/strings.json": "new"}


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
    """Replace a folder, or fail in the middle of it."""
    with replacing_folder(place, check) as new:
        fill(new, NEW)
        if error is not None:
            raise error


# A file


def test_a_file_is_replaced_only_when_it_is_complete(path):
    # Beside it, since a file can't be moved in one step from another file system; with
    # its suffix, since matplotlib and numpy look at that.
    with replacing(path) as temporary:
        assert temporary.parent == path.parent
        assert temporary.suffix == ".json"
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(path.parent) == ["scores.json"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["scores.json", "new.txt"])
def test_a_failure_keeps_the_old_file_and_leaves_no_other(path, name, error):
    with pytest.raises(error):
        write(path.with_name(name), error)
    assert path.read_text() == "old"
    assert names(path.parent) == ["scores.json"]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_permissions_of_a_file_that_is_replaced_stay(path, mode):
    path.chmod(mode)
    write(path)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_permissions_of_a_new_file_follow_the_umask(tmp_path, umask, mode):
    path = tmp_path / "a" / "b" / "new.txt"
    before = os.umask(umask)
    try:
        write(str(path))
        assert os.umask(umask) == umask  # and the umask is as it was
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert names(path.parent) == ["new.txt"]


# What is no plain file


@pytest.mark.parametrize("is_new", [False, True])
def test_a_link_stays_and_what_it_points_to_is_replaced(path, tmp_path, is_new):
    target = tmp_path / "new.json" if is_new else path
    link = tmp_path / "links" / "link.json"
    link.parent.mkdir()
    link.symlink_to(Path("..") / target.name)
    with replacing(link) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert names(link.parent) == ["link.json"]


@pytest.mark.parametrize("is_link", [False, True])
def test_a_pipe_is_written_to_once_all_is_there(tmp_path, is_link):
    pipe = place = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    if is_link:
        place = tmp_path / "link.json"
        place.symlink_to(pipe)
    # for reading and writing, so that neither end waits for the other
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    with pytest.raises(ZeroDivisionError):
        write(place, ZeroDivisionError)
    with pytest.raises(BlockingIOError):
        os.read(reader, 100)
    with replacing(place) as temporary:
        assert temporary.suffix == ".json"
        temporary.write_text("new")
    assert os.read(reader, 100) == b"new"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert not temporary.exists()


def test_an_open_file_is_written_to_where_it_stands(path):
    with path.open("w") as file:
        file.write("before ")
        file.flush()
        for name in ("dev", "proc/self"):
            with replacing(f"/{name}/fd/{file.fileno()}") as temporary:
                temporary.write_text(f"{name} ")
        file.write("after")
    assert path.read_text() == "before dev proc/self after"
    assert names(path.parent) == ["scores.json"]


def test_a_reader_that_has_gone_has_read_enough(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    write(f"/dev/fd/{writer}")
    os.close(writer)


# Errors name the file


def test_a_folder_is_refused_before_the_work(tmp_path):
    with pytest.raises(IsADirectoryError, match=f"'{tmp_path}'"):
        write(tmp_path, ZeroDivisionError)
    assert names(tmp_path) == []


def test_a_full_device_is_named_and_stays(full_device):
    with pytest.raises(OSError, match=f"No space left on device: '{full_device}'"):
        write(full_device)
    assert full_device.is_char_device()


@pytest.mark.parametrize(
    "name", ["/dev/fd/997", "/dev/fd/full", f"/dev/fd/{'9' * 20}", "/dev/fd/٣"]
)
def test_what_cannot_be_written_to_is_named(name):
    with pytest.raises(OSError, match=rf"\[Errno \d+\] .*: '{name}'"):
        write(name)


def test_a_file_that_does_not_fit_is_named(path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
    try:
        with pytest.raises(OSError, match=rf"File too large: '{path}'"):
            write_json(path, list(range(1000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "old"
    assert names(path.parent) == ["scores.json"]


def test_a_stream_without_a_temporary_folder_is_named(monkeypatch):
    def find_none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", find_none)
    with pytest.raises(OSError, match="temporary directory found: '/dev/stdout'"):
        write("/dev/stdout")


def test_an_error_in_moving_it_names_its_place_alone(path, monkeypatch):
    def refuse(source, target):
        raise PermissionError(errno.EACCES, "Permission denied", source, None, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError) as info:
        write(path)
    assert str(info.value) == f"[Errno 13] Permission denied: '{path}'"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file", "input"), "No such file.*inp"),
        (OSError("no number, but words"), "^no number, but words$"),
    ],
)
def test_errors_that_say_enough_stay(path, error, message):
    with pytest.raises(OSError, match=message):
        write(path, error)


# Folders


def test_a_folder_is_replaced_only_when_it_is_complete(folder):
    def check() -> None:
        assert read(folder) == OLD

    write_folder(str(folder), check=check)
    assert read(folder) == NEW
    assert names(folder.parent) == ["out[1]"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file/out", "file' is a file, and no folder"),
        ("loop", "a link to nothing"),
        ("x" * 255, f"{'x' * 255}'"),
        ("mount", "mount' can't be replaced: it is a mount"),
    ],
)
def test_places_that_no_folder_can_take_are_refused_by_their_names(
    tmp_path, monkeypatch, name, message
):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.setattr("os.path.ismount", lambda path: path.name == "mount")
    with pytest.raises(OSError, match=message):
        write_folder(tmp_path / name)
    assert names(tmp_path) == ["file", "loop"]


@pytest.mark.parametrize("is_there", [False, True])
def test_a_new_folder_and_those_around_it_are_made(tmp_path, is_there):
    place = tmp_path / "a" / "b"
    if is_there:
        place.mkdir(parents=True)
    write_folder(place)
    assert read(place) == NEW
    assert names(place.parent) == ["b"]


def test_a_link_stays_and_the_folder_it_points_to_is_replaced(folder, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(folder)
    write_folder(link)
    assert link.is_symlink()
    assert read(folder) == NEW
    assert names(tmp_path) == ["link", "out[1]"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_folder_and_leaves_no_other(folder, error):
    with pytest.raises(error):
        write_folder(folder, error)
    assert read(folder) == OLD
    assert names(folder.parent) == ["out[1]"]


def test_what_appears_meanwhile_is_checked_too(tmp_path):
    checked = []

    def check() -> None:
        checked.append(len(checked))
        if len(checked) == 2:
            raise FileExistsError("work of hours")

    with pytest.raises(FileExistsError, match="work of hours"):
        write_folder(tmp_path / "out", check=check)
    assert names(tmp_path) == []


def test_an_interrupt_between_two_moves_puts_the_old_folder_back(folder, monkeypatch):
    moved = []

    def rename(source, target):
        moved.append(target)
        if len(moved) == 2:
            raise KeyboardInterrupt
        move(source, target)

    move = os.rename
    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        write_folder(folder)
    assert len(moved) == 3
    assert read(folder) == OLD
    assert names(folder.parent) == ["out[1]"]


def test_a_temporary_folder_goes_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_folder() as folder:
        (folder / "file").write_text("")
        assert folder.parent == tmp_path
    assert names(tmp_path) == []
    with pytest.raises(FileNotFoundError, match="gone"), temporary_folder() as folder:
        (folder / "gone").read_text()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_temporary_folder_without_room_is_named(tmp_path, monkeypatch, number):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    message = f"temporary files are in '{tmp_path}'. Make room there, or set TMPDIR"
    with pytest.raises(OSError, match=message), temporary_folder():
        raise OSError(number, os.strerror(number))
    assert names(tmp_path) == []


# JSON


@pytest.mark.parametrize("text", ["Zoë", "caf\udce9"])
def test_json_is_indented_utf8_that_ends_in_a_newline(path, text):
    """With what is no text, such as names of files may hold, escaped."""
    data = {"name": text, "f": None, "scores": [0.5]}
    write_json(path, data)
    written = path.read_bytes().decode("utf8")
    assert '\n  "name": "' in written
    assert written.endswith("}\n")
    assert ("ë" in written) is ("ë" in text)
    assert json.loads(written) == read_json(path) == data


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_json_without_a_number_is_refused(path, value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"f": value})
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"a": [1, 2', "Expecting"),
        (b"[1, 2]", r"^it should be an object, but is \[1, 2\]$"),
        (b'"' + b"x" * 10**6 + b'"', r"but is 'x+\.\.\.x+'$"),
        (b'{"a": 1, "b": 2, "a": 3}', "^it holds 'a' twice in one object$"),
        (b'{"a": NaN}', "^it holds NaN, which is no number in JSON$"),
        (b'{"a": -Infinity}', "^it holds -Infinity, which is no number"),
        (b'{"a": 1e999}', "^it holds 1e999, which is no number"),
        (b'{"a": "\xff"}', "can't decode byte 0xff"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
    ],
    ids="truncated list long twice NaN infinity large bytes deep".split(),
)
def test_what_is_no_json_object_is_refused(path, raw, message):
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=message) as error:
        read_json(path)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    "value", ["Zoë\n", ["1", "Zoë", "O"], {"a": [1, None]}, 0.5, float("nan")], ids=repr
)
def test_what_is_short_is_quoted_as_it_is(value):
    assert quote(value) == repr(value)


def make_endless() -> list[object]:
    endless: list[object] = []
    endless += [endless] * 9
    return endless


def make_laughs() -> list[object]:
    laughs: list[object] = ["ha"] * 9
    for _ in range(30):
        laughs = [laughs] * 9
    return laughs


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, list("abc" * 1000), 10**3000, make_endless(), make_laughs()],
    ids="text list number endless laughs".split(),
)
def test_nothing_is_quoted_at_length(value):
    assert len(quote(value)) <= MAX_QUOTED
    assert "..." in quote(value)


# Before the work


@pytest.mark.parametrize("other", ["scores.json", "link", "twin", "x/../scores.json"])
def test_an_input_is_not_to_be_written(path, other, monkeypatch):
    monkeypatch.chdir(path.parent)
    Path("x").mkdir()
    Path("link").symlink_to(path)
    os.link(path, "twin")
    with pytest.raises(FileExistsError, match=f"'{re.escape(other)}' can't.*'{path}'"):
        check_targets([other], [None, "a_package", path])


@pytest.mark.parametrize("name", ["new.json", "a/new.json", "old.json"])
def test_nothing_is_to_be_written_into_an_input(tmp_path, name):
    model = tmp_path / "model"
    fill(model, {"old.json": "{}"})
    (tmp_path / "link").symlink_to(model)
    with pytest.raises(FileExistsError, match=f"{name}' can't be written:.*'{model}'"):
        check_targets([None, tmp_path / "a", tmp_path / "link" / name], iter([model]))


def test_what_can_be_written_passes_and_leaves_nothing(path):
    neighbour = path.with_name("neighbour")
    neighbour.mkdir()
    check_targets([path], [neighbour, path.with_name("gone")])
    check_targets([path.parent / "a" / "b.json"], [path])
    check_targets([None], [path])
    check_targets(["/dev/stdout"], [path])
    check_targets(["/dev/null", "/dev/null"], ["/dev/null"])
    check_targets([path.parent / name for name in ("a.json", "b/c.png", "b/a.json")])
    assert names(path.parent) == ["neighbour", "scores.json"]
    assert path.read_text() == "old"


LONG = "n" * 300


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scores.json/x.json", "scores.json/x.json' can't.*file, and no folder"),
        ("scores.json/a/x.json", "scores.json/a/x.json' can't.*file, and no folder"),
        (LONG, f"name too long: '.*{LONG}'"),
        (f"{LONG}/x.json", f"name too long: '.*{LONG}/x.json'"),
        (f"new/{LONG}/x", f"name too long: '.*new/{LONG}/x'"),
        ("n" * 250, f"name too long: '.*{'n' * 250}'"),
    ],
)
def test_where_nothing_can_be_written_is_found_before_the_work(path, name, message):
    with pytest.raises(OSError, match=message):
        check_targets([path.parent / name])
    assert names(path.parent) == ["scores.json"]


@pytest.mark.parametrize("other", ["a.json", "made/../a.json", "link", "a.json/b.png"])
def test_two_outputs_are_two_files(tmp_path, other):
    (tmp_path / "link").symlink_to("a.json")
    paths = [tmp_path / "a.json", None, tmp_path / other]
    for given in (paths, paths[::-1]):
        with pytest.raises(FileExistsError, match=r"Name two files that differ\.$"):
            check_targets(given)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a/page.html", ".html"),
        (Path("page.html.json"), ".json"),
        ("/dev/stdout", ".json"),
        ("/dev/fd/1", ".json"),
    ],
)
def test_a_form_is_chosen_by_the_suffix(name, suffix):
    assert choose_suffix(name, (".json", ".html")) == suffix


@pytest.mark.parametrize("name", ["e.txt", "e", "json", "e.HTML"])
def test_other_forms_are_refused(name):
    with pytest.raises(ValueError, match=rf"'output'.*\.md or \.html, but is '{name}'"):
        choose_suffix(name, (".json", ".md", ".html"))


def test_bytes_on_disk(tmp_path: Path):
    fill(tmp_path, {"a": "12345", "folder/deeper/b": "678"})
    assert bytes_on_disk(tmp_path) == 8
    assert bytes_on_disk(str(tmp_path / "a")) == 5
    assert bytes_on_disk(tmp_path / "folder") == 3
