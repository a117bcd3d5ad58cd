import csv
import json
import os
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.training import Corpus, Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry
from thinc.api import Config

from spacy_hashembeds.corpora import labelled, lines
from spacy_hashembeds.corpora.columns import ColumnFormat
from spacy_hashembeds.corpora.readers import (
    create_iob_reader,
    create_labelled_texts_reader,
)
from spacy_hashembeds.corpora.splits import prepare_files

NAMES = ("IOB", "LabelledTexts")

TEXT = "Zoë B-PER\nslept O\nin O\nNew B-LOC\nYork I-LOC\n\nYes O\n"


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.iob"
    path.write_text(TEXT, encoding="utf-8")
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


def read_ents(example: Example) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in example.reference.ents]


def test_examples_have_gold_tokens_and_nothing_predicted(file: Path, nlp: Language):
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


def test_examples_are_those_of_the_prepared_corpus(file: Path, nlp: Language):
    paths = prepare_files(
        train=file,
        dev=file,
        lang="en",
        output=file.parent / "out",
        layout=ColumnFormat(),
    )
    expected = list(Corpus(paths["train"])(nlp))
    found = list(create_iob_reader(path=file)(nlp))
    assert [eg.to_dict() for eg in found] == [eg.to_dict() for eg in expected]
    assert [eg.predicted.text for eg in found] == [eg.predicted.text for eg in expected]


def test_a_document_keeps_where_its_sentences_begin(tmp_path: Path, nlp: Language):
    path = tmp_path / "ned.train"
    path.write_text(
        "-DOCSTART- -DOCSTART- O\nDe Art O\nRode Adj B-ORG\n\nZee N I-ORG\nin Prep O\n"
        "-DOCSTART- -DOCSTART- O\nRome N B-LOC\n"
    )
    first, second = create_iob_reader(path=path, group="document")(nlp)
    assert [sent.text.split() for sent in first.reference.sents] == [
        ["De", "Rode"],
        ["Zee", "in"],
    ]
    assert read_ents(first) == [("Rode", "ORG"), ("Zee", "ORG")]
    assert read_ents(second) == [("Rome", "LOC")]


def test_a_limit_ends_the_reading_before_an_error(file: Path, nlp: Language):
    file.write_text(TEXT + "\nno-tag\n", encoding="utf-8")
    assert len(list(create_iob_reader(path=file, limit=2)(nlp))) == 2
    with pytest.raises(ValueError, match=r"corpus\.iob:9: "):
        list(create_iob_reader(path=file, limit=3)(nlp))


def test_a_reader_can_be_read_again(file: Path, nlp: Language):
    reader = create_iob_reader(path=file)
    assert [len(list(reader(nlp))) for _ in range(2)] == [2, 2]


def test_own_columns(tmp_path: Path, nlp: Language):
    path = tmp_path / "own.tsv"
    text = "-DOCSTART-\n# a = b\nS-PER\tZoë Ann\n\nO\tslept\n"
    path.write_bytes(text.encode("latin-1"))
    reader = create_iob_reader(
        path=path,
        separator="\t",
        word_column=1,
        tag_column=0,
        encoding="latin-1",
        group="document",
    )
    (example,) = reader(nlp)
    assert read_ents(example) == [("Zoë Ann", "PER")]
    assert len(example.reference) == 2


@pytest.mark.parametrize("name", NAMES)
def test_readers_check_their_path_when_made(name: str, tmp_path: Path):
    create = registry.readers.get(f"spacy-hashembeds.{name}Corpus.v1")
    with pytest.raises(ValueError, match=r"path should .* is None.*\.cfg"):
        create(path=None)
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*gone"):
        create(path=tmp_path / "gone")
    with pytest.raises(ValueError, match=r"'path' should be a file, but .* a folder"):
        create(path=tmp_path)


def test_a_group_that_cannot_be(file: Path):
    with pytest.raises(ValueError, match="'group' should be 'sentence' or 'document'"):
        create_iob_reader(path=file, group="page")


NER_CONFIG = """
[paths]
train = null

[corpora]

[corpora.train]
@readers = "spacy-hashembeds.IOBCorpus.v1"
path = ${paths.train}

[corpora.dev]
@readers = "spacy-hashembeds.IOBCorpus.v1"
path = ${paths.train}
limit = 1

[nlp]
lang = "en"
pipeline = ["ner"]

[components]

[components.ner]
factory = "ner"

[components.ner.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "ner"
extra_state_tokens = false
hidden_width = 16
maxout_pieces = 2
use_upper = true

[components.ner.model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 16
depth = 1
embed_size = 100
window_size = 1
maxout_pieces = 2
subword_features = true

[training]
max_steps = 40
eval_frequency = 20
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"

[training.optimizer]
@optimizers = "Adam.v1"
learn_rate = 0.02

[training.logger]
@loggers = "spacy.ConsoleLogger.v3"
console_output = false

[training.score_weights]
ents_f = 1.0
"""


