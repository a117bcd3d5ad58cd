"""Texts with entities by character offsets."""

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.training import Corpus

from spacy_hashembeds.tools.prepare.spans import SpanFormat
from spacy_hashembeds.tools.prepare.splits import prepare_files
from spacy_hashembeds.training.features import read_values

from ... import toy_ner

TEXT = "Don't tell Ann 😀 in New York."
ANN, YORK = (11, 14, "PER"), (20, 28, "LOC")
OBJECTS = [
    {"start": a, "end": b, "label": x, "token_start": 0} for a, b, x in (ANN, YORK)
]
OFFSETS = [{"id": 1, "start_offset": 11, "end_offset": 14, "label": " PER"}, YORK]
#: JSON-MIN of Label Studio.
LABELS = [{"start": a, "end": b, "text": "", "labels": [x]} for a, b, x in (ANN, YORK)]


def prepare(folder: Path, name: str, content: Any, **settings: Any) -> list[Any]:
    text = content if isinstance(content, str) else json.dumps(content)
    train, dev, output = folder / name, folder / "dev.jsonl", folder / "out"
    train.write_text(text, encoding="utf8")
    row = {"text": "a", "spans": [], "entities": 1, "gold": [], "body": "b"}
    dev.write_text(json.dumps(row | {"tokens": ["a"], "size": [1]}))
    layout = SpanFormat(**settings)
    paths = prepare_files(train=train, dev=dev, lang="en", output=output, layout=layout)
    docs = toy_ner.read(paths["train"])
    return [[(ent.text, ent.label_) for ent in doc.ents] for doc in docs]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", {"text": TEXT, "entities": [ANN, YORK, ANN]}),
        ("a.jsonl", {"text": TEXT, "spans": OBJECTS, "answer": "accept", "label": "x"}),
        ("a.jsonl", {"id": 1, "text": TEXT, "label": [YORK, ANN], "Comments": []}),
        ("a.jsonl", {"text": TEXT, "entities": OFFSETS, "relations": []}),
        ("a.json", [{"text": TEXT, "label": LABELS}]),
        ("a.ndjson", [TEXT, {"entities": [YORK, ANN]}]),
        ("a.json", [{"text": TEXT, "labels": [ANN, YORK]}]),
        ("a.json", [[TEXT, {"entities": [ANN, YORK]}]]),
    ],
)
def test_the_same_entities_are_read(name, content, tmp_path):
    assert prepare(tmp_path, name, content) == [[("Ann", "PER"), ("New York", "LOC")]]


def test_docs_are_tokenized_by_the_pipeline(tmp_path):
    nlp = spacy.blank("en")
    prepare(tmp_path, "a.jsonl", {"text": TEXT, "entities": [ANN]})
    (example,) = Corpus(tmp_path / "out" / "train.spacy")(nlp)
    doc, expected = example.reference, nlp(TEXT)
    assert [(t.text, t.norm_, t.whitespace_) for t in doc] == [
        (t.text, t.norm_, t.whitespace_) for t in expected
    ]
    assert {t.ent_iob_ for t in doc} == {"B", "O"}


def test_rejected_rows_are_skipped(tmp_path):
    answers = ["accept", "reject", "ignore"]
    rows = [{"text": "Ann", "spans": [], "answer": answer} for answer in answers]
    rows += [{"text": "Ann ran", "answer": "accept"}]  # no spans
    assert prepare(tmp_path, "a.json", rows) == [[], []]


def test_keys_are_options(tmp_path):
    row = {"body": TEXT, "entities": [], "gold": [ANN], "spans": [YORK]}
    row["answer"] = "accept"
    settings = {"text": ["body"], "label": ["gold"]}
    assert prepare(tmp_path, "a.jsonl", row, **settings) == [[("Ann", "PER")]]
    with pytest.raises(ValueError, match=r"a\.jsonl:1: .*--label-column"):
        prepare(tmp_path, "a.jsonl", row, text=["body"])


CUT, BLANK, DONT = (11, 13, "PER"), (19, 28, "LOC"), (0, 5, "X")


@pytest.mark.parametrize(
    ("misaligned", "entities", "expected", "unknown"),
    [
        ("leave-out", [CUT, BLANK, DONT], ["Don't"], ["Ann", "New", "York"]),
        (
            "leave-out",
            [CUT, (18, 27, "A"), (20, 23, "B")],
            ["New"],
            ["Ann", "in", "York"],
        ),
        ("leave-out", [(5, 6, "X"), DONT], ["Don't"], []),
        ("expand", [CUT, (21, 27, "LOC")], ["Ann", "New York"], []),
        ("contract", [BLANK, (10, 15, "PER")], ["Ann", "New York"], []),
        # equal after alignment
        ("expand", [CUT, (12, 14, "PER")], ["Ann"], []),
    ],
)
def test_misaligned_entities(misaligned, entities, expected, unknown, tmp_path):
    row = {"text": TEXT, "entities": entities}
    (found,) = prepare(tmp_path, "a.jsonl", row, misaligned=misaligned)
    assert [text for text, _ in found] == expected
    (doc,) = toy_ner.read(tmp_path / "out" / "train.spacy")
    # missing annotation, not O
    assert [t.text for t in doc if t.ent_iob_ == ""] == unknown


