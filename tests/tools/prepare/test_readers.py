"""The readers of own files, and texts with labels."""

import csv
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.training import Corpus
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry

from spacy_hashembeds.tools.prepare import rows as rows_module
from spacy_hashembeds.tools.prepare.columns import ColumnFormat
from spacy_hashembeds.tools.prepare.readers import (
    create_iob_reader,
    create_labelled_texts_reader,
)
from spacy_hashembeds.tools.prepare.splits import prepare_files

TOKENIZER = spacy.blank("xx")
TEXT = "Zoë B-PER\nslept O\nin O\nNew B-LOC\nYork I-LOC\n\nYes O\n"


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.blank("en")


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def test_examples_have_gold_tokens_and_nothing_predicted(tmp_path, nlp):
    file = write(tmp_path, "corpus.iob", TEXT)
    first, second = create_iob_reader(path=file)(nlp)
    ents = [(ent.text, ent.label_) for ent in first.reference.ents]
    assert ents == [("Zoë", "PER"), ("New York", "LOC")]
    assert [t.is_sent_start for t in first.reference] == [True, *[False] * 4]
    assert first.reference.has_unknown_spaces
    assert [t.text for t in first.predicted] == ["Zoë", "slept", "in", "New", "York"]
    assert first.predicted.vocab is nlp.vocab
    assert not first.predicted.ents
    assert not first.predicted.has_annotation("SENT_START")
    # tokens outside of entities are known to be so, also where there is no entity
    assert [t.ent_iob_ for t in first.reference] == ["B", "O", "O", "B", "I"]
    assert [t.ent_iob_ for t in second.reference] == ["O"]
    layout, output = ColumnFormat(), tmp_path / "out"
    paths = prepare_files(train=file, dev=file, lang="en", output=output, layout=layout)
    expected = [eg.to_dict() for eg in Corpus(paths["train"])(nlp)]
    assert [first.to_dict(), second.to_dict()] == expected


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
    for limit in (3, 0, -1):  # the last two read all, as those of spaCy's reader
        with pytest.raises(ValueError, match=rf"own\.csv:{text.count(chr(10))}: "):
            list(create(path=path, limit=limit)(nlp))


def test_own_columns(tmp_path, nlp):
    text = 'id\tword\ttag\n1\t"a ""b"""\tB-Ü\n\tc\tO\n2\td\tO\n'
    reader = create_iob_reader(
        path=write(tmp_path, "quoted.tsv", text, "latin-1"),
        separator="\t",
        quotes=True,
        word_column="word",
        tag_column="tag",
        sentence_column="id",
        encoding="latin-1",
    )
    docs = [example.reference for example in reader(nlp)]
    assert [[token.text for token in doc] for doc in docs] == [['a "b"', "c"], ["d"]]
    assert [ent.label_ for ent in docs[0].ents] == ["Ü"]


@pytest.mark.parametrize("name", ["IOB", "LabelledTexts"])
def test_readers_check_their_path_when_made(name, tmp_path):
    create = registry.readers.get(f"spacy-hashembeds.{name}Corpus.v1")
    with pytest.raises(ValueError, match=r"path .* is None.*\.cfg"):
        create(path=None)
    with pytest.raises(FileNotFoundError, match="gone"):
        create(path=tmp_path / "gone")
    with pytest.raises(ValueError, match="'path' should be a file"):
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
        (
            *("LabelledTexts", "text,odd,rude\na,1,0\nb,1,1\nc,0,0\n"),
            {"label_column": ["odd", "rude"]},
            *("textcat_multilabel", {"odd", "rude"}),
        ),
    ],
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


Cats = dict[str, float]


def read_cats(path: Path, **settings: Any) -> list[tuple[str, Cats]]:
    """Read each text and its categories."""
    examples = create_labelled_texts_reader(path=path, **settings)(TOKENIZER)
    return [(example.text, example.reference.cats) for example in examples]


def read_labels(path: Path, **settings: Any) -> list[tuple[str, list[str]]]:
    """Read each text and the labels that it has."""
    found = read_cats(path, **settings)
    return [(text, [k for k, value in cats.items() if value]) for text, cats in found]


