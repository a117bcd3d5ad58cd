import csv
import json
import os
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry
from spacy_hashembeds.corpora.textreaders import (
    create_ag_news_reader,
    create_amazon_full_reader,
    create_amazon_polarity_reader,
    create_dbpedia_reader,
    create_labelled_texts_reader,
    create_yahoo_answers_reader,
    create_yelp_full_reader,
    create_yelp_polarity_reader,
)
from thinc.api import Config

from spacy_hashembeds.corpora import rows

NAMES = ("AGNews", "DBPedia", "YelpPolarity", "YelpFull", "YahooAnswers", "AmazonFull")
NAMES += ("AmazonPolarity", "LabelledTexts")

TOPICS = "World\nSports\nBusiness\nSci/Tech\n"

AG_NEWS = r""""4","A ""new""
title","Space\flight, \$10 a
ride\\by No. 1"
"1","","Only this"
"""


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def ag_news(tmp_path: Path) -> Path:
    (tmp_path / "classes.txt").write_text(TOPICS)
    path = tmp_path / "test.csv"
    path.write_text(AG_NEWS)
    return path


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf8")
    return path


def get_texts(examples: list[Example]) -> list[tuple[str, list[str]]]:
    """Each text and its labels."""
    return [
        (eg.text, [label for label, value in eg.reference.cats.items() if value])
        for eg in examples
    ]


# Published corpora


def test_ag_news_is_read_as_it_was_meant(ag_news: Path, nlp: Language):
    examples = list(create_ag_news_reader(path=ag_news)(nlp))
    text = 'A "new"\ntitle Space\nflight, $10 a\nride\n\nby No. 1'
    assert get_texts(examples) == [(text, ["Sci/Tech"]), ("Only this", ["World"])]


def test_examples_have_all_labels_and_nothing_predicted(ag_news: Path, nlp: Language):
    first, _ = create_ag_news_reader(path=ag_news)(nlp)
    assert first.reference.cats == {
        "World": 0.0,
        "Sports": 0.0,
        "Business": 0.0,
        "Sci/Tech": 1.0,
    }
    assert first.predicted.cats == {}
    assert first.predicted.vocab is nlp.vocab
    assert [t.norm_ for t in first.predicted] == [t.norm_ for t in nlp(first.text)]


@pytest.mark.parametrize(
    ("create", "n_classes", "row", "text", "label"),
    [
        (create_dbpedia_reader, 14, '14," T","An abstract."', " T An abstract.", "c14"),
        (create_yahoo_answers_reader, 10, r'10,"Q?","","A\nB"', "Q? A\nB", "c10"),
        (
            create_yelp_polarity_reader,
            0,
            r'"1","So \""bad\""."',
            'So "bad".',
            "negative",
        ),
        (create_yelp_full_reader, 0, '"5","Good"', "Good", "5"),
        (create_amazon_full_reader, 0, '"2","Title","Text"', "Title Text", "2"),
        (
            create_amazon_polarity_reader,
            0,
            r'"2","C:\dir","x"',
            r"C:\dir x",
            "positive",
        ),
    ],
)
def test_other_corpora_have_their_own_columns(
    create, n_classes: int, row: str, text: str, label: str, tmp_path: Path, nlp
):
    path = write(tmp_path, "train.csv", row + "\n")
    if n_classes:
        write(tmp_path, "classes.txt", "".join(f"c{i + 1}\n" for i in range(n_classes)))
    assert get_texts(list(create(path=path)(nlp))) == [(text, [label])]
    write(tmp_path, "train.csv", row.rsplit(",", 1)[0] + "\n")
    with pytest.raises(ValueError, match=r"train\.csv:1: expected \d columns, class, "):
        list(create(path=path)(nlp))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '"1","a","b"\n"2","a"\n',
            r":2: expected 3 columns, class, title.*got 2",
        ),
        ('"1","a\nb","b"\n2,a,b,c\n', r":3: expected 3 columns.*got 4"),
        ('"0","a","b"\n', r":1: expected the number of a class, from 1 to 4.*got '0'"),
        ('"5","a","b"\n', r":1: expected the number of a class, from 1 to 4.*got '5'"),
        ('"²","a","b"\n', r":1: expected the number of a class.*got '²'"),
        ('"x","a","b"\n', r":1: expected the number of a class.*got 'x'"),
        ('"1","a","b"\n\n"1","a","b\nc\n', r":3: the row that begins here is no CSV"),
        ('"1","a"b","c"\n', r":1: the row that begins here is no CSV .*be doubled"),
        ('"1","a","b"\n"1","a\0","b"\n', r":2: NUL characters"),
        ("", r"test\.csv: expected rows of CSV, but the file is empty"),
        ("\n\n", r"test\.csv: expected rows of CSV, but the file is empty"),
    ],
)
def test_errors_name_file_and_line(
    text: str, message: str, ag_news: Path, nlp: Language
):
    ag_news.write_text(text, encoding="utf8")
    with pytest.raises(ValueError, match=message):
        list(create_ag_news_reader(path=ag_news)(nlp))