def test_a_pipeline_trains_from_the_file_itself(file: Path):
    overrides = {"paths.train": str(file)}
    config = Config().from_str(NER_CONFIG, overrides=overrides)
    default = Language.default_config.merge(config)
    nlp = init_nlp(default)
    assert set(nlp.get_pipe("ner").labels) == {"LOC", "PER"}
    nlp, _ = train(nlp)
    doc = nlp("Zoë slept in New York")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("Zoë", "PER"),
        ("New York", "LOC"),
    ]


# Texts with labels

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
        path=path,
        text_columns=["0", "1"],
        label_column=label,
        encoding="latin-1",
        quotes=True,
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


X, Y, Z = ({"id": name, "text": f"An {name}"} for name in "xyz")


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
                {"text": "a", "options": [X, Y], "accept": ["y"], "answer": "accept"},
                {"text": "b", "options": [Y, Z], "accept": [], "answer": "accept"},
                {"text": "c", "options": [X, Y], "answer": "ignore", "label": "x"},
                {"text": "d", "options": [{"id": 1}, X], "accept": [1], "label": "y"}
                | {"answer": "accept"},
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
        # Label Studio's JSON-MIN
        (
            [
                {"text": "a", "label": {"choices": ["x", "y"]}},
                {"text": "b", "label": 2},
            ],
            [("a", {"2": 0.0, "x": 1.0, "y": 1.0}), ("b", {"2": 1.0, "x": 0, "y": 0})],
        ),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "lines.json", "array.json"])
def test_annotation_tools(rows, expected, name: str, tmp_path: Path, nlp: Language):
    lines = "\n\n".join(map(json.dumps, rows))
    text = json.dumps(rows, indent=1) if name == "array.json" else lines
    path = write(tmp_path, name, text)
    examples = create_labelled_texts_reader(path=path)(nlp)
    assert [(eg.text, eg.reference.cats) for eg in examples] == expected


def test_a_large_array_is_not_loaded(tmp_path: Path, nlp: Language, monkeypatch):
    monkeypatch.setattr(labelled, "MAX_LINE", 29)
    path = write(tmp_path, "own.json", '[{"text": "a", "label": "x"}]')
    assert len(list(create_labelled_texts_reader(path=path)(nlp))) == 1
    monkeypatch.setattr(labelled, "MAX_LINE", 28)
    with pytest.raises(ValueError, match=r"own\.json: a JSON array of more.*JSONL"):
        list(create_labelled_texts_reader(path=path)(nlp))


def test_csv_of_annotation_tools(tmp_path: Path, nlp: Language):
    rows = [
        ("text", "label", "answer"),
        ("a", "x", "reject"),
        ("b", '{"choices": ["x", "[y]"]}', "accept"),
        ("c", "[2, 14]", "accept "),
    ]
    path = tmp_path / "own.csv"
    with path.open("w") as file:
        csv.writer(file).writerows(rows)
    found = {
        eg.text: eg.reference.cats
        for eg in create_labelled_texts_reader(path=path)(nlp)
    }
    assert found == {
        "a": {"x": 0.0},
        "b": {"x": 1.0, "[y]": 1.0},
        "c": {"2": 1.0, "14": 1.0},
    }
    # a column that is named is no answer
    reader = create_labelled_texts_reader(path=path, text_columns=["text", "answer"])
    assert [eg.text for eg in reader(nlp)] == ["a reject", "b accept", "c accept "]


MARKS = [('"a', "x"), ("b", "y"), ('c"', "x"), ('"Hey" you', "y"), ('5" "', "x")]


@pytest.mark.parametrize(
    ("name", "separator", "quotes"),
    [("a.tsv", "\t", None), ("a.tsv", "\t", False), ("a.csv", ",", False)],
)
def test_quotation_marks_of_texts(
    name: str, separator: str, quotes: bool | None, tmp_path: Path, nlp: Language
):
    rows = [("text", "label"), *MARKS]
    path = write(tmp_path, name, "\n".join(map(separator.join, rows)))
    reader = create_labelled_texts_reader(path=path, quotes=quotes)
    assert get_texts(list(reader(nlp))) == [(text, [label]) for text, label in MARKS]


