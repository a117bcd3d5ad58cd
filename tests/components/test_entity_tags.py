"""Gold tags aligned as in spaCy, and entities added to those of a Doc."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.lang.en import English
from spacy.tokens import Doc
from spacy.training import Example

from spacy_hashembeds.components.decoding import MISSING, Entities, get_tag_ids
from spacy_hashembeds.components.entity_tags import (
    forbid_tags,
    read_gold_tags,
    read_truth,
    set_entities,
)

from .toy_recognizers import copy_words, draw_entities

LABELS = ["A", "B"]
NUMBERS = get_tag_ids(LABELS)
VOCAB = English().vocab  # with IS_SPACE


@st.composite
def gold_docs(draw) -> Doc:
    """A Doc with tokens inside, outside, blocked or missing."""
    words = draw(st.lists(st.sampled_from(["x", "yz", "\n", "  "]), max_size=7))
    doc = Doc(VOCAB, words=words)
    draw_entities(draw, doc, LABELS, ["blocked", "missing", "outside"])
    return doc


@given(st.lists(gold_docs(), min_size=1, max_size=3))
def test_gold_tags_equal_spacys_aligned_tags(docs):
    examples = [Example(copy_words(doc), doc) for doc in docs]
    expected = [NUMBERS[tag] for eg in examples for tag in eg.get_aligned_ner()]
    assert read_gold_tags(docs, LABELS).tolist() == expected


@given(st.lists(gold_docs(), min_size=1, max_size=3))
def test_white_space_is_trimmed_from_entities(docs):
    """Decoding trims entities too."""
    tags, start = read_gold_tags(docs, LABELS), 0
    for doc in docs:
        for ent in doc.ents:
            tags[start + ent.start : start + ent.end] = 0
            kept = [token.i for token in ent if not token.is_space]
            if kept:
                first, last, k = kept[0], kept[-1], 4 * LABELS.index(ent.label_)
                kinds = "S" if first == last else f"B{'I' * (last - first - 1)}E"
                for i, kind in enumerate(kinds, start=start + first):
                    tags[i] = k + 1 + "SBIE".index(kind)
        start += len(doc)
    examples = [Example(copy_words(doc), doc) for doc in docs]
    assert read_truth(examples, LABELS).tolist() == tags.tolist()


def make_example(words: str, gold_words: str, tags: str) -> Example:
    """Create an example with equal texts. "?" is missing annotation."""
    ents = ["" if tag == "?" else tag for tag in tags.split()]
    gold = Doc(VOCAB, words=gold_words.split(), spaces=[False] * len(ents), ents=ents)
    n = len(words.split())
    return Example(Doc(VOCAB, words=words.split(), spaces=[False] * n), gold)


@pytest.mark.parametrize(
    ("words", "gold_words", "tags", "expected"),
    [
        ("a bc d", "a bc d", "O B-A I-A", [0, 2, 4]),
        ("a bc d", "a b c d", "O B-A I-A O", [0, 1, 0]),  # two gold tokens merged
        ("a b c d", "a bc d", "O B-A O", [0, 2, 4, 0]),  # one gold token split
        # an entity that ends within a token is missing
        ("ab c d", "a b c d", "O B-A I-A O", [MISSING, MISSING, 0]),
        ("a bc d", "a bc d", "O ? B-B", [0, MISSING, 5]),
        ("a bc d", "a bc d", "? ? ?", [MISSING] * 3),
    ],
)
def test_different_tokens(words, gold_words, tags, expected):
    examples = [make_example(words, gold_words, tags) for _ in range(2)]
    empty = Example(Doc(VOCAB), Doc(VOCAB))
    same = make_example("a", "a", "B-B")
    truth = read_truth([same, examples[0], empty, same, examples[1]], LABELS)
    assert truth.tolist() == [5, *expected, 5, *expected]


def test_unknown_types_are_refused():
    with pytest.raises(ValueError, match="'NEW'"):
        read_truth([make_example("a b c", "a bc", "O B-NEW")], LABELS)


def test_forbidden_tags():
    doc = Doc(VOCAB, words=["x", "\n", "y", "z"])
    doc.set_ents([doc.char_span(0, 1, label="A")], blocked=[doc[2:3]])
    scores = np.zeros((5, 9))
    forbid_tags(scores, [doc[:0].as_doc(), doc, Doc(VOCAB, words=["x"])])
    allowed = [np.isfinite(row).nonzero()[0].tolist() for row in scores]
    everything = list(range(9))
    assert allowed == [[0], [0, 3, 7], [0], everything, everything]


def make_entities(*spans: tuple[int, int, int]) -> Entities:
    starts, ends, types = np.array(spans, dtype="int64").reshape(-1, 3).T
    return Entities(starts, ends, types, np.full(len(spans), 0.5, dtype="float32"))


def test_existing_entities_are_kept():
    doc = Doc(VOCAB, words=["x", "y", "z", "x", "y"])
    old = doc.char_span(2, 5, label="OLD", kb_id="Q1", span_id="id")
    doc.set_ents([old], blocked=[doc[4:5]], missing=[doc[3:4]])
    set_entities(doc, make_entities((0, 1, 0)), LABELS, "found")
    (new, kept) = doc.ents
    assert (new.text, new.label_) == ("x", "A")
    assert (kept.start, kept.end, kept.label_) == (1, 3, "OLD")
    assert (kept.kb_id_, kept.ent_id_) == ("Q1", "id")
    assert [token.ent_iob_ for token in doc] == ["B", "B", "I", "O", "B"]
    assert doc[4].ent_type == 0  # still blocked
    assert [span.text for span in doc.spans["found"]] == ["x"]
    assert doc.spans["found"].attrs["scores"].tolist() == [0.5]