OVERLAPPING = [YORK, (20, 23, "B"), (24, 29, "C")]


@pytest.mark.parametrize(
    ("entities", "settings", "message"),
    [
        ([CUT], {"misaligned": "contract"}, "entities: 1.*:2: misaligned: 'An'"),
        (
            OVERLAPPING,
            {"misaligned": "leave-out"},
            "entities: 2.*:2: overlapping: 'New' .* and 'New York' .*--overlapping",
        ),
        ([YORK, (18, 25, "A")], {"misaligned": "expand"}, "entities: 1.*overlapping: "),
        # the first five
        (
            [ANN, *((0, i, "X") for i in (1, 3, 4)), CUT, BLANK, *OVERLAPPING[:2]],
            {},
            "entities: 6.*:2: misaligned: 'D' .*' New York' .*leave-out",
        ),
    ],
)
def test_misaligned_and_overlapping_entities_are_refused(
    entities, settings, message, tmp_path
):
    row = {"text": TEXT, "entities": entities}
    text = '{"text": "fine", "entities": []}\n' + json.dumps(row)
    with pytest.raises(ValueError, match=message) as error:
        prepare(tmp_path, "a.jsonl", text, **settings)
    assert str(error.value).count("a.jsonl:2:") <= 5
    assert not list((tmp_path / "out").glob("*"))


def test_omitted_entities_are_listed(tmp_path):
    left_out: list[str] = []
    rows = [{"text": TEXT, "entities": [CUT, *OVERLAPPING]}]
    choices = dict.fromkeys(("misaligned", "overlapping"), "leave-out")
    found = prepare(tmp_path, "a.json", rows, left_out=left_out, **choices)
    assert found == [[("New York", "LOC")]]
    york = "'New York' (20, 28, 'LOC')"
    assert [message.partition("item 1: ")[2] for message in left_out] == [
        "misaligned: 'An' (11, 13, 'PER')",
        f"overlapping: 'New' (20, 23, 'B') and {york}",
        f"overlapping: 'York.' (24, 29, 'C') and {york}",
    ]


NO_SPANS = [
    *([11, 14], [11, 14, " "], ["11", 14, "X"], "abc", {"start": 1}),
    *([-1, 3, "X"], [11, 11, "X"], [11, 31, "X"]),
]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *(
            (
                "a.jsonl",
                {"text": TEXT, "entities": [span]},
                "a.jsonl:1: .*start and end",
            )
            for span in NO_SPANS
        ),
        ("a.jsonl", {"entities": []}, "a.jsonl:1: expected .*'text', got 'entities'"),
        ("a.jsonl", {"text": TEXT, "tags": []}, "a.jsonl:1: .*'tags'.*--label-column"),
        ("a.jsonl", {"text": "\ud800", "spans": []}, "a.jsonl:1: expected text"),
        ("a.jsonl", {"text": "a" * 1_000_001, "spans": []}, "a.jsonl:1: .*1,000,001"),
        ("a.json", [3], "a.json:item 1: expected"),
        ("a.csv", "text,spans\na,[]\n", "a.csv' should be JSON"),
    ],
)
def test_other_forms_are_refused(name, content, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        prepare(tmp_path, name, content)


WORDS = ["Don't", "tell", "Ann", "😀", "in", "New York."]
VALUES = [True, None, 0, False, "", "x"]
BAD = (1.5, [], 2**63, "\0")


@pytest.mark.parametrize("tokens", [WORDS, [{"text": x} for x in WORDS]])
def test_word_values_are_token_features(tokens, tmp_path):
    row = {"text": TEXT, "spans": [], "tokens": tokens, "size": VALUES}
    prepare(tmp_path, "a.jsonl", row, features={"big": "size"})
    (doc,) = toy_ner.read(tmp_path / "out" / "train.spacy")
    # "New York." is three tokens
    assert read_values(doc, "_.big") == [True, None, 0, False, None, *"xxx"]


NO_WORDS = [{"tokens": x} for x in (None, WORDS[::-1], WORDS[1:], [*WORDS[:5], {}])]
NO_VALUES = [{"size": x} for x in (None, [1] * 5, "abcdef", *([x] * 6 for x in BAD))]


@pytest.mark.parametrize("given", NO_WORDS + NO_VALUES)
def test_invalid_word_values_are_refused(given, tmp_path):
    row = {"text": TEXT, "spans": [], "tokens": WORDS, "size": VALUES, **given}
    with pytest.raises(ValueError, match=r"a\.jsonl:1: expected .*'size', got"):
        prepare(tmp_path, "a.jsonl", row, features={"big": "size"})
