import csv
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.training import Corpus, Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry

from spacy_hashembeds.corpora import labelled, lines
from spacy_hashembeds.corpora.columns import ColumnFormat
from spacy_hashembeds.corpora.readers import (
    create_iob_reader,
    create_labelled_texts_reader,
)
from spacy_hashembeds.corpora.splits import prepare_files

TOKENIZER = spacy.blank("xx")

TEXT = "Zoë B-PER\nslept O\nin O\nNew B-LOC\nYork I-LOC\n\nYes O\n"


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path, "corpus.iob", TEXT)


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def read_ents(example: Example) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in example.reference.ents]


def test_examples_have_gold_tokens_and_nothing_predicted(file, nlp):
    first, second = create_iob_reader(path=file)(nlp)
    assert read_ents(first) == [("Zoë", "PER"), ("New York", "LOC")]
    assert read_ents(second) == []
    assert first.reference.has_unknown_spaces
    assert [t.text for t in first.predicted] == ["Zoë", "slept", "in", "New", "York"]
    assert first.predicted.vocab is nlp.vocab
    assert not first.predicted.ents
    assert not first.predicted.has_annotation("SENT_START")
    # Tokens outside of entities are known to be so, also where there is no entity.
    assert [t.ent_iob_ for t in first.reference] == ["B", "O", "O", "B", "I"]
    assert [t.ent_iob_ for t in second.reference] == ["O"]


def test_examples_are_those_of_the_prepared_corpus(file, nlp):
    output, layout = file.parent / "out", ColumnFormat()
    paths = prepare_files(train=file, dev=file, lang="en", output=output, layout=layout)
    expected = list(Corpus(paths["train"])(nlp))
    found = list(create_iob_reader(path=file)(nlp))
    assert [eg.to_dict() for eg in found] == [eg.to_dict() for eg in expected]
    assert [eg.predicted.text for eg in found] == [eg.predicted.text for eg in expected]


@pytest.mark.parametrize(
    ("create", "text"),
    [
        (create_iob_reader, TEXT + "\nno-tag\n"),
        (
            partial(create_labelled_texts_reader, labels=["x"]),
            "text,label\na,x\nb,x\nbroken\n",
        ),
    ],
    ids=["IOB", "LabelledTexts"],
)
def test_nothing_is_read_beyond_the_limit(create, text, tmp_path, nlp):
    path = write(tmp_path, "own.csv", text)
    reader = create(path=path, limit=2)
    assert [len(list(reader(nlp))) for _ in range(2)] == [2, 2]
    last = text.count("\n")
    with pytest.raises(ValueError, match=rf"own\.csv:{last}: "):
        list(create(path=path, limit=3)(nlp))


def test_own_columns(tmp_path, nlp):
    text = "-DOCSTART-\n# a = b\nS-PER\tZoë Ann\n\nO\tslept\n"
    reader = create_iob_reader(
        path=write(tmp_path, "own.tsv", text, "latin-1"),
        separator="\t",
        word_column=1,
        tag_column=0,
        encoding="latin-1",
        group="document",
    )
    (example,) = reader(nlp)
    assert read_ents(example) == [("Zoë Ann", "PER")]
    assert len(example.reference) == 2


@pytest.mark.parametrize("name", ["IOB", "LabelledTexts"])
def test_readers_check_their_path_when_made(name, tmp_path):
    create = registry.readers.get(f"spacy-hashembeds.{name}Corpus.v1")
    with pytest.raises(ValueError, match=r"path should .* is None.*\.cfg"):
        create(path=None)
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*gone"):
        create(path=tmp_path / "gone")
    with pytest.raises(ValueError, match=r"'path' should be a file, but .* a folder"):
        create(path=tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "settings", "factory", "labels"),
    [
        ("IOB", TEXT, {}, "ner", {"LOC", "PER"}),
        (
            *("LabelledTexts", "body,topic\na ball,sport\nan atom,sci/tech\n"),
            {"text_columns": ["body"], "label_column": "topic"},
            *("textcat", {"sport", "sci/tech"}),
        ),
    ],
    ids=["IOB", "LabelledTexts"],
)
def test_a_pipeline_trains_from_the_file_itself(
    name, text, settings, factory, labels, tmp_path
):
    nlp = spacy.blank("en")
    nlp.add_pipe(factory)
    config = nlp.config.copy()
    reader = {
        "@readers": f"spacy-hashembeds.{name}Corpus.v1",
        "path": str(write(tmp_path, "own.csv", text)),
        **settings,
    }
    config["corpora"] = {"train": reader, "dev": reader}
    config["training"] |= {"max_steps": 2, "eval_frequency": 1}
    trained, _ = train(init_nlp(config))
    assert set(trained.get_pipe(factory).labels) == labels


