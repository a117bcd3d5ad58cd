"""`MultiFewerHashEmbed.v1` against `spacy.MultiHashEmbed.v2`, its reference."""

import numpy
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import fix_random_seed, set_dropout_rate

from spacy_hashembeds.architectures.embedders import mix_attributes
from spacy_hashembeds.architectures.embedders.multi_fewer_hash_embed import (
    MultiFewerHashEmbed,
)
from spacy_hashembeds.layers.tree import UnexpectedNodeError

from ...toy_embedders import assert_close, get_gradients

ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
SETTINGS = {"width": 8, "attrs": ATTRS, "rows": [50, 20, 20, 20]}


@pytest.fixture(scope="module")
def vocab() -> Vocab:
    nlp = spacy.blank("en")
    nlp.vocab.reset_vectors(width=5)
    state = numpy.random.RandomState(0)
    for word in ("apple", "pear", "Zürich", "the"):
        nlp.vocab.set_vector(word, state.normal(size=5).astype("f"))
    return nlp.vocab


def make_docs(vocab: Vocab, texts: list[str]) -> list[Doc]:
    return [Doc(vocab, words=text.split()) for text in texts]


TEXTS = ["The apple fell", "", "in Zürich , Zürich and 12 other pears", "x"]


def build_both(vocab, include_static_vectors, **kwargs):
    """Build ours and spaCy's, initialised under the same random seed."""
    models = []
    for build in (MultiFewerHashEmbed, MultiHashEmbed):
        fix_random_seed(3)
        options = kwargs if build is MultiFewerHashEmbed else {}
        model = build(
            **SETTINGS, include_static_vectors=include_static_vectors, **options
        )
        models.append(model.initialize(X=make_docs(vocab, TEXTS)))
    return models


def run(model, docs, dY, drop=0.0):
    """Run forward and backward; give the outputs and all gradients."""
    set_dropout_rate(model, drop)
    fix_random_seed(5)
    Y, backprop = model.begin_update(docs)
    backprop(dY)
    return Y, get_gradients(model)


def make_gradient(docs, width=8):
    state = numpy.random.RandomState(1)
    return [state.normal(size=(len(doc), width)).astype("f") for doc in docs]


@pytest.fixture(params=["fast", "reference"])
def assert_equal(request, monkeypatch):
    """Compare arrays: the fast path in rounding, the reference bit for bit."""
    if request.param == "reference":
        monkeypatch.setattr(mix_attributes, "find_parts", find_no_parts)
        return numpy.testing.assert_array_equal
    return assert_close


def find_no_parts(model, vocabs):
    raise UnexpectedNodeError("a stranger's")


@pytest.mark.parametrize("include_static_vectors", [False, True])
@pytest.mark.parametrize("drop", [0.0, 0.4])
def test_four_hashes_equal_spacy(vocab, include_static_vectors, drop, assert_equal):
    ours, theirs = build_both(vocab, include_static_vectors)
    docs = make_docs(vocab, TEXTS)
    dY = make_gradient(docs)
    Y, grads = run(ours, docs, dY, drop)
    spacy_Y, spacy_grads = run(theirs, docs, dY, drop)
    assert len(grads) == len(spacy_grads) == (9 if include_static_vectors else 8)
    for actual, expected in zip([*Y, *grads], [*spacy_Y, *spacy_grads], strict=True):
        assert_equal(actual, expected)
    assert any(grad.any() for grad in grads)


words = st.text("aA1.é", min_size=1, max_size=4)


@settings(deadline=None, max_examples=30)
@given(texts=st.lists(st.lists(words, max_size=5), min_size=1, max_size=4))
def test_four_hashes_equal_spacy_on_any_docs(vocab, texts):
    if not any(texts):
        texts = [*texts, ["a"]]  # spaCy's own layer fails on no tokens at all
    ours, theirs = build_both(vocab, False)
    docs = [Doc(vocab, words=words) for words in texts]
    dY = make_gradient(docs)
    Y, grads = run(ours, docs, dY)
    spacy_Y, spacy_grads = run(theirs, docs, dY)
    for actual, expected in zip([*Y, *grads], [*spacy_Y, *spacy_grads], strict=True):
        assert_close(actual, expected)


@pytest.mark.parametrize("include_static_vectors", [False, True])
def test_weights_load_into_spacy_and_back(vocab, include_static_vectors, assert_equal):
    docs = make_docs(vocab, TEXTS)
    ours, theirs = build_both(vocab, include_static_vectors)
    for source, build in ((ours, MultiHashEmbed), (theirs, MultiFewerHashEmbed)):
        target = build(**SETTINGS, include_static_vectors=include_static_vectors)
        target.from_bytes(source.to_bytes())
        for actual, expected in zip(
            target.predict(docs), source.predict(docs), strict=True
        ):
            assert_equal(actual, expected)


@pytest.mark.parametrize("num_hashes", [1, 2, 3, 4])
def test_fewer_hashes_sum_a_prefix_of_the_same_rows(vocab, num_hashes):
    """Against the definition: murmur, modulo, sum, Maxout, layer norm."""
    model = MultiFewerHashEmbed(
        width=8, attrs=["NORM"], rows=[50], num_hashes=num_hashes,
        include_static_vectors=False,
    ).initialize()  # fmt: skip
    doc = make_docs(vocab, TEXTS)[2]
    nodes = {node.name: node for node in model.walk()}
    E = nodes["hashembed"].get_param("E")
    keys = model.ops.hash(doc.to_array("NORM").astype("uint64"), 8)
    summed = numpy.stack([E[key[:num_hashes] % 50].sum(axis=0) for key in keys])
    W, b = (nodes["maxout"].get_param(name) for name in ("W", "b"))
    mixed = (numpy.einsum("ti,opi->top", summed, W) + b).max(axis=2)
    centred = mixed - mixed.mean(axis=1, keepdims=True)
    expected = centred / numpy.sqrt(mixed.var(axis=1, keepdims=True) + 1e-8)
    numpy.testing.assert_allclose(model.predict([doc])[0], expected, atol=1e-4)


def test_seed_moves_every_table(vocab):
    models = [
        MultiFewerHashEmbed(**SETTINGS, include_static_vectors=False, **options)
        for options in ({}, {"seed": 8}, {"seed": 9})
    ]
    seeds = [
        [node.attrs["seed"] for node in model.walk() if node.name == "hashembed"]
        for model in models
    ]
    assert seeds == [[8, 9, 10, 11], [8, 9, 10, 11], [9, 10, 11, 12]]


def test_seed_8_reaches_half_of_the_rows_and_9_all(vocab):
    """The reason for the argument: facts about murmur that the docstring states."""
    ops = MultiFewerHashEmbed(**SETTINGS, include_static_vectors=False).ops
    keys = numpy.random.RandomState(0).randint(0, 2**63, 50000).astype("uint64")
    reached = {
        seed: len(numpy.unique(ops.hash(keys, seed)[:, 0] % 5000)) for seed in (8, 9)
    }
    assert reached[8] == 2500
    assert reached[9] > 4990