def test_bytes_of_another_encoding_are_found_on_their_line(ag_news: Path, nlp):
    ag_news.write_bytes(b'"1","a","b"\n"2","a\xff","b"\n')
    with pytest.raises(ValueError, match=r"test\.csv:2: not utf-8 text"):
        list(create_ag_news_reader(path=ag_news)(nlp))


@pytest.mark.parametrize("names", ["World\nSports\n", TOPICS + "x\n", "a\nb\nb\nc\n"])
def test_names_of_classes_are_those_that_there_are(names: str, ag_news: Path, nlp):
    ag_news.with_name("classes.txt").write_text(names)
    with pytest.raises(ValueError, match=r"classes\.txt: expected the names of 4"):
        list(create_ag_news_reader(path=ag_news)(nlp))


def test_names_of_classes_that_are_missing(ag_news: Path, nlp: Language):
    ag_news.with_name("classes.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"no '.*classes\.txt', which names"):
        list(create_ag_news_reader(path=ag_news)(nlp))


def test_rows_without_text_are_passed_over(ag_news: Path, nlp: Language):
    ag_news.write_text('"1","",""\n"2","a",""\n')
    assert get_texts(list(create_ag_news_reader(path=ag_news)(nlp))) == [
        ("a", ["Sports"])
    ]


def test_long_fields(ag_news: Path, nlp: Language, monkeypatch):
    text = "word " * 40_000  # more than csv takes by default
    ag_news.write_text(f'"1","","{text}"\n')
    (example,) = create_ag_news_reader(path=ag_news)(nlp)
    assert len(example.reference) == 40_000
    old = csv.field_size_limit(1000)
    monkeypatch.setattr(rows, "MAX_TEXT", 1000)
    try:
        with pytest.raises(ValueError, match=r":1: .* none may be longer than 1,000"):
            list(create_ag_news_reader(path=ag_news)(nlp))
    finally:
        csv.field_size_limit(old)


def test_the_file_is_not_read_beyond_what_is_asked_for(ag_news: Path, nlp: Language):
    ag_news.write_text(AG_NEWS + "broken\n")
    assert len(list(create_ag_news_reader(path=ag_news, limit=2)(nlp))) == 2
    with pytest.raises(ValueError, match=r"test\.csv:5: "):
        list(create_ag_news_reader(path=ag_news, limit=3)(nlp))


def test_a_reader_can_be_read_again(ag_news: Path, nlp: Language):
    reader = create_ag_news_reader(path=ag_news)
    assert [len(list(reader(nlp))) for _ in range(2)] == [2, 2]


@pytest.mark.parametrize("name", NAMES)
def test_readers_check_their_path_when_made(name: str, tmp_path: Path):
    create = registry.readers.get(f"spacy-hashembeds.{name}Corpus.v1")
    with pytest.raises(ValueError, match=r"'path' should .* is None.*\.cfg"):
        create(path=None)
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*gone"):
        create(path=tmp_path / "gone")
    with pytest.raises(ValueError, match=r"'path' should be a file, but .* a folder"):
        create(path=tmp_path)


def test_the_published_file_of_ag_news(data_dir: Path, nlp: Language):
    path = data_dir / "ag_news" / "test.csv"
    examples = list(create_ag_news_reader(path=path, limit=20)(nlp))
    first, second = get_texts(examples)[:2]
    assert first[1] == ["Business"]
    assert first[0].startswith("Fears for T N pension after talks Unions represent")
    assert second[1] == ["Sci/Tech"]
    assert "A second\nteam of rocketeers" in second[0]


# Own files

CSV = """title;body;topic;id
First;"Some
text; here";x/y;1
Second;Ünïted;a.b;2
"""
BOTH = [("First Some\ntext; here", ["x/y"]), ("Second Ünïted", ["a.b"])]


def test_own_csv_with_names_of_columns(tmp_path: Path, nlp: Language):
    path = write(tmp_path, "own.csv", "\ufeff" + CSV)
    reader = create_labelled_texts_reader(
        path=path,
        text_columns=["title", "body"],
        label_column="topic",
        separator=";",
    )
    examples = list(reader(nlp))
    assert get_texts(examples) == BOTH
    assert [eg.reference.cats for eg in examples] == [
        {"a.b": 0.0, "x/y": 1.0},
        {"a.b": 1.0, "x/y": 0.0},
    ]


@pytest.mark.parametrize("label", ["2", "-2"])
def test_own_csv_without_names(label: str, tmp_path: Path, nlp: Language):
    lines = CSV.split("\n", 1)[1].replace(";", "\t").replace("text\t", "text;")
    path = tmp_path / "own.tsv"
    path.write_bytes(lines.encode("latin-1"))
    reader = create_labelled_texts_reader(
        path=path, text_columns=["0", "1"], label_column=label, encoding="latin-1"
    )
    assert get_texts(list(reader(nlp))) == BOTH


def test_own_jsonl(tmp_path: Path, nlp: Language):
    text = '{"text": "a", "label": "x/y", "id": 1}\n\n{"label": 3, "text": "b"}\n'
    path = write(tmp_path, "own.jsonl", text)
    examples = list(create_labelled_texts_reader(path=path)(nlp))
    assert get_texts(examples) == [("a", ["x/y"]), ("b", ["3"])]


def test_lists_of_labels_and_cats(tmp_path: Path, nlp: Language):
    lines = [
        '{"text": "a", "label": ["y", "x"]}',
        '{"text": "b", "label": []}',
        '{"text": "c", "label": {"x": 0, "y": false, "z": true}}',
        '{"text": "d", "label": {"x": 1, "y": 0.0, "z": 1.0}}',
    ]
    path = write(tmp_path, "own.ndjson", "\n".join(lines))
    examples = list(create_labelled_texts_reader(path=path)(nlp))
    assert [eg.reference.cats for eg in examples] == [
        {"x": 1.0, "y": 1.0, "z": 0.0},
        {"x": 0.0, "y": 0.0, "z": 0.0},
        {"x": 0.0, "y": 0.0, "z": 1.0},
        {"x": 1.0, "y": 0.0, "z": 1.0},
    ]


def test_labels_of_a_file_are_in_the_order_of_the_alphabet(
    tmp_path: Path, nlp: Language
):
    path = write(tmp_path, "a.csv", "text,label\na,z\nb,x\nc,y\nd,x\n")
    for example in create_labelled_texts_reader(path=path)(nlp):
        assert list(example.reference.cats) == ["x", "y", "z"]


def test_labels_that_are_given_are_all_there_are(tmp_path: Path, nlp: Language):
    path = write(tmp_path, "own.csv", "text,label\na,x\nb,y\n")
    (first, _) = create_labelled_texts_reader(path=path, labels=["z", "y", "x"])(nlp)
    assert list(first.reference.cats.items()) == [("z", 0), ("y", 0), ("x", 1)]
    with pytest.raises(ValueError, match=r"csv:3: the label 'y' is not among 'labels'"):
        list(create_labelled_texts_reader(path=path, labels=["x"])(nlp))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "text,lable\na,x\n", ":1: expected the columns 'text', 'label'"),
        ("a.csv", "text,label,text\na,x,b\n", ":1: expected the columns .* each once"),
        (
            "a.csv",
            "text,label\na,x\nb\n",
            ":3: expected 2 columns, as in the first",
        ),
        ("a.csv", "text,label\na, \n", ":2: expected a label"),
        ("a.csv", "text,label\n  ,x\n", ":2: expected text in 'text', got"),
        ("a.csv", "text,label\n", "a.csv: expected texts with labels, but there are"),
        ("a.csv", "", "a.csv: expected rows of CSV"),
        ("a.csv", 'text,label\n"a,x\n', ":2: the row that begins here is no CSV"),
        ("a.jsonl", "", "a.jsonl: expected texts with labels, but there are none"),
        ("a.jsonl", "{}\n[]\n", ":1: expected the key 'text', got"),
        ("a.jsonl", '{"text": "a"}', ":1: expected the key 'label'.*--label-column"),
        ("a.jsonl", '{"text": 1, "label": "x"}', ":1: expected text in 'text'"),
        ("a.jsonl", '{"text": "\\ud800", "label": "x"}', ":1: expected text in 'text'"),
        (
            "a.jsonl",
            '\n{"text": "a", "label": null}',
            ":2: expected a label.*None",
        ),
        ("a.jsonl", '{"text": "a", "label": true}', ":1: expected a label.* got True"),
        ("a.jsonl", '{"text": "a", "label": ["x", 1]}', ":1: expected a label"),
        (
            "a.jsonl",
            '{"text": "a", "label": {"x": 1, "y": 0.8}}',
            ":1: expected 1 or 0, true or false, for the label 'y', got 0.8. spaCy's .*"
            " say 1 of the labels that the text is to have, and 0 of others",
        ),
        ("a.jsonl", '{"text": "a", "label": {"x": 2}}', ":1: expected 1 or 0.*got 2"),
        ("a.jsonl", '{"text": "a", "label": {"x": "1"}}', ":1: expected 1 or 0.*'1'"),
        ("a.jsonl", '{"text": "a", "label": {"": 1}}', ":1: expected a label"),
        ("a.jsonl", '{"text": "a", "label": [["x"]]}', ":1: expected a label"),
        ("a.jsonl", '{"text": "a", "label": "\\udc00"}', ":1: expected a label"),
        ("a.jsonl", '{"text": "a", "label": " "}', ":1: expected a label.* got ' '"),
        ("a.jsonl", '{"text": "a", "label": ["x", " "]}', ":1: expected a label"),
        (
            "a.jsonl",
            '{"text": "a", "label": {"x": 1, "x ": 0}}',
            ":1: expected labels that differ, without the blanks",
        ),
        ("a.jsonl", '{"text": "a", "label": []}', "a.jsonl: .* but not one has any"),
        ("a.jsonl", '{"text": "a", "label": {}}', "a.jsonl: .* but not one has any"),
        ("a.jsonl", '{"text": "a"', ":1: expected a JSON object"),
        ("a.jsonl", '{"text": "a", "text": "b"}', ":1: expected .*'text' twice"),
        ("a.jsonl", "[" * 10**5, ":1: expected a JSON object, but it is nested too"),
    ],
)
def test_errors_in_own_files(
    name: str, text: str, message: str, tmp_path: Path, nlp: Language
):
    path = write(tmp_path, name, text)
    with pytest.raises(ValueError, match=message):
        list(create_labelled_texts_reader(path=path)(nlp))


