import json
from pathlib import Path

import pytest
from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.experiments.evaluation import evaluate_pipeline

from .. import toy_ner


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    toy_ner.write_train(tmp_path / "train.spacy")
    docs = [toy_ner.make_doc("Anna|PER saw Dora|PER in Oslo|LOC and Rome|LOC")]
    toy_ner.write(tmp_path / "test.spacy", docs)
    patterns = {"Anna": "PER", "Oslo": "LOC", "and": "MISC"}
    toy_ner.make_ruler(patterns, None).to_disk(tmp_path / "model")
    return tmp_path


def run(folder: Path, *options: str):
    args = ["model", "test.spacy", "--train", "train.spacy"]
    args = [str(folder / arg) if "-" not in arg else arg for arg in args]
    return CliRunner().invoke(app, ["hashembeds", "evaluate", *args, *options])


def rows(output: str) -> list[list[str]]:
    return [line.split() for line in output.splitlines() if line.strip()]


def test_tables_show_all_seen_and_unseen_and_each_type(folder):
    result = run(folder)
    assert result.exit_code == 0, result.output
    shown = rows(result.output)
    assert ["P", "R", "F", "Support"] in shown
    assert ["All", "66.67", "50.00", "57.14", "4"] in shown
    assert ["Seen", "50.00", "50.00", "50.00", "2"] in shown
    assert ["Unseen", "50.00", "50.00", "50.00", "2"] in shown
    assert ["LOC", "Seen", "0.00", "0.00", "0.00", "1"] in shown
    assert ["LOC", "Unseen", "100.00", "100.00", "100.00", "1"] in shown
    assert ["PER", "Seen", "100.00", "100.00", "100.00", "1"] in shown
    assert ["MISC", "All", "0.00", "0.00", "0.00", "0"] in shown


def test_nothing_counted_is_shown_as_a_dash(folder):
    docs = [toy_ner.make_doc("Anna|PER sings")]
    toy_ner.write(folder / "test.spacy", docs)
    shown = rows(run(folder).output)
    assert ["Unseen", "-", "-", "-", "0"] in shown
    assert ["PER", "Unseen", "-", "-", "-", "0"] in shown


def test_scores_are_saved_as_json(folder):
    output = folder / "metrics" / "scores.json"
    result = run(folder, "--output", str(output))
    assert result.exit_code == 0, result.output
    paths = (folder / name for name in ("model", "test.spacy", "train.spacy"))
    assert json.loads(output.read_text()) == evaluate_pipeline(*paths)
    assert [path.name for path in output.parent.iterdir()] == ["scores.json"]


@pytest.mark.parametrize("name", ["model", "test.spacy", "train.spacy"])
def test_a_missing_input_ends_with_a_message(folder, name):
    (folder / name).rename(folder / "elsewhere")
    output = folder / "scores.json"
    result = run(folder, "--output", str(output))
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't evaluate the pipeline" in result.output
    assert name in result.output
    assert not output.exists()
