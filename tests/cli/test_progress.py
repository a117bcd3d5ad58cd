"""Progress, which is shown where somebody watches."""

from pathlib import Path

import pytest
from spacy.cli._util import app

from spacy_hashembeds.cli import _output

from .. import toy_ner
from .rules import ProgressRules


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder, with something to do for each command."""
    monkeypatch.chdir(tmp_path)
    toy_ner.write_train(tmp_path / "train.spacy")
    (tmp_path / "own.iob").write_text("Ann B-PER\nslept O\n\nRome B-LOC\n")
    return tmp_path


class TestProgress(ProgressRules):
    root = app
    words = ("hashembeds",)
    progress = (
        (
            "prepare iob -o corpus --train own.iob --dev own.iob --lang en",
            ["Converting train: 0 documents", "Counting dev: 0 docs"],
        ),
        ("tables train.spacy -o tables.npz -l en", ["Counting:"]),
        ("analyze train.spacy", ["Reading train:"]),
    )


@pytest.mark.parametrize(("is_quiet", "hidden"), [(False, None), (True, True)])
def test_quiet_hides_it_on_a_screen_too(monkeypatch, is_quiet, hidden):
    """None has `tqdm` look whether stderr is a screen."""
    monkeypatch.setattr(_output, "is_quiet", lambda: is_quiet)
    assert _output.hide_progress() is hidden
