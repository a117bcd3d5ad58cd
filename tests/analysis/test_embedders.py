from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_hashembeds.analysis.pipelines import Embedder, find_embedders
from spacy_hashembeds.layers.symboltaker import (
    Symbols,
    find_symbol_takers,
    give_symbols,
)
from spacy_hashembeds.layers.tableembed import TableColumn

CNN = {
    "width": 8,
    "depth": 1,
    "embed_size": 100,
    "window_size": 1,
    "maxout_pieces": 3,
    "subword_features": True,
    "pretrained_vectors": None,
}
ENCODE = {
    "@architectures": "spacy.MaxoutWindowEncoder.v2",
    "width": 8,
    "depth": 1,
    "window_size": 1,
    "maxout_pieces": 3,
}
TWO = {"width": 8, "attrs": ["NORM", 68], "include_static_vectors": False}
ROWS = {**TWO, "rows": [50, 20]}
ALL = "NORM PREFIX SUFFIX SHAPE"
OURS = "spacy-hashembeds.MultiFewerHashEmbed.v1"
SYMBOLS = Symbols(*np.array([[5, 3], [7, 8]], dtype="uint64"))


def make(architecture: str, **settings: Any) -> Language:
    nlp = spacy.blank("en")
    model = {"@architectures": architecture, **settings}
    if "CNN" not in architecture:
        tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "encode": ENCODE}
        model = {**tok2vec, "embed": model}
    nlp.add_pipe("tok2vec", config={"model": model})
    return nlp


def find_one(architecture: str, **settings: Any) -> Embedder:
    (embedder,) = find_embedders(make(architecture, **settings))
    assert embedder.component == "tok2vec"
    return embedder


def describe(tables: Sequence[TableColumn]) -> list[tuple]:
    return [
        (t.kind, t.attr, t.n_rows, t.row_width, t.num_hashes, t.seed) for t in tables
    ]


def list_hashed(
    rows: list[int], hashes: int, seed: int, kind="hash", attrs="NORM SHAPE"
) -> list[tuple]:
    return [
        (kind, attr, n, 8, hashes, seed + i)
        for i, (attr, n) in enumerate(zip(attrs.split(), rows, strict=True))
    ]


@pytest.mark.parametrize(
    ("architecture", "settings", "expected"),
    [
        ("spacy.MultiHashEmbed.v1", ROWS, list_hashed([50, 20], 4, 8)),
        ("spacy.MultiHashEmbed.v2", ROWS, list_hashed([50, 20], 4, 8)),
        ("spacy.HashEmbedCNN.v1", CNN, list_hashed([100, 50, 50, 50], 4, 8, attrs=ALL)),
        ("spacy.HashEmbedCNN.v2", CNN, list_hashed([100, 50, 50, 50], 4, 8, attrs=ALL)),
        # one table is not concatenated with others
        (
            "spacy.HashEmbedCNN.v2",
            {**CNN, "subword_features": False},
            list_hashed([100], 4, 8, attrs="NORM"),
        ),
        (OURS, {**ROWS, "num_hashes": 2, "seed": 31}, list_hashed([50, 20], 2, 31)),
    ],
)
def test_tables_of_hash_embeddings(architecture, settings, expected):
    embedder = find_one(architecture, **settings)
    assert describe(embedder.tables) == expected
    assert not embedder.has_vectors


def give_all_symbols(nlp: Language) -> list[TableColumn]:
    """Give the symbols to all layers, and find the tables anew."""
    for layer in find_symbol_takers(nlp.get_pipe("tok2vec").model):
        give_symbols(layer, SYMBOLS)
    tables = find_embedders(nlp)[0].tables
    for table in tables:
        np.testing.assert_array_equal(table.symbols, [3, 5])
    return tables


def test_tables_of_our_lookup_embedding():
    nlp = make("spacy-hashembeds.MultiEmbed.v1", **TWO)
    found = find_embedders(nlp)[0].tables
    assert [(t.kind, t.attr, t.n_rows) for t in found] == [
        ("lookup", "NORM", 1),
        ("lookup", "SHAPE", 1),
    ]
    assert [table.n_rows for table in give_all_symbols(nlp)] == [3, 3]


def test_tables_of_our_weighted_embedding():
    name = "spacy-hashembeds.MultiWeightedHashEmbed.v1"
    settings = {"num_hashes": 5, "same_hash": True, "combine": "concat", "seed": 31}
    embedder = find_one(name, **ROWS, **settings, importance_rows=[70, 40])
    found = embedder.tables
    assert describe(found) == list_hashed([50, 20], 5, 31, "weighted")
    assert [table.weight_rows for table in found] == [70, 40]
    nlp = make(name, **ROWS)
    assert [t.weight_rows for t in find_embedders(nlp)[0].tables] == [1, 1]
    assert [t.weight_rows for t in give_all_symbols(nlp)] == [3, 3]


def test_tables_of_our_hybrid_embedding():
    settings = {"num_hashes": 3, "seed": 31}
    nlp = make("spacy-hashembeds.MultiHybridEmbed.v1", **ROWS, **settings)
    found = find_embedders(nlp)[0].tables
    assert describe(found) == list_hashed([50, 20], 3, 31, "hybrid")
    assert all(table.n_rows < 9 for table in give_all_symbols(nlp))


@pytest.mark.parametrize("architecture", ["spacy.MultiHashEmbed.v2", OURS])
def test_word_vectors_are_noted(architecture):
    with_vectors = {**ROWS, "include_static_vectors": True}
    assert find_one(architecture, **with_vectors).has_vectors


def test_other_layers_are_left_out():
    assert find_embedders(spacy.blank("en")) == []
    nlp = make(
        "spacy.CharacterEmbed.v2",
        **{"width": 8, "rows": 5, "nM": 4, "nC": 4, "include_static_vectors": False},
    )
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("ner")  # with a HashEmbedCNN of its own
    assert [embedder.component for embedder in find_embedders(nlp)] == ["ner"]
