import os
import subprocess
import sys

import pytest

from lab.trials.processes import locked, run_command


@pytest.fixture
def run(tmp_path):
    """Run Python code with a log, which must have what was passed on."""

    def run(code: str, on_output=lambda line: None, **settings) -> str | None:
        lines: list[str] = []

        def note(line: str) -> None:
            lines.append(line)
            on_output(line)

        path = tmp_path / "log"
        with path.open("w", encoding="utf8") as log:
            command = [sys.executable, "-c", code]
            cause = run_command(command, log, on_output=note, **settings)
        assert path.read_text(encoding="utf8").splitlines() == lines
        return cause

    return run


def is_locked(path) -> bool:
    """Try the lock from another process."""
    code = f"""
import fcntl, sys
try:
    fcntl.flock(open({str(path)!r}), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(3)
"""
    returncode = subprocess.run([sys.executable, "-c", code]).returncode
    assert returncode in (0, 3)
    return returncode == 3


def test_output_is_logged_and_passed_on(run):
    lines: list[str] = []
    code = r"import sys; print('né'); sys.stdout.buffer.write(b'20 \xb0C\n'); "
    assert run(code + "print('wrong', file=sys.stderr)", lines.append) is None
    assert sorted(lines) == ["20 \N{REPLACEMENT CHARACTER}C", "né", "wrong"]


def test_output_comes_as_it_is_printed(run, tmp_path):
    answer = tmp_path / "answer"
    code = f"""
import pathlib, time
print("first")
while not pathlib.Path({str(answer)!r}).exists():
    time.sleep(0.05)
"""
    # It would never end if its first line were to come after its end.
    assert run(code, lambda line: answer.touch()) is None


@pytest.mark.parametrize(
    ("end", "lines", "cause"),
    [
        ("exit(1)", ["Traceback", "  File", "ValueError: no."], "ValueError: no"),
        ("exit(1)", ["a.b.MyError: x", "more", "", "UserWarning: y"], "a.b.MyError: x"),
        ("exit(1)", ["KeyError: 1", "During handling", "OSError: 2"], "OSError: 2"),
        ("exit(1)", ["✘ Config", "dropout  is no number", " "], "dropout is no number"),
        ("exit(1)", ["Error " + "a " * 500], "Error " + "a " * 244 + "[...]"),
        ("kill(getpid(), 9)", ["0   200   1.0"], "it was killed by signal 9"),
        ("exit(3)", [], "its exit code is 3"),
    ],
)
def test_the_cause_of_a_failure_is_in_the_last_lines(run, end, lines, cause):
    found = run(
        f"from os import *; from sys import exit; print({chr(10).join(lines)!r}); {end}"
    )
    assert found == cause


def test_a_command_that_nobody_waits_for_is_killed(run):
    pids: list[int] = []

    def interrupt(line: str) -> None:
        pids.append(int(line))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("import os, time; print(os.getpid()); time.sleep(300)", interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_a_lock_keeps_others_out(tmp_path):
    path = tmp_path / "made" / "lock"
    with locked(path, on_wait=lambda: pytest.fail("nobody has it")):
        assert is_locked(path)
    assert not is_locked(path)
    with pytest.raises(KeyError), locked(path, on_wait=lambda: None):
        raise KeyError
    assert not is_locked(path)


def test_a_command_holds_the_lock_that_it_inherits(tmp_path):
    path = tmp_path / "lock"
    waits: list[bool] = []
    with locked(path, on_wait=lambda: None) as lock:
        command = [sys.executable, "-c", "input()"]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(lock,))
    assert child.stdin is not None
    with child, child.stdin:
        assert is_locked(path)

        def end_child() -> None:
            waits.append(child.poll() is None)
            child.communicate(b"\n")

        with locked(path, on_wait=end_child):
            assert waits == [True]
            assert is_locked(path)


def test_on_windows_it_says_where_to_run_trials(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with (
        pytest.raises(
            OSError, match=r"Linux or macOS, but this is Windows\. Run them in"
        ),
        locked(tmp_path / "lock", on_wait=lambda: None),
    ):
        pass