@pytest.mark.parametrize("separator", [",", "\t"])
def test_quotation_marks_around_fields(separator: str, tmp_path: Path, nlp: Language):
    texts = [f'a{separator}x\nb{separator}x\n"c"', "d"]
    path = tmp_path / "a.csv"
    with path.open("w") as file:
        rows = [("text", "label"), *((text, "x") for text in texts)]
        csv.writer(file, delimiter=separator).writerows(rows)
    reader = create_labelled_texts_reader(path=path, separator=separator, quotes=True)
    assert get_texts(list(reader(nlp))) == [(text, ["x"]) for text in texts]


def test_texts_of_several_lines_are_no_rows(tmp_path: Path, nlp: Language):
    # as many commas as a row has, but no labels after them; the blank line has none
    text = 'text,label\n"One, two\nthree",x\n"Four\n\nfive",y\n'
    path = write(tmp_path, "a.csv", text)
    expected = [("One, two\nthree", ["x"]), ("Four\n\nfive", ["y"])]
    assert get_texts(list(create_labelled_texts_reader(path=path)(nlp))) == expected


def test_empty_columns_of_texts_leave_no_blanks(tmp_path: Path, nlp: Language):
    path = write(tmp_path, "a.csv", "a,b,label\n,one,x\ntwo,,x\nthree,four,x\n")
    reader = create_labelled_texts_reader(path=path, text_columns=["a", "b"])
    assert [eg.text for eg in reader(nlp)] == ["one", "two", "three four"]


def test_labels_of_a_file_are_in_the_order_of_the_alphabet(
    tmp_path: Path, nlp: Language
):
    path = write(tmp_path, "a.csv", "text,label\na,z\nb,x\nc,y\nd,x\n")
    for example in create_labelled_texts_reader(path=path)(nlp):
        assert list(example.reference.cats) == ["x", "y", "z"]


