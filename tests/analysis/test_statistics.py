import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.analysis.statistics import StatisticsCounter, warn_of_whitespace


@pytest.fixture
def docs() -> list[Doc]:
    vocab = Vocab()
    tags = ["B-LOC", "I-LOC", "O", "B-PER"]
    return [
        Doc(vocab, words=["New", "York", "loves", "Ann"], ents=tags),
        Doc(vocab, words=["new", "loves"]),
        Doc(vocab),
    ]


def test_counts(docs: list[Doc]):
    assert StatisticsCounter(iter(docs)).get_statistics() == {
        "documents": 3,
        "tokens": 6,
        "entities": 2,
        "classes": 2,
        "vocabulary": 5,
        "entities_per_document": 2 / 3,
        "document_length": 2.0,
        "entity_length": 1.5,
        "whitespace_entities": 0,
        "unknown": None,
    }


def test_an_empty_corpus_counts_nothing():
    statistics = StatisticsCounter().get_statistics()
    assert statistics.pop("unknown") is None
    assert set(statistics.values()) == {0}


def test_entities_are_seen_by_exact_text_whatever_their_label(docs: list[Doc]):
    texts = StatisticsCounter(iter(docs)).entity_texts
    assert texts == {"New York", "Ann"}
    vocab = Vocab()
    test = [
        Doc(vocab, words=["Ann", "ann"], ents=["B-ORG", "B-PER"]),
        Doc(vocab, words=["New", "York", "York"], ents=["B-LOC", "I-LOC", "B-LOC"]),
        Doc(vocab, words=["Ann"]),
    ]
    counts = StatisticsCounter(test).count_seen(texts)
    assert (counts["seen"], counts["unseen"]) == (2, 2)
    assert counts["per_type"] == {
        "LOC": {"seen": 1, "unseen": 1},
        "ORG": {"seen": 1, "unseen": 0},
        "PER": {"seen": 0, "unseen": 1},
    }
    assert list(counts["per_type"]) == ["LOC", "ORG", "PER"]
    nothing = StatisticsCounter().count_seen(texts)
    assert nothing == {"seen": 0, "unseen": 0, "per_type": {}}


def test_words_that_vectors_do_not_know(docs: list[Doc]):
    vocab = Vocab()
    vocab.set_vector("new", np.ones(3, dtype="float32"))
    vocab.set_vector("loves", np.ones(3, dtype="float32"))
    counter = StatisticsCounter(docs)
    assert counter.get_statistics()["unknown"] is None
    # New, York and Ann: the vectors go by ORTH, so that case counts
    assert counter.get_statistics(vocab)["unknown"] == 3
    assert StatisticsCounter().get_statistics(vocab)["unknown"] == 0


@pytest.mark.parametrize(
    ("words", "ents", "count"),
    [
        (["\xa0"], ["B-X"], 1),
        (["a", " "], ["B-X", "I-X"], 1),
        (["\n", "a", "\t"], ["B-X", "I-X", "I-X"], 1),
        (["a", " ", "b", " "], ["B-X", "I-X", "I-X", "O"], 0),
    ],
)
def test_entities_with_white_space_at_an_end(
    words: list[str], ents: list[str], count: int
):
    found = StatisticsCounter([Doc(Vocab(), words=words, ents=ents)]).get_statistics()
    assert found["whitespace_entities"] == count
    warning = warn_of_whitespace({"train": {"whitespace_entities": 0}, "dev": found})
    expected = "Invalid whitespace entity spans: 1 in dev. Entity spans consisting of"
    assert warning.startswith(expected) if count else warning is None