HALF = "ab " * 200_000


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("a.csv", f"a,b,label\nx,y,z\n{HALF},{HALF},z\n", ["a", "b"]),
        (
            "a.jsonl",
            f'{{"a": "x", "label": 1}}\n{{"a": "{HALF * 2}", "label": 1}}',
            "a",
        ),
    ],
)
def test_texts_that_spacy_does_not_take(
    name: str, text: str, columns: list[str], tmp_path: Path, nlp: Language
):
    path = write(tmp_path, name, text)
    reader = create_labelled_texts_reader(path=path, text_columns=list(columns))
    message = rf"{name}:\d: expected a text of 1,000,000 characters at most.*got 1,2"
    with pytest.raises(ValueError, match=message):
        list(reader(nlp))


def test_texts_of_published_corpora_that_spacy_does_not_take(ag_news: Path, nlp):
    ag_news.write_text(f'"1","a","b"\n"2","{HALF}","{HALF}"\n')
    with pytest.raises(ValueError, match=r"csv:2: expected a text of 1,000,000 char"):
        list(create_ag_news_reader(path=ag_news)(nlp))


@pytest.mark.parametrize("names", ["0,1", "1,0", ",0,1"])
def test_names_that_pandas_gives_are_no_text(names: str, tmp_path: Path, nlp: Language):
    row = "9,x,a text" if names.startswith(",") else "x,a text"
    path = write(tmp_path, "own.csv", f"{names}\n{row}\n")
    settings = {"text_columns": ["-1"], "label_column": "-2"}
    with pytest.raises(ValueError, match=r"csv:1: .* as pandas writes them.* Remove"):
        list(create_labelled_texts_reader(path=path, **settings)(nlp))
    write(tmp_path, "own.csv", f"{row}\n{names}\n")
    assert len(list(create_labelled_texts_reader(path=path, **settings)(nlp))) == 2


