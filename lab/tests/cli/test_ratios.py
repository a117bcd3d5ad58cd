import json
import re
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vectors import Vectors
from typer.testing import CliRunner, Result

from lab.cli import lab_cli
from lab.trials.sizes import count_embedding_parameters, count_pipeline_parameters
from spacy_hashembeds.acceleration import machine
from tests.conftest import make_trial


@pytest.fixture
def model(trained_root) -> Path:
    return make_trial(trained_root).output / "model-best"


@pytest.fixture
def larger(model, tmp_path) -> Path:
    """The same pipeline with word vectors, and a component more."""
    nlp = spacy.load(model)
    tagger: Any = nlp.add_pipe("tagger")
    doc = Doc(nlp.vocab, words=["a"], tags=["X"])
    tagger.initialize(lambda: [Example(doc, doc)], nlp=nlp)
    nlp.vocab.vectors = Vectors(data=numpy.ones((3, 5), "f"), keys=["a", "b", "c"])
    folder = tmp_path / "with_a_name_that_nobody_would_type"
    folder.mkdir()
    nlp.to_disk(folder / "model-best")
    return folder / "model-best"


@pytest.fixture
def corpus(trained_root) -> Path:
    return trained_root / "corpus/demo/test.spacy"


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(lab_cli, ["ratios", *map(str, args)])


def get_tables(text: str) -> list[list[list[str]]]:
    """The rows of each table; their names hold no blank here, but are cut or paths."""
    _, *tables = re.split(r"^=+ .*$", text, flags=re.M)
    lines = [[line.split() for line in table.splitlines()] for table in tables]
    return [
        [line for line in rows if line and set(line[0]) & {*"/…"}] for rows in lines
    ]


def test_the_tables_have_a_row_for_each_pipeline(model, larger, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = run(model, larger)
    assert result.exit_code == 0, result.output
    plain = re.sub("\x1b[^m]*m", "", result.output)
    assert max(map(len, plain.splitlines())) <= 80
    measures, ratios = get_tables(plain)
    nlps = [spacy.load(path) for path in (model, larger)]
    counting = (count_pipeline_parameters, count_embedding_parameters)
    counts = [[f"{count(nlp):,}" for count in counting] for nlp in nlps]
    assert [row[1:4] for row in measures] == [["-", *figures] for figures in counts]
    assert all(row[5] == "-" for row in measures)
    n, n_larger = map(count_pipeline_parameters, nlps)
    assert n < n_larger
    assert ratios[0][1:5] == ["-", "0.0", "0.0", "0.0"]
    assert ratios[1][2] == f"{100 * (1 - n_larger / n):.1f}"
    assert "15 numbers in word vectors of" in plain
    assert "nobody_would_type" in measures[1][0]


def test_on_a_corpus_there_are_scores_and_speed(model, corpus, monkeypatch):
    monkeypatch.setattr(machine, "MAX_BUSY", -1)
    result = run(model, model, "-c", corpus)
    assert result.exit_code == 0, result.output
    assert "ents_f" in result.output
    measures, ratios = get_tables(result.output)
    score, speed = (float(measures[0][i].replace(",", "")) for i in (1, 5))
    assert 0 < score < 100
    assert speed > 0
    assert ratios[1][1] == "100.0"
    assert (ratios[0][6], float(ratios[1][6]) > 0) == ("1.00", True)
    assert "The timings were disturbed" in result.output


def test_the_comparison_is_saved(model, larger, tmp_path):
    output = tmp_path / "made/ratios.json"
    result = run(model, larger, "--output", output)
    assert result.exit_code == 0, result.output
    rows = json.loads(output.read_text())["rows"]
    assert [row["model"] for row in rows] == [str(model), str(larger)]
    assert rows[1]["vector_values"] == 15
    assert "Saved the comparison" in result.output


def check_failure(result: Result, message: str) -> None:
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't compare the pipelines" in result.output
    assert "".join(message.split()) in re.sub(r"\s", "", result.output)


def test_errors_are_told_without_a_traceback(model, corpus, tmp_path):
    check_failure(run(model), "There should be a pipeline and others")
    check_failure(run(model, tmp_path / "gone"), "Can't find model")
    check_failure(run(model, model, "-c", tmp_path / "gone"), "no file or folder")
    check_failure(run(model, model, "--score", "x"), "but there is no corpus")
    result = run(model, model, "-c", corpus, "--score", "x")
    check_failure(result, "'score' is 'x', but the pipeline")
