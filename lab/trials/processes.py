"""Run commands with a log, and kill their sessions."""

import os
import re
import signal
import subprocess
import textwrap
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any


def run_command(
    command: Sequence[str],
    log: IO[str],
    *,
    on_start: Callable[[subprocess.Popen], None] = lambda process: None,
    on_output: Callable[[str], None] = lambda line: None,
    **settings: Any,
) -> str | None:
    """Run a command, copy its output to a log, and return the cause of a failure.

    An interrupt kills the command. If this process is killed, the command ends when it
    next prints.
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
    printed = [line for line in lines if line]
    # a warning, or further lines of the message, may follow an exception
    starts = re.compile(r"[\w.]+(Error|Exception)\b")
    exceptions = [line for line in printed if starts.match(line)]
    last = (exceptions or printed or [f"its exit code is {process.returncode}"])[-1]
    return textwrap.shorten(last, 500).rstrip(".")


def kill_session(process: subprocess.Popen) -> None:
    """Kill a running process that leads a session, and all processes of the session."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
