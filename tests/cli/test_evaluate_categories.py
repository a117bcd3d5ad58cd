"""`spacy hashembeds evaluate` on text classifiers."""

import json
import re
from pathlib import Path

import pytest
from spacy.cli._util import app
from typer.testing import CliRunner, Result

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.evaluation.evaluate import evaluate_in_depth

from ..toy_textcat import TEST, TRAIN, make_docs, train_textcat, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    train = write(folder / "train.spacy", make_docs(TRAIN))
    write(folder / "test.spacy", make_docs(TEST))
    train_textcat(train).to_disk(folder / "model")
    both = train_textcat(train, steps=1)
    both.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "rain"}])
    both.to_disk(folder / "both")
    return folder


@pytest.fixture
def in_folder(folder, monkeypatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def run(*args: str) -> Result:
    options = ["--full", "-n", "50"]
    return CliRunner().invoke(app, ["hashembeds", "evaluate", *args, *options])


def test_tables_show_accuracy_and_fit_the_screen(in_folder):
    result = run("model", "test.spacy", "--train", "train.spacy", "--against", "model")
    assert result.exit_code == 0, result.output
    output = re.sub(r"\x1b\[[\d;]*m", "", result.output)
    evaluation = evaluate_in_depth("model", "test.spacy", samples=50)
    low, high = (f"{100 * x:.1f}" for x in evaluation["cats_acc_interval"])
    accuracy = f"{100 * evaluation['cats_acc']:.2f}"
    rows = [line.split() for line in output.splitlines()]
    assert ["Accuracy", accuracy, f"{low}..{high}"] in rows
    assert ["Accuracy", accuracy, accuracy, "+0.00", "-", "1.0000"] in rows
    for label, counts in zip(*list(evaluation["matrix"].values())[:2], strict=True):
        assert [label, *map(str, counts)] in rows
    assert f"over the {len(TEST)} documents, from 50 draws" in " ".join(output.split())
    assert max(map(len, output.splitlines())) <= 80


def test_what_comes_first_are_the_averages(in_folder):
    args = ["model", "test.spacy", "--against", "model", "-n", "50"]
    result = CliRunner().invoke(app, ["hashembeds", "evaluate", *args])
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines() if line.strip()]
    start = next(i for i, row in enumerate(rows) if row[0] == "Accuracy")
    totals = rows[start : start + 3]
    assert [row[0] for row in totals] == ["Accuracy", "Macro", "Micro"]
    assert all(row[-3:] == ["+0.00", "-", "1.0000"] for row in totals)
    assert "matrix" not in result.output


def test_json_is_what_python_gives(in_folder, capfd):
    result = run("model", "test.spacy", "--json", "-o", "e.html")
    assert result.exit_code == 0, result.output
    printed = json.loads(capfd.readouterr().out)
    expected = evaluate_in_depth("model", "test.spacy", samples=50)
    assert printed == json.loads(json.dumps(dict(expected)))
    assert "<h1>Categories of documents, evaluated</h1>" in Path("e.html").read_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["both", "test.spacy"], "Say which to evaluate with 'task' (--task)"),
        (["model", "test.spacy", "--task", "x"], "'task' should be 'ner' or 'textcat'"),
        (["model", "test.spacy", "--against", "both"], "this one sets both"),
    ],
)
def test_errors_are_told_without_a_traceback(in_folder, args, message):
    result = run(*args)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't evaluate the pipeline" in result.output
    assert "".join(message.split()) in re.sub(r"\s", "", result.output)


def test_a_task_can_be_chosen(in_folder):
    result = run("both", "test.spacy", "--task", "textcat")
    assert result.exit_code == 0, result.output
    assert "Accuracy" in result.output
    train = ["--train", "train.spacy"]
    result = run("both", "test.spacy", "--task", "ner", *train)
    assert result.exit_code == 0, result.output
    assert "Unseen" in result.output


def test_one_file_is_not_written_twice(in_folder):
    result = run("model", "test.spacy", "-o", "a.json", "-o", "./a.json")
    assert result.exit_code == 1
    assert "Name two files that differ." in " ".join(result.stderr.split())