def test_marks_within_labels_do_not_part_them(tmp_path: Path, nlp: Language):
    names = ["C", "C#", "a|b", "a", "#", "x, y"]
    rows = ["text\tlabel", *(f"a\t{name}" for name in names)]
    path = write(tmp_path, "a.tsv", "\n".join(rows))
    (first, *_) = create_labelled_texts_reader(path=path)(nlp)
    assert list(first.reference.cats) == sorted(names)


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
        ("a.csv", "text,label\na,x\nb\n", ":3: expected 2 columns, as in the first"),
        ("a.csv", "text,label\na, \n", ":2: expected a label"),
        ("a.csv", "text,label\n  ,x\n", ":2: expected text in 'text', got"),
        ("a.csv", "text,label\n", "a.csv: expected texts with labels, but there are"),
        ("a.csv", "", "a.csv: expected rows of CSV"),
        ("a.csv", 'text,label\n"a,x\n', ":2: the row that begins here is no CSV"),
        ("a.csv", 'text,label\n"a\nb",x\n\n"c,x\nd,x\n', ":5: the row.*here is no CSV"),
        ("a.csv", 'text,label\n"a"b,x\n', ":2: the row .* is no CSV .*be doubled"),
        ("a.csv", "text,label\na,x\na\0,x\n", ":3: NUL characters"),
        ("a.csv", "\n\n", "a.csv: expected rows of CSV, but the file is empty"),
        ("a.jsonl", "", "a.jsonl: expected texts with labels, but there are none"),
        ("a.jsonl", "{}\n[]\n", ":1: expected the key 'text', got"),
        ("a.jsonl", '{"text": "a"}', ":1: expected the key 'label'.*--label-column"),
        ("a.jsonl", '{"text": 1, "label": "x"}', ":1: expected text in 'text'"),
        ("a.jsonl", '{"text": "\\ud800", "label": "x"}', ":1: expected text in 'text'"),
        ("a.jsonl", '\n{"text": "a", "label": null}', ":2: expected a label.*None"),
        ("a.jsonl", '{"text": "a", "label": true}', ":1: expected a label.* got True"),
        ("a.jsonl", '{"text": "a", "label": ["x", 1.5]}', ":1: expected a label"),
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
        ("a.jsonl", '{"a":' * 10**5, ":1: expected a JSON object .*it is nested too"),
        ("a.json", "[" * 10**5, "a.json: expected a JSON array, but it is nested too"),
        ("a.json", '\n[{"text": "a",}]', "a.json: expected a JSON array, but .*line 2"),
        ("a.json", '[{"text": "a", "label": "x"}, 1]', "json:item 2: .* got 1"),
        ("a.json", '[{"text": "a"}]', "json:item 1: expected the key 'label'"),
        ("a.json", "[]", "a.json: expected texts with labels, but there are none"),
        (
            "a.json",
            '[{"id": 1, "data": {"text": "a"}, "annotations": [{"result": []}]}]',
            "'annotations' holds what annotators did.*JSON-MIN or CSV of Label Studio",
        ),
        (
            "a.jsonl",
            '{"text": "Ann", "spans": [{"label": "PER"}], "answer": "accept"}',
            ":1: expected the key 'label'.* 'spans' holds entities.*for 'prepare iob'",
        ),
        ("a.jsonl", '{"text": "Ann", "entities": []}', "'entities' holds entities"),
        (
            "a.jsonl",
            '{"text": "Ann", "label": [[0, 3, "PER"]]}',
            ":1: expected a label, or several, .*of entities.*for 'prepare iob'",
        ),
        (
            "a.jsonl",
            '{"text": "a", "label": "x", "answer": "accept"}\n'
            '{"text": "a", "label": "x", "answer": "reject"}',
            ":2: expected one answer on the label 'x' .* an earlier row .*1.*'review'",
        ),
        (
            "a.jsonl",
            '{"text": "a", "label": "x", "answer": ""}\n'
            '{"text": "a", "label": "x", "answer": "accept"}',
            ":1: expected 'answer' to be 'accept', .* got ''. Correct",
        ),
        (
            "a.csv",
            "text,label,answer\na,x,accept\nb,x,skip\nc,x,ignore\n",
            ":3: expected 'answer' to be 'accept', .* got 'skip'",
        ),
        (
            "a.jsonl",
            '{"text": "a", "options": [{"id": "x"}], "answer": "reject"}',
            ":1: expected one label where the 'answer' is 'reject', got .*Accept the",
        ),
        (
            "a.jsonl",
            '{"text": "a", "label": ["x", "y"], "answer": "reject"}',
            ":1: expected one label where the 'answer' is 'reject'",
        ),
        (
            "a.jsonl",
            '{"text": "a", "label": {"x": 0}, "answer": "reject"}',
            ":1: expected one label where the 'answer' is 'reject'",
        ),
        (
            "a.jsonl",
            '{"text": "a", "options": ["x"], "accept": ["x"], "answer": "accept"}',
            ":1: expected 'options' to be a list of objects with an 'id'",
        ),
        (
            "a.jsonl",
            '{"text": "a", "label": "x", "answer": "ignore"}',
            "a.jsonl: expected texts with labels, but there are none",
        ),
        ("a.csv", "text,label\na,\"['x', 'y']\"\n", ":2: .* in brackets JSON"),
        (
            "a.csv",
            "text,label\na,y #x\nb,x\nc,y\n",
            r":2: the label 'y #x' .* 'y', 'x', .* too: .*; or, .* rename",
        ),
        ("a.jsonl", '{"text": "a", "label": ["x", "1,x", 1]}', ":1: the label '1,x'"),
        ("a.csv", "text,label\na,x\nb,1|x|1\nc,1\n", ":3: .* seems .*'1', 'x', '1'"),
        ("a.csv", 'text;label\n"a";x\n', ":1: .*--separator .* here ','"),
        ("a.csv", 'text,label\n"a,x\nb,y\nc",z\nd,z\n', ":2: between two .*--quotes"),
        # labels that other rows have
        (
            "a.csv",
            'text,label\n"a, b",x\nc,y\n"d,x\ne",y\n',
            ":4: between two quotation marks.*--no-quotes",
        ),
        ("a.csv", 'text,label\n"Hey" you,x\n', ":2: the row .*no CSV.*--no-quotes"),
        ("a.tsv", "text\tlabel\na\rb\tx\n", r":2: .*\). Fields should have.*bare car"),
        ("a.tsv", '"text"\t"label"\na\tx\n', ":1: expected the columns.*--quotes"),
        ("a.tsv", 'text\tlabel\n"a\nb"\tx\n', ":2: expected 2 columns.*--quotes"),
        (
            "a.tsv",
            'text\tlabel\na\tx\n"b ""c"""\tx\n',
            ":3: quotation marks stand around a whole field.*--quotes.*--no-quotes",
        ),
    ],
)
def test_errors_in_own_files(
    name: str, text: str, message: str, tmp_path: Path, nlp: Language
):
    path = write(tmp_path, name, text)
    with pytest.raises(ValueError, match=message):
        list(create_labelled_texts_reader(path=path)(nlp))