def test_examples_of_texts_have_nothing_predicted(tmp_path, nlp):
    path = write(tmp_path, "own.csv", "text,label\nDon't.,x\n")
    (example,) = create_labelled_texts_reader(path=path)(nlp)
    assert example.reference.cats == {"x": 1.0}
    assert example.predicted.cats == {}
    assert example.predicted.vocab is nlp.vocab
    tokens = [t.norm_ for t in example.predicted]
    assert tokens == [t.norm_ for t in nlp(example.text)]


CSV = """title;body;topic;id
First;"Some
text; here";x/y;1
Second;Ünïted;a.b;2
"""
BOTH = [
    ("First Some\ntext; here", {"a.b": 0.0, "x/y": 1.0}),
    ("Second Ünïted", {"a.b": 1.0, "x/y": 0.0}),
]


def test_own_csv_with_and_without_names(tmp_path):
    path = write(tmp_path, "own.csv", "\ufeff" + CSV)
    columns = {"text_columns": ["title", "body"], "label_column": "topic"}
    assert read_cats(path, separator=";", **columns) == BOTH
    rows = CSV.split("\n", 1)[1].replace(";", "\t").replace("text\t", "text;")
    path = write(tmp_path, "own.tsv", rows, "latin-1")
    columns = {"text_columns": ["0", "1"], "encoding": "latin-1", "quotes": True}
    for label in ("2", "-2"):
        assert read_cats(path, label_column=label, **columns) == BOTH


@pytest.mark.parametrize(
    ("label", "cats"),
    [
        ("x/y", {"x/y": 1.0}),
        (3, {"3": 1.0}),
        (" x", {"x": 1.0}),
        (["y", "x "], {"x": 1.0, "y": 1.0}),
        ([], {}),
        ({"x": 0, "y": False, "z": True}, {"x": 0.0, "y": 0.0, "z": 1.0}),
        ({"\tx": 1, "y": 0.0}, {"x": 1.0, "y": 0.0}),
        ({"choices": ["x", "y"]}, {"x": 1.0, "y": 1.0}),  # Label Studio's JSON-MIN
    ],
)
def test_labels_of_json(label, cats, tmp_path):
    row = json.dumps({"text": "a", "label": label, "id": 1})
    path = write(tmp_path, "own.ndjson", f'{row}\n\n{{"label": "w", "text": "b"}}\n')
    (_, first), second = read_cats(path)
    assert first == {**cats, "w": 0.0}
    assert second == ("b", {**dict.fromkeys(cats, 0.0), "w": 1.0})
    assert list(first) == sorted(first)


@pytest.mark.parametrize("name", ["a.JSONL", "lines.json", "array.json"])
def test_rows_of_json_stand_on_lines_or_in_an_array(name, tmp_path):
    rows = [{"text": "a", "label": "x", "answer": "yes"}, {"text": "a", "label": ["y"]}]
    text = "\n\n".join(map(json.dumps, rows))
    if name == "array.json":
        text = json.dumps(rows, indent=1)
    expected = [("a", {"x": 1.0, "y": 0.0}), ("a", {"x": 0.0, "y": 1.0})]
    assert read_cats(write(tmp_path, name, text)) == expected


def test_choices_of_prodigy_are_a_column_and_label_studios_are_named(tmp_path):
    rows = [{"text": "a", "accept": ["y"]}, {"text": "b", "accept": ["x", "y"]}]
    path = write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))
    assert read_labels(path, label_column="accept") == [("a", ["y"]), ("b", ["x", "y"])]
    text = 'text,label\nb,"{""choices"": [""x"", ""[y]""]}"\nc,"[2, 14]"\n'
    found = read_labels(write(tmp_path, "own.csv", text))
    assert found == [("b", ["[y]", "x"]), ("c", ["14", "2"])]