def test_labels_have_no_blanks_around_them(tmp_path: Path, nlp: Language):
    objects = [" x", ["x ", "y"], {"\tx": 1}]
    lines = [json.dumps({"text": "a", "label": label}) for label in objects]
    path = write(tmp_path, "own.jsonl", "\n".join(lines))
    examples = list(create_labelled_texts_reader(path=path)(nlp))
    assert [labels for _, labels in get_texts(examples)] == [["x"], ["x", "y"], ["x"]]


def test_a_pipe_is_not_read_for_its_labels(tmp_path: Path):
    path = tmp_path / "own.csv"
    os.mkfifo(path)
    with pytest.raises(ValueError, match="is read twice, so it should be a file"):
        create_labelled_texts_reader(path=path)
    create_labelled_texts_reader(path=path, labels=["x"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"text_columns": "text"}, "'text' should be the names of one or more columns"),
        ({"text_columns": []}, "'text' should be the names of one or more columns"),
        ({"label_column": "text"}, "'text' and 'label' should be columns that differ"),
        ({"separator": ""}, "'separator' should be one character"),
        ({"separator": "||"}, "'separator' should be one character"),
        ({"encoding": "utf-16"}, "'encoding' should be one that Python knows"),
    ],
)
def test_settings_that_cannot_be(settings: dict, message: str, tmp_path: Path):
    path = write(tmp_path, "own.csv", "text,label\na,x\n")
    with pytest.raises(ValueError, match=message):
        create_labelled_texts_reader(path=path, **settings)


