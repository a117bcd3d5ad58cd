"""What became of a damaged file."""

import dis
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Any

from .target import Part, Target

#: What our commands show as a message. Anything else is a traceback to their users.
_SHOWN = (ValueError, OSError, ImportError)

#: A longer message is no message.
_MAX_LENGTH = 1000

_RAISE = dis.opmap["RAISE_VARARGS"]


class Kind(StrEnum):
    """What can become of a damaged file."""

    REFUSED_AT_LOAD = "refused when loaded"
    REFUSED_AT_USE = "refused at first use"
    SAME = "same answer"
    OTHER = "other answer, as the file says"
    THEIR_ERROR = "error of spaCy's or Thinc's"
    THEIR_SILENCE = "wrong in silence, theirs"
    OPAQUE = "opaque error"
    SILENT = "wrong in silence"
    HANG = "hang"
    CRASH = "crash"


#: What may not be.
FAILURES = (Kind.OPAQUE, Kind.SILENT, Kind.HANG, Kind.CRASH)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of one damaged file.

    kind (Kind): What.
    cause (str): What failures are grouped by: where an error came from, or what a
        check could have seen.
    message (str): The error's, cut short.
    """

    kind: Kind
    cause: str = ""
    message: str = ""

    def to_json(self) -> dict[str, str]:
        """RETURNS (dict[str, str]): Itself as JSON data."""
        return asdict(self)


def judge_error(
    target: Target, part: Part, error: Exception, *, is_loaded: bool
) -> Verdict:
    """Tell a clear error from an opaque one, and ours from spaCy's.

    A clear one is raised by a `raise` of ours, as a kind that our commands show, in at
    most 1000 characters, which name the file when it is read. All others that come
    through our code are opaque, whatever they say: nobody meant them for this.
    """
    frames = list(_walk(error))
    last, opcode = frames[-1]
    message = str(error)
    is_named = is_loaded or not target.names_file or Path(part.path).name in message
    is_raised = _is_ours(last) and opcode == _RAISE and isinstance(error, _SHOWN)
    cause = f"{type(error).__name__} in {_describe(frames)}"
    if is_raised and is_named and len(message) <= _MAX_LENGTH:
        kind = Kind.REFUSED_AT_USE if is_loaded else Kind.REFUSED_AT_LOAD
    elif any(map(_is_ours, (frame for frame, _ in frames))) or _is_fuzzers(last):
        kind = Kind.OPAQUE
        cause += "" if len(message) <= _MAX_LENGTH else ", message too long"
        cause += "" if is_named or not is_raised else ", file not named"
    else:
        kind = Kind.THEIR_ERROR
    return Verdict(kind=kind, cause=cause, message=message[:300])


def judge_answer(
    target: Target,
    part: Part,
    files: tuple[bytes, bytes],
    answers: tuple[Any, Any],
) -> Verdict:
    """Tell whether an answer is right, legitimate, or wrong.

    files (tuple[bytes, bytes]): The file as it was and as it is.
    answers (tuple[Any, Any]): The answer as it was and as it is.
    """
    expected, answer = answers
    if target.is_same(expected, answer):
        return Verdict(kind=Kind.SAME)
    try:
        fault = target.find_fault(part, *files, answer)
    except (
        Exception
    ) as error:  # of whichever kind: it was read as if nothing were wrong
        fault = f"a plain reader can't read it ({type(error).__name__})"
    if fault is None:
        return Verdict(kind=Kind.OTHER)
    kind = Kind.SILENT if part.is_ours else Kind.THEIR_SILENCE
    return Verdict(kind=kind, cause=fault)


def _walk(error: Exception) -> Iterator[tuple[FrameType, int]]:
    """Give the frames of a traceback, and the opcode that each stopped at."""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        code = frame.f_code.co_code
        # Cython's frames have no code to speak of
        at = traceback.tb_lasti
        yield frame, code[at] if 0 <= at < len(code) else -1
        traceback = traceback.tb_next


def _describe(frames: list[tuple[FrameType, int]]) -> str:
    """Name the last function of ours, and the last of all."""
    ours = [frame for frame, _ in frames if _is_ours(frame)]
    names = [
        f"{_get_module(f)}.{f.f_code.co_name}" for f in (*ours[-1:], frames[-1][0])
    ]
    return " > ".join(dict.fromkeys(names))


def _get_module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _is_fuzzers(frame: FrameType) -> bool:
    """Tell whether the fuzzer itself stumbled over an answer, which nobody refused."""
    return _get_module(frame).split(".")[0] == "fuzz"


def _is_ours(frame: FrameType) -> bool:
    return _get_module(frame).split(".")[0] in ("spacy_hashembeds", "lab")