# Texts with labels

Cats = dict[str, float]


def read_cats(path: Path, **settings: Any) -> list[tuple[str, Cats]]:
    """Read each text and its categories."""
    examples = create_labelled_texts_reader(path=path, **settings)(TOKENIZER)
    return [(example.text, example.reference.cats) for example in examples]


def read_labels(path: Path, **settings: Any) -> list[tuple[str, list[str]]]:
    """Read each text and the labels that it has."""
    found = read_cats(path, **settings)
    return [(text, [k for k, value in cats.items() if value]) for text, cats in found]


CSV = """title;body;topic;id
First;"Some
text; here";x/y;1
Second;Ünïted;a.b;2
"""
BOTH = [
    ("First Some\ntext; here", {"a.b": 0.0, "x/y": 1.0}),
    ("Second Ünïted", {"a.b": 1.0, "x/y": 0.0}),
]


def test_own_csv_with_names_of_columns(tmp_path):
    path = write(tmp_path, "own.csv", "\ufeff" + CSV)
    columns = {"text_columns": ["title", "body"], "label_column": "topic"}
    assert read_cats(path, separator=";", **columns) == BOTH


@pytest.mark.parametrize("label", ["2", "-2"])
def test_own_csv_without_names(label, tmp_path):
    rows = CSV.split("\n", 1)[1].replace(";", "\t").replace("text\t", "text;")
    path = write(tmp_path, "own.tsv", rows, "latin-1")
    columns = {"text_columns": ["0", "1"], "label_column": label}
    assert read_cats(path, encoding="latin-1", quotes=True, **columns) == BOTH


@pytest.mark.parametrize(
    ("label", "cats"),
    [
        ("x/y", {"x/y": 1.0}),
        (3, {"3": 1.0}),
        (" x", {"x": 1.0}),
        (["y", "x "], {"x": 1.0, "y": 1.0}),
        ([], {}),
        ({"x": 0, "y": False, "z": True}, {"x": 0.0, "y": 0.0, "z": 1.0}),
        ({"\tx": 1, "y": 0.0, "z": 1.0}, {"x": 1.0, "y": 0.0, "z": 1.0}),
        ({"choices": ["x", "y"]}, {"x": 1.0, "y": 1.0}),  # Label Studio's JSON-MIN
    ],
)
def test_labels_of_json(label, cats, tmp_path):
    row = json.dumps({"text": "a", "label": label, "id": 1})
    path = write(tmp_path, "own.ndjson", f'{row}\n\n{{"label": "w", "text": "b"}}\n')
    (_, first), second = read_cats(path)
    assert first == {**cats, "w": 0.0}
    assert second == ("b", {**dict.fromkeys(cats, 0.0), "w": 1.0})
    # in the order of the alphabet
    assert list(first) == sorted(first)


X, Y, Z = ({"id": name, "text": f"An {name}"} for name in "xyz")
ACCEPT = {"answer": "accept"}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # one label a row: what was not asked is not known
        (
            [
                {"text": "a", "label": "x", "answer": "accept"},
                {"text": "b", "label": "x", "spans": [], "answer": "reject"},
                {"text": "c", "label": "z", "answer": "IGNORE"},
                {"text": "a", "label": "y", "answer": " Reject\t"},
                {"text": "a", "label": "x", "answer": "accept"},
            ],
            [("a", {"x": 1.0, "y": 0.0}), ("b", {"x": 0.0})],
        ),
        # choices, and what there was before
        (
            [
                {"text": "a", "options": [X, Y], "accept": ["y"], **ACCEPT},
                {"text": "b", "options": [Y, Z], "accept": [], **ACCEPT},
                {"text": "c", "options": [X, Y], "answer": "ignore", "label": "x"},
                {"text": "d", "options": [{"id": 1}, X], "accept": [1], **ACCEPT},
            ],
            [
                ("a", {"x": 0.0, "y": 1.0}),
                ("b", {"y": 0.0, "z": 0.0}),
                ("d", {"1": 1.0, "x": 0.0}),
            ],
        ),
        # not Prodigy's
        (
            [{"text": "a", "label": "x", "answer": "yes"}, {"text": "a", "label": "y"}],
            [("a", {"x": 1.0, "y": 0.0}), ("a", {"x": 0.0, "y": 1.0})],
        ),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "lines.json", "array.json"])