CONFIG = """
[paths]
train = null

[corpora]

[corpora.train]
@readers = "spacy-hashembeds.LabelledTextsCorpus.v1"
path = ${paths.train}
text_columns = ["body"]
label_column = "topic"

[corpora.dev]
@readers = "spacy-hashembeds.LabelledTextsCorpus.v1"
path = ${paths.train}
text_columns = ["body"]
label_column = "topic"
labels = ["sport", "sci/tech"]
limit = 1

[nlp]
lang = "en"
pipeline = ["textcat"]

[components]

[components.textcat]
factory = "textcat"

[components.textcat.model]
@architectures = "spacy.TextCatBOW.v3"
exclusive_classes = true
ngram_size = 1
no_output_layer = false
length = 1000

[training]
max_steps = 20
eval_frequency = 10
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"

[training.logger]
@loggers = "spacy.ConsoleLogger.v3"
console_output = false

[training.score_weights]
cats_score = 1.0
"""


def test_a_classifier_trains_from_the_file_itself(tmp_path: Path):
    rows = ["a ball,sport", "an atom,sci/tech"] * 4
    path = write(tmp_path, "own.csv", "\n".join(["body,topic", *rows]))
    config = Config().from_str(CONFIG, overrides={"paths.train": str(path)})
    nlp = init_nlp(Language.default_config.merge(config))
    assert set(nlp.get_pipe("textcat").labels) == {"sport", "sci/tech"}
    nlp, _ = train(nlp)
    cats = nlp("a ball").cats
    assert cats["sport"] > cats["sci/tech"]
