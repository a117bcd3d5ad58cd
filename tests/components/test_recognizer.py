"""The component token_ner: what it learns and sets."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_hashembeds.components.token_ner import TokenNER, make_token_ner

from .toy_recognizers import (
    annotate,
    copy_words,
    get_entities,
    make_examples,
    make_pipeline,
    train,
)


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline, to use only."""
    return train(make_pipeline(spans_key="found"))


@pytest.mark.parametrize(
    ("decoding", "listens"), [("greedy", True), ("viterbi", False)]
)
def test_it_learns(decoding, listens):
    nlp = train(make_pipeline(decoding=decoding, listens=listens))
    golds = get_entities(eg.reference for eg in make_examples(nlp))
    assert get_entities(annotate(nlp)) == golds
    assert nlp.evaluate(make_examples(nlp))["ents_f"] == 1


def test_it_is_a_recognizer_to_spacy():
    make_pipeline()
    meta, ner = (Language.get_factory_meta(name) for name in ("token_ner", "ner"))
    assert meta.assigns == ner.assigns
    assert meta.default_score_weights == ner.default_score_weights
    assert meta.scores == ner.scores
    assert meta.default_config["scorer"] == ner.default_config["scorer"]
    assert Language.get_factory_meta("token_ner").factory == "token_ner"
    assert spacy.registry.factories.get("token_ner") is make_token_ner


