"""`MultiHybridEmbed.v1`: a row for each frequent symbol, hashed rows for all others."""

import numpy as np
import pytest

from spacy_hashembeds.architectures.embedders.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.embedders.multi_hybrid_embed import MultiHybridEmbed
from spacy_hashembeds.symbols import (
    count_values,
    cut_symbols,
    load_symbols,
    save_symbols,
)

from ...toy_embedders import get_nodes

ATTRS = ["NORM", "SHAPE"]


def make(**options):
    options = {"attrs": ATTRS, "include_static_vectors": False, **options}
    return MultiHybridEmbed(**{"width": 8, "rows": [20, 10], **options})


def test_tables_have_rows_seeds_and_hashes_of_their_own():
    tables = get_nodes(make(seed=5, num_hashes=3), "hybridembed")
    assert [table.attrs["key"] for table in tables] == ATTRS
    assert [table.attrs["rows"] for table in tables] == [20, 10]
    assert [table.attrs["seed"] for table in tables] == [5, 6]
    assert [table.attrs["num_hashes"] for table in tables] == [3, 3]


def test_a_file_without_rare_symbols_is_for_lookup_alone(nlp, tmp_path):
    docs = [nlp.make_doc("a a b Cc X1 d"), nlp.make_doc("a b zebra dd X1 - . !")]
    path = tmp_path / "tables.npz"
    counts = count_values(docs, ATTRS)
    save_symbols(path, cut_symbols(counts, min_freq=2, lang="en"))
    with np.load(path) as arrays:
        kept = {k: v for k, v in arrays.items() if not k.startswith("rare/")}
    np.savez(path, **kept)
    assert load_symbols(path).get_table("NORM").rare is None
    options = {"attrs": ATTRS, "width": 8, "include_static_vectors": False}
    MultiEmbed(**options, tables=path).initialize(X=docs)
    with pytest.raises(ValueError, match=r"needs the rare symbols .*anew with `spacy"):
        make(tables=path).initialize(X=docs)