@pytest.mark.parametrize(
    "rows",
    [
        "text,rude,odd\na,1,0\nb,0,0\nc,1.0,True\n",
        '{"text": "a", "rude": 1, "odd": 0}\n{"text": "b", "rude": false, "odd": 0.0}\n'
        '{"text": "c", "rude": true, "odd": 1}',
    ],
)
def test_columns_of_0_and_1(rows, tmp_path):
    path = write(tmp_path, "a.csv" if rows[0] == "t" else "a.jsonl", rows)
    assert read_cats(path, label_column=["rude", "odd"]) == [
        ("a", {"odd": 0.0, "rude": 1.0}),
        ("b", {"odd": 0.0, "rude": 0.0}),
        ("c", {"odd": 1.0, "rude": 1.0}),
    ]


MARKS = 'text,label\n"a,x\nb,y\nc",x\n"Hey" you,y\n5" ",x\n'


@pytest.mark.parametrize(
    ("name", "text", "settings", "expected"),
    [
        (
            *("a.tsv", MARKS.replace(",", "\t"), {}),
            [('"a', "x"), ("b", "y"), ('c"', "x"), ('"Hey" you', "y"), ('5" "', "x")],
        ),
        ("a.csv", 'text,label\n"a,x\n', {"quotes": False}, [('"a', "x")]),
        ("a.csv", 'text,label\n"Four\n\nfive",y\n', {}, [("Four\n\nfive", "y")]),
        # nothing but rows between the marks, but these are said to quote
        (
            *("a.csv", 'text,label\n"a,x\n""c""",x\nd,x\n', {"quotes": True}),
            [('a,x\n"c"', "x"), ("d", "x")],
        ),
        # empty columns leave no blanks
        (
            *("a.csv", "a,b,label\n,one,x\ntwo,,x\n", {"text_columns": ["a", "b"]}),
            [("one", "x"), ("two", "x")],
        ),
        # a column that is named is no answer
        (
            "a.csv",
            "text,label,answer\na,x,reject\n",
            {"text_columns": ["text", "answer"]},
            [("a reject", "x")],
        ),
        ("a.csv", "text,label,answer,answer\na,x,reject,reject\n", {}, [("a", "x")]),
        # marks within labels do not part them
        (
            *("a.csv", 'text,label\na,C\na,C#\na,a|b\na,a\na,#\na,"x, y"\n', {}),
            [("a", label) for label in ("C", "C#", "a|b", "a", "#", "x, y")],
        ),
        ("a.csv", "text,label\na,x\nb,[]\n", {}, [("a", "x"), ("b", "")]),
    ],
)
def test_texts_and_labels_of_rows(name, text, settings, expected, tmp_path):
    found = read_labels(write(tmp_path, name, text), **settings)
    assert found == [(text, [label] * bool(label)) for text, label in expected]


def test_labels_that_are_given_are_all_there_are(tmp_path):
    path = write(tmp_path, "own.csv", "text,label\na,x\nb,y\n")
    (_, first), _ = read_cats(path, labels=["z", "y", "x"])
    assert list(first.items()) == [("z", 0), ("y", 0), ("x", 1)]
    with pytest.raises(ValueError, match=r"csv:3: .*'y' is not among 'labels'"):
        read_cats(path, labels=["x"])


NUMBERS = {"text_columns": ["1"], "label_column": "0"}
ROWS = "pos,a\nneg,b\npos ,c\n" * 3
TWO = {"label_column": ["x", "y"]}


