"""Whether what becomes of damage is told."""

from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_hashembeds.checks import check_integers
from spacy_hashembeds.files import parse_json
from spacy_hashembeds.symbols import load_symbols

from . import judgement
from .damage import damage_bytes
from .judgement import Reader


def check(path: Path, act: Callable[[Path], Any]) -> None:
    """Judge one damaged file, for which what reads it acts."""
    path.write_bytes(b"whole")

    def load(path: Path) -> Any:
        return "answer" if path.read_bytes() == b"whole" else act(path)

    def find_fault(damaged: bytes, answer: Any) -> str | None:
        return "it is wrong" if answer == "wrong" else None

    @settings(max_examples=1, database=None)
    @given(st.just(b"damaged"))
    def run(damaged: bytes) -> None:
        Reader(path, damage_bytes, load, find_fault).check(damaged)

    run()
    assert path.read_bytes() == b"whole"


@pytest.mark.parametrize("act", [load_symbols, lambda path: "other", spacy.load])
def test_clear_errors_theirs_and_what_a_file_says_are_fine(act, tmp_path):
    check(tmp_path / "file", act)


@pytest.mark.parametrize(
    ("act", "fault"),
    [
        (lambda path: "wrong", "wrong in silence: it is wrong"),
        (lambda path: parse_json(None), "an opaque error: TypeError"),
        (lambda path: path.no, "an opaque error: AttributeError"),
        (lambda path: bytearray(2**36), "an opaque error: MemoryError"),
        (lambda path: check_integers(1, width=0), "that does not name the file"),
        (lambda path: check_integers(1, **{"file" * 999: 0}), "a message of 4"),
        (lambda path: sleep(9), "a hang: more than 1 seconds"),
    ],
)
def test_what_should_not_be_is_told(act, fault, tmp_path, monkeypatch):
    monkeypatch.setattr(judgement, "_SECONDS", 1)
    with pytest.raises((AssertionError, pytest.fail.Exception), match=fault):
        check(tmp_path / "file", act)
    assert (tmp_path / "file").read_bytes() == b"whole"
