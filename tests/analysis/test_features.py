from collections import Counter
from itertools import islice

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_hashembeds.analysis import features
from spacy_hashembeds.analysis.features import collect_vocabulary, count_features
from spacy_hashembeds.kernels.distinct import find_distinct

ATTRS = ["NORM", "SHAPE"]


@pytest.fixture
def nlp():
    return spacy.blank("en")


def make_docs(nlp, *texts: str) -> list[Doc]:
    return [Doc(nlp.vocab, words=text.split()) for text in texts]


def to_counts(vocabulary, nlp) -> dict[tuple[str, ...], int]:
    return {
        tuple(nlp.vocab.strings[int(value)] for value in word): int(count)
        for word, count in zip(vocabulary.words, vocabulary.counts, strict=True)
    }


def test_words_are_counted_by_orth_and_attributes(nlp):
    docs = make_docs(nlp, "The cat saw the Cat", "", "the the")
    vocabulary = collect_vocabulary(iter(docs), ATTRS)
    assert vocabulary.attrs == ("NORM", "SHAPE")
    assert to_counts(vocabulary, nlp) == {
        ("The", "the", "Xxx"): 1,
        ("the", "the", "xxx"): 3,
        ("cat", "cat", "xxx"): 1,
        ("Cat", "cat", "Xxx"): 1,
        ("saw", "saw", "xxx"): 1,
    }
    values, counts = vocabulary.count_values("NORM")
    strings = [nlp.vocab.strings[int(value)] for value in values]
    expected = {"the": 4, "cat": 2, "saw": 1}
    assert dict(zip(strings, counts.tolist(), strict=True)) == expected
    assert (values[1:] > values[:-1]).all()
    assert count_features(vocabulary) == {
        "NORM": {"values": 3, "once": 1, "at_least_10": 0},
        "SHAPE": {"values": 2, "once": 0, "at_least_10": 0},
    }
    columns = vocabulary.get_columns(["SHAPE", "NORM"])
    np.testing.assert_array_equal(columns, vocabulary.words[:, [2, 1]])


def test_a_word_with_two_norms_is_there_twice(nlp):
    doc = make_docs(nlp, "a a a")[0]
    doc[1].norm_ = "one"
    vocabulary = collect_vocabulary([doc], ["NORM"])
    assert to_counts(vocabulary, nlp) == {("a", "a"): 2, ("a", "one"): 1}


def test_words_are_as_many_as_the_attributes_asked_for_tell_apart(nlp):
    doc = make_docs(nlp, "a a b")[0]
    doc[1].norm_ = "one"
    vocabulary = collect_vocabulary([doc], ATTRS)

    def get_words(*attrs: str) -> set[tuple[str, ...]]:
        words = vocabulary.get_words(attrs)
        strings = {tuple(nlp.vocab.strings[int(v)] for v in word) for word in words}
        assert len(strings) == len(words)
        return strings

    assert get_words("SHAPE") == {("a", "x"), ("b", "x")}
    assert get_words("SHAPE", "NORM") == {
        ("a", "x", "a"),
        ("a", "x", "one"),
        ("b", "x", "b"),
    }
    assert collect_vocabulary([], ATTRS).get_words(["NORM"]).shape == (0, 2)


def test_frequencies_are_inclusive(nlp):
    vocabulary = collect_vocabulary(make_docs(nlp, "a " * 10 + "b " * 9), ["ORTH"])
    counts = count_features(vocabulary)["ORTH"]
    assert counts == {"values": 2, "once": 0, "at_least_10": 1}


def test_memory_grows_with_distinct_words_only(nlp, monkeypatch):
    sizes = []

    def find(keys):
        sizes.append(len(keys))
        return find_distinct(keys)

    monkeypatch.setattr(features, "_MIN_PENDING", 10)
    monkeypatch.setattr(features, "find_distinct", find)
    words = [f"w{i % 7}" for i in range(1000)]
    stream = iter(words)
    docs = (Doc(nlp.vocab, words=list(islice(stream, 4))) for _ in range(250))
    vocabulary = collect_vocabulary(docs, ["NORM"])
    found = {word[0]: n for word, n in to_counts(vocabulary, nlp).items()}
    assert found == Counter(words)
    # what was distinct before, and what is new
    assert max(sizes) <= 7 + 10 + 4
