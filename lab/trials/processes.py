"""A command with its log, sessions killed, and a lock between processes."""

import os
import re
import signal
import subprocess
import textwrap
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


def run_command(
    command: Sequence[str],
    log: IO[str],
    *,
    on_start: Callable[[subprocess.Popen], None] = lambda process: None,
    on_output: Callable[[str], None] = lambda line: None,
    **settings: Any,
) -> str | None:
    """Run a command, copying its output to a log, and return why it failed, if it did.

    The command is killed if it can't be waited for, as upon an interrupt; if we are
    killed ourselves, it ends when it next prints something.
    """
    lines: deque[str] = deque(maxlen=100)
    settings["env"] = {**settings.get("env", os.environ), "PYTHONUNBUFFERED": "1"}
    settings |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    settings |= {"encoding": "utf8", "errors": "replace"}
    with subprocess.Popen(command, **settings) as process:
        on_start(process)
        try:
            for line in process.stdout or ():
                log.write(line)
                lines.append(line.strip())
                on_output(line.rstrip("\n"))
        except BaseException:
            process.kill()
            raise
    if process.returncode < 0:
        return f"it was killed by signal {-process.returncode}"
    if process.returncode == 0:
        return None
    told = [line for line in lines if line]
    # warnings may follow an exception, and its message may have several lines
    exceptions = [line for line in told if re.match(r"[\w.]+(Error|Exception)\b", line)]
    last = (exceptions or told or [f"its exit code is {process.returncode}"])[-1]
    return textwrap.shorten(last, 500).rstrip(".")


def kill_session(process: subprocess.Popen) -> None:
    """Kill what began a session, if it still runs, and all that it started there."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def locked(path: Path, *, on_wait: Callable[[], None]) -> Iterator[int]:
    """Keep other processes, which lock the same file, out of a block.

    The lock ends when all processes that inherited the descriptor have ended, however
    they did. The file stays: one that is removed could be locked twice.
    """
    import fcntl  # not on Windows, but in WSL

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()
