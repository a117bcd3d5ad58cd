"""Codes of keys, which `analyze` measures, against vectors of layers."""

import numpy as np
import pytest

from spacy_hashembeds.layers.column import find_column
from spacy_hashembeds.layers.symbolembed import SymbolEmbed
from spacy_hashembeds.layers.tableembed import HashEmbed
from spacy_hashembeds.layers.vocabulary import Symbols, assign_symbols
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import WeightedHashEmbed

VALUES = np.array([*range(300), 2**63, 2**64 - 1], dtype="uint64")


@pytest.mark.parametrize("unk", [0, 2])
def test_lookup_codes(unk):
    layer = SymbolEmbed(4, key="NORM", unk=unk)
    assign_symbols(layer, Symbols(VALUES[[2, 7, 9]]))
    column, keys = find_column(layer.initialize()), VALUES[[0, 2, 3, 7, 9, 100, 300]]
    np.testing.assert_array_equal(column.find_code(keys), column.find_rows(keys)[0])
    assert column.is_unknown(keys).tolist() == [1, 0, 1, 0, 0, 1, 1]
    assert column.find_code(keys[:0]).shape == (0, 1)


def test_order_of_rows_is_ignored():
    column = find_column(HashEmbed(4, 2, num_hashes=2, seed=9))
    assert len(np.unique(column.find_code(VALUES), axis=0)) == 4
    assert len(np.unique(column.identify(VALUES), axis=0)) == 3


@pytest.mark.parametrize("same_hash", [False, True])
@pytest.mark.parametrize("num_hashes", [1, 7])
@pytest.mark.parametrize("n_weights", [40, None])
def test_weighted_codes(n_weights, num_hashes, same_hash):
    """Words have equal vectors if and only if their codes are equal."""
    settings = {"num_hashes": num_hashes, "seed": 11, "same_hash": same_hash}
    layer = WeightedHashEmbed(4, 2, nK=n_weights, key="NORM", **settings)
    if n_weights is None:
        assign_symbols(layer, Symbols(VALUES[[2, 7, 300]]))
    P = layer.initialize().get_param("P")
    P[...] = np.random.default_rng(0).normal(size=P.shape)
    column, vectors = find_column(layer), np.round(layer.predict(VALUES), 6)
    codes = column.identify(VALUES)
    n_apart = len(np.unique(codes, axis=0))
    assert len(np.unique(vectors, axis=0)) == n_apart < len(VALUES)
    assert len(np.unique(np.hstack([vectors, codes]), axis=0)) == n_apart
    assert column.find_code(VALUES[:0]).shape == (0, num_hashes + 1)
    assert [*column.parts.values()] == [layer.get_param(name).size for name in "EP"]
