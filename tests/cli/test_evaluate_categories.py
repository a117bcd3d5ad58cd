"""`spacy hashembeds evaluate` on text classifiers."""

from functools import partial
from pathlib import Path

import pytest

from spacy_hashembeds.evaluation.evaluate import evaluate_in_depth

from ..toy_textcat import TEST, TRAIN, make_docs, train_textcat, write
from .running import check_refused, get_rows, remove_colours, run_command, unwrap


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    train = write(folder / "train.spacy", make_docs(TRAIN))
    write(folder / "test.spacy", make_docs(TEST))
    nlp = train_textcat(train)
    nlp.to_disk(folder / "model")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": "rain"}])
    nlp.to_disk(folder / "both")
    return folder


@pytest.fixture(autouse=True)
def _in_folder(folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)


run = partial(run_command, "evaluate", "-n", 50)


def test_tables_show_accuracy_and_fit_the_screen():
    result = run("model", "test.spacy", "-t", "train.spacy", "-a", "model", "--full")
    assert result.exit_code == 0, result.output
    output = remove_colours(result.output)
    evaluation = evaluate_in_depth("model", "test.spacy", samples=50)
    low, high = (f"{100 * x:.1f}" for x in evaluation["cats_acc_interval"])
    accuracy = f"{100 * evaluation['cats_acc']:.2f}"
    rows = get_rows(output)
    assert ["Accuracy", accuracy, f"{low}..{high}"] in rows
    assert ["Accuracy", accuracy, accuracy, "+0.00", "-", "1.0000"] in rows
    for label, counts in zip(*list(evaluation["matrix"].values())[:2], strict=True):
        assert [label, *map(str, counts)] in rows
    assert f"over the {len(TEST)} documents, from 50 draws" in unwrap(output)
    assert max(map(len, output.splitlines())) <= 80


def test_what_comes_first_are_the_averages():
    result = run("model", "test.spacy", "--against", "model")
    assert result.exit_code == 0, result.output
    rows = get_rows(result.output)
    start = next(i for i, row in enumerate(rows) if row[0] == "Accuracy")
    totals = rows[start : start + 3]
    assert [row[0] for row in totals] == ["Accuracy", "Macro", "Micro"]
    assert all(row[-3:] == ["+0.00", "-", "1.0000"] for row in totals)
    assert "matrix" not in result.output


def test_one_file_is_not_written_twice():
    result = run("model", "test.spacy", "-o", "a.json", "-o", "./a.json")
    check_refused(result, "Can't evaluate the pipeline", "Name two files that differ.")


@pytest.mark.parametrize(
    ("options", "shown"),
    [("--task textcat", "Accuracy"), ("--task ner -t train.spacy", "Unseen")],
)
def test_a_task_can_be_chosen(options, shown):
    result = run("both", "test.spacy", *options.split())
    assert result.exit_code == 0, result.output
    assert shown in result.output
