"""docs/textcat.md: its corpora are ours, and its output is what `prepare` prints."""

import re
from pathlib import Path

from typer.testing import CliRunner

from spacy_hashembeds.cli import hashembeds_cli
from spacy_hashembeds.corpora.textdatasets import TEXT_DATASETS

from .conftest import ROOT

PAGE = (ROOT / "docs" / "textcat.md").read_text(encoding="utf8")


def test_the_files_of_each_dataset_are_named():
    rows = re.findall(r"^\| `(\w+)` \|.*\| `assets/(\w+)/\{(.+)\}` \|$", PAGE, re.M)
    named = {
        name: tuple(f"{folder}/{file}" for file in files.split(","))
        for name, folder, files in rows
    }
    expected = {dataset.name: dataset.files for dataset in TEXT_DATASETS}
    assert expected.pop("ag_news_small") == ("ag_news/test.csv", "ag_news/classes.txt")
    assert named == expected


def test_the_small_corpus_is_as_prepare_prints_it(data_dir: Path, tmp_path: Path):
    (printed,) = re.findall("```\n(Texts with the label.*?)\n\n", PAGE, re.S)
    args = ["prepare", "ag_news_small", "-o", tmp_path / "out", "-a", data_dir]
    result = CliRunner().invoke(hashembeds_cli, list(map(str, args)))
    assert result.exit_code == 0, result.output
    assert printed in result.output
