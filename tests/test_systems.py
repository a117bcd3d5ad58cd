"""What not every system has, here and where it is taken away."""

import os
import platform
import signal
from pathlib import Path, PureWindowsPath

import pytest

from spacy_hashembeds import systems
from spacy_hashembeds.systems import at_fork, find_descriptor, open_file


@pytest.mark.parametrize(
    ("name", "descriptor"),
    [
        ("/dev/stdout", 1),
        ("/dev/stderr", 2),
        ("/dev/fd/12", 12),
        ("/proc/self/fd/1", 1),
        ("stdout", None),
        ("/dev/fd/1/x", None),
        ("/tmp/dev/fd/1", None),
        ("/dev/fd/999999999", 999_999_999),
        ("/dev/fd/99999999999999999999", None),
        ("/dev/fd/٣", None),
    ],
)
def test_names_of_open_files_are_known(name, descriptor):
    for path in (name, Path(name), PureWindowsPath(name)):
        assert find_descriptor(path) == descriptor


def test_a_file_that_is_open_goes_on(tmp_path):
    path = tmp_path / "lines"
    path.write_text("a\nb\n")
    with path.open("r+b", buffering=0) as file:
        file.readline()
        with open_file(Path(f"/dev/fd/{file.fileno()}"), "r", encoding="utf8") as rest:
            assert rest.read() == "b\n"
        with open_file(Path(f"/dev/fd/{file.fileno()}"), "wb") as end:
            end.write(b"c\n")
        file.seek(0)  # it stays open
        assert file.read() == b"a\nb\nc\n"


def test_a_file_that_is_closed_is_named():
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)
    with pytest.raises(OSError, match=f"Bad file descriptor: '/dev/fd/{reader}'"):
        open_file(Path(f"/dev/fd/{reader}"), "r")


def test_other_files_are_opened_by_their_names(tmp_path):
    with open_file(tmp_path / "new", "w", encoding="latin-1") as file:
        file.write("é")
    assert (tmp_path / "new").read_bytes() == b"\xe9"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_functions_are_called_at_a_fork():
    calls = []
    at_fork(before=lambda: calls.append("before"))
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert calls == ["before"]


def test_where_a_system_tells_nothing_python_does(monkeypatch):
    assert systems.find_processor()
    assert systems.count_cores() >= 1
    for name in ("register_at_fork", "sched_getaffinity", "getloadavg", "sysconf"):
        monkeypatch.delattr(os, name)
    for name in ("_CPUINFO", "_STAT"):
        monkeypatch.setattr(systems, name, Path("/no/such/file"))
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "some64")
    assert systems.get_load() is None
    assert systems.count_others_seconds() is None
    assert systems.count_cores() == os.cpu_count()
    assert systems.find_processor() == "some64"
    at_fork(before=lambda: 1 / 0)  # there is none
