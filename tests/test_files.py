import errno
import json
import os
import re
import resource
import stat
import tempfile
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
    write_json,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scores.json"
    path.write_text("old")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_only_when_it_is_complete(path):
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(path.parent) == ["scores.json"]


def test_it_is_written_beside_its_place_with_the_same_suffix(path):
    # Beside it, since a file can't be moved in one step from another file system; with
    # its suffix, since matplotlib and numpy look at that.
    with replacing(path) as temporary:
        assert temporary.parent == path.parent
        assert temporary.suffix == ".json"
        assert temporary != path


def test_a_new_file_and_its_folders_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "new.txt"
    with replacing(str(path)) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert names(path.parent) == ["new.txt"]


def fail(path: Path, error: type[BaseException] | BaseException) -> None:
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_file_and_leaves_no_other(path, error):
    with pytest.raises(error):
        fail(path, error)
    assert path.read_text() == "old"
    assert names(path.parent) == ["scores.json"]


def test_a_failure_makes_no_new_file(tmp_path):
    with pytest.raises(OSError):  # noqa: PT011, the one raised above
        fail(tmp_path / "new.txt", OSError)
    assert names(tmp_path) == []


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_permissions_of_a_file_that_is_replaced_stay(path, mode):
    path.chmod(mode)
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_permissions_of_a_new_file_follow_the_umask(tmp_path, umask, mode):
    path = tmp_path / "new.txt"
    before = os.umask(umask)
    try:
        with replacing(path):
            pass
        assert os.umask(umask) == umask  # and the umask is as it was
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


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
        fail(place, ZeroDivisionError)
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
    write_json(f"/dev/fd/{writer}", [1])
    os.close(writer)


# Errors name the file


def test_a_folder_is_refused_before_the_work(tmp_path):
    with pytest.raises(IsADirectoryError, match=f"'{tmp_path}'"):
        fail(tmp_path, ZeroDivisionError)
    assert names(tmp_path) == []


def test_a_full_device_is_named_and_stays(full_device):
    with pytest.raises(OSError, match=f"No space left on device: '{full_device}'"):
        write_json(full_device, [1])
    assert full_device.is_char_device()


@pytest.mark.parametrize(
    "name", ["/dev/fd/997", "/dev/fd/full", f"/dev/fd/{'9' * 20}", "/dev/fd/٣"]
)
def test_what_cannot_be_written_to_is_named(name):
    with pytest.raises(OSError, match=rf"\[Errno \d+\] .*: '{name}'"):
        write_json(name, [1])


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
        write_json("/dev/stdout", [1])


def test_an_error_in_moving_it_names_its_place_alone(path, monkeypatch):
    def refuse(source, target):
        raise PermissionError(errno.EACCES, "Permission denied", source, None, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError) as info:
        write_json(path, [1])
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
        fail(path, error)
    assert path.read_text() == "old"


def test_json_is_indented_utf8_that_ends_in_a_newline(path):
    data = {"name": "Zoë", "f": None, "scores": [0.5]}
    write_json(path, data)
    text = path.read_bytes().decode("utf8")
    assert '\n  "name": "Zoë",\n' in text
    assert text.endswith("}\n")
    assert json.loads(text) == data


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_json_without_a_number_is_refused(path, value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"f": value})
    assert path.read_text() == "old"
    assert names(path.parent) == ["scores.json"]


# Reading


def test_a_json_object_is_read(path):
    path.write_bytes('{"name": "Zoë", "f": null, "scores": [0.5]}'.encode())
    assert read_json(path) == {"name": "Zoë", "f": None, "scores": [0.5]}


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


def test_a_key_twice_is_found_among_many(path):
    """To look through all keys for each would take an hour."""
    keys = ", ".join(f'"k{i}": 0' for i in range(300_000))
    path.write_text(f'{{{keys}, "k299999": 1}}')
    with pytest.raises(ValueError, match=r"^it holds 'k299999' twice"):
        read_json(path)


