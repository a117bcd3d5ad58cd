"""`MultiWeightedHashEmbed.v1`: where its weights are from, and sizes and seeds."""

import pytest

from spacy_hashembeds.architectures.symbols import SYMBOL_SOURCE, save_symbols
from spacy_hashembeds.papers.hash_embeddings.multi_weighted_hash_embed import (
    MultiWeightedHashEmbed,
)
from spacy_hashembeds.training.counting import count_values, cut_symbols

from ...toy_embedders import ATTRS, get_nodes

SETTINGS = {
    **{"width": 6, "attrs": ATTRS, "rows": [11, 7, 5], "include_static_vectors": False},
    **{"combine": "concat", "append_weights": True, "num_hashes": 3, "seed": 5},
}


def test_symbols_come_from_a_file_or_are_waited_for(docs, tmp_path):
    tables = cut_symbols(count_values(docs, ATTRS), min_freq=2, lang="en")
    save_symbols(tmp_path / "tables.npz", tables)
    model = MultiWeightedHashEmbed(**SETTINGS, tables=tmp_path / "tables.npz")
    layers = get_nodes(model.initialize(X=docs), "weightedhashembed")
    sizes = [layer.get_param("P").shape for layer in layers]
    assert sizes == [(len(tables.get_table(attr).frequent) + 1, 3) for attr in ATTRS]
    with pytest.raises(ValueError, match=r"no symbols for NORM yet.*count_symbols"):
        MultiWeightedHashEmbed(**SETTINGS).initialize()


def test_tables_have_rows_and_seeds_of_their_own_and_stand_side_by_side(docs):
    model = MultiWeightedHashEmbed(**SETTINGS, importance_rows=[50, 30, 20])
    assert SYMBOL_SOURCE not in model.attrs
    (maxout,) = get_nodes(model.initialize(X=docs), "maxout")
    assert maxout.get_dim("nI") == 3 * (3 * 6 + 3)
    tables = get_nodes(model, "weightedhashembed")
    assert [table.attrs["hash_seed"] for table in tables] == [5, 6, 7]
    assert [table.get_dim("nV") for table in tables] == [11, 7, 5]
    assert [table.get_dim("nK") for table in tables] == [50, 30, 20]
