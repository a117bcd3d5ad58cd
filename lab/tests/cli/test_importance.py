import json
import os
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy

from lab.importance.importance import list_importance
from tests.toy_weighted import TEXTS, get_layers, make_pipeline, set_weights

from ..calling import call, check_failure, succeed

run = partial(succeed, "importance")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Pipelines with a dictionary and without, and texts, to read only."""
    folder = tmp_path_factory.mktemp("importance")
    nlp = make_pipeline()
    set_weights(nlp, {"coffee": [3.0, -4.0], "tea": [0.5, 0.5]})
    nlp.to_disk(folder / "dictionary")
    make_pipeline(importance_rows=[5]).to_disk(folder / "hashed")
    (folder / "a.txt").write_text("\n".join(TEXTS))
    (folder / "b.jsonl").write_text('{"text": "tea for two"}\n')
    return folder


def test_texts_of_all_kinds_are_taken_together(folder, capfd):
    texts = ["--texts", folder / "a.txt", "--texts", folder / "b.jsonl"]
    run(folder / "hashed", *texts, "--json", "--top", 3)
    nlp = spacy.load(folder / "hashed")
    docs = map(nlp.make_doc, [*TEXTS, "tea for two"])
    assert json.loads(capfd.readouterr().out) == list_importance(nlp, docs, top=3)


def test_options_choose_what_is_listed(folder, capfd):
    texts = ["--texts", folder / "a.txt", "--min-count", 3, "--attr", "orth"]
    run(folder / "dictionary", *texts, "--json")
    (table,) = json.loads(capfd.readouterr().out)["tables"]
    (row,) = table["largest"]
    assert (row["values"][0]["name"], row["count"]) == ("coffee", 3)


@pytest.fixture
def piped() -> None:
    """Standard input that is a pipe with texts."""
    reader, writer = os.pipe()
    os.write(writer, "\n".join(TEXTS).encode())
    os.close(writer)
    kept = os.dup(0)
    os.dup2(reader, 0)
    os.close(reader)
    yield
    os.dup2(kept, 0)
    os.close(kept)


@pytest.mark.usefixtures("piped")
def test_texts_are_read_from_standard_input(folder, capfd):
    run(folder / "hashed", "--texts", "-", "--json")
    data = json.loads(capfd.readouterr().out)
    assert (data["texts"], data["tables"][0]["values"]) == (3, 4)


def test_lists_are_saved_and_drawn(folder, tmp_path):
    output, chart = tmp_path / "made/lists.json", tmp_path / "made/chart.png"
    result = run(folder / "dictionary", "-o", output, "--chart", chart)
    nlp = spacy.load(folder / "dictionary")
    assert json.loads(output.read_text()) == list_importance(nlp)
    assert chart.read_bytes().startswith(b"\x89PNG")
    assert "Saved the lists" in result.stdout
    assert "Drew a chart" in result.stdout


def test_the_lists_fit_the_screen(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = " ".join(f"{i}{'x' * 15}" for i in range(200))
    nlp = make_pipeline([text] * 2, importance_rows=[20])
    (layer,) = get_layers(nlp)
    P = layer.get_param("P")
    factors = np.linspace(-1 / 3, 1 / 3000, P.size, dtype="f").reshape(P.shape)
    layer.set_param("P", P * factors)
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "a.txt").write_text(f"{text}\n" * 1000)
    output = run(tmp_path / "model", "--texts", tmp_path / "a.txt").output
    plain = re.sub("\x1b[^m]*m", "", output)
    assert max(map(len, plain.splitlines())) <= 80


@pytest.mark.parametrize("option", ["-o", "--chart"])
@pytest.mark.parametrize("name", ["a.txt", "dictionary/config.cfg"])
def test_nothing_that_is_read_is_replaced(folder, option, name):
    before = (folder / name).read_bytes()
    texts = ["--texts", folder / "a.txt"]
    result = call("importance", folder / "dictionary", *texts, option, folder / name)
    check_failure(result, "which is read. Name a file elsewhere to write.")
    assert (folder / name).read_bytes() == before


def test_without_matplotlib_a_chart_can_not_be_drawn(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = call(
        "importance", folder / "dictionary", "--chart", tmp_path / "chart.png"
    )
    check_failure(result, "pip install 'spacy-hashembeds[report]'")
    # Said before the work, of which the lists come first.
    assert "ORTH" not in result.output
    # All else works without it.
    run(folder / "dictionary")


def test_a_chart_of_an_unknown_form_is_refused_before_the_work(folder, tmp_path):
    path = tmp_path / "chart.foo"
    result = call("importance", folder / "dictionary", "--chart", path)
    check_failure(result, "'chart' should end in .png, or in .svg or .pdf, but is")
    assert "ORTH" not in result.output
    svg = tmp_path / "chart.SVG"
    run(folder / "dictionary", "--chart", svg)
    assert b"<svg" in svg.read_bytes()