@pytest.mark.parametrize(
    ("name", "text", "settings", "message"),
    [
        ("a.csv", "text,lable\na,x\n", {}, ":1: .*'text', 'label'.*--label-column"),
        ("a.csv", "text,label,text\na,x,b\n", {}, ":1: .*'text', 'label', once"),
        ("a.csv", 'text;label\n"a";x\n', {}, ":1: .*--separator"),
        ("a.tsv", '"text"\t"label"\na\tx\n', {}, ":1: .*--quotes"),
        ("a.csv", "text,label\na,x\nb\n", {}, ":3: expected 2 columns.*got 1"),
        ("a.csv", "text,label\na, \n", {}, r":2: expected a label.*\[\]"),
        ("a.csv", "text,label\n  ,x\n", {}, ":2: expected text in 'text'"),
        ("a.csv", "text,label\n", {}, "a.csv: expected texts"),
        ("a.csv", "\n\n", {}, "a.csv:1: expected the columns"),
        ("a.csv", 'text,label\n"a\nb",x\n\n"c,x\nd,x\n', {}, ":5: .*no CSV"),
        ("a.csv", 'text,label\n"a"b,x\n', {}, ":2: .*no CSV .*--no-quotes"),
        ("a.csv", "text,label\na,\"['x', 'y']\"\n", {}, ":2: .*in brackets JSON"),
        *(
            ("a.csv", f"text,label\na,x\nb,y\nc,{joined}\n", {}, r':4: .*\["x", "y"\]')
            for joined in ("x#y", "x|y", '"x, y"', "x;y")
        ),
        # a mark too many, which makes one of several rows
        (
            "a.csv",
            'text,label\n"a,x\nb,y\nc",z\nd,z\n',
            {},
            ":2: .*--no-quotes.*--quotes",
        ),
        ("a.tsv", 'text\tlabel\n"a\nb"\tx\n', {}, ":2: .*--quotes"),
        (
            "a.tsv",
            'text\tlabel\na\tx\n"b ""c"""\tx\n',
            {},
            ":3: .*--no-quotes.*--quotes",
        ),
        ("a.tsv", "text\tlabel\na\rb\tx\n", {}, ":2: .*no CSV"),
        # several rows of Prodigy's may be about one text
        ("a.csv", "text,label,answer\na,x,accept\n", {}, ":2: .*data-to-spacy"),
        # names of columns, where these are given by numbers
        ("a.csv", "sentiment,tweet\n" + ROWS, NUMBERS, ":1: 'sentiment'.*Give names"),
        ("a.csv", "0,1\nx,a text\n", NUMBERS, ":1: .*'0', '1'"),
        (
            *("a.csv", ",0,1\n9,x,a text\n"),
            {"text_columns": ["-1"], "label_column": "-2"},
            ":1: .*'', '0', '1'",
        ),
        (
            "a.csv",
            "a,1,0\n",
            {"text_columns": ["0"], "label_column": ["1", "2"]},
            ":1: ",
        ),
        # columns of 0 and 1
        (
            "a.csv",
            "text,x,y\na,1,0\nb,-1,0\n",
            TWO,
            ":3: expected 1 or 0.*'x', got '-1'",
        ),
        ("a.csv", "text,x,y\na,1,\n", TWO, ":2: expected 1 or 0.*'y', got ''"),
        ("a.jsonl", '{"text": "a", "x": 0.5, "y": 1}', TWO, ":1: expected 1 or 0.*'x'"),
        ("a.jsonl", "", {}, "a.jsonl: expected texts"),
        ("a.jsonl", '{"text": "a"', {}, ":1: expected JSON"),
        ("a.jsonl", '{"text": "a", "text": "b"}', {}, ":1: .*'text' twice"),
        ("a.jsonl", '{"a":' * 10**5, {}, ":1: .*nested too"),
        ("a.json", "[" * 10**5, {}, "a.json: .*nested too"),
        ("a.json", '\n[{"text": "a",}]', {}, "a.json: .*line 2"),
        ("a.json", '[{"text": "a", "label": "x"}, 1]', {}, "json:item 2: .* got 1"),
        ("a.json", '[{"text": "a"}]', {}, "json:item 1: expected the key 'label'"),
        ("a.json", "[]", {}, "a.json: expected texts"),
        ("a.csv", f"text,label\n{'a' * 1_000_001},x\n", {}, ":2: .*1,?000,?000"),
        (
            *("a.csv", f"a,b,label\n{'ab ' * 200_000},{'ab ' * 200_000},z\n"),
            {"text_columns": ["a", "b"]},
            ":2: .*got 1,200,001",
        ),
    ],
)
def test_what_is_not_sure_is_refused(name, text, settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_cats(write(tmp_path, name, text), **settings)


NO_LABEL = ":1: expected a label, which is"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({}, ":1: expected the key 'text'"),
        ({"text": "a"}, ":1: expected the key 'label'.*--label-column"),
        ({"text": 1, "label": "x"}, ":1: expected text in 'text'"),
        *(
            ({"label": label}, NO_LABEL)
            for label in (True, ["x", 1.5], "\udc00", "\0", ["x", " "], [["x"]])
        ),
        ({"label": [[0, 3, "PER"]]}, ":1: .*'prepare spans'"),
        ({"text": "a", "spans": []}, ":1: .*'prepare spans'"),
        ({"text": "a", "annotations": []}, ":1: .*JSON-MIN"),
        ({"label": {"x": 1, "y": 0.8}}, ":1: expected 1 or 0, .*'y', got 0.8"),
        ({"label": {"x": "1"}}, ":1: expected 1 or 0.*'1'"),
        ({"label": {"x": 1, "x ": 0}}, ":1: expected 1 or 0.*once"),
        ({"label": []}, "a.jsonl: .*--label-column"),
        ({"label": ["x", "1,x", 1]}, ":1: the label '1,x'"),
        ({"label": "x", "answer": "reject"}, ":1: .*data-to-spacy"),
    ],
)
def test_errors_in_rows(row, message, tmp_path):
    if "label" in row:
        row = {"text": "a", **row}
    with pytest.raises(ValueError, match=message):
        read_cats(write(tmp_path, "a.jsonl", json.dumps(row)))


