"""Folders replaced, in processes that are killed at every step."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from spacy_hashembeds import folders
from spacy_hashembeds.folders import replacing_folder, temporary_folder

OLD = {"config.cfg": "old", "vocab/strings.json": "old", "vocab/vectors": "old"}
NEW = {"config.cfg": "new", "vocab/strings.json": "new"}

#: Replaces the folder of its first argument, and kills itself at a step: before
#: it makes, opens, moves or removes a file or folder, or looks for the call that swaps.
KILLED = """
import os, signal, sys
from spacy_hashembeds import folders

place, kill_at, can_swap = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"
if not can_swap:
    folders._swap = lambda new, path: False
steps = 0

def count(event, arguments):
    global steps
    if event.startswith(("os.", "shutil.", "tempfile.", "ctypes.")) or event == "open":
        steps += 1
        if steps == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(count)
with folders.replacing_folder(place, lambda: None) as new:
    (new / "vocab").mkdir(parents=True)
    for name in ("config.cfg", "vocab/strings.json"):
        (new / name).write_text("new")
"""

#: Says that it is in the block, and ends it when it is told to.
WAITING = """
import sys
from spacy_hashembeds.folders import replacing_folder

with replacing_folder(sys.argv[1], lambda: None) as new:
    new.mkdir()
    (new / "mine").write_text("")
    print(new.parent, flush=True)
    sys.stdin.read()
"""


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


def cannot_swap(new: Path, path: Path) -> bool:
    return False


@pytest.mark.parametrize("can_swap", [True, False])
def test_a_folder_is_replaced_only_when_it_is_complete(place, can_swap, monkeypatch):
    if not can_swap:
        monkeypatch.setattr(folders, "_swap", cannot_swap)
    with replacing_folder(str(place), lambda: None) as new:
        fill(new, NEW)
        assert read(place) == OLD
    assert read(place) == NEW
    assert names(place.parent) == ["out[1]"]


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
    monkeypatch.setattr(folders, "_swap", cannot_swap)
    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        replace(place)
    assert len(moved) == 3
    assert read(place) == OLD
    assert names(place.parent) == ["out[1]"]


def test_what_the_system_refuses_names_both_folders(place, monkeypatch):
    monkeypatch.setattr(folders, "_RENAME_EXCHANGE", 1)  # never replace
    with pytest.raises(FileExistsError, match=r"replacing/new' -> '.*out\[1\]'"):
        replace(place)
    assert read(place) == OLD


# Processes that are killed


def run_killed(place: Path, kill_at: int, can_swap: bool) -> int:
    arguments = [str(place), str(kill_at), str(can_swap)]
    command = [sys.executable, "-c", KILLED, *arguments]
    return subprocess.run(command, check=False).returncode


@pytest.mark.slow
@pytest.mark.parametrize("can_swap", [True, False])
def test_whenever_it_is_killed_the_old_or_the_new_folder_stands(tmp_path, can_swap):
    place = tmp_path / "out"
    ends = []
    for kill_at in range(1, 100):
        replace(place, OLD)
        code = run_killed(place, kill_at, can_swap)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        ends.append(read(place) if place.exists() else None)
        found = []
        replace(place, NEW, check=lambda: found.append(read(place)))  # noqa: B023
        assert found[0] == (OLD if ends[-1] is None else ends[-1])
        assert names(tmp_path) == ["out"]
    # To make two files and to remove three takes so many steps at least.
    assert len(ends) > 15
    assert ends[0] == OLD
    assert ends[-1] == NEW
    assert [end for end in ends if end not in (OLD, NEW)] == [None] * (not can_swap)
    assert read(place) == NEW
    assert names(tmp_path) == ["out"]


def test_nothing_is_removed_of_a_process_that_is_alive(place):
    command = [sys.executable, "-c", WAITING, str(place)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        scratch = Path(other.stdout.readline().strip())
        replace(place)
        assert read(place) == NEW
        assert read(scratch / "new") == {"mine": ""}
        other.stdin.close()
    assert other.returncode == 0
    assert read(place) == {"mine": ""}
    assert names(place.parent) == ["out[1]"]


def test_nothing_else_is_removed(place):
    others = [".out[1]-original", ".out1-abcd1234.replacing", ".out-abcd1234.replacing"]
    for name in others:
        fill(place.parent / name, OLD)
    replace(place)
    assert names(place.parent) == sorted([*others, "out[1]"])


def test_what_is_taken_for_remains_before_it_is_locked_is_made_again(
    place, monkeypatch
):
    def make_folder(*arguments):
        made.append(Path(make(*arguments)))
        if len(made) == 1:
            folders._clear_remains(place)
        return str(made[-1])

    made: list[Path] = []
    make = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", make_folder)
    replace(place)
    assert len(made) == 2
    assert read(place) == NEW
    assert names(place.parent) == ["out[1]"]


def test_on_windows_folders_are_locked_and_moved(place, monkeypatch):
    """Its lock stands in another module, which is made up here."""
    alive = place.parent / f".{place.name}-12345678{folders._SUFFIX}"
    fill(alive, {"lock": "", "mine": ""})
    locked: list[tuple[int, int]] = []

    def lock(descriptor: int, mode: int, n_bytes: int) -> None:
        if os.path.samestat(os.fstat(descriptor), (alive / "lock").stat()):
            raise PermissionError(errno.EACCES, "Permission denied")
        locked.append((mode, n_bytes))

    monkeypatch.setattr(sys, "platform", "win32")
    msvcrt = SimpleNamespace(LK_NBLCK=2, locking=lock)
    monkeypatch.setitem(sys.modules, "msvcrt", msvcrt)
    replace(place)
    assert read(place) == NEW
    assert locked == [(2, 1)]
    assert names(alive) == ["lock", "mine"]
    assert names(place.parent) == sorted([alive.name, place.name])


def test_no_lock_of_somebody_else_is_opened(place, tmp_path):
    """Not a link to a file, which would be emptied, nor a pipe, which would wait."""
    secret = tmp_path / "secret"
    secret.write_text("kept")
    remains = [place.parent / f".{place.name}-aaaaaaa{i}.replacing" for i in range(2)]
    for scratch in remains:
        scratch.mkdir()
    (remains[0] / "lock").symlink_to(secret)
    os.mkfifo(remains[1] / "lock")
    replace(place)
    assert read(place) == NEW
    assert secret.read_text() == "kept"


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
