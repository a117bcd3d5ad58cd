"""Rules of all commands, for those of `spacy hashembeds`."""

import shutil
from io import BytesIO
from pathlib import Path

import numpy
import pytest
from spacy.cli._util import app
from thinc.api import Config

from spacy_hashembeds.tools.cli import hashembeds_cli
from spacy_hashembeds.tools.cli._output import name_output
from spacy_hashembeds.tools.config.presets import EMBEDDER
from tests.configs import CONFIGS

from ... import toy_ner
from .rules import HelpRules, ProgressRules, StreamRules, TargetRules, is_json
from .running import run_command


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder, with something to do and to read for each command."""
    monkeypatch.chdir(tmp_path)
    for name in ("gold.md", "pred.md", "train.md", "dev.spacy", "a.json", "own.iob"):
        (tmp_path / name).write_text("Anna B-PER\nsings O\n")
    (tmp_path / "text.txt").write_text("a b c\n" * 3)
    toy_ner.write_train(tmp_path / "train.spacy")
    toy_ner.write(tmp_path / "test.spacy", [toy_ner.make_doc("Anna|PER sings")])
    toy_ner.make_ruler({"Anna": "PER"}, None).to_disk(tmp_path / "model")
    (tmp_path / "model" / "corpus.spacy").write_bytes(b"")
    shutil.copy(CONFIGS / "spacy_stock.cfg", tmp_path / "base.cfg")
    return tmp_path


class Commands:
    root, words, commands = app, ("hashembeds",), hashembeds_cli


class TestHelp(Commands, HelpRules):
    with_json = ("accelerate", "analyze", "doctor", "evaluate")
    arguments = ("base", "kind", "model", "models", "corpus", "test", "train")


def is_symbols(data: bytes) -> bool:
    return "lang" in numpy.load(BytesIO(data)).files


def is_config(data: bytes) -> bool:
    config = Config().from_bytes(data, interpolate=False)
    embed = config["components"]["tok2vec"]["model"]["embed"]
    return embed["@architectures"] == EMBEDDER.architecture


EVALUATE = "evaluate model test.spacy --train train.spacy"


class TestStreams(Commands, StreamRules):
    to_stdout = (
        ("analyze train.spacy -o -", is_json),
        (f"{EVALUATE} -o -", is_json),
        ("config base.cfg -o -", is_config),
        ("tables train.spacy -o - --lang en", is_symbols),
    )
    data = ("analyze train.spacy", "doctor", EVALUATE)
    outputs = tuple(
        (name, "output")
        for name in ("analyze", "config", "evaluate", "label", "tables")
    )
    callbacks = (name_output,)


class TestProgress(Commands, ProgressRules):
    progress = (
        (
            "prepare iob -o corpus --train own.iob --dev gold.md --lang en",
            ["Converting train: 0 documents", "Counting dev: 0 docs"],
        ),
        ("tables train.spacy -o tables.npz -l en", ["Counting: 0 docs"]),
        ("analyze train.spacy", ["Reading train:"]),
    )


FILES = "evaluate pred.md gold.md -t train.md -a {}"
ANALYZE = "analyze train.spacy"
OWN = "prepare iob -o . --dev gold.md --lang en"


class TestTargets(Commands, TargetRules):
    over_inputs = (
        (FILES.format("train.md -o gold.md"), "gold.md", "gold.md"),
        (FILES.format("train.md -o pred.md"), "pred.md", "pred.md"),
        (FILES.format("gold.md -o a.md -o train.md"), "train.md", "train.md"),
        (f"{EVALUATE} -o model/meta.json", "model/meta.json", "model"),
        (FILES.format("model -o model/a.json"), "model/a.json", "model"),
        (f"{ANALYZE} -o train.spacy", *["train.spacy"] * 2),
        (f"{ANALYZE} --dev dev.spacy -o dev.spacy", *["dev.spacy"] * 2),
        (f"{ANALYZE} --test dev.spacy -o dev.spacy", *["dev.spacy"] * 2),
        (f"{ANALYZE} --text text.txt -o text.txt", *["text.txt"] * 2),
        (f"{ANALYZE} --model model -o model/config.cfg", "model/config.cfg", "model"),
        (f"{ANALYZE} --vectors model -o model/config.cfg", "model/config.cfg", "model"),
        (f"{ANALYZE} -c base.cfg -o base.cfg", *["base.cfg"] * 2),
        ("tables train.spacy -o train.spacy -l en", *["train.spacy"] * 2),
        ("tables model -o model/corpus.spacy -l en", "model/corpus.spacy", "model"),
        (f"{OWN} -t train.spacy", *["train.spacy"] * 2),
        (f"{OWN} -t gold.md --test dev.spacy", *["dev.spacy"] * 2),
    )
    elsewhere = (
        "evaluate pred.md gold.md -t train.md -o {}.json",
        "analyze train.spacy -o {}.json",
        "tables train.spacy -l en -o {}.npz",
        "prepare iob --dev gold.md -t gold.md --lang en -o {}",
    )


def test_settings_of_a_config_are_given_once(folder):
    words = "--training.dropout 0.1 --training.dropout=0.2".split()
    command = ("analyze", "train.spacy", "--config", "base.cfg")
    for given, code in ((words, 2), (words[:2], 0)):
        assert run_command(*command, *given).exit_code == code
