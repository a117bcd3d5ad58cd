"""Corpus readers of own files."""

import json
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
from spacy.vocab import Vocab

from spacy_hashembeds.tools.prepare.columns import ColumnFormat
from spacy_hashembeds.tools.prepare.readers import (
    create_iob_reader,
    create_labelled_texts_reader,
    read_annotated,
)
from spacy_hashembeds.tools.prepare.spans import SpanFormat
from spacy_hashembeds.tools.prepare.splits import prepare_files
from spacy_hashembeds.training.features import read_values

from ... import toy_ner

TOKENIZER = spacy.blank("xx")
TEXT = "Zoë B-PER\nslept O\nin O\nNew B-LOC\nYork I-LOC\n\nYes O\n"


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.blank("en")


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def test_predicted_docs_have_only_gold_tokens(tmp_path, nlp):
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
    # all other tokens are O, also in sentences without entities
    assert [t.ent_iob_ for t in first.reference] == ["B", "O", "O", "B", "I"]
    assert [t.ent_iob_ for t in second.reference] == ["O"]
    layout, output = ColumnFormat(), tmp_path / "out"
    paths = prepare_files(train=file, dev=file, lang="en", output=output, layout=layout)
    expected = [eg.to_dict() for eg in Corpus(paths["train"])(nlp)]
    assert [first.to_dict(), second.to_dict()] == expected


@pytest.mark.parametrize(
    ("create", "text"),
    [
        (create_iob_reader, TEXT + "\nYes O\n\nno-tag\n"),
        (
            partial(create_labelled_texts_reader, labels=["x"]),
            "text,label\na,x\nb,x\nc,x\nbroken\n",
        ),
    ],
    ids=["IOB", "LabelledTexts"],
)
def test_reads_no_further_than_the_limit(create, text, tmp_path, nlp):
    path = write(tmp_path, "own.csv", text)
    reader = create(path=path, limit=2)
    assert [len(list(reader(nlp))) for _ in range(2)] == [2, 2]
    for limit in (4, 0):  # 0: no limit
        with pytest.raises(ValueError, match=rf"own\.csv:{text.count(chr(10))}: "):
            list(create(path=path, limit=limit)(nlp))


def test_predicted_docs_have_features(tmp_path, nlp):
    file = write(tmp_path, "own.iob", "Zoë 1 B-PER\nslept 0 O\n")
    (example,) = create_iob_reader(path=file, features={"bold": 1})(nlp)
    assert read_values(example.predicted, "_.bold") == ["1", "0"]


def test_reads_spacy_files_and_columns(tmp_path):
    def read(name: str, **layout: Any) -> list[list[tuple[str, str]]]:
        docs = read_annotated(tmp_path / name, Vocab(), layout=ColumnFormat(**layout))
        return [[(ent.text, ent.label_) for ent in doc.ents] for doc in docs]

    write(tmp_path, "gold.testb", "B-PER\tAnna Brown\nO\tsings\n")
    found = read("gold.testb", separator="\t", word=1, tag=0)
    assert found == [[("Anna Brown", "PER")]]
    for i, text in enumerate(["Anna|PER in", "New+York|LOC"]):
        toy_ner.write(tmp_path / f"{i}.spacy", [toy_ner.make_doc(text)])
    assert read("0.spacy") == [[("Anna", "PER")]]
    assert read("") == [[("Anna", "PER")], [("New York", "LOC")]]
    with pytest.raises(FileNotFoundError, match=r"gone\.iob"):
        read("gone.iob")
    toy_ner.make_ruler({}, None).to_disk(tmp_path / "model")
    with pytest.raises(ValueError, match=r"model' should.*corpus, but is a pipeline"):
        read("model")


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
    ("name", "settings"),
    [
        ("IOB", {"limit": -1}),
        ("IOB", {"separator": ""}),
        ("IOB", {"features": {"a b": 0}}),
        ("LabelledTexts", {"limit": -1}),
        ("LabelledTexts", {"text_columns": "text"}),
        ("LabelledTexts", {"text_columns": []}),
        ("LabelledTexts", {"label_column": []}),
        ("LabelledTexts", {"labels": "AB"}),
    ],
)
def test_readers_check_their_settings_when_made(name, settings, tmp_path):
    create = registry.readers.get(f"spacy-hashembeds.{name}Corpus.v1")
    (argument,) = settings
    with pytest.raises((TypeError, ValueError), match=f"'{argument}'"):
        create(path=write(tmp_path, "own.csv", TEXT), **settings)


BODY = {"text_columns": ["body"], "label_column": "topic"}


