"""What a command reads, it does not replace; and what it can't write, it says first."""

from pathlib import Path

import pytest
from spacy.cli._util import app

from spacy_hashembeds.cli import hashembeds_cli
from spacy_hashembeds.evaluation import evaluate

from .. import toy_ner
from .rules import TargetRules
from .running import check_refused, run_command


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder, with something to read for each command."""
    monkeypatch.chdir(tmp_path)
    files = ("gold.md", "pred.md", "train.md", "dev.spacy", "train.spacy", "a.json")
    for name in files:
        (tmp_path / name).write_text("Anna B-PER\nsings O\n")
    toy_ner.write_train(tmp_path / "v.spacy")
    toy_ner.make_ruler({"Anna": "PER"}, None).to_disk(tmp_path / "m")
    (tmp_path / "m" / "corpus.spacy").write_bytes(b"")
    (tmp_path / "text.txt").write_text("a b c\n" * 3)
    return tmp_path


FILES = "evaluate pred.md gold.md -t train.md -a {}"
OWN = "prepare iob -o . --dev gold.md --lang en"


class TestTargets(TargetRules):
    root = app
    words = ("hashembeds",)
    commands = hashembeds_cli
    over_inputs = (
        (FILES.format("train.md -o gold.md"), "gold.md", "gold.md"),
        (FILES.format("train.md -o pred.md"), "pred.md", "pred.md"),
        (FILES.format("gold.md -o a.md -o train.md"), "train.md", "train.md"),
        ("evaluate m v.spacy -t v.spacy -o m/meta.json", "m/meta.json", "m"),
        ("evaluate pred.md v.spacy -t v.spacy -a m -o m/a.json", "m/a.json", "m"),
        ("analyze v.spacy -o v.spacy", "v.spacy", "v.spacy"),
        ("analyze v.spacy --model m -o m/config.cfg", "m/config.cfg", "m"),
        ("analyze v.spacy --vectors m -o m/config.cfg", "m/config.cfg", "m"),
        ("analyze v.spacy -c m/config.cfg -o m/config.cfg", *["m/config.cfg"] * 2),
        ("tables v.spacy -o v.spacy -l en", "v.spacy", "v.spacy"),
        ("tables m -o m/corpus.spacy -l en", "m/corpus.spacy", "m"),
        ("tables m --merge -o m/a.npz -l en", "m/a.npz", "m"),
        (f"{OWN} -t train.spacy", "train.spacy", "train.spacy"),
        (f"{OWN} -t gold.md --test dev.spacy", "dev.spacy", "dev.spacy"),
    )
    elsewhere = (
        "evaluate pred.md gold.md -t train.md -o {}.json",
        "analyze v.spacy -o {}.json",
        "tables v.spacy -l en -o {}.npz",
        "prepare iob --dev gold.md -t gold.md --lang en -o {}",
    )


def test_an_evaluation_that_can_not_be_saved_is_not_made(folder, monkeypatch):
    monkeypatch.setattr(evaluate, "load_source", None)
    command = "evaluate m v.spacy -t v.spacy -o a.html -o gold.md/x.json"
    check_refused(run_command(*command.split()), "is a file, and no folder")
