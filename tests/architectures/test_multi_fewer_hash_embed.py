"""`MultiFewerHashEmbed.v1` against `spacy.MultiHashEmbed.v2`, its reference."""

import numpy
import pytest
from spacy.ml.models.tok2vec import MultiHashEmbed
from thinc.api import fix_random_seed, set_dropout_rate

from spacy_hashembeds.architectures import mix_attributes
from spacy_hashembeds.architectures.multi_fewer_hash_embed import MultiFewerHashEmbed
from spacy_hashembeds.layers.plan import UnexpectedNodeError
from tests.masks import thincs_masks

from ..toy_embedders import (
    assert_close,
    get_gradients,
    get_nodes,
    make_gradient,
    update,
)

ATTRS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
SETTINGS = {"width": 8, "attrs": ATTRS, "rows": [50, 20, 20, 20]}


def build_both(docs, include_static_vectors):
    """Build ours and spaCy's, initialised under the same random seed."""
    models = []
    for build in (MultiFewerHashEmbed, MultiHashEmbed):
        fix_random_seed(3)
        model = build(**SETTINGS, include_static_vectors=include_static_vectors)
        models.append(model.initialize(X=docs))
    return models


def run(model, docs, drop):
    """Run forward and backward; give the outputs and all gradients."""
    set_dropout_rate(model, drop)
    dYs = make_gradient(model.predict(docs))
    fix_random_seed(5)
    return [*update(model, docs, dYs), *get_gradients(model)]


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
@thincs_masks()
def test_four_hashes_equal_spacy(docs, include_static_vectors, drop, assert_equal):
    results = [
        run(model, docs, drop) for model in build_both(docs, include_static_vectors)
    ]
    assert len(results[0]) == len(docs) + 8 + include_static_vectors
    for actual, expected in zip(*results, strict=True):
        assert_equal(actual, expected)


@pytest.mark.parametrize("include_static_vectors", [False, True])
def test_weights_load_into_spacy_and_back(docs, include_static_vectors, assert_equal):
    ours, theirs = build_both(docs, include_static_vectors)
    for source, build in ((ours, MultiHashEmbed), (theirs, MultiFewerHashEmbed)):
        target = build(**SETTINGS, include_static_vectors=include_static_vectors)
        target.from_bytes(source.to_bytes())
        predicted = target.predict(docs), source.predict(docs)
        for actual, expected in zip(*predicted, strict=True):
            assert_equal(actual, expected)


def test_seed_moves_every_table(vocab):
    models = [
        MultiFewerHashEmbed(**SETTINGS, include_static_vectors=False, **options)
        for options in ({}, {"seed": 8}, {"seed": 9})
    ]
    seeds = [
        [node.attrs["seed"] for node in get_nodes(model, "hashembed")]
        for model in models
    ]
    assert seeds == [[8, 9, 10, 11], [8, 9, 10, 11], [9, 10, 11, 12]]
