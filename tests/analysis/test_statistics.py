import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.vectors import Vectors
from spacy.vocab import Vocab

from spacy_hashembeds.analysis.statistics import (
    CorpusStatistics,
    SeenUnseen,
    SeenUnseenCounter,
    corpus_statistics,
    count_seen_unseen,
    count_unknown,
)
from spacy_hashembeds.corpora.docbin import entity_texts


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


def test_entities_are_counted_for_each_type(docs: list[Doc]):
    counter = SeenUnseenCounter({"Ann"})
    assert counter.get() == SeenUnseen(seen=0, unseen=0)
    assert counter.get_per_type() == {}
    for doc in docs:
        counter.add(doc)
    counter.add(Doc(Vocab(), words=["Bo", "Ann"], ents=["B-PER", "B-ORG"]))
    assert counter.get() == SeenUnseen(seen=2, unseen=2)
    assert counter.get_per_type() == {
        "LOC": SeenUnseen(seen=0, unseen=1),
        "ORG": SeenUnseen(seen=1, unseen=0),
        "PER": SeenUnseen(seen=1, unseen=1),
    }
    assert list(counter.get_per_type()) == ["LOC", "ORG", "PER"]


def test_words_that_vectors_do_not_know(docs: list[Doc]):
    vocab = Vocab()
    vocab.set_vector("new", np.ones(3, dtype="float32"))
    vocab.set_vector("loves", np.ones(3, dtype="float32"))
    assert corpus_statistics(docs).unknown is None
    # New, York and Ann: the vectors go by ORTH, so that case counts
    assert corpus_statistics(docs, vocab).unknown == 3
    assert corpus_statistics([], vocab).unknown == 0
    assert count_unknown(["loves", "hates"], vocab) == 1


def test_vectors_may_go_by_another_attribute():
    nlp = spacy.blank("en")
    rows = np.ones((1, 3), dtype="float32")
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings, data=rows, keys=["new"], attr="LOWER"
    )
    assert count_unknown(["New", "NEW", "york"], nlp.vocab) == 1


def test_floret_vectors_know_every_word():
    nlp = spacy.blank("en")
    data = np.ones((10, 3), dtype="float32")
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings,
        mode="floret",
        data=data,
        minn=2,
        maxn=3,
        hash_count=1,
    )
    assert count_unknown(["anything", "goes"], nlp.vocab) == 0
