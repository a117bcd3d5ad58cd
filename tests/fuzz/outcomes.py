"""What may become of a damaged file: a clear error, or what the file says."""

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

#: What a case may take: seconds, and bytes of memory on top of what there is.
_SECONDS, _BYTES = 20, 3 * 2**30
#: What our commands show as a message. Anything else is a traceback to their users.
_SHOWN = (ValueError, OSError, ImportError)
_MAX_LENGTH = 1000
_RAISE = dis.opmap["RAISE_VARARGS"]


@dataclass(frozen=True)
class Reader:
    """A whole file, and what a user does with it.

    damage: Draws what becomes of its bytes, next to what any bytes may suffer.
    load: Reads it.
    use: Does what a user does next, and gives the answer.
    find_fault: Given the damaged file and its answer, says what a check of the file
        could have seen, or None.
    names_file: Whether errors should name the file. Where weights are refused, they
        name the layer instead, since layers know no files.
    """

    path: Path
    damage: Damage
    load: Callable[[Path], Any]
    use: Callable[[Any], Any] = lambda loaded: loaded
    find_fault: Callable[[bytes, Any], str | None] = lambda damaged, answer: None
    names_file: bool = True

    def check(self, damaged: bytes) -> None:
        """Fail unless a damaged file is refused clearly, or read as what it says."""
        name = self.path.name if self.names_file else ""
        self.path.write_bytes(damaged)
        with _limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                loaded = self.load(self.path)
                name = ""
                answer = self.use(loaded)
            except Exception as error:  # of whichever kind: it is what is judged
                _check_is_clear(error, name)
                return
        fault = self.find_fault(damaged, answer)
        assert fault is None, f"wrong in silence: {fault}"


@contextmanager
def _limited() -> Iterator[None]:
    """Fail where a case hangs, and end the process where even that can't be done, as
    in compiled code: pytest-xdist names the test, and starts another.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _BYTES
    before = signal.signal(signal.SIGALRM, _fail_as_hanging)
    # again each second, since what a destructor raises is passed over
    signal.setitimer(signal.ITIMER_REAL, _SECONDS, 1)
    faulthandler.dump_traceback_later(2 * _SECONDS, exit=True, file=sys.__stderr__)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # Python's own, which hypothesis has raised
    try:
        yield
    finally:
        sys.setrecursionlimit(depth)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _fail_as_hanging(number: int, frame: FrameType | None) -> None:
    # no Exception, which readers may take for damage
    pytest.fail(f"a hang: more than {_SECONDS} seconds")


def _check_is_clear(error: Exception, name: str) -> None:
    """Fail if an error is opaque.

    A clear one is raised by a `raise` of ours, as a kind that our commands show, in at
    most 1000 characters, which name the file when it is read. All others that come
    through our code are opaque, whatever they say. What does not is spaCy's or Thinc's.
    """
    traceback, packages, opcode = error.__traceback__, [], -1
    while traceback is not None:
        frame, at = traceback.tb_frame, traceback.tb_lasti
        code = frame.f_code.co_code  # Cython's frames have none to speak of
        opcode = code[at] if 0 <= at < len(code) else -1
        packages.append(str(frame.f_globals.get("__name__", "")).split(".")[0])
        traceback = traceback.tb_next
    if "spacy_hashembeds" not in packages and packages[-1] != "tests":
        return
    is_meant = packages[-1] == "spacy_hashembeds" and opcode == _RAISE
    assert is_meant, f"an opaque error: {error!r:.300}"
    message = str(error)
    assert isinstance(error, _SHOWN), f"of no kind that is shown: {error!r:.300}"
    assert name in message, f"an error that does not name the file: {message:.300}"
    assert len(message) <= _MAX_LENGTH, f"a message of {len(message)} characters"
