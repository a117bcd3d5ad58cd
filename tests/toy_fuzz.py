"""Targets whose damage does what real damage may do: one for each thing."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import spacy

from fuzz.target import Part, Target
from fuzz.targets.texts import _use_docs
from lab.vectors.rawtext import tokenize
from spacy_hashembeds.checks import check_integers
from spacy_hashembeds.symbols import load_symbols

_WHOLE = b"whole"


def _make(folder: Path) -> None:
    (folder / "file").write_bytes(_WHOLE)


def _load(folder: Path, part: Part) -> tuple[Path, bytes]:
    return folder / "file", (folder / "file").read_bytes()


def _crash(path: Path) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _hang(path: Path) -> None:
    sleep(100)


def _fill_memory(path: Path) -> Any:
    return bytearray(2**36)


def _refuse(path: Path) -> Any:
    return load_symbols(path)


def _refuse_without_name(path: Path) -> Any:
    return check_integers(1, width=0)


def _talk(path: Path) -> Any:
    return check_integers(1, **{"x" * 2000 + path.name: 0})


def _stumble(path: Path) -> Any:
    return tokenize(None, split_contractions=False)  # type: ignore[arg-type]


def _have_spacy_fail(path: Path) -> Any:
    return spacy.load(path.parent)


def _fail_in_fuzzer(path: Path) -> Any:
    return _use_docs(None)  # type: ignore[arg-type]


def _answer_the_same(path: Path) -> str:
    return "answer"


def _answer_otherwise(path: Path) -> str:
    return "other answer"


def _answer_unreadably(path: Path) -> str:
    return "unreadable"


def _answer_wrongly(path: Path) -> str:
    return "wrong answer"


def _find_fault(part: Part, original: bytes, damaged: bytes, answer: Any) -> str | None:
    assert original == _WHOLE != damaged
    if answer == "unreadable":
        raise KeyError(answer)
    return "it is wrong" if answer == "wrong answer" else None


class Use:
    """Uses a file: if it is damaged, as told."""

    def __init__(self, act: Callable[[Path], Any]):
        self.act = act

    def __call__(self, loaded: tuple[Path, bytes]) -> Any:
        path, data = loaded
        return "answer" if data == _WHOLE else self.act(path)


class Load(Use):
    """Does so while it is loaded."""

    def __call__(self, folder: Path, part: Part) -> Any:
        return super().__call__(_load(folder, part))


def _return(answer: Any) -> Any:
    return answer


def make_target(
    act: Callable[[Path], Any], *, at_load: bool = False, **part: Any
) -> Target:
    return Target(
        name=act.__name__.strip("_"),
        parts=[Part(path="file", **part)],
        make=_make,
        load=Load(act) if at_load else _load,
        use=_return if at_load else Use(act),
        find_fault=_find_fault,
    )


CRASH, HANG, MEMORY = map(make_target, (_crash, _hang, _fill_memory))
#: What becomes of damage, and what its cause says.
JUDGED = {
    "refused": (
        make_target(_refuse, at_load=True),
        "refused when loaded",
        "load_symbols",
    ),
    "refused later": (make_target(_refuse), "refused at first use", "load_symbols"),
    "not named": (
        make_target(_refuse_without_name, at_load=True),
        "opaque error",
        "file not named",
    ),
    "too long": (make_target(_talk, at_load=True), "opaque error", "message too long"),
    "opaque": (make_target(_stumble), "opaque error", "TypeError in lab.vectors"),
    "unusable": (make_target(_fail_in_fuzzer), "opaque error", "_use_docs"),
    "theirs": (make_target(_have_spacy_fail), "error of spaCy's or Thinc's", "spacy."),
    "same": (make_target(_answer_the_same), "same answer", ""),
    "other": (make_target(_answer_otherwise), "other answer, as the file says", ""),
    "wrong": (make_target(_answer_wrongly), "wrong in silence", "it is wrong"),
    "unreadable": (
        make_target(_answer_unreadably),
        "wrong in silence",
        "a plain reader can't read it (KeyError)",
    ),
    "wrong, theirs": (
        make_target(_answer_wrongly, is_ours=False),
        "wrong in silence, theirs",
        "it is wrong",
    ),
}
