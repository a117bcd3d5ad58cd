"""docs/textcat.md: its corpora are ours."""

import re

from lab.corpora.textdatasets import TEXT_DATASETS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "textcat.md").read_text(encoding="utf8")


def test_the_files_of_each_dataset_are_named():
    """Those with a file of classes after the others."""
    _, without, beside = re.split(r"`assets/`|`classes\.txt`", PAGE)
    expected = {dataset.name: dataset.files for dataset in TEXT_DATASETS}
    assert expected.pop("ag_news_small") == ("ag_news/test.csv", "ag_news/classes.txt")
    assert "`ag_news`" in PAGE
    for name, files in expected.items():
        named = "train.csv", "test.csv", "classes.txt"
        assert files == tuple(f"{name}/{file}" for file in named[: len(files)])
        if name != "ag_news":
            assert f"`{name}`" in (without if len(files) == 2 else beside)
