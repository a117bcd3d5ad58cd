import re
from itertools import product

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from lab.baseline.recognizer import (
    NAME,
    decode,
    list_tags,
    make_pipeline,
    make_trainer,
    train,
)
from tests import toy_ner

GOLD = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]


def list_entities(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in doc.ents]


def train_pipeline(docs: list[Doc], folder) -> Language:
    trainer = make_trainer(docs)
    weights = train(trainer, folder / "crf", c1=0.0, c2=0.01, iterations=50)
    return make_pipeline("en", weights)


@pytest.fixture(scope="module")
def nlp(tmp_path_factory) -> Language:
    return train_pipeline(GOLD, tmp_path_factory.mktemp("crf"))


def predict(nlp: Language, doc: Doc) -> Doc:
    return nlp(Doc(nlp.vocab, words=[token.text for token in doc]))


def test_it_finds_what_it_was_shown_and_others_by_what_stands_beside_them(nlp):
    for gold in GOLD:
        assert list_entities(predict(nlp, gold)) == list_entities(gold)
    found = nlp("Dora works in Lisbon today")
    assert list_entities(found) == [("Dora", "PER"), ("Lisbon", "LOC")]
    assert list_entities(nlp("")) == []


def test_a_saved_pipeline_finds_the_same(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    for gold in GOLD:
        assert list_entities(predict(loaded, gold)) == list_entities(gold)
    counts = [each.get_pipe(NAME).count_weights() for each in (nlp, loaded)]
    assert counts[0] == counts[1] > 100


def test_a_bias_finds_more_and_is_saved(nlp, tmp_path):
    biased = train_pipeline(GOLD, tmp_path)
    texts, n_found = ["Dora and Emil saw Oslo again", "", "they left"], []
    for biased.get_pipe(NAME).outside_bias in (-50.0, 0.0, 50.0):
        docs = list(biased.pipe(texts))
        n_found.append(sum(len(doc.ents) for doc in docs))
    assert 0 == n_found[0] < n_found[1] < n_found[2]
    biased.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    assert [list_entities(loaded(x)) for x in texts] == [*map(list_entities, docs)]


LABELS = ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]


@pytest.mark.parametrize("seed", range(20))
def test_the_best_legal_tags_are_found(seed):
    scores = np.random.default_rng(seed).normal(size=(1 + seed % 5, len(LABELS)))
    illegal = re.compile("(^|O )I|LOC I-PER|PER I-LOC")
    legal = [
        tags
        for tags in product(range(len(LABELS)), repeat=len(scores))
        if not illegal.search(" ".join(LABELS[tag] for tag in tags))
    ]
    places = np.arange(len(scores))
    best = max(legal, key=lambda tags: scores[places, tags].sum())
    assert decode(scores, LABELS) == [LABELS[tag] for tag in best]


def test_the_trainer_gives_the_same_weights_whatever_it_has_trained_before(tmp_path):
    first, second = make_trainer(GOLD), make_trainer(GOLD)
    train(second, tmp_path / "a", c1=0.5, c2=0.1, iterations=5)
    penalties = {"c1": 0.1, "c2": 0.01, "iterations": 20}
    weights = train(first, tmp_path / "b", **penalties)
    assert train(second, tmp_path / "c", **penalties) == weights


def test_a_component_that_is_not_trained_says_so():
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME)
    with pytest.raises(ValueError, match="'crf' should be trained, but is not"):
        nlp("Rome")


def test_a_doc_that_misses_annotation_is_left_out(tmp_path):
    partly = toy_ner.make_doc("Anna lives in Oslo|LOC")
    partly.set_ents([], missing=[partly[0:1]], default="unmodified")
    assert list_tags(partly) == [None, "O", "O", "B-LOC"]
    penalties = {"c1": 0.0, "c2": 0.01, "iterations": 20}
    weights, others = (
        train(make_trainer(docs), tmp_path / "crf", **penalties)
        for docs in (GOLD, [partly, *GOLD])
    )
    assert weights == others
    with pytest.raises(ValueError, match="Doc or more whose entities are annotated"):
        make_trainer([partly, Doc(Vocab(), words=["Rome"]), Doc(Vocab(), words=[])])
