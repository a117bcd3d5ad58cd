"""Progress, which is shown where somebody watches."""

from pathlib import Path

import pytest
from spacy.cli._util import app
from typer.testing import CliRunner, Result

import spacy_hashembeds.cli  # noqa: F401
from lab.cli import _progress, floret
from lab.vectors.rawtext import RAW_FILES

from .. import toy_ner


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder, with something to do for each command."""
    monkeypatch.chdir(tmp_path)
    toy_ner.write_train(tmp_path / "train.spacy")
    (tmp_path / "raw").mkdir()
    for name in RAW_FILES:
        (tmp_path / "raw" / name).write_text("kept in!\n")
    (tmp_path / "own.iob").write_text("Ann B-PER\nslept O\n\nRome B-LOC\n")
    (tmp_path / "text.txt").write_text("a b c\n" * 3)
    return tmp_path


def invoke(command: str) -> Result:
    result = CliRunner().invoke(app, ["hashembeds", *command.split()])
    assert result.exit_code == 0, result.output
    return result


COMMANDS = [
    (
        "prepare iob -o corpus --train own.iob --dev own.iob --lang en",
        ["Converting train: 0 documents", "Converting dev:", "Counting dev: 0 docs"],
    ),
    ("prepare demo -o corpus", ["Converting train:", "Counting test:"]),
    ("tables train.spacy -o tables.npz -l en", ["Counting:"]),
    ("rawtext raw -o text.txt", [f"Tokenising {name}: 0 lines" for name in RAW_FILES]),
    ("analyze train.spacy", ["Reading train:"]),
]


@pytest.mark.parametrize(("command", "titles"), COMMANDS)
def test_it_is_shown_on_a_screen(folder, monkeypatch, command, titles):
    monkeypatch.setattr(_progress, "hide_progress", lambda: False)
    result = invoke(command)
    for title in titles:
        assert title in result.stderr
        assert title not in result.stdout


@pytest.mark.parametrize("options", ["", " --quiet"])
def test_it_is_hidden_where_nobody_watches(folder, options):
    for command, _ in COMMANDS:
        assert invoke(command + options).stderr == ""


def test_quiet_hides_it_on_a_screen_too(folder, monkeypatch):
    shown = []

    class Stderr:
        def isatty(self) -> bool:
            return True

    with monkeypatch.context() as context:
        context.setattr("sys.stderr", Stderr())
        shown += [_progress.hide_progress(), _progress.is_watched()]
        context.setattr(_progress, "is_quiet", lambda: True)
        shown += [_progress.hide_progress(), _progress.is_watched()]
    assert shown == [None, True, True, False]


@pytest.mark.parametrize("is_watched", [True, False])
def test_floret_says_how_far_it_is(folder, monkeypatch, capfd, is_watched):
    monkeypatch.setattr(floret, "is_watched", lambda: is_watched)
    invoke("floret text.txt -o a.floret --dim 4 --bucket 50 --min-count 1 --epochs 1")
    assert ("Progress: 100" in capfd.readouterr().err) == is_watched
