"""Vocabularies, and tables of uninitialized layers."""

from collections.abc import Sequence

import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_hashembeds.layers.symbolembed import LookupColumn, SymbolEmbed
from spacy_hashembeds.layers.tableembed import HashColumn, HashEmbed
from spacy_hashembeds.layers.vocabulary import Symbols, assign_symbols
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import (
    WeightedColumn,
    WeightedHashEmbed,
)
from spacy_hashembeds.tools.analyze.corpus import Vocabulary, collect_vocabulary

ATTRS = ("NORM", "SHAPE")
NO_SYMBOLS = np.zeros(0, dtype="uint64")


def make_docs(*texts: str) -> list[Doc]:
    vocab = spacy.blank("en").vocab
    return [Doc(vocab, words=text.split()) for text in texts]


def collect(*texts: str, attrs: Sequence[str] = ATTRS) -> Vocabulary:
    return collect_vocabulary(make_docs(*texts), attrs)


def make_hash_table(
    attr="NORM", *, rows=5000, width=96, num_hashes=4, seed=9
) -> HashColumn:
    return HashColumn(HashEmbed(width, rows, num_hashes=num_hashes, seed=seed), attr)


def make_lookup_table(attr, width, symbols) -> LookupColumn:
    layer = SymbolEmbed(width, key=attr)
    assign_symbols(layer, Symbols(symbols))
    return LookupColumn(layer, attr)


def make_weighted_table(
    *, rows=5000, width=96, hashed_weights=None, symbols=NO_SYMBOLS, **settings
) -> WeightedColumn:
    settings = {"num_hashes": 2, "seed": 9, **settings}
    layer = WeightedHashEmbed(width, rows, nK=hashed_weights, key="NORM", **settings)
    if hashed_weights is None:
        assign_symbols(layer, Symbols(symbols))
    return WeightedColumn(layer, "NORM")
