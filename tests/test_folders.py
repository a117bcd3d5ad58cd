"""Folders that are replaced as a whole, or needed only for a while."""

import errno
import os
import tempfile
from pathlib import Path

import pytest

from spacy_hashembeds.files import replacing_folder, temporary_folder

OLD = {"config.cfg": "old", "vocab/strings.json": "old", "vocab/vectors": "old"}
NEW = {"config.cfg": "new", "vocab/strings.json": "new"}


@pytest.fixture
def place(tmp_path) -> Path:
    place = tmp_path / "out[1]"
    fill(place, OLD)
    return place


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def read(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def replace(place: Path, files: dict[str, str] = NEW, check=lambda: None) -> None:
    with replacing_folder(place, check) as new:
        fill(new, files)


def test_a_folder_is_replaced_only_when_it_is_complete(place):
    with replacing_folder(str(place), lambda: None) as new:
        fill(new, NEW)
        assert read(place) == OLD
    assert read(place) == NEW
    assert names(place.parent) == ["out[1]"]


def test_places_that_no_folder_can_take_are_refused_by_their_names(
    tmp_path, monkeypatch
):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    for name, message in (
        ("file/out", "file' is a file, and no folder"),
        ("loop", "a link to nothing"),
        ("x" * 255, f"{'x' * 255}'"),
    ):
        with pytest.raises(OSError, match=f"{message}"):
            replace(tmp_path / name)
    monkeypatch.setattr("os.path.ismount", lambda _: True)
    with pytest.raises(FileExistsError, match="out' can't be replaced: it is a mount"):
        replace(tmp_path / "out")
    assert names(tmp_path) == ["file", "loop"]


def test_a_new_folder_and_those_around_it_are_made(tmp_path):
    replace(tmp_path / "a" / "b")
    assert read(tmp_path / "a" / "b") == NEW
    assert names(tmp_path / "a") == ["b"]


def test_an_empty_folder_gives_way(tmp_path):
    (tmp_path / "out").mkdir()
    replace(tmp_path / "out")
    assert read(tmp_path / "out") == NEW
    assert names(tmp_path) == ["out"]


def test_a_link_stays_and_what_it_points_to_is_replaced(place, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(place)
    replace(link)
    assert link.is_symlink()
    assert read(place) == NEW
    assert names(tmp_path) == ["link", "out[1]"]


def fail(place: Path, error: type[BaseException]) -> None:
    with replacing_folder(place, lambda: None) as new:
        fill(new, NEW)
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_folder_and_leaves_no_other(place, error):
    with pytest.raises(error):
        fail(place, error)
    assert read(place) == OLD
    assert names(place.parent) == ["out[1]"]


def test_what_appears_meanwhile_is_checked_too(tmp_path):
    def check():
        if place.exists():
            raise FileExistsError("work of hours")

    def make_meanwhile() -> None:
        with replacing_folder(place, check) as new:
            fill(new, NEW)
            fill(place, OLD)

    place = tmp_path / "out"
    with pytest.raises(FileExistsError, match="work of hours"):
        make_meanwhile()
    assert read(place) == OLD
    assert names(tmp_path) == ["out"]


def test_an_interrupt_between_two_moves_puts_the_old_folder_back(place, monkeypatch):
    moved = []

    def rename(source, target):
        moved.append(target)
        if len(moved) == 2:
            raise KeyboardInterrupt
        move(source, target)

    move = os.rename
    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        replace(place)
    assert len(moved) == 3
    assert read(place) == OLD
    assert names(place.parent) == ["out[1]"]


def test_nothing_else_is_removed(place):
    others = [".out[1]-original", ".out1-abcd1234", ".out-abcd1234"]
    for name in others:
        fill(place.parent / name, OLD)
    replace(place)
    assert names(place.parent) == sorted([*others, "out[1]"])


def test_a_temporary_folder_goes_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_folder() as folder:
        (folder / "file").write_text("")
        assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError, match="gone"), temporary_folder() as folder:
        (folder / "gone").read_text()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_temporary_folder_without_room_is_named(tmp_path, monkeypatch, number):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    message = f"temporary files are in '{tmp_path}'. Make room there, or set TMPDIR"
    with pytest.raises(OSError, match=message), temporary_folder():
        raise OSError(number, os.strerror(number))
    assert list(tmp_path.iterdir()) == []