def test_it_is_built_without_any_settings():
    nlp = spacy.blank("en")
    nlp.add_pipe("token_ner")
    nlp.initialize(lambda: make_examples(nlp))
    assert nlp.get_pipe("token_ner").labels == ("LOC", "PER")
    assert nlp.config["components"]["token_ner"]["decoding"] == "viterbi"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decoding": "beam"}, "'decoding' should be 'greedy' or 'viterbi', but is 'b"),
        ({"spans_key": ""}, "'spans_key' should be a name in doc.spans, .* but is ''"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        make_pipeline(**settings)


def make_fixed(probs: list[list[float]], decoding: str) -> TokenNER:
    """A component that finds these probabilities of tags in any text."""

    def forward(model, docs, is_train):
        return [np.array(probs[: len(doc)], dtype="float32") for doc in docs], None

    pipe = TokenNER(Vocab(), Model("fixed", forward), decoding=decoding)
    for label in ("A", "B"):
        pipe.add_label(label)
    return pipe


# O, then S, B, I and E of A, and of B
DISAGREEING = [
    [0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0],  # B-A
    [0.0, 0.0, 0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.6],  # E-B
    [0.9, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # O
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],  # S-B
]


@pytest.mark.parametrize(
    ("decoding", "entities", "scores"),
    [
        ("greedy", [(3, 4, "B")], [1]),
        ("viterbi", [(0, 2, "A"), (3, 4, "B")], [0.9 * 0.4, 1]),
    ],
)
def test_tags_that_go_together(decoding, entities, scores):
    pipe = make_fixed(DISAGREEING, decoding)
    pipe.spans_key = "found"
    doc = pipe(Doc(pipe.vocab, words=["a", "b", "c", "d"]))
    assert get_entities([doc]) == [entities]
    np.testing.assert_allclose(doc.spans["found"].attrs["scores"], scores, rtol=1e-5)


@pytest.mark.parametrize("number", [-1.5, 1.5])
def test_what_is_no_probability_is_refused(number):
    pipe = make_fixed([[number, *[0.0] * 8]], "greedy")
    with pytest.raises(ValueError, match=r"'token_ner'.*-?[01].* end with a softmax"):
        pipe(Doc(pipe.vocab, words=["a"]))


def test_what_predict_is_given_stays_as_it_is(nlp):
    doc = make_examples(nlp)[0].predicted
    nlp.get_pipe("token_ner").predict([doc])
    assert not doc.has_annotation("ENT_IOB")
    assert not doc.spans


@pytest.mark.parametrize(
    ("preset", "found"), [((0, 2), (3, 4, "LOC")), ((2, 4), (0, 1, "PER"))]
)
def test_entities_that_are_there_stay(nlp, preset, found):
    """As with `ner`: where one stands, none is found, and others still are."""
    doc = make_examples(nlp, ["Anna lives in Paris today"])[0].predicted
    doc.ents = [Span(doc, *preset, label="OLD")]
    doc = nlp.get_pipe("token_ner")(doc)
    assert get_entities([doc]) == [sorted([(*preset, "OLD"), found])]
    assert get_entities([doc])[0] != get_entities(annotate(nlp, [doc.text]))[0]
    assert [(s.start, s.end, s.label_) for s in doc.spans["found"]] == [found]


def test_docs_without_tokens(nlp):
    empty = Example(Doc(nlp.vocab), Doc(nlp.vocab))
    examples = make_examples(nlp)
    texts = ["", "Anna", ""]
    assert [len(doc.ents) for doc in nlp.pipe(texts)] == [0, 1, 0]
    assert [doc.ents for doc in nlp.pipe(["", ""])] == [(), ()]
    assert nlp("").spans["found"].attrs["scores"].shape == (0,)
    assert nlp.get_pipe("token_ner").predict([]) == []
    fresh = make_pipeline()
    fresh.initialize(lambda: [empty, *examples])
    assert fresh.update([empty, empty], losses={}) == {"token_ner": 0.0}
    losses = fresh.update([empty, examples[0], empty], losses={})
    assert losses["token_ner"] > 0


def test_tokens_without_annotation_have_no_gradient(nlp):
    pipe = nlp.get_pipe("token_ner")
    (example,) = make_examples(nlp, ["we met Anna|PER and Ben|PER in Rome|LOC"])
    gold = example.reference.copy()
    gold.set_ents([], missing=[gold[1:4]], default="unmodified")
    partly = Example(copy_words(gold), gold)
    scores = pipe.model.predict([partly.predicted])
    assert pipe.get_loss([], []) == (0.0, [])
    whole_loss, (whole,) = pipe.get_loss([example], scores)
    loss, (gradient,) = pipe.get_loss([partly], scores)
    assert not gradient[1:4].any()
    np.testing.assert_array_equal(gradient[[0, 4, 5, 6]], whole[[0, 4, 5, 6]])
    assert 0 < loss < whole_loss


def test_training_with_other_tokens_on_the_predicted_side():
    """Entities whose tokens differ are unknown, and those around them learned."""
    nlp = make_pipeline()
    texts = ["Anna|PER lives in Paris|LOC today", "Rome|LOC is far from Paris|LOC"]
    examples = make_examples(nlp, texts)
    words = ["Annalives", "in", "Par", "is", "today"]
    spaces = [True, True, False, True, False]
    other = Example(Doc(nlp.vocab, words=words, spaces=spaces), examples[0].reference)
    nlp.initialize(lambda: [other, *examples])
    pipe = nlp.get_pipe("token_ner")
    _, (gradient, _) = pipe.get_loss(
        [other, examples[1]],
        pipe.model.predict([other.predicted, examples[1].predicted]),
    )
    # "Annalives" has parts of two kinds, and Paris has two tokens
    assert gradient.any(axis=1).tolist() == [False, True, True, True, True]


def test_rehearsal_is_refused(nlp):
    message = r"'token_ner' can't rehearse.*old examples.*exclude=\[\"token_ner\"\]"
    with pytest.raises(NotImplementedError, match=message):
        nlp.rehearse(make_examples(nlp))
    nlp.rehearse(make_examples(nlp), exclude=["token_ner"])


def test_weights_that_are_no_numbers_are_refused():
    nlp = train(make_pipeline(architecture="spacy.Tagger.v2"), steps=0)
    examples = make_examples(nlp)
    softmax = nlp.get_pipe("token_ner").model.get_ref("output_layer")
    softmax.set_param("b", softmax.get_param("b") * np.nan)
    with pytest.raises(ValueError, match="E940"):
        annotate(nlp)
    with pytest.raises(ValueError, match=r"E910.*'token_ner'"):
        nlp.update(examples)