def test_annotation_tools(rows, expected, name, tmp_path):
    text = "\n\n".join(map(json.dumps, rows))
    if name == "array.json":
        text = json.dumps(rows, indent=1)
    assert read_cats(write(tmp_path, name, text)) == expected


def test_a_large_array_is_not_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(labelled, "MAX_LINE", 29)
    path = write(tmp_path, "own.json", '[{"text": "a", "label": "x"}]')
    assert len(read_cats(path)) == 1
    monkeypatch.setattr(labelled, "MAX_LINE", 28)
    with pytest.raises(ValueError, match=r"own\.json: a JSON array of more.*JSONL"):
        read_cats(path)


def test_csv_of_annotation_tools(tmp_path):
    text = (
        'text,label,answer\na,x,reject\nb,"{""choices"": [""x"", ""[y]""]}",accept\n'
        'c,"[2, 14]",accept \n'
    )
    path = write(tmp_path, "own.csv", text)
    assert dict(read_cats(path)) == {
        "a": {"x": 0.0},
        "b": {"x": 1.0, "[y]": 1.0},
        "c": {"2": 1.0, "14": 1.0},
    }


MARKS = [('"a', "x"), ("b", "y"), ('c"', "x"), ('"Hey" you', "y"), ('5" "', "x")]


@pytest.mark.parametrize(
    ("name", "separator", "quotes"),
    [("a.tsv", "\t", None), ("a.tsv", "\t", False), ("a.csv", ",", False)],
)
def test_quotation_marks_of_texts(name, separator, quotes, tmp_path):
    rows = [("text", "label"), *MARKS]
    path = write(tmp_path, name, "\n".join(map(separator.join, rows)))
    expected = [(text, [label]) for text, label in MARKS]
    assert read_labels(path, quotes=quotes) == expected


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        # as many commas as a row has, but no labels after them; the blank line has none
        (
            'text,label\n"One, two\nthree",x\n"Four\n\nfive",y\n',
            {},
            [("One, two\nthree", "x"), ("Four\n\nfive", "y")],
        ),
        # nothing but rows between the marks, but these are said to quote
        (
            'text,label\n"a,x\nb,x\n""c""",x\nd,x\n',
            {"quotes": True},
            [('a,x\nb,x\n"c"', "x"), ("d", "x")],
        ),
        # empty columns leave no blanks
        (
            "a,b,label\n,one,x\ntwo,,x\nthree,four,x\n",
            {"text_columns": ["a", "b"]},
            [("one", "x"), ("two", "x"), ("three four", "x")],
        ),
        # a column that is named is no answer
        (
            "text,label,answer\na,x,reject\n",
            {"text_columns": ["text", "answer"]},
            [("a reject", "x")],
        ),
        # marks within labels do not part them
        (
            'text,label\na,C\na,C#\na,a|b\na,a\na,#\na,"x, y"\n',
            {},
            [("a", label) for label in ("C", "C#", "a|b", "a", "#", "x, y")],
        ),
    ],
)
def test_texts_and_labels_of_rows(text, settings, expected, tmp_path):
    found = read_labels(write(tmp_path, "a.csv", text), **settings)
    assert found == [(text, [label]) for text, label in expected]