def test_bytes_of_another_encoding_are_found_on_their_line(tmp_path: Path, nlp):
    path = tmp_path / "own.csv"
    path.write_bytes(b"text,label\na,x\na\xff,x\n")
    with pytest.raises(ValueError, match=r"own\.csv:3: not utf-8 text"):
        list(create_labelled_texts_reader(path=path)(nlp))


def test_long_fields(tmp_path: Path, nlp: Language, monkeypatch):
    text = "word " * 40_000  # more than csv takes by default
    path = write(tmp_path, "own.csv", f'text,label\n"{text}",x\n')
    (example,) = create_labelled_texts_reader(path=path)(nlp)
    assert len(example.reference) == 40_000
    old = csv.field_size_limit(1000)
    monkeypatch.setattr(lines, "MAX_TEXT", 1000)
    try:
        with pytest.raises(ValueError, match=r":2: .*be.*and 1,000 characters at most"):
            list(create_labelled_texts_reader(path=path)(nlp))
    finally:
        csv.field_size_limit(old)


def test_texts_are_not_read_beyond_what_is_asked_for(tmp_path: Path, nlp: Language):
    path = write(tmp_path, "own.csv", "text,label\na,x\nb,x\nbroken\n")
    settings = {"path": path, "labels": ["x"]}
    reader = create_labelled_texts_reader(limit=2, **settings)
    assert [len(list(reader(nlp))) for _ in range(2)] == [2, 2]
    with pytest.raises(ValueError, match=r"own\.csv:4: "):
        list(create_labelled_texts_reader(limit=3, **settings)(nlp))


def test_examples_of_texts_have_nothing_predicted(tmp_path: Path, nlp: Language):
    path = write(tmp_path, "own.csv", "text,label\nDon't.,x\n")
    (example,) = create_labelled_texts_reader(path=path)(nlp)
    assert example.reference.cats == {"x": 1.0}
    assert example.predicted.cats == {}
    assert example.predicted.vocab is nlp.vocab
    tokens = [t.norm_ for t in example.predicted]
    assert tokens == [t.norm_ for t in nlp(example.text)]


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
    with pytest.raises(ValueError, match=rf"{name}:\d: expected a text.*most.*got 1,2"):
        list(reader(nlp))


@pytest.mark.parametrize("names", ["0,1", "1,0", ",0,1"])
def test_names_that_pandas_gives_are_no_text(names: str, tmp_path: Path, nlp: Language):
    row = "9,x,a text" if names.startswith(",") else "x,a text"
    path = write(tmp_path, "own.csv", f"{names}\n{row}\n")
    settings = {"text_columns": ["-1"], "label_column": "-2"}
    with pytest.raises(ValueError, match=r"csv:1: .* as pandas writes them.* Remove"):
        list(create_labelled_texts_reader(path=path, **settings)(nlp))
    write(tmp_path, "own.csv", f"{row}\n{names}\n")
    assert len(list(create_labelled_texts_reader(path=path, **settings)(nlp))) == 2


def test_names_of_columns_are_no_text(tmp_path: Path, nlp: Language):
    header, *rows = ["sentiment,tweet", *["pos,a", "neg,b", "pos ,c"] * 3]
    settings = {"text_columns": ["1"], "label_column": "0"}
    path = write(tmp_path, "own.csv", "\n".join([header, *rows, "neg,d"]))
    reader = create_labelled_texts_reader(path=path, **settings)
    with pytest.raises(ValueError, match=r"csv:1: the label 'sentiment' .*Give the na"):
        list(reader(nlp))
    for texts in (
        [header, *rows[:8]],
        [header, *rows, "rare,d"],
        [header, *rows, header],
        [rows[0], header, *rows],
    ):
        write(tmp_path, "own.csv", "\n".join(texts))
        assert len(list(reader(nlp))) == len(texts)


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


TEXTCAT_CONFIG = """
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
    config = Config().from_str(TEXTCAT_CONFIG, overrides={"paths.train": str(path)})
    nlp = init_nlp(Language.default_config.merge(config))
    assert set(nlp.get_pipe("textcat").labels) == {"sport", "sci/tech"}
    nlp, _ = train(nlp)
    cats = nlp("a ball").cats
    assert cats["sport"] > cats["sci/tech"]
