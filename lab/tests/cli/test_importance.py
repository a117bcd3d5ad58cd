import json
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy

from lab.importance.importance import list_importance
from spacy_hashembeds import systems
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


def test_texts_are_read_from_standard_input(folder, monkeypatch, capfd):
    monkeypatch.setattr(systems, "STANDARD_INPUT", folder / "a.txt")
    run(folder / "hashed", "--texts", "-", "--json")
    data = json.loads(capfd.readouterr().out)
    assert (data["texts"], data["tables"][0]["values"]) == (3, 4)


@pytest.mark.parametrize(("suffix", "content"), [("png", b"PNG"), ("SVG", b"<svg")])
def test_lists_are_saved_and_drawn(folder, tmp_path, suffix, content):
    output, chart = tmp_path / "made/lists.json", tmp_path / f"made/chart.{suffix}"
    result = run(folder / "dictionary", "-o", output, "--chart", chart)
    nlp = spacy.load(folder / "dictionary")
    assert json.loads(output.read_text()) == list_importance(nlp)
    assert content in chart.read_bytes()[:1000]
    assert "Saved it to" in result.stdout
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


@pytest.mark.parametrize(
    ("suffix", "has_matplotlib", "message"),
    [
        ("png", False, "pip install 'spacy-hashembeds[report]'"),
        ("foo", True, "'chart' should end in .png, or in .svg or .pdf, but is"),
    ],
)
def test_a_chart_that_can_not_be_drawn_is_refused_before_the_work(
    folder, tmp_path, monkeypatch, suffix, has_matplotlib, message
):
    if not has_matplotlib:
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    path = tmp_path / f"chart.{suffix}"
    result = call("importance", folder / "dictionary", "--chart", path)
    check_failure(result, message)
    assert "ORTH" not in result.output  # of the lists, which come first
    run(folder / "dictionary")  # all else works without a chart
