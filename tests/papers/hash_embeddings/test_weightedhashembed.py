"""Importance-weighted hash embeddings: what they add to the contract of all tables."""

from itertools import product

import numpy as np
import pytest
from thinc.api import Model, NumpyOps, fix_random_seed

from spacy_hashembeds.hashing.murmur import find_rows
from spacy_hashembeds.layers.column import find_column
from spacy_hashembeds.layers.symboltaker import Symbols, give_symbols
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import (
    COMBINE,
    WeightedHashEmbed,
)

from ...layers.differences import differentiate

IDS = np.array([3, 7, 40, 3, 2**63 + 5, 0, 2**64 - 1], dtype="uint64")
WAYS = [
    {"num_hashes": k, "combine": combine, "append_weights": append, "same_hash": same}
    for k, combine, append, same in product(
        (1, 5), COMBINE, (False, True), (False, True)
    )
]


@pytest.fixture(params=WAYS, ids=lambda way: "-".join(map(str, way.values())))
def way(request):
    return request.param


def build(**options) -> Model:
    model = WeightedHashEmbed(4, 6, nK=11, seed=9, **options).initialize()
    weights = np.random.default_rng(0).normal(size=model.get_param("P").shape)
    model.set_param("P", weights.astype("f"))
    return model


def embed_plainly(model, ids, *, num_hashes, combine, append_weights, same_hash):
    """Embed key by key, as the paper writes it: its ê, with ⊕ p where appended."""
    E, P, ops = model.get_param("E"), model.get_param("P"), NumpyOps()
    vectors = []
    for key in ids:
        row = find_rows(
            ops, np.array([key]), seed=9, num_hashes=num_hashes + 1, rows=len(P)
        )[0, -1]
        p = P[row]
        hashed = np.array([row if same_hash else key])
        rows = find_rows(ops, hashed, seed=9, num_hashes=num_hashes, rows=len(E))
        weighted = [p[i] * E[rows[0, i]] for i in range(num_hashes)]
        vector = sum(weighted) if combine == "sum" else np.concatenate(weighted)
        vectors.append(np.concatenate([vector, p]) if append_weights else vector)
    return np.array(vectors)


def test_it_and_its_gradients_are_what_the_paper_writes(way):
    model = build(**way)
    Y, backprop = model.begin_update(IDS)
    np.testing.assert_allclose(Y, embed_plainly(model, IDS, **way), atol=1e-6)
    np.testing.assert_array_equal(model.predict(IDS), Y)
    assert model.get_dim("nO") == Y.shape[1]
    dY = np.random.default_rng(1).normal(size=Y.shape).astype("f")

    def get_loss():
        return float((model.predict(IDS) * dY).sum(dtype="float64"))

    backprop(dY)
    for name in ("E", "P"):
        expected = differentiate(get_loss, model.get_param(name), step=0.5)
        np.testing.assert_allclose(model.get_grad(name), expected, atol=1e-4)
        assert model.get_grad(name).any()


def test_a_column_is_a_weighted_sum_of_rows_unless_it_is_wider(way):
    model = build(**way)
    column = find_column(model)
    assert column.has_rows == (model.get_dim("nO") == 4 and way["combine"] == "sum")
    if column.has_rows:
        rows, weights = column.find_rows(IDS)
        assert (rows.dtype, weights.dtype) == ("uint32", "float32")
        summed = (model.get_param("E")[rows] * weights[..., None]).sum(axis=1)
        np.testing.assert_allclose(summed, model.predict(IDS), atol=1e-6)


@pytest.mark.parametrize("initial_weight", [0.0, 1.0])
def test_weights_begin_near_a_number(initial_weight):
    fix_random_seed(0)
    options = {"initial_weight": initial_weight, "seed": 9}
    P = WeightedHashEmbed(4, 6, nK=5000, **options).initialize().get_param("P")
    assert P.dtype == "float32"
    found = [P.mean(), P.std()]
    np.testing.assert_allclose(found, [initial_weight, 0.0005], atol=2e-5)


@pytest.mark.parametrize("same_hash", [False, True])
def test_symbols_have_weights_of_their_own_and_all_others_share_theirs(same_hash):
    model = WeightedHashEmbed(4, 6, nK=None, key="NORM", seed=9, same_hash=same_hash)
    give_symbols(model, Symbols(np.array([40, 3, 2**63 + 5], dtype="uint64")))
    model.initialize()
    model.set_param("P", np.arange(8, dtype="f").reshape(4, 2))
    E, P = model.get_param("E"), model.get_param("P")
    places = np.array([1, 0, 2, 1, 3, 0, 0])  # in ascending order, unknown 0
    hashed = places if same_hash else IDS
    rows = find_rows(NumpyOps(), hashed, seed=9, num_hashes=2, rows=6)
    expected = (E[rows] * P[places][..., None]).sum(axis=1)
    np.testing.assert_allclose(model.predict(IDS), expected, atol=1e-6)


@pytest.mark.parametrize("changes", [{"combine": "concat"}, {"append_weights": True}])
def test_ways_to_combine_that_make_other_vectors_are_refused(changes):
    model = build()
    model.predict(IDS)
    model.attrs.update(changes)
    with pytest.raises(ValueError, match="'combine'"):
        model.predict(IDS)
