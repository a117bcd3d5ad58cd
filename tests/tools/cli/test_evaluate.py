import json
import re
from functools import partial
from pathlib import Path

import pytest
import thinc.api

from spacy_hashembeds import evaluate

from ... import toy_ner
from .running import get_rows, remove_colors, run_command, unwrap

run = partial(run_command, "evaluate")

ARGUMENTS = ("model", "test.spacy", "--train", "train.spacy")


@pytest.fixture
def folder(here) -> Path:
    """Add a pipeline and corpora to the current folder."""
    toy_ner.write_train(here / "train.spacy")
    write_test("Anna|PER saw Dora|PER in Oslo|LOC and Rome|LOC")
    patterns = {"Anna": "PER", "Oslo": "LOC", "and": "MISC"}
    toy_ner.make_ruler(patterns, None).to_disk(here / "model")
    return here


def write_test(*texts: str) -> None:
    docs = [toy_ner.make_doc(text) for text in texts]
    toy_ner.write(Path("test.spacy"), docs)


@pytest.mark.parametrize("options", [(), ("--full",)])
def test_tables_fit_a_terminal(folder, options):
    write_test(*[f"{'very ' * 20}Rome|organization {'far ' * 20}"] * 3)
    result = run(*ARGUMENTS, *options, "--against", "model")
    lines = remove_colors(result.output).splitlines()
    tables = [line for line in lines if re.search(r"\S   +\S", line)]
    assert (len(tables) > 40) is bool(options)
    assert ("More tables with --full" in unwrap(result.output)) is not bool(options)
    assert max(len(line.rstrip()) for line in tables) <= 80


def test_suffixes_determine_the_format(folder):
    Path("tables.md").write_text("old")
    names = ["pages/evaluation.html", "tables.md", "all.json"]
    outputs = (part for name in names for part in ("-o", name))
    result = run(*ARGUMENTS, "--samples", 50, "--seed", 2, *outputs, "--force")
    assert "from 50 draws, seed 2" in unwrap(remove_colors(result.output))
    page, tables, data = (Path(name).read_text(encoding="utf8") for name in names)
    expected = evaluate("model", "test.spacy", train="train.spacy", samples=50, seed=2)
    assert (page, tables) == (expected.to_html(), expected.to_markdown())
    assert json.loads(data) == json.loads(json.dumps(dict(expected)))


@pytest.mark.parametrize(
    ("names", "options"),
    [
        ("", r"--tag-column 2 --predicted-column 3 --separator \t"),
        ("A\tB\tC\tD\n", "--word-column A --tag-column C --predicted-column D"),
    ],
)
def test_gold_and_predicted_tags_in_one_file(folder, monkeypatch, names, options):
    used: list[int] = []
    monkeypatch.setattr(thinc.api, "require_gpu", used.append)
    lines = ["Zoë\tPERSON\tB-PER\tB-PER", "New York\tPLACE\tB-LOC\tO"]
    Path("both.tsv").write_text(names + "\n".join(lines) + "\n", "latin-1")
    options = [*options.split(), "--encoding", "latin-1", "-a", "both.tsv", "-g", "0"]
    options += ["--task", "ner"]
    result = run("both.tsv", "both.tsv", *options)
    shown = get_rows(result.output)
    assert "All 100.00 50.00 66.67 2".split() in [row[:5] for row in shown]
    assert "All R 50.00 50.00 +0.00".split() in [row[:5] for row in shown]
    assert used == [0]
