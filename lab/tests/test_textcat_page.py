"""docs/textcat.md: its corpora are ours, and its output is what `prepare` prints."""

import re
from collections.abc import Callable
from pathlib import Path

from lab.corpora.textdatasets import TEXT_DATASETS
from spacy_hashembeds.cli._prepared import show_prepared
from spacy_hashembeds.corpora.splits import SPLITS
from tests.conftest import ROOT

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


def test_the_small_corpus_is_as_prepare_prints_it(
    prepare_real: Callable[[str], Path], capsys
):
    (printed,) = re.findall("```\n(Texts with the label.*?)\n\n", PAGE, re.S)
    folder = prepare_real("ag_news_small")
    show_prepared({split: folder / f"{split}.spacy" for split in SPLITS})
    assert printed in capsys.readouterr().out
