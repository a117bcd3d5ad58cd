"""Vocabularies and statistics of corpora."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.tools.analyze.corpus import (
    StatisticsCounter,
    collect_vocabulary,
    count_features,
)
from spacy_hashembeds.tools.analyze.embedders import count_sharing, measure_words

from .tables import ATTRS, collect, make_docs, make_hash_table


def test_words_are_counted_by_orth_and_attributes():
    docs = make_docs("The cat saw the Cat", "", "the the")
    docs[2][1].norm_ = "THE"
    vocabulary = collect_vocabulary(iter(docs), ATTRS)
    strings = docs[0].vocab.strings
    words = [tuple(strings[int(value)] for value in word) for word in vocabulary.words]
    assert dict(zip(words, vocabulary.counts.tolist(), strict=True)) == {
        ("The", "the", "Xxx"): 1,
        ("the", "the", "xxx"): 2,
        ("the", "THE", "xxx"): 1,
        ("cat", "cat", "xxx"): 1,
        ("Cat", "cat", "Xxx"): 1,
        ("saw", "saw", "xxx"): 1,
    }
    values, counts = vocabulary.count_values("NORM")
    norms = [strings[int(value)] for value in values]
    expected = {"the": 3, "THE": 1, "cat": 2, "saw": 1}
    assert dict(zip(norms, counts.tolist(), strict=True)) == expected
    assert (values[1:] > values[:-1]).all()
    # the word with two norms has one shape
    for attrs, n in ((["SHAPE"], 5), (["SHAPE", "NORM"], 6)):
        tables = [make_hash_table(attr) for attr in attrs]
        assert measure_words(tables, vocabulary)["words"] == n


def test_frequencies_are_inclusive():
    vocabulary = collect("a " * 10 + "b " * 9 + "c", attrs=["ORTH"])
    counts = count_features(vocabulary)["ORTH"]
    assert counts == {"values": 3, "once": 1, "at_least_10": 1}


ROWS = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1)


@given(rows=ROWS)
def test_shared_codes_are_counted(rows):
    codes, counts = np.array(rows, dtype="uint64"), Counter(map(tuple, rows))
    expected = sum(n for n in counts.values() if n > 1)
    assert count_sharing(codes) == count_sharing(np.asfortranarray(codes)) == expected


@pytest.fixture
def docs() -> list[Doc]:
    tags = ["B-LOC", "I-LOC", "O", "B-PER"]
    vocab = Vocab()
    return [
        Doc(vocab, words=["New", "York", "loves", "Ann"], ents=tags),
        Doc(vocab, words=["new", "loves"]),
        Doc(vocab),
    ]


def test_statistics(docs):
    vocab = Vocab()
    for word in ("new", "loves"):
        vocab.set_vector(word, np.ones(3, dtype="float32"))
    # New, York and Ann have no vectors, which are case-sensitive
    assert StatisticsCounter(iter(docs)).get_statistics(vocab) == {
        "documents": 3,
        "tokens": 6,
        "entities": 2,
        "classes": 2,
        "vocabulary": 5,
        "entities_per_document": 2 / 3,
        "document_length": 2.0,
        "entity_length": 1.5,
        "unknown": 3,
    }
    nothing = StatisticsCounter().get_statistics()
    assert nothing.pop("unknown") is None
    assert set(nothing.values()) == {0}


def test_entities_of_any_label_are_seen_by_exact_text(docs):
    vocab = Vocab()
    test = [
        Doc(vocab, words=["Ann", "ann"], ents=["B-ORG", "B-PER"]),
        Doc(vocab, words=["New", "York", "York"], ents=["B-LOC", "I-LOC", "B-LOC"]),
    ]
    texts = StatisticsCounter(docs).entity_texts
    assert StatisticsCounter(test).count_seen(texts) == {
        "seen": 2,
        "unseen": 2,
        "per_type": {
            "LOC": {"seen": 1, "unseen": 1},
            "ORG": {"seen": 1, "unseen": 0},
            "PER": {"seen": 0, "unseen": 1},
        },
    }