@pytest.mark.parametrize(
    "text", ["0,1\n", "sentiment,tweet\n", "rare,d\n"], ids=["pandas", "names", "rare"]
)
def test_other_rows_are_no_names(text, tmp_path):
    path = write(tmp_path, "own.csv", ROWS + text)
    assert len(read_cats(path, **NUMBERS)) == 10
    few = write(tmp_path, "few.csv", "sentiment,tweet\n" + ROWS[:18])
    assert len(read_cats(few, **NUMBERS)) == 4


@pytest.mark.parametrize("name", ["own.csv", "own.jsonl"])
def test_ids_are_not_taken_for_labels(name, tmp_path):
    template = "{i},t" if name == "own.csv" else '{{"label": "{i}", "text": "t"}}'
    header = ["label,text"] * (name == "own.csv")
    ids = [template.format(i=i) for i in range(1001)]
    path = write(tmp_path, name, "\n".join(header + ids * 2))
    with pytest.raises(ValueError, match=rf"{name}: .*1,001 in 'label'.*--label-col"):
        read_cats(path)
    path = write(tmp_path, name, "\n".join(header + ids + ids[:101] * 2))
    (text, cats), *_ = read_cats(path, limit=1)  # some are rare in any case
    assert (text, len(cats)) == ("t", 1001)


def test_a_large_array_is_not_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(rows_module, "MAX_LINE", 29)
    path = write(tmp_path, "own.json", '[{"text": "a", "label": "x"}]')
    assert len(read_cats(path)) == 1
    monkeypatch.setattr(rows_module, "MAX_LINE", 28)
    with pytest.raises(ValueError, match=r"own\.json: .*\.jsonl"):
        read_cats(path)


def test_long_fields(tmp_path):
    old = csv.field_size_limit(1000)  # less than this text, as by default
    try:
        text = "word " * 40_000
        path = write(tmp_path, "own.csv", f'text,label\n"{text}",x\n')
        assert read_labels(path) == [(text, ["x"])]
        csv.field_size_limit(2_000_000)  # others' higher one stays
        assert read_labels(path)
        assert csv.field_size_limit() == 2_000_000
    finally:
        csv.field_size_limit(old)


def test_a_pipe_is_not_read_for_its_labels(tmp_path):
    path = tmp_path / "own.csv"
    os.mkfifo(path)
    with pytest.raises(ValueError, match="is read twice"):
        create_labelled_texts_reader(path=path)
    create_labelled_texts_reader(path=path, labels=["x"])


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"text_columns": "text"}, "text"),
        ({"text_columns": []}, "text"),
        ({"label_column": []}, "label"),
        ({"label_column": "text"}, "label"),
        ({"separator": "||"}, "separator"),
        ({"encoding": "utf-16"}, "encoding"),
    ],
)
def test_settings_that_cannot_be(settings, name, tmp_path):
    path = write(tmp_path, "own.csv", "text,label\na,x\n")
    with pytest.raises(ValueError, match=f"'{name}'"):
        create_labelled_texts_reader(path=path, **settings)
