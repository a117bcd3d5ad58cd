"""Valid outcomes of reading a damaged file: a clear error, or its content."""

import dis
import faulthandler
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from .damage import Damage

#: Limits of a case: seconds, and additional bytes of memory.
_SECONDS, _BYTES = 20, 3 * 2**30
#: Errors whose messages our commands print. Others show a traceback.
_SHOWN = (ValueError, OSError, ImportError)
_MAX_LENGTH = 1000
_RAISE = dis.opmap["RAISE_VARARGS"]


@dataclass(frozen=True)
class Reader:
    """An undamaged file, and functions that read and use it.

    path: The file.
    damage: Draws damaged bytes of this format, in addition to `damage_bytes`.
    load: Reads the file.
    use: Uses what `load` returned, as users do, and returns a result.
    find_fault: Given the damaged bytes and the result, describes an error that a check
        of the file could have detected, or returns None.
    names_file: Whether errors should name the file. Errors of weights name the layer
        instead, since layers have no paths.
    """

    path: Path
    damage: Damage
    load: Callable[[Path], Any]
    use: Callable[[Any], Any] = lambda loaded: loaded
    find_fault: Callable[[bytes, Any], str | None] = lambda damaged, answer: None
    names_file: bool = True

    def check(self, damaged: bytes) -> None:
        """Fail unless a damaged file raises a clear error, or is read correctly."""
        name = self.path.name if self.names_file else ""
        self.path.write_bytes(damaged)
        with _limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                loaded = self.load(self.path)
                name = ""
                answer = self.use(loaded)
            except Exception as error:  # any type, which is checked below
                _check_is_clear(error, name)
                return
        fault = self.find_fault(damaged, answer)
        assert fault is None, f"wrong result without an error: {fault}"


@contextmanager
def _limited() -> Iterator[None]:
    """Limit memory, and fail if the case hangs. If it hangs in compiled code, exit:
    pytest-xdist then names the test and starts another process.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _BYTES
    before = signal.signal(signal.SIGALRM, _fail_as_hanging)
    # repeat each second, since Python ignores exceptions in destructors
    signal.setitimer(signal.ITIMER_REAL, _SECONDS, 1)
    faulthandler.dump_traceback_later(2 * _SECONDS, exit=True, file=sys.__stderr__)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # Python's default, which hypothesis raises
    try:
        yield
    finally:
        sys.setrecursionlimit(depth)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _fail_as_hanging(number: int, frame: FrameType | None) -> None:
    # pytest.fail raises no Exception, which readers could catch
    pytest.fail(f"a hang: more than {_SECONDS} seconds")


def _check_is_clear(error: Exception, name: str) -> None:
    """Fail if an error is opaque.

    A clear error is raised explicitly by this package, has a type that the commands
    catch, has at most 1,000 characters, and names the file while it is read. Other
    errors that pass through this package are opaque; errors outside of it are ignored.
    """
    traceback, packages, opcode = error.__traceback__, [], -1
    while traceback is not None:
        frame, at = traceback.tb_frame, traceback.tb_lasti
        code = frame.f_code.co_code  # empty in frames of Cython
        opcode = code[at] if 0 <= at < len(code) else -1
        packages.append(str(frame.f_globals.get("__name__", "")).split(".")[0])
        traceback = traceback.tb_next
    if "spacy_hashembeds" not in packages and packages[-1] != "tests":
        return
    is_meant = packages[-1] == "spacy_hashembeds" and opcode == _RAISE
    assert is_meant, f"an opaque error: {error!r:.300}"
    message = str(error)
    assert isinstance(error, _SHOWN), f"commands do not catch this: {error!r:.300}"
    assert name in message, f"an error that does not name the file: {message:.300}"
    assert len(message) <= _MAX_LENGTH, f"a message of {len(message)} characters"
