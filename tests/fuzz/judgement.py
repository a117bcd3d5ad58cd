"""What may become of a damaged file: a clear error, or what the file says."""

import dis
import faulthandler
import operator
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, DrawFn

from .damage import Damage, damage_bytes

#: What a case may take: seconds, and bytes of memory on top of what there is.
_SECONDS, _BYTES = 20, 3 * 2**30
#: What our commands show as a message. Anything else is a traceback to their users.
_SHOWN = (ValueError, OSError, ImportError)
#: A longer message is no message.
_MAX_LENGTH = 1000
_RAISE = dis.opmap["RAISE_VARARGS"]


@dataclass(frozen=True)
class Reader:
    """A whole file, and what a user does with it.

    damage: Draws what becomes of its bytes, next to what any bytes may suffer.
    load: Reads it.
    use: Does what a user does next. Gives the answer, which damage may change.
    find_fault: Given the damaged file and its answer, says what a check of the file
        could have seen. None: the file might have been written so. Fails where a plain
        reader can't read the file: ours should not have either. Not given where each
        check is asked for elsewhere, by itself.
    names_file: Whether errors should name the file. Where weights are refused, they
        name the layer instead, since layers know no files.
    """

    path: Path
    damage: Damage
    load: Callable[[Path], Any]
    find_fault: Callable[[bytes, Any], str | None] = lambda damaged, answer: None
    use: Callable[[Any], Any] = lambda loaded: loaded
    is_same: Callable[[Any, Any], bool] = operator.eq
    names_file: bool = True

    @cached_property
    def original(self) -> bytes:
        return self.path.read_bytes()

    @cached_property
    def answer(self) -> Any:
        return self.use(self.load(self.path))

    def check(self, damaged: bytes) -> None:
        """Fail unless a damaged file is refused clearly, or read as what it says."""
        assume(damaged != self.original)
        expected = self.answer
        name = self.path.name if self.names_file else ""
        with self._in_its_place(damaged), _limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                loaded = self.load(self.path)
                name = ""
                answer = self.use(loaded)
            except Exception as error:  # of whichever kind: it is what is judged
                _check_is_clear(error, name)
                return
        is_same = self.is_same(expected, answer)
        event("the same answer" if is_same else "another answer")
        fault = None if is_same else self.find_fault(damaged, answer)
        assert fault is None, f"wrong in silence: {fault}"

    @contextmanager
    def _in_its_place(self, damaged: bytes) -> Iterator[None]:
        self.path.write_bytes(damaged)
        try:
            yield
        finally:
            self.path.write_bytes(self.original)


@st.composite
def _damaged(draw: DrawFn, reader: Reader) -> bytes:
    damage = draw(st.sampled_from((*3 * [reader.damage], damage_bytes)))
    return damage(draw, reader.original)


def make_test(makers: Mapping[str, Callable[[Path], Reader]], share: float) -> Any:
    """Make a test of files, for a share of the profile's examples.

    makers: Each writes a file into an empty folder, for the fixture `reader`.
    """

    @pytest.mark.filterwarnings("ignore:Generating overly large repr")
    @pytest.mark.parametrize("reader", makers.values(), ids=makers, indirect=True)
    @settings(
        max_examples=round(share * settings().max_examples),
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def test(reader: Reader, data: DataObject) -> None:
        reader.check(data.draw(_damaged(reader)))

    return test


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
    through our code are opaque, whatever they say: nobody meant them for this. What
    does not is spaCy's or Thinc's.
    """
    frames = [*_walk(error)]
    last, opcode = frames[-1]
    message = str(error)
    packages = {_get_package(frame) for frame, _ in frames}
    if not packages & {"spacy_hashembeds", "lab"} and _get_package(last) != "tests":
        event("an error of spaCy's or Thinc's")
        return
    event("refused")
    is_meant = _get_package(last) in ("spacy_hashembeds", "lab") and opcode == _RAISE
    assert is_meant, f"an opaque error: {error!r:.300}"
    assert isinstance(error, _SHOWN), (
        f"an error of no kind that is shown: {error!r:.300}"
    )
    assert name in message, f"an error that does not name the file: {message:.300}"
    assert len(message) <= _MAX_LENGTH, f"a message of {len(message)} characters"


def _walk(error: Exception) -> Iterator[tuple[FrameType, int]]:
    """Give the frames of a traceback, and the opcode that each stopped at."""
    traceback = error.__traceback__
    while traceback is not None:
        code, at = traceback.tb_frame.f_code.co_code, traceback.tb_lasti
        # Cython's frames have no code to speak of
        yield traceback.tb_frame, code[at] if 0 <= at < len(code) else -1
        traceback = traceback.tb_next


def _get_package(frame: FrameType) -> str:
    name = str(frame.f_globals.get("__name__", ""))
    return "tests" if ".test" in name else name.split(".")[0]
