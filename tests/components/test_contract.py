"""What is true of each component that a config can name."""

import copy
import pickle
from collections.abc import Callable, Iterable
from functools import partial
from importlib.metadata import distribution
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from ..processes import call_in_threads_and_a_fork
from . import test_cached_edit_trees, toy_recognizers
from .test_cached_lemmatizer import ENGLISH, make_lookups
from .test_cached_rulers import ENTITY_PATTERNS, PATTERNS


def make_ruler(name: str, patterns: list[dict[str, Any]]) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe(name).add_patterns(copy.deepcopy(patterns))
    return nlp


def make_lemmatizer() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("cached_lemmatizer").initialize(lookups=make_lookups(ENGLISH))
    return nlp


#: Each in a pipeline that annotates.
PIPELINES: dict[str, Callable[[], Language]] = {
    "cached_attribute_ruler": lambda: make_ruler("cached_attribute_ruler", PATTERNS),
    "cached_entity_ruler": lambda: make_ruler("cached_entity_ruler", ENTITY_PATTERNS),
    "cached_span_ruler": lambda: make_ruler("cached_span_ruler", ENTITY_PATTERNS),
    "cached_lemmatizer": make_lemmatizer,
    "cached_trainable_lemmatizer": partial(
        test_cached_edit_trees.train, "cached_trainable_lemmatizer"
    ),
    "token_ner": lambda: toy_recognizers.train(
        toy_recognizers.make_pipeline(decoding="greedy", spans_key="found")
    ),
}


@pytest.fixture(scope="module", params=PIPELINES)
def nlp(request) -> Language:
    return PIPELINES[request.param]()


#: Of which one has a token and one has none.
TEXTS = ["Anna lives in Paris", "", "gon na acme long mice houses good", "Acme"]


def make_docs(nlp: Language, texts: Iterable[str] = TEXTS) -> list[Doc]:
    return [
        Doc(nlp.vocab, words=words, tags=["NN"] * len(words), pos=["NOUN"] * len(words))
        for words in map(str.split, texts)
    ]


def to_bytes(docs: Iterable[Doc]) -> list[bytes]:
    """All annotation of Docs."""
    return [doc.to_bytes() for doc in docs]


def annotate(nlp: Language) -> list[bytes]:
    return to_bytes(nlp.pipe(make_docs(nlp)))


def test_each_name_that_is_registered_is_here():
    entry_points = distribution("spacy-hashembeds").entry_points
    names = {e.name for e in entry_points if e.group == "spacy_factories"}
    assert names == PIPELINES.keys()


def test_it_annotates_alike_once_saved_and_copied(nlp, tmp_path):
    expected = annotate(nlp)
    assert expected != to_bytes(make_docs(nlp))
    nlp.to_disk(tmp_path)
    made = spacy.util.load_model_from_config(nlp.config)
    for other in (
        spacy.load(tmp_path),
        made.from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ):
        assert annotate(other) == expected


def test_threads_and_a_fork_annotate_alike(nlp):
    found = call_in_threads_and_a_fork(annotate, nlp)
    assert found == [annotate(nlp)] * 17


def test_words_of_a_memory_zone_leave_nothing_behind(nlp):
    found = []
    for _ in range(2):  # the second zone has the strings of the first no more
        with nlp.memory_zone():
            docs = nlp.pipe(make_docs(nlp, ["glorps gon na"]))
            found += [doc.to_json() for doc in docs]
        assert not {"glorps", "glorp"} & set(nlp.vocab.strings)
    docs = nlp.pipe(make_docs(nlp, ["glorps gon na"]))
    assert found == [doc.to_json() for doc in docs] * 2


def test_no_docs(nlp):
    assert list(nlp.pipe([])) == []
