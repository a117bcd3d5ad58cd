import json
import os
import stat
from pathlib import Path

import pytest

from spacy_hashembeds.files import replacing, write_json


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


def fail(path: Path, error: type[BaseException]) -> None:
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


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_permissions_follow_the_umask(path, umask, mode):
    before = os.umask(umask)
    try:
        with replacing(path):
            pass
        assert os.umask(umask) == umask  # and the umask is as it was
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


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
