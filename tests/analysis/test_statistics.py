import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.analysis.statistics import (
    CorpusStatistics,
    SeenUnseen,
    corpus_statistics,
    count_seen_unseen,
    entity_texts,
)


@pytest.fixture
def docs() -> list[Doc]:
    vocab = Vocab()
    return [
        Doc(
            vocab,
            words=["New", "York", "loves", "Ann"],
            ents=["B-LOC", "I-LOC", "O", "B-PER"],
        ),
        Doc(vocab, words=["new", "loves"]),
        Doc(vocab),
    ]


def test_counts(docs: list[Doc]):
    assert corpus_statistics(iter(docs)) == CorpusStatistics(
        documents=3,
        tokens=6,
        entities=2,
        classes=2,
        vocabulary=5,
        entities_per_document=2 / 3,
        document_length=2.0,
        entity_length=1.5,
    )


def test_an_empty_corpus_counts_nothing():
    statistics = corpus_statistics([])
    assert statistics.documents == statistics.tokens == statistics.vocabulary == 0
    assert statistics.entities_per_document == 0.0
    assert statistics.document_length == statistics.entity_length == 0.0


def test_entities_are_seen_by_exact_text_whatever_their_label(docs: list[Doc]):
    vocab = Vocab()
    test = [
        Doc(vocab, words=["Ann", "ann"], ents=["B-LOC", "B-PER"]),
        Doc(vocab, words=["New", "York", "York"], ents=["B-LOC", "I-LOC", "B-LOC"]),
        Doc(vocab, words=["Ann"]),
    ]
    texts = entity_texts(iter(docs))
    assert texts == {"New York", "Ann"}
    assert count_seen_unseen(texts, iter(test)) == SeenUnseen(seen=2, unseen=2)
    assert count_seen_unseen(set(), test) == SeenUnseen(seen=0, unseen=4)
    assert count_seen_unseen(texts, []) == SeenUnseen(seen=0, unseen=0)
