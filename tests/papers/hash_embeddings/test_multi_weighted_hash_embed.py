"""`MultiWeightedHashEmbed.v1`: its arguments, its symbols, and what it is equal to."""

import pytest
from spacy.util import registry
from thinc.api import Config, Model

from spacy_hashembeds.architectures.symbols import SYMBOL_SOURCE, save_symbols
from spacy_hashembeds.training.counting import count_values, cut_symbols

from ...toy_embedders import ATTRS, get_nodes

SETTINGS = {
    "width": 6,
    "attrs": ATTRS,
    "rows": [11, 7, 5],
    "include_static_vectors": False,
}
NAME = "spacy-hashembeds.MultiWeightedHashEmbed.v1"


def resolve(**options) -> Model:
    block = {"@architectures": NAME, **SETTINGS, **options}
    return registry.resolve(Config({"model": block}))["model"]


def test_symbols_come_from_a_file(docs, tmp_path):
    tables = cut_symbols(count_values(docs, ATTRS), min_freq=2, lang="en")
    save_symbols(tmp_path / "tables.npz", tables)
    model = resolve(tables=str(tmp_path / "tables.npz")).initialize(X=docs)
    layers = get_nodes(model, "weightedhashembed")
    sizes = [layer.get_param("P").shape for layer in layers]
    assert sizes == [(len(tables.get_table(attr).frequent) + 1, 2) for attr in ATTRS]


def test_it_waits_for_symbols_only_where_weights_are_not_hashed():
    assert SYMBOL_SOURCE in resolve().attrs
    assert SYMBOL_SOURCE not in resolve(importance_rows=[50, 30, 20]).attrs
    with pytest.raises(ValueError, match=r"no symbols for NORM yet.*count_symbols"):
        resolve().initialize()


def test_side_by_side_is_wider_and_tables_have_rows_and_seeds_of_their_own(docs):
    options = {"combine": "concat", "append_weights": True, "num_hashes": 3, "seed": 5}
    model = resolve(importance_rows=[50, 30, 20], **options).initialize(X=docs)
    (maxout,) = get_nodes(model, "maxout")
    assert maxout.get_dim("nI") == 3 * (3 * 6 + 3)
    tables = get_nodes(model, "weightedhashembed")
    assert [table.attrs["hash_seed"] for table in tables] == [5, 6, 7]
    assert [table.get_dim("nV") for table in tables] == [11, 7, 5]
    assert [table.get_dim("nK") for table in tables] == [50, 30, 20]
