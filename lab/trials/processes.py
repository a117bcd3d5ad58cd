"""A command with its log, and a lock between processes."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl


def check_system() -> None:
    """Check that processes can share a lock here, and be killed with what they started.

    RAISES (OSError): On Windows, where they can't.
    """
    if sys.platform == "win32":
        raise OSError(
            "Trials and sweeps should run on Linux or macOS, but this is Windows, "
            "where a process can't inherit a lock, nor be killed with all that it "
            "started. Run them in WSL, or use `spacy train` and "
            "`spacy hashembeds evaluate`."
        )


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
    RAISES (OSError): On Windows (see `check_system`).
    YIELDS (int): The lock's file descriptor. A process that inherits it holds the lock.
    """
    check_system()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()
