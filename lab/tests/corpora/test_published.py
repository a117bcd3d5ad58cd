"""The corpora of Zhang et al., read from files in the published format."""

from pathlib import Path

import pytest

from lab.corpora.published import PUBLISHED, Published, read_published

NEWS = r""""4","A ""new""
title","Space\flight, \$10 a
ride\\by No. 1"
"1","","Only this"
"""


def get_texts(path: Path, layout: Published) -> list[tuple[str, list[str]]]:
    """Return each text and its labels."""
    return [
        (labelled.text, [label for label, value in labelled.cats.items() if value])
        for labelled in read_published(path, layout)
    ]


def test_escapes_of_ag_news_are_undone(tmp_path: Path):
    (tmp_path / "classes.txt").write_text("World\nSports\nBusiness\nSci/Tech\n")
    path = tmp_path / "test.csv"
    path.write_text(NEWS)
    text = 'A "new"\ntitle Space\nflight, $10 a\nride\n\nby No. 1'
    expected = [(text, ["Sci/Tech"]), ("Only this", ["World"])]
    assert get_texts(path, PUBLISHED["ag_news"]) == expected


@pytest.mark.parametrize(
    ("layout", "row", "text", "label"),
    [
        (PUBLISHED["dbpedia"], '14," T","An abstract."', " T An abstract.", "c14"),
        (PUBLISHED["yahoo_answers"], r'10,"Q?","","A\nB"', "Q? A\nB", "c10"),
        (PUBLISHED["yelp_polarity"], r'"1","So \""bad\""."', 'So "bad".', "negative"),
        (PUBLISHED["yelp_full"], '"5","Good"', "Good", "5"),
        (PUBLISHED["amazon_full"], '"2","Title","Text"', "Title Text", "2"),
        (PUBLISHED["amazon_polarity"], r'"2","C:\dir","x"', r"C:\dir x", "positive"),
    ],
)
def test_other_corpora_have_their_own_columns(
    layout: Published, row: str, text: str, label: str, tmp_path: Path
):
    path = tmp_path / "train.csv"
    path.write_text(f"{row}\n")
    if not layout.labels:
        names = "".join(f"c{i + 1}\n" for i in range(14))
        (tmp_path / "classes.txt").write_text(names)
    assert get_texts(path, layout) == [(text, [label])]
    path.write_text(row.rsplit(",", 1)[0] + "\n")
    with pytest.raises(ValueError, match=r"train\.csv:1: expected \d columns"):
        get_texts(path, layout)
