"""The component token_ner: what it learns and sets, and how it is saved."""

import re

import numpy as np
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_hashembeds.components.token_ner import TokenNER

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


@pytest.mark.parametrize("settings", [{"decoding": "beam"}, {"spans_key": ""}], ids=str)
def test_bad_settings_are_refused(settings):
    with pytest.raises(ValueError, match=f"'{next(iter(settings))}'"):
        make_pipeline(**settings)


def make_fixed(probs: list[list[float]], decoding: str = "viterbi") -> TokenNER:
    """A component that finds these probabilities of tags in any text."""

    def forward(model, docs, is_train):
        found = [np.array(probs[: len(doc)], dtype="float32") for doc in docs]
        return found, lambda d_probs: docs

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


@pytest.mark.parametrize("number", [-1.5, np.nan])
def test_what_is_no_probability_is_refused(number):
    pipe = make_fixed([[number, *[0.0] * 8]], "greedy")
    with pytest.raises(ValueError, match="'token_ner'"):
        pipe(Doc(pipe.vocab, words=["a"]))


@pytest.mark.parametrize("shape", [(1, 9), (2, 5)])
def test_other_numbers_of_rows_and_outputs_are_refused(shape):
    pipe = make_fixed(np.full(shape, 0.1).tolist())
    with pytest.raises(ValueError, match=rf"'token_ner'.*{re.escape(str(shape))}"):
        pipe(Doc(pipe.vocab, words=["a", "b"]))


@pytest.mark.parametrize(
    ("preset", "found"), [((0, 2), (3, 4, "LOC")), ((2, 4), (0, 1, "PER"))]
)
def test_entities_that_are_there_stay(nlp, preset, found):
    """As with `ner`: where one stands, none is found, and others still are."""
    doc = make_examples(nlp, ["Anna lives in Paris today"])[0].predicted
    doc.ents = [Span(doc, *preset, label="OLD")]
    before = doc.to_bytes()
    nlp.get_pipe("token_ner").predict([doc])
    assert doc.to_bytes() == before
    doc = nlp.get_pipe("token_ner")(doc)
    assert get_entities([doc]) == [sorted([(*preset, "OLD"), found])]
    assert get_entities([doc])[0] != get_entities(annotate(nlp, [doc.text]))[0]
    assert [(s.start, s.end, s.label_) for s in doc.spans["found"]] == [found]


def get_scored(doc: Doc) -> list[tuple[int, int, str, float]]:
    group = doc.spans["found"]
    scored = zip(group, group.attrs["scores"].tolist(), strict=True)
    return [(span.start, span.end, span.label_, score) for span, score in scored]


def test_entities_that_are_there_keep_their_scores(nlp):
    (doc,) = annotate(nlp, ["Anna lives in Paris today"])
    scored = get_scored(doc)
    assert [place for *place, _ in scored] == [[0, 1, "PER"], [3, 4, "LOC"]]
    (read,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab)
    (piped,) = nlp.pipe([read])
    assert get_scored(nlp(doc)) == get_scored(piped) == scored
    # not those that were taken out since, or have another type
    doc.ents = [Span(doc, 0, 1, label="OTHER")]
    assert get_scored(nlp(doc)) == scored[1:]
    # nor where it can't be told which score is whose
    doc.spans["found"].append(doc[1:2])
    assert get_scored(nlp(doc)) == []


def test_a_second_token_ner_adds_its_entities_in_order(nlp):
    texts = ["Anna lives|ACT in Paris today"]
    second = train(make_pipeline(spans_key="found"), texts)
    (alone,), (other,) = (annotate(pipeline, texts) for pipeline in (nlp, second))
    both = make_pipeline(spans_key="found").from_bytes(nlp.to_bytes())
    both.add_pipe("token_ner", name="second", source=second)
    (doc,) = annotate(both, texts)
    assert get_scored(doc) == sorted(get_scored(alone) + get_scored(other))
    assert [label for _, _, label, _ in get_scored(doc)] == ["PER", "ACT", "LOC"]


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
    _, (whole,) = pipe.get_loss([example], scores)
    _, (gradient,) = pipe.get_loss([partly], scores)
    assert not gradient[1:4].any()
    np.testing.assert_array_equal(gradient[[0, 4, 5, 6]], whole[[0, 4, 5, 6]])


def test_rehearsal_is_refused(nlp):
    with pytest.raises(NotImplementedError, match="'token_ner'"):
        nlp.rehearse(make_examples(nlp))
    nlp.rehearse(make_examples(nlp), exclude=["token_ner"])


def test_a_loss_that_is_no_number_is_refused():
    nlp = train(make_pipeline(architecture="spacy.Tagger.v2"), steps=0)
    softmax = nlp.get_pipe("token_ner").model.get_ref("output_layer")
    softmax.set_param("b", softmax.get_param("b") * np.nan)
    with pytest.raises(ValueError, match=r"E910.*'token_ner'"):
        nlp.update(make_examples(nlp))


# Saved.


@pytest.fixture
def folder(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    return tmp_path / "model"


def test_parts_may_be_left_out(nlp, tmp_path):
    pipe = nlp.get_pipe("token_ner")
    pipe.to_disk(tmp_path, exclude=["model", "vocab"])
    assert [path.name for path in tmp_path.iterdir()] == ["cfg"]
    other = make_pipeline().get_pipe("token_ner")
    other.from_disk(tmp_path, exclude=["model", "vocab"])
    assert other.labels == pipe.labels
    other.initialize(lambda: make_examples(nlp))
    assert other.model.get_dim("nO") == 9
    other = make_pipeline().get_pipe("token_ner")
    assert other.from_bytes(pipe.to_bytes(), exclude=["cfg"]).labels == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *[("cfg", cfg) for cfg in (b'{"labels": ["LO', b'{"labels": null}', None)],
        ("cfg", b'{"labels": ["LOC"]}'),
        *[("cfg", {"calibration": pair}) for pair in ([1, "x"], [-1.0, 0.0])],
        *[("cfg", {"outside_bias": bias}) for bias in ("x", 101.0)],
        ("cfg", rb'{"labels": ["LOC", "\ud800"]}'),
        *[("model", model) for model in (b"", b"\xc1")],
    ],
)
def test_a_damaged_component_is_refused_by_its_folder(folder, name, content):
    path = folder / "token_ner" / name
    if isinstance(content, dict):
        content = srsly.json_dumps({**srsly.read_json(path), **content}).encode()
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(ValueError, match=f"'{path.parent}'"):
        spacy.load(folder)