def test_what_is_short_is_quoted_as_it_is():
    for value in ("Zoë\n", ["1", "Zoë", "O"], {"a": [1, None]}, 0.5, float("nan")):
        assert quote(value) == repr(value)


def test_nothing_is_quoted_at_length():
    endless: list[object] = []
    endless += [endless] * 9
    laughs: list[object] = ["ha"] * 9
    for _ in range(30):
        laughs = [laughs] * 9
    for value in ("x" * 10**6, list("abc" * 1000), 10**3000, endless, laughs):
        assert len(quote(value)) <= MAX_QUOTED
        assert "..." in quote(value)


def test_names_that_are_no_text_are_escaped_in_json(tmp_path):
    write_json(tmp_path / "a.json", {"path": "caf\udce9"})
    assert read_json(tmp_path / "a.json") == {"path": "caf\udce9"}


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
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "old.json").write_text("{}")
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(FileExistsError, match=f"{name}' can't be written:.*'{folder}'"):
        check_targets([tmp_path / "link" / name], [folder])


def test_what_can_be_written_passes_and_leaves_nothing(path):
    neighbour = path.with_name("neighbour")
    neighbour.mkdir()
    check_targets([path], [neighbour, path.with_name("gone")])
    check_targets([path.parent / "a" / "b.json"], [path])
    check_targets([None], [path])
    check_targets(["/dev/stdout"], [path])
    check_targets(["/dev/null"], ["/dev/null"])
    assert names(path.parent) == ["neighbour", "scores.json"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", ["scores.json/x.json", "scores.json/a/x.json"])
def test_a_file_is_no_folder_to_write_to(path, name):
    with pytest.raises(NotADirectoryError, match=f"{name}' can't.*file, and no folder"):
        check_targets([path.parent / name])


LONG = "n" * 300


@pytest.mark.parametrize("name", [LONG, f"{LONG}/x.json", f"new/{LONG}/x", "n" * 250])
def test_names_that_are_too_long_are_found_before_the_work(tmp_path, name):
    with pytest.raises(OSError, match=f"name too long: '.*{name}'"):
        check_targets([tmp_path / name])
    assert names(tmp_path) == []


@pytest.mark.parametrize("other", ["a.json", "made/../a.json", "link", "a.json/b.png"])
def test_two_outputs_are_two_files(tmp_path, other):
    (tmp_path / "link").symlink_to("a.json")
    paths = [tmp_path / "a.json", None, tmp_path / other]
    for given in (paths, paths[::-1]):
        with pytest.raises(FileExistsError, match=r"Name two files that differ\.$"):
            check_targets(given)


def test_outputs_in_one_folder_and_streams_pass(tmp_path):
    check_targets([tmp_path / "a.json", tmp_path / "b/c.png", tmp_path / "b/a.json"])
    check_targets([Path("/dev/null"), Path("/dev/null"), Path("/dev/stdout")])
    with pytest.raises(FileExistsError, match="which is read"):
        check_targets([None, tmp_path / "a"], iter([tmp_path]))


def test_a_form_is_chosen_by_the_suffix():
    forms = (".json", ".html")
    assert choose_suffix("a/page.html", forms) == ".html"
    assert choose_suffix(Path("page.html.json"), forms) == ".json"
    for stream in ("/dev/stdout", "/dev/fd/1"):
        assert choose_suffix(stream, forms) == ".json"


@pytest.mark.parametrize("name", ["e.txt", "e", "json", "e.HTML"])
def test_other_forms_are_refused(name):
    with pytest.raises(ValueError, match=rf"'output'.*\.md or \.html, but is '{name}'"):
        choose_suffix(name, (".json", ".md", ".html"))


def test_bytes_on_disk(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "folder" / "deeper").mkdir(parents=True)
    (tmp_path / "folder" / "deeper" / "b").write_bytes(b"678")
    assert bytes_on_disk(tmp_path) == 8
    assert bytes_on_disk(str(tmp_path / "a")) == 5
    assert bytes_on_disk(tmp_path / "folder") == 3
