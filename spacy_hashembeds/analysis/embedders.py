"""The embedding tables of a pipeline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from thinc.api import Model

from ..checks import check_attributes
from ..hashing.murmur import MAX_HASHES
from .codes import find_code, find_known
from .sizes import find_embeddings_in


@dataclass(frozen=True, kw_only=True)
class HashTable:
    """A table whose rows are chosen by hashing.

    attr (str): The attribute that it embeds.
    rows (int): Its rows.
    width (int): Its width.
    num_hashes (int): How many rows each value gets.
    seed (int): Of the hash function.
    """

    attr: str
    rows: int
    width: int
    num_hashes: int
    seed: int

    def find_code(self, values: NDArray) -> NDArray:
        """Find the rows of values. *Shape:* `(n, num_hashes)`, uint64."""
        return find_code(
            values, rows=self.rows, num_hashes=self.num_hashes, seed=self.seed
        )


@dataclass(frozen=True, kw_only=True)
class LookupTable:
    """A table with a row for each known symbol, and one for all others.

    attr (str): The attribute that it embeds.
    width (int): Its width.
    symbols (NDArray, optional): The symbols in ascending order, None if the table has
        not got them yet. *Shape:* `(n,)`, uint64.
    """

    attr: str
    width: int
    symbols: NDArray | None

    def find_code(self, values: NDArray) -> NDArray:
        """Number the rows of values, unknown ones 0. *Shape:* `(n, 1)`, uint64."""
        symbols = np.zeros(0, "uint64") if self.symbols is None else self.symbols
        found = np.searchsorted(symbols, values)
        known = find_known(values, symbols)
        return np.where(known, found + 1, 0).astype("uint64").reshape(-1, 1)


@dataclass(frozen=True, kw_only=True)
class Embedder:
    """An embedding layer of a pipeline.

    component (str): The name of its component.
    tables (Sequence[HashTable | LookupTable]): In the order of the layer.
    has_vectors (bool): Whether it mixes in word vectors, which may tell apart words
        that the tables don't.
    """

    component: str
    tables: Sequence[HashTable | LookupTable]
    has_vectors: bool


def find_embedders(nlp: Language) -> list[Embedder]:
    """Find the embedding layers of a pipeline that have a table for each attribute.

    These are `spacy.MultiHashEmbed`, that of `spacy.HashEmbedCNN`, and our own. A layer
    that several components share is there once.
    """
    found: dict[int, Embedder] = {}
    for name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        for layer in find_embeddings_in(model) if isinstance(model, Model) else ():
            tables = _find_tables(layer)
            if tables and layer.id not in found:
                vectors = any(node.name == "static_vectors" for node in layer.walk())
                found[layer.id] = Embedder(
                    component=name, tables=tables, has_vectors=vectors
                )
    return list(found.values())


def _find_tables(layer: Model) -> list[HashTable | LookupTable]:
    """Find the tables of a layer, or none if it is no embedding by attributes alone."""
    nodes = list(layer.walk())
    extractors = [node for node in nodes if node.name == "extract_features"]
    is_known = len(extractors) == 1 and all(node.name != "charembed" for node in nodes)
    if not is_known:
        return []
    attrs = check_attributes(extractors[0].attrs["columns"])
    return [
        _MAKE_TABLE[node.name](node, attrs[node.attrs["column"]])
        for node in nodes
        if node.name in _MAKE_TABLE
    ]


def _make_hash_table(node: Model, attr: str) -> HashTable:
    return HashTable(
        attr=attr,
        rows=node.get_dim("nV"),
        width=node.get_dim("nO"),
        num_hashes=node.attrs.get("num_hashes", MAX_HASHES),
        seed=node.attrs["seed"],
    )


def _make_lookup_table(node: Model, attr: str) -> LookupTable:
    return LookupTable(
        attr=attr, width=node.get_dim("nO"), symbols=node.attrs["symbols"]
    )


_MAKE_TABLE: dict[str, Callable[[Model, str], HashTable | LookupTable]] = {
    "hashembed": _make_hash_table,
    "symbolembed": _make_lookup_table,
}