def test_labels_that_are_given_are_all_there_are(tmp_path):
    path = write(tmp_path, "own.csv", "text,label\na,x\nb,y\n")
    (_, first), _ = read_cats(path, labels=["z", "y", "x"])
    assert list(first.items()) == [("z", 0), ("y", 0), ("x", 1)]
    with pytest.raises(ValueError, match=r"csv:3: the label 'y' is not among 'labels'"):
        read_cats(path, labels=["x"])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "text,lable\na,x\n", ":1: expected the columns 'text', 'label'"),
        ("a.csv", "text,label,text\na,x,b\n", ":1: expected the columns .* each once"),
        ("a.csv", "text,label\na,x\nb\n", ":3: expected 2 columns, as in the first"),
        ("a.csv", "text,label\na, \n", ":2: expected a label"),
        ("a.csv", "text,label\n  ,x\n", ":2: expected text in 'text', got"),
        ("a.csv", "text,label\n", "a.csv: expected texts with labels, but there are"),
        ("a.csv", "\n\n", "a.csv: expected rows of CSV, but the file is empty"),
        ("a.csv", 'text,label\n"a\nb",x\n\n"c,x\nd,x\n', ":5: the row.*here is no CSV"),
        ("a.csv", 'text,label\n"a"b,x\n', ":2: the row .* is no CSV .*be doubled"),
        ("a.csv", "text,label\na,\"['x', 'y']\"\n", ":2: .* in brackets JSON"),
        (
            "a.csv",
            "text,label\na,y #x\nb,x\nc,y\n",
            ":2: the label 'y #x' .*'y', 'x'",
        ),
        ("a.csv", "text,label\na,x\nb,1|x|1\nc,1\n", ":3: .* seems .*'1', 'x', '1'"),
        ("a.csv", 'text;label\n"a";x\n', ":1: .*--separator .* here ','"),
        ("a.csv", 'text,label\n"a,x\nb,y\nc",z\nd,z\n', ":2: between two .*--quotes"),
        # labels that other rows have
        (
            "a.csv",
            'text,label\n"a, b",x\nc,y\n"d,x\ne",y\n',
            ":4: between .*no-quo",
        ),
        (
            *("a.csv", "text,label,answer\na,x,accept\nb,x,skip\n"),
            ":3: expected 'answer' to be 'accept', .* got 'skip'. Correct",
        ),
        (
            *("a.csv", "text,label,answer\na,x,accept\na,x,reject\n"),
            ":3: expected one answer on the .* row .*2.*'review'",
        ),
        ("a.tsv", "text\tlabel\na\rb\tx\n", r":2: .*\). Fields should have.*bare car"),
        ("a.tsv", '"text"\t"label"\na\tx\n', ":1: expected the columns.*--quotes"),
        ("a.tsv", 'text\tlabel\n"a\nb"\tx\n', ":2: expected 2 columns.*--quotes"),
        ("a.tsv", 'text\tlabel\na\tx\n"b ""c"""\tx\n', ":3: quotation .*--no-quotes"),
        ("a.jsonl", "", "a.jsonl: expected texts with labels, but there are none"),
        ("a.jsonl", '{"text": "a"', ":1: expected a JSON object"),
        ("a.jsonl", '{"text": "a", "text": "b"}', ":1: expected .*'text' twice"),
        ("a.jsonl", '{"a":' * 10**5, ":1: expected a JSON object .*it is nested too"),
        ("a.json", "[" * 10**5, "a.json: expected a JSON array, but it is nested too"),
        ("a.json", '\n[{"text": "a",}]', "a.json: expected a JSON array, but .*line 2"),
        ("a.json", '[{"text": "a", "label": "x"}, 1]', "json:item 2: .* got 1"),
        ("a.json", '[{"text": "a"}]', "json:item 1: expected the key 'label'"),
        ("a.json", "[]", "a.json: expected texts with labels, but there are none"),
    ],
)
def test_errors_in_own_files(name, text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_cats(write(tmp_path, name, text))


NO_LABEL = ":1: expected a label, which is"
SEVERAL = ":1: expected one label where the 'answer' is 'reject', got .*Accept the"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({}, ":1: expected the key 'text', got"),
        ({"text": "a"}, ":1: expected the key 'label'.*--label-column"),
        ({"text": 1, "label": "x"}, ":1: expected text in 'text'"),
        ({"label": True}, f"{NO_LABEL}.* got True"),
        ({"label": ["x", 1.5]}, NO_LABEL),
        ({"label": "\udc00"}, NO_LABEL),
        ({"label": ["x", " "]}, NO_LABEL),
        ({"label": [["x"]]}, ":1: expected a label, or several"),
        ({"label": [[0, 3, "PER"]]}, "a label, or several, .*of ent.*'prepare iob'"),
        ({"label": {"x": 1, "y": 0.8}}, ":1: expected 1 or 0, .*'y', got 0.8. spaCy's"),
        ({"label": {"x": "1"}}, ":1: expected 1 or 0.*'1'"),
        ({"label": {"x": 1, "x ": 0}}, ":1: expected labels that differ, without the"),
        ({"label": []}, "a.jsonl: .* but not one has any"),
        ({"label": ["x", "1,x", 1]}, ":1: the label '1,x'"),
        ({"text": "a", "spans": [], **ACCEPT}, "'spans' holds ent.*for 'prepare iob'"),
        ({"text": "a", "entities": []}, "'entities' holds entities"),
        ({"text": "a", "annotations": []}, "did, label by label.*JSON-MIN or CSV of L"),
        ({"options": [X], "answer": "reject"}, SEVERAL),
        ({"label": ["x", "y"], "answer": "reject"}, SEVERAL),
        ({"label": {"x": 0}, "answer": "reject"}, SEVERAL),
        ({"options": ["x"], "accept": ["x"], **ACCEPT}, ":1: expected 'options' to be"),
        ({"label": "x", "answer": "ignore"}, "a.jsonl: expected texts with labels"),
    ],
)
def test_errors_in_rows(row, message, tmp_path):
    if "label" in row or "options" in row:
        row = {"text": "a", **row}
    with pytest.raises(ValueError, match=message):
        read_cats(write(tmp_path, "a.jsonl", json.dumps(row)))