@pytest.mark.parametrize(
    ("name", "text", "settings", "factory", "labels"),
    [
        ("IOB", TEXT, {}, "ner", {"LOC", "PER"}),
        ("LabelledTexts", "body,topic\na,x\nb,y\n", BODY, "textcat", {"x", "y"}),
    ],
)
def test_pipelines_train_on_unconverted_files(
    name, text, settings, factory, labels, tmp_path
):
    nlp = spacy.blank("en")
    nlp.add_pipe(factory)
    config = nlp.config.copy()
    path = str(write(tmp_path, "own.csv", text))
    reader = {"@readers": f"spacy-hashembeds.{name}Corpus.v1", "path": path, **settings}
    config["corpora"] = {"train": reader, "dev": reader}
    config["training"] |= {"max_steps": 2, "eval_frequency": 1}
    trained, _ = train(init_nlp(config))
    assert set(trained.get_pipe(factory).labels) == labels


def read_cats(path: Path, **settings: Any) -> list[tuple[str, dict[str, float]]]:
    """Return texts and categories."""
    examples = create_labelled_texts_reader(path=path, **settings)(TOKENIZER)
    return [(example.text, example.reference.cats) for example in examples]


@pytest.mark.parametrize(
    ("label", "cats"),
    [
        ("x/y", {"x/y": 1.0}),
        (3, {"3": 1.0}),
        (" x", {"x": 1.0}),
        (["y", "x "], {"x": 1.0, "y": 1.0}),
        ([], {}),
        ({"x": 0, "y": False, "z": True}, {"x": 0.0, "y": 0.0, "z": 1.0}),
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


CSV = """title;body;topic;id
First;"Some
text; here";x/y;1
Second;Ünïted;a.b;2
"""
TITLED = {"separator": ";", "text_columns": ["title", "body"], "label_column": "topic"}
TITLES = [("First Some\ntext; here", "x/y"), ("Second Ünïted", "a.b")]
ITEMS = [{"text": "a", "label": "x", "answer": "yes"}, {"text": "a", "label": ["y"]}]
FLAGS = """{"text": "a", "rude": 1, "odd": 0}
{"text": "b", "rude": false, "odd": 0.0}
{"text": "c", "rude": true, "odd": 1}"""
RUDE = {"label_column": ["rude", "odd"]}, [("a", "rude"), ("b",), ("c", "odd", "rude")]
MARKS = 'text,label\n"a,x\nb,y\nc",x\n"Hey" you,y\n5" ",x\n'
FOUND = [('"a', "x"), ("b", "y"), ('c"', "x"), ('"Hey" you', "y"), ('5" "', "x")]
SAID = 'text,label\n"a,x\n""c""",x\nd,x\n'
LABELS = ("C", "C#", "a|b", "a", "#", "x, y")
CHOICES = 'text,label\nb,"{""choices"": [""x"", ""[y]""]}"\nc,"[2, 14]"\n'
LONG = "word " * 40_000  # more than csv's default limit
AB = {"text_columns": ["a", "b"]}
NAMED = {"text_columns": ["text", "answer"]}


@pytest.mark.parametrize(
    ("name", "text", "settings", "expected"),
    [
        ("a.csv", f"\ufeff{CSV}", TITLED, TITLES),
        ("a.csv", CSV, {**TITLED, "encoding": "latin-1"}, TITLES),
        # JSON on lines or in an array
        ("a.JSONL", "\n\n".join(map(json.dumps, ITEMS)), {}, [("a", "x"), ("a", "y")]),
        ("a.json", json.dumps(ITEMS, indent=1), {}, [("a", "x"), ("a", "y")]),
        # columns of 0 and 1
        ("a.csv", "text,rude,odd\na,1,0\nb,0,0\nc,1.0,True\n", *RUDE),
        ("a.jsonl", FLAGS, *RUDE),
        ("a.tsv", MARKS.replace(",", "\t"), {}, FOUND),
        ("a.csv", 'text,label\n"a,x\n', {"quotes": False}, [('"a', "x")]),
        ("a.csv", 'text,label\n"Four\n\nfive",y\n', {}, [("Four\n\nfive", "y")]),
        # fields that contain rows, with quotes=True
        ("a.csv", SAID, {"quotes": True}, [('a,x\n"c"', "x"), ("d", "x")]),
        # empty cells add no space
        ("a.csv", "a,b,label\n,one,x\ntwo,,x\n", AB, [("one", "x"), ("two", "x")]),
        # "answer" as a text column
        ("a.csv", "text,label,answer\na,x,reject\n", NAMED, [("a reject", "x")]),
        # labels with separators
        (
            *("a.csv", 'text,label\na,C\na,C#\na,a|b\na,a\na,#\na,"x, y"\n', {}),
            [("a", label) for label in LABELS],
        ),
        ("a.csv", "text,label\na,x\nb,[]\n", {}, [("a", "x"), ("b",)]),
        ("a.csv", CHOICES, {}, [("b", "[y]", "x"), ("c", "14", "2")]),
        ("a.csv", f'text,label\n"{LONG}",x\n', {}, [(LONG, "x")]),
        (
            *("a.jsonl", '{"text": "a", "accept": ["y", "x"]}'),
            *({"label_column": "accept"}, [("a", "x", "y")]),
        ),
    ],
)
def test_texts_and_labels_of_rows(name, text, settings, expected, tmp_path):
    path = write(tmp_path, name, text, settings.get("encoding", "utf-8"))
    found = read_cats(path, **settings)
    assert [(text, *(x for x in cats if cats[x])) for text, cats in found] == expected
    labels = sorted(found[0][1])
    assert all([*cats] == labels for _, cats in found)


def test_given_labels_are_complete(tmp_path):
    path = write(tmp_path, "own.csv", "text,label\na,x\nb,y\n")
    reader = create_labelled_texts_reader(path=path, labels=["z", "y", "x"])
    first, _ = reader(TOKENIZER)
    assert list(first.reference.cats.items()) == [("z", 0), ("y", 0), ("x", 1)]
    assert first.predicted.cats == {}
    with pytest.raises(ValueError, match=r"csv:3: .*'y' is not among 'labels'"):
        read_cats(path, labels=["x"])


TWO = {"label_column": ["x", "y"]}
JOINED = 'text,label\n"a,x\nb,y\nc",z\nd,z\n'
HALF = "ab " * 200_000


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("text,lable\na,x\n", {}, ":1: .*'text', 'label'.*'lable'.*--label-column"),
        ("text,label,text\na,x,b\n", {}, ":1: .*'text', 'label' .*once"),
        ('text;label\n"a";x\n', {}, ":1: .*--separator"),
        ("text,label\na,x\nb\n", {}, ":3: expected 2 columns.*got 1"),
        ("text,label\na, \n", {}, r":2: expected a label.*\[\]"),
        ("text,label\n  ,x\n", {}, ":2: expected text in 'text'"),
        ("text,label\n", {}, "a.csv: expected texts"),
        ('text,label\n"a\nb",x\n\n"c,x\nd,x\n', {}, ":5: .*not CSV.*--no-quotes"),
        ("text,label\na,\"['x', 'y']\"\n", {}, ":2: .*JSON"),
        ("text,label\na,x\nb,y\nc,x#y\nd,x#y\n", {}, ":4: 'x#y' .*JSON"),
        ('text,label\na,x\nb,y\nc,"x, y"\n', {}, ":4: 'x, y' .*JSON"),
        # an unmatched quotation mark
        (JOINED, {}, ":2: .*--quotes.*--no-quotes"),
        # rows of Prodigy
        ("text,label,answer\na,x,accept\n", {}, ":2: .*data-to-spacy"),
        # columns of 0 and 1
        ("text,x,y\na,1,0\nb,-1,0\n", TWO, ":3: expected .*1 or 0.*'x', got '-1'"),
        (f"a,b,label\n{HALF},{HALF},z\n", AB, ":2: .*got 1,200,001"),
    ],
)
def test_ambiguous_csv_is_refused(text, settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_cats(write(tmp_path, "a.csv", text), **settings)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", '"text"\t"label"\na\tx\n', ":1: .*--quotes"),
        ("a.tsv", 'text\tlabel\na\tx\n"b ""c"""\tx\n', ":3: .*--quotes"),
        ("a.tsv", "text\tlabel\na\rb\tx\n", ":2: .*not CSV"),
        ("a.jsonl", "", "a.jsonl: expected texts"),
        ("a.jsonl", '{"text": "a"', ":1: expected JSON"),
        ("a.json", '\n[{"text": "a",}]', "a.json: .*line 2"),
        ("a.json", '[{"text": "a", "label": "x"}, 1]', "json:item 2: .* got 1"),
        ("a.json", '[{"text": "a"}]', "json:item 1: .*'label', got 'text'"),
        ("a.json", '{"text": "a"}\n{"text": "b"}', r"a.json: .*\.jsonl"),
        ("a.jsonl", '{"text": 1, "label": "x"}', ":1: expected text in 'text'"),
        ("a.jsonl", '{"text": "a", "spans": []}', "'spans'.*--label-column"),
        *(
            ("a.jsonl", f'{{"text": "a", "label": {label}}}', rf"a\.jsonl:.*{message}")
            for label, message in [
                ("true", "expected a label"),
                ('"\\udc00"', "expected a label"),
                ('[[0, 3, "PER"]]', "expected a label.*'prepare spans'"),
                ('{"x": 1, "y": 0.8}', "1 or 0 for 'y', got 0.8"),
                ("[]", "--label-column"),
                ('["x", "1,x", 1]', "'1,x' seems several"),
                ('"x", "answer": "reject"', "data-to-spacy"),
            ]
        ),
    ],
)
def test_ambiguous_rows_are_refused(name, text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_cats(write(tmp_path, name, text))


@pytest.mark.parametrize(
    ("layout", "settings", "name"),
    [
        (SpanFormat, {"misaligned": "drop"}, "misaligned"),
        (SpanFormat, {"overlapping": "expand"}, "overlapping"),
        (SpanFormat, {"text": ["a", "b"]}, "text"),
        (ColumnFormat, {"quotes": True}, "quotes"),
        (ColumnFormat, {"group": "page"}, "group"),
    ],
)
def test_invalid_settings_are_refused(layout, settings, name):
    with pytest.raises(ValueError, match=f"'{name}'"):
        layout(**settings)
