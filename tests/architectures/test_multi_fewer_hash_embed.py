"""`MultiFewerHashEmbed.v1` against `spacy.MultiHashEmbed.v2`, its reference."""

import numpy as np
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


def find_no_parts(model, vocabs):
    raise UnexpectedNodeError("a stranger's")


@pytest.fixture(params=["fast", "reference"])
def assert_equal(request, monkeypatch):
    """Compare arrays: the fast path in rounding, the reference bit for bit."""
    is_fast = request.param == "fast"
    if not is_fast:
        monkeypatch.setattr(mix_attributes, "find_parts", find_no_parts)

    def assert_equal(actuals, expecteds):
        for pair in zip(actuals, expecteds, strict=True):
            (assert_close if is_fast else np.testing.assert_array_equal)(*pair)

    return assert_equal


@pytest.mark.parametrize("include_static_vectors", [False, True])
@pytest.mark.parametrize("drop", [0.0, 0.4])
@thincs_masks()
def test_four_hashes_equal_spacy(docs, include_static_vectors, drop, assert_equal):
    """From the same seed: in training, and with the weights of each other."""
    models, builders = [], (MultiFewerHashEmbed, MultiHashEmbed)
    settings = {**SETTINGS, "include_static_vectors": include_static_vectors}
    for build in builders:
        fix_random_seed(3)
        models.append(build(**settings).initialize(X=docs))
    results = []
    for model in models:
        set_dropout_rate(model, drop)
        fix_random_seed(5)
        dYs = make_gradient(model.predict(docs))
        results.append([*update(model, docs, dYs), *get_gradients(model)])
    assert len(results[0]) == len(docs) + 8 + include_static_vectors
    assert_equal(*results)
    for model, build in zip(models, reversed(builders), strict=True):
        other = build(**settings).from_bytes(model.to_bytes())
        assert_equal(other.predict(docs), model.predict(docs))


def test_seed_moves_every_table():
    for options, first in (({}, 8), ({"seed": 8}, 8), ({"seed": 9}, 9)):
        model = MultiFewerHashEmbed(**SETTINGS, include_static_vectors=False, **options)
        seeds = [node.attrs["seed"] for node in get_nodes(model, "hashembed")]
        assert seeds == [*range(first, first + 4)]