def test_long_fields(tmp_path, monkeypatch):
    text = "word " * 40_000  # more than csv takes by default
    path = write(tmp_path, "own.csv", f'text,label\n"{text}",x\n')
    assert read_labels(path) == [(text, ["x"])]
    old = csv.field_size_limit(1000)
    monkeypatch.setattr(lines, "MAX_TEXT", 1000)
    try:
        with pytest.raises(ValueError, match=r":2: .*be.*and 1,000 characters at most"):
            read_cats(path)
    finally:
        csv.field_size_limit(old)


def test_examples_of_texts_have_nothing_predicted(tmp_path, nlp):
    path = write(tmp_path, "own.csv", "text,label\nDon't.,x\n")
    (example,) = create_labelled_texts_reader(path=path)(nlp)
    assert example.reference.cats == {"x": 1.0}
    assert example.predicted.cats == {}
    assert example.predicted.vocab is nlp.vocab
    tokens = [t.norm_ for t in example.predicted]
    assert tokens == [t.norm_ for t in nlp(example.text)]


def test_texts_that_spacy_does_not_take(tmp_path):
    half = "ab " * 200_000
    path = write(tmp_path, "a.csv", f"a,b,label\nx,y,z\n{half},{half},z\n")
    with pytest.raises(ValueError, match=r"a\.csv:3: expected a text.*most.*got 1,2"):
        read_cats(path, text_columns=["a", "b"])


@pytest.mark.parametrize("names", ["0,1", "1,0", ",0,1"])
def test_names_that_pandas_gives_are_no_text(names, tmp_path):
    row = "9,x,a text" if names.startswith(",") else "x,a text"
    path = write(tmp_path, "own.csv", f"{names}\n{row}\n")
    settings = {"text_columns": ["-1"], "label_column": "-2"}
    with pytest.raises(ValueError, match=r"csv:1: .* as pandas writes them.* Remove"):
        read_cats(path, **settings)
    write(tmp_path, "own.csv", f"{row}\n{names}\n")
    assert len(read_cats(path, **settings)) == 2


HEADER, *ROWS = "sentiment,tweet", *["pos,a", "neg,b", "pos ,c"] * 3
NUMBERS = {"text_columns": ["1"], "label_column": "0"}


def test_names_of_columns_are_no_text(tmp_path):
    path = write(tmp_path, "own.csv", "\n".join([HEADER, *ROWS, "neg,d"]))
    with pytest.raises(ValueError, match=r"csv:1: the label 'sentiment' .*Give the na"):
        read_cats(path, **NUMBERS)


@pytest.mark.parametrize(
    "rows",
    [
        [HEADER, *ROWS[:8]],
        [HEADER, *ROWS, "rare,d"],
        [HEADER, *ROWS, HEADER],
        [ROWS[0], HEADER, *ROWS],
    ],
    ids=["few rows", "a rare label", "twice", "not first"],
)
def test_a_rare_label_is_no_name_of_a_column(rows, tmp_path):
    path = write(tmp_path, "own.csv", "\n".join(rows))
    assert len(read_cats(path, **NUMBERS)) == len(rows)


def test_a_pipe_is_not_read_for_its_labels(tmp_path):
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
        ({"separator": "||"}, "'separator' should be one character"),
        ({"encoding": "utf-16"}, "'encoding' should be one that Python knows"),
    ],
)
def test_settings_that_cannot_be(settings, message, tmp_path):
    path = write(tmp_path, "own.csv", "text,label\na,x\n")
    with pytest.raises(ValueError, match=message):
        create_labelled_texts_reader(path=path, **settings)
