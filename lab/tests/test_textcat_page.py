"""docs/textcat.md: its corpora are ours."""

import re

from lab.corpora.textdatasets import TEXT_DATASETS
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
