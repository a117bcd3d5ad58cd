"""Rules of all commands, for those of `python -m lab`."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from spacy.tokens import DocBin
from typer.testing import CliRunner

from lab.cli import floret, lab_cli
from lab.tests.recorded import write_seeds
from lab.vectors.rawtext import RAW_FILES
from spacy_hashembeds.cli._output import name_output
from tests import toy_ner
from tests.cli.rules import HelpRules, ProgressRules, StreamRules, TargetRules
from tests.toy_weighted import make_pipeline

from .test_prepare import write_wnut17


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder, with something to do for each command."""
    monkeypatch.chdir(tmp_path)
    toy_ner.write_train(tmp_path / "train.spacy")
    toy_ner.make_ruler({"Anna": "PER"}, None).to_disk(tmp_path / "model")
    make_pipeline().to_disk(tmp_path / "weighted")
    write_seeds(tmp_path / "metrics", "anem", "multi_embed", "default", [0.3, 0.3])
    (tmp_path / "raw").mkdir()
    for name in RAW_FILES:
        (tmp_path / "raw" / name).write_text("kept in!\n")
    (tmp_path / "text.txt").write_text("a b c\n" * 3)
    write_wnut17(tmp_path / "assets")
    return tmp_path


class TestHelp(HelpRules):
    root = commands = lab_cli
    with_json = ("ablation", "attention", "baseline", "compare", "importance", "trial")
    arguments = tuple(
        "dataset embedder folder grid metrics model results corpus text".split()
    )


def is_page(data: bytes) -> bool:
    return data.lower().startswith(b"<!doctype html>") and data.rstrip().endswith(
        b"</html>"
    )


def is_raw_text(data: bytes) -> bool:
    return data == b"kept in !\n" * len(RAW_FILES)


def is_corpus(data: bytes) -> bool:
    return len(DocBin().from_bytes(data)) == len(toy_ner.TRAIN)


def is_vectors(data: bytes) -> bool:
    return data.startswith(b"50 4 4 5 2 ") and data.count(b"\n") == 51


FLORET = "--dim 4 --bucket 50 --min-count 1 --epochs 1"


class TestStreams(StreamRules):
    root = commands = lab_cli
    to_stdout = (
        ("misspell train.spacy -o -", is_corpus),
        ("rawtext raw -o -", is_raw_text),
        (f"floret text.txt -o - {FLORET}", is_vectors),
        ("report metrics -o -", is_page),
    )
    data = ("importance weighted",)
    outputs = (
        ("ablation", "output"),
        ("attention", "output"),
        ("compare", "output"),
        ("floret", "output"),
        ("importance", "output"),
        ("importance", "chart"),
        ("misspell", "output"),
        ("rawtext", "output"),
        ("report", "output"),
    )
    callbacks = (name_output,)


class TestTargets(TargetRules):
    root = commands = lab_cli
    over_inputs = (
        ("misspell train.spacy -o train.spacy", "train.spacy", "train.spacy"),
        ("floret text.txt -o text.txt", "text.txt", "text.txt"),
        ("importance weighted --texts text.txt -o text.txt", "text.txt", "text.txt"),
        (
            "importance weighted --chart weighted/meta.json",
            "weighted/meta.json",
            "weighted",
        ),
        ("rawtext raw -o raw/redd.tok.uniq", "raw/redd.tok.uniq", "raw"),
        (
            "rawtext raw -o train.spacy --held-out train.spacy",
            "train.spacy",
            "train.spacy",
        ),
    )
    elsewhere = (
        "floret text.txt -o {}.floret",
        "ablation model train.spacy -o {}.json",
        "attention model Rome -o {}.html",
        "importance model -o {}.json",
        "rawtext raw -o {}.txt",
        "report raw -o {}.html",
        "misspell train.spacy -o {}.spacy",
        "prepare demo -o {}",
    )


class TestProgress(ProgressRules):
    root = commands = lab_cli
    progress = (
        ("prepare wnut17 -o corpus", ["Converting train:", "Counting test:"]),
        (
            "rawtext raw -o text.txt",
            [f"Tokenising {name}: 0 lines" for name in RAW_FILES],
        ),
    )


@pytest.mark.parametrize("is_quiet", [True, False])
def test_floret_is_watched_on_a_screen_unless_it_is_quiet(monkeypatch, is_quiet):
    with monkeypatch.context() as context:
        context.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True))
        context.setattr(floret, "is_quiet", lambda: is_quiet)
        assert floret.is_watched() != is_quiet


@pytest.mark.parametrize("is_watched", [True, False])
def test_floret_says_how_far_it_is(folder, monkeypatch, capfd, is_watched):
    monkeypatch.setattr(floret, "is_watched", lambda: is_watched)
    command = f"floret text.txt -o a.floret {FLORET}"
    assert CliRunner().invoke(lab_cli, command.split()).exit_code == 0
    assert ("Progress: 100" in capfd.readouterr().err) == is_watched
