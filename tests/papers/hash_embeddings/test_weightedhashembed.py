"""Importance-weighted hash embeddings: what they add to the contract of all tables."""

import numpy as np
import pytest
from thinc.api import Model, NumpyOps, fix_random_seed

from spacy_hashembeds.hashing.murmur import find_rows
from spacy_hashembeds.layers.symboltaker import Symbols, give_symbols
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import (
    COMBINE,
    WeightedHashEmbed,
)

from ..definitions import assert_is_defined_by

IDS = np.array([3, 7, 40, 3, 2**63 + 5, 0, 2**64 - 1], dtype="uint64")


def hash_ids(ids, *, num_hashes, rows) -> np.ndarray:
    keys = np.array(ids, dtype="uint64")
    return find_rows(NumpyOps(), keys, seed=9, num_hashes=num_hashes, rows=rows)


def build(**options) -> Model:
    model = WeightedHashEmbed(4, 6, nK=11, seed=9, **options).initialize()
    weights = np.random.default_rng(0).normal(size=model.get_param("P").shape)
    model.set_param("P", weights.astype("f"))
    return model


@pytest.mark.parametrize("num_hashes", [1, 5])
@pytest.mark.parametrize("combine", COMBINE)
@pytest.mark.parametrize("append_weights", [False, True])
@pytest.mark.parametrize("same_hash", [False, True])
def test_it_and_its_gradients_are_what_the_paper_writes(
    num_hashes, combine, append_weights, same_hash
):
    """Its ê for each key, with ⊕ p where weights are appended."""

    def define(ids, E, P):
        vectors = []
        for key in ids:
            row = hash_ids([key], num_hashes=num_hashes + 1, rows=len(P))[0, -1]
            hashed = [row if same_hash else key]
            (rows,) = hash_ids(hashed, num_hashes=num_hashes, rows=len(E))
            weighted = [p * E[i] for p, i in zip(P[row], rows, strict=True)]
            vector = sum(weighted) if combine == "sum" else np.concatenate(weighted)
            vectors.append(np.append(vector, P[row]) if append_weights else vector)
        return np.array(vectors)

    options = {"combine": combine, "append_weights": append_weights}
    model = build(num_hashes=num_hashes, same_hash=same_hash, **options)
    assert_is_defined_by(define, model, IDS)
    assert model.get_grad("E").any()
    assert model.get_grad("P").any()


@pytest.mark.parametrize("initial_weight", [0.0, 1.0])
def test_weights_begin_near_a_number(initial_weight):
    fix_random_seed(0)
    options = {"initial_weight": initial_weight, "seed": 9}
    P = WeightedHashEmbed(4, 6, nK=5000, **options).initialize().get_param("P")
    found = [P.mean(), P.std()]
    np.testing.assert_allclose(found, [initial_weight, 0.0005], atol=2e-5)


@pytest.mark.parametrize("same_hash", [False, True])
def test_symbols_have_weights_of_their_own_and_all_others_share_theirs(same_hash):
    model = WeightedHashEmbed(4, 6, nK=None, key="NORM", seed=9, same_hash=same_hash)
    give_symbols(model, Symbols(np.array([40, 3, 2**63 + 5], dtype="uint64")))
    model.initialize().set_param("P", np.arange(8, dtype="f").reshape(4, 2))
    E, P = model.get_param("E"), model.get_param("P")
    places = np.array([1, 0, 2, 1, 3, 0, 0])  # in ascending order, unknown 0
    rows = hash_ids(places if same_hash else IDS, num_hashes=2, rows=6)
    expected = (E[rows] * P[places][..., None]).sum(axis=1)
    np.testing.assert_allclose(model.predict(IDS), expected, atol=1e-6)


@pytest.mark.parametrize("changes", [{"combine": "concat"}, {"append_weights": True}])
def test_ways_to_combine_that_make_other_vectors_are_refused(changes):
    model = build()
    model.attrs.update(changes)
    with pytest.raises(ValueError, match="'combine'"):
        model.predict(IDS)
