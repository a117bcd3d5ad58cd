"""Texts labelled by an ensemble of pipelines."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_hashembeds import label_entities
from spacy_hashembeds.components.decoding import decode_viterbi, find_entities

from .. import toy_ner
from ..components.toy_recognizers import (
    copy_words,
    get_entities,
    make_examples,
    make_pipeline,
    train,
)


@pytest.fixture(scope="module")
def pipelines() -> list[Language]:
    """Pipelines that differ, after few steps of training."""
    return [
        train(make_pipeline(listens=listens), texts, steps=steps)
        for listens, texts, steps in (
            (False, toy_ner.TRAIN, 6),
            (True, toy_ner.TRAIN, 9),
            (True, toy_ner.TRAIN + toy_ner.TEST[:2], 8),
        )
    ]


def make_docs(nlp: Language, texts: tuple[str, ...] = toy_ner.TEST) -> list[Doc]:
    return [copy_words(eg.reference) for eg in make_examples(nlp, texts)]


def predict(nlp: Language) -> np.ndarray:
    docs = make_docs(nlp)
    if "tok2vec" in nlp.pipe_names:
        docs = list(nlp.get_pipe("tok2vec").pipe(docs))
    return np.exp(nlp.get_pipe("token_ner").predict_tags(docs))


def test_entities_are_those_of_the_mean_probabilities(pipelines):
    docs = make_docs(spacy.blank("en"))
    lengths = np.array([len(doc) for doc in docs])
    scores = np.log(np.mean([predict(nlp) for nlp in pipelines], axis=0))
    found = find_entities(decode_viterbi(scores, lengths), scores, lengths)
    labelled = list(label_entities(pipelines, iter(docs)))
    assert all(a is b for a, b in zip(labelled, docs, strict=True))
    names = pipelines[0].get_pipe("token_ner").labels
    expected = [
        [(a, b, names[k]) for a, b, k in zip(of.starts, of.ends, of.types, strict=True)]
        for of in found
    ]
    assert get_entities(labelled) == expected
    each = [get_entities(nlp.pipe(make_docs(nlp))) for nlp in pipelines]
    assert all(expected != alone for alone in each)


def test_the_bias_is_the_mean(pipelines, monkeypatch):
    docs = make_docs(spacy.blank("en"))
    pipes = [nlp.get_pipe("token_ner") for nlp in pipelines[:2]]
    decode, biases = pipes[0].decode, []

    def record(scores, lengths, bias):
        biases.append(bias)
        return decode(scores, lengths, bias)

    monkeypatch.setattr(pipes[0], "decode", record)
    monkeypatch.setitem(pipes[0].cfg, "outside_bias", -90.0)
    monkeypatch.setitem(pipes[1].cfg, "outside_bias", 10.0)
    assert not any(get_entities(label_entities(pipelines[:2], docs)))
    assert biases == [-40.0]


def test_existing_entities_are_kept(pipelines):
    docs = make_docs(spacy.blank("en"))
    docs[0].set_ents([Span(docs[0], 0, 2, label="OLD")])
    docs[1].set_ents([], blocked=[docs[1][0:1]])
    free = get_entities(label_entities(pipelines, make_docs(spacy.blank("en"))))
    found = get_entities(label_entities(pipelines, docs))
    assert found[0] == [(0, 2, "OLD"), free[0][1]]
    assert found[1] == free[1][1:]
    assert found[2:] == free[2:]


def test_norms_of_lexemes_are_those_of_each_pipeline(pipelines):
    other = change(pipelines[1])
    nlp = spacy.blank("en")
    nlp.vocab["Dora"].norm_ = "elsewhere"
    docs = [doc for _ in range(2) for doc in make_docs(nlp)[:2]]
    expected = get_entities(other.pipe(make_docs(other)[:2]))
    other.vocab["Dora"].norm_ = "anna"
    changed = get_entities(other.pipe(make_docs(other)[:2]))
    assert get_entities(label_entities([other], docs)) == changed * 2 != expected * 2


def test_norms_of_tokens_and_new_words_are_copied(pipelines):
    nlp, seen = spacy.blank("en"), []
    doc = Doc(nlp.vocab, words=["Zyx", "do", "n't"])
    doc[2].norm_ = "not"
    other = make_pipeline()
    other.add_pipe("sentencizer", first=True)
    trained = train(other)
    pipe = trained.get_pipe("token_ner")
    predict_tags = pipe.predict_tags

    def record(docs: list[Doc]) -> np.ndarray:
        seen.extend((t.text, t.norm_, t.is_sent_start) for t in docs[0])
        return predict_tags(docs)

    pipe.predict_tags = record  # type: ignore[method-assign]
    assert list(label_entities([trained], [Doc(nlp.vocab), doc])) == [doc]
    expected = [("Zyx", "zyx", True), ("do", "do", False), ("n't", "not", False)]
    assert seen == expected  # sentence starts are set by the sentencizer
    assert not doc.has_annotation("SENT_START")


def change(nlp: Language, **changes: str) -> Language:
    """Return a copy of a pipeline with other settings."""
    copy = make_pipeline(listens=True, **changes)
    return copy.from_bytes(nlp.to_bytes())


def test_incompatible_pipelines_are_refused(pipelines):
    nlp, others = pipelines[1], {}
    others["one 'token_ner'.*has 0"] = spacy.blank("en")
    others[".*of the first, .*LOC.*, but has .*ORG"] = train(
        make_pipeline(), ["Anna|ORG lives"]
    )
    swapped = make_pipeline()
    swapped.get_pipe("token_ner").add_label("PER")
    others[".*of the first, .*LOC.*PER.*, but has .*PER.*LOC"] = train(swapped, steps=1)
    others[".*of the first, .*viterbi.*, but has .*greedy"] = change(
        nlp, decoding="greedy"
    )
    german = spacy.blank("de")
    german.add_pipe("token_ner", source=pipelines[0])
    others[".*of the first, .*'en'.*, but has .*'de'"] = german
    for error, other in others.items():
        with pytest.raises(ValueError, match=rf"'pipelines\[1\]' should have {error}"):
            label_entities([nlp, other], [])
    with pytest.raises(ValueError, match="'pipelines' should hold one or more"):
        label_entities([], make_docs(nlp))


@pytest.mark.parametrize("name", ["entity_ruler", "token_splitter"])
def test_earlier_components_must_not_set_entities_or_change_tokens(pipelines, name):
    other = change(pipelines[1])
    pipe = other.add_pipe(name, first=True)
    if name == "entity_ruler":
        pipe.add_patterns([{"label": "PER", "pattern": "Dora"}])
    else:
        pipe.min_length, pipe.split_length = 3, 2
    docs = make_docs(spacy.blank("en"))
    with pytest.raises(ValueError, match=r"'pipelines\[1\]' .*earlier component sets"):
        list(label_entities([pipelines[0], other], docs))


def test_a_single_pipeline_or_doc_must_be_in_a_list(pipelines):
    with pytest.raises(TypeError, match="'docs' should be a list"):
        label_entities(pipelines, Doc(pipelines[0].vocab))
    with pytest.raises(TypeError, match="'docs' should hold"):
        list(label_entities(pipelines, ["a text"]))
    with pytest.raises(TypeError, match="'nlp' should be a pipeline"):
        label_entities(["en_core_web_sm"], [])
