import fcntl
import os
import subprocess
import sys

import pytest

from lab.trials.processes import locked, run_command


def run_python(code: str, log, on_output, **settings) -> int:
    command = [sys.executable, "-c", code]
    return run_command(command, log=log, on_output=on_output, **settings)


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


def test_output_is_logged_and_passed_on(tmp_path):
    lines: list[str] = []
    code = "import sys; print('né'); print('wrong', file=sys.stderr); sys.exit(4)"
    assert run_python(code, tmp_path / "log", lines.append) == 4
    assert sorted(lines) == ["né", "wrong"]
    logged = (tmp_path / "log").read_text(encoding="utf8")
    assert logged.splitlines() == lines


def test_output_that_is_no_text_is_logged_too(tmp_path):
    lines: list[str] = []
    code = r"import sys; sys.stdout.buffer.write(b'20 \xb0C\nmore\n')"
    assert run_python(code, tmp_path / "log", lines.append) == 0
    assert lines == ["20 \N{REPLACEMENT CHARACTER}C", "more"]


def test_output_comes_as_it_is_printed(tmp_path):
    answer = tmp_path / "answer"
    code = f"""
import pathlib, time
print("first")
while not pathlib.Path({str(answer)!r}).exists():
    time.sleep(0.05)
"""
    # It would never end if its first line were to come after its end.
    assert run_python(code, tmp_path / "log", lambda line: answer.touch()) == 0


def test_a_command_that_nobody_waits_for_is_killed(tmp_path):
    code = "import os, time; print(os.getpid()); time.sleep(300)"
    pids: list[int] = []

    def interrupt(line: str) -> None:
        pids.append(int(line))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_python(code, tmp_path / "log", interrupt)
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


def test_commands_get_the_files_that_are_passed_to_them(tmp_path):
    code = "import fcntl, sys; fcntl.fcntl(int(sys.argv[1]), fcntl.F_GETFD)"
    with locked(tmp_path / "lock", on_wait=lambda: None) as lock:
        assert fcntl.fcntl(lock, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
        command = [sys.executable, "-c", code, str(lock)]
        log = tmp_path / "log"
        arguments = {"log": log, "on_output": lambda line: None}
        assert run_command(command, pass_fds=(lock,), **arguments) == 0
        assert run_command(command, **arguments) == 1
