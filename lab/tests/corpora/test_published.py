"""The corpora of Zhang et al.: read as they were published, or refused."""

from pathlib import Path

import pytest

from lab.corpora.published import PUBLISHED, Published, read_published

AG_NEWS = PUBLISHED["ag_news"]

TOPICS = "World\nSports\nBusiness\nSci/Tech\n"

NEWS = r""""4","A ""new""
title","Space\flight, \$10 a
ride\\by No. 1"
"1","","Only this"
"""


@pytest.fixture
def ag_news(tmp_path: Path) -> Path:
    (tmp_path / "classes.txt").write_text(TOPICS)
    path = tmp_path / "test.csv"
    path.write_text(NEWS)
    return path


def get_texts(path: Path, layout: Published) -> list[tuple[str, list[str]]]:
    """Each text and its labels."""
    return [
        (labelled.text, [label for label, value in labelled.cats.items() if value])
        for labelled in read_published(path, layout)
    ]


def test_ag_news_is_read_as_it_was_meant(ag_news: Path):
    text = 'A "new"\ntitle Space\nflight, $10 a\nride\n\nby No. 1'
    expected = [(text, ["Sci/Tech"]), ("Only this", ["World"])]
    assert get_texts(ag_news, AG_NEWS) == expected


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
        names = "".join(f"c{i + 1}\n" for i in range(layout.n_classes))
        (tmp_path / "classes.txt").write_text(names)
    assert get_texts(path, layout) == [(text, [label])]
    path.write_text(row.rsplit(",", 1)[0] + "\n")
    with pytest.raises(ValueError, match=r"train\.csv:1: expected \d columns, class, "):
        get_texts(path, layout)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"1","a","b"\n2","a"\n', r":2: expected 3 columns, class, title.*got 2"),
        ('"1","a\nb","b"\n2,a,b,c\n', r":3: expected 3 columns.*got 4"),
        ('"0","a","b"\n', r":1: expected the number of a class, from 1 to 4.*got '0'"),
        ('"5","a","b"\n', r":1: expected the number of a class, from 1 to 4.*got '5'"),
        ('"²","a","b"\n', r":1: expected the number of a class.*got '²'"),
        ('"x","a","b"\n', r":1: expected the number of a class.*got 'x'"),
    ],
)
def test_errors_name_file_and_line(text: str, message: str, ag_news: Path):
    ag_news.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=message):
        get_texts(ag_news, AG_NEWS)


@pytest.mark.parametrize("names", ["World\nSports\n", TOPICS + "x\n", "a\nb\nb\nc\n"])
def test_names_of_classes_are_those_that_there_are(names: str, ag_news: Path):
    ag_news.with_name("classes.txt").write_text(names)
    with pytest.raises(ValueError, match=r"classes\.txt: expected the names of 4"):
        get_texts(ag_news, AG_NEWS)


def test_names_of_classes_that_are_missing(ag_news: Path):
    ag_news.with_name("classes.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"no '.*classes\.txt', which names"):
        get_texts(ag_news, AG_NEWS)


def test_rows_without_text_are_passed_over(ag_news: Path):
    ag_news.write_text('"1","",""\n"2","a",""\n')
    assert get_texts(ag_news, AG_NEWS) == [("a", ["Sports"])]


def test_texts_that_spacy_does_not_take(ag_news: Path):
    half = "ab " * 200_000
    ag_news.write_text(f'"1","a","b"\n"2","{half}","{half}"\n')
    with pytest.raises(ValueError, match=r"csv:2: expected a text of 1,000,000 char"):
        get_texts(ag_news, AG_NEWS)


def test_the_published_file_of_ag_news(data_dir: Path):
    first, second, *_ = get_texts(data_dir / "ag_news" / "test.csv", AG_NEWS)
    assert first[1] == ["Business"]
    assert first[0].startswith("Fears for T N pension after talks Unions represent")
    assert second[1] == ["Sci/Tech"]
    assert "A second\nteam of rocketeers" in second[0]
