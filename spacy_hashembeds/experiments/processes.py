"""A command with its log, and a lock between processes."""

import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def run_command(
    command: Sequence[str],
    *,
    log: Path,
    on_output: Callable[[str], None],
    pass_fds: Sequence[int] = (),
) -> int:
    """Run a command, copying its output to a log as it comes.

    The command is killed if it can't be waited for, as upon an interrupt.

    on_output (Callable[[str], None]): Called with each line. What is no UTF-8 in it is
        replaced.
    pass_fds (Sequence[int]): File descriptors that it inherits.
    RETURNS (int): Its exit code.
    """
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with (
        log.open("w", encoding="utf8") as log_file,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf8",
            errors="replace",
            env=environment,
            pass_fds=pass_fds,
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                log_file.write(line)
                on_output(line.rstrip("\n"))
        except BaseException:
            process.kill()
            raise
    return process.returncode


@contextmanager
def locked(path: Path, *, on_wait: Callable[[], None]) -> Iterator[int]:
    """Keep other processes, which lock the same file, out of a block.

    The system lets go of the lock when all processes that hold it have ended, however
    they did. The file stays: one that is removed could be locked twice.

    path (Path): The file. It and its folder are made if needed.
    on_wait (Callable[[], None]): Called once if another process has it locked.
    YIELDS (int): The lock's file descriptor. A process that inherits it holds the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()
