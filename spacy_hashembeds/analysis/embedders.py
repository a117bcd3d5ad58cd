"""The embedding tables of a pipeline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from thinc.api import Model

from ..checks import check_attributes
from ..hashing.murmur import MAX_HASHES
from ..kernels.sums import NUMPY_OPS
from ..layers.symboltaker import look_up
from .codes import find_code
from .hybrid_table import HybridTable
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

    kind: ClassVar = "hash"

    attr: str
    rows: int
    width: int
    num_hashes: int
    seed: int

    @property
    def parts(self) -> dict[str, int]:
        """Its parameters."""
        return {"rows": self.rows * self.width}

    def find_code(self, values: NDArray) -> NDArray:
        """Find the rows of values. *Shape:* `(n, num_hashes)`, uint64."""
        return find_code(
            values, rows=self.rows, num_hashes=self.num_hashes, seed=self.seed
        )

    def identify(self, values: NDArray) -> NDArray:
        """Give numbers that are equal where vectors are: sums know no order of rows.

        RETURNS (NDArray): *Shape:* `(n, num_hashes)`, uint64.
        """
        return np.sort(self.find_code(values), axis=1)


@dataclass(frozen=True, kw_only=True)
class LookupTable:
    """A table with a row for each known symbol, and one for all others.

    attr (str): The attribute that it embeds.
    width (int): Its width.
    symbols (NDArray, optional): The symbols in ascending order, None if the table has
        not got them yet. *Shape:* `(n,)`, uint64.
    """

    kind: ClassVar = "lookup"

    attr: str
    width: int
    symbols: NDArray | None

    @property
    def rows(self) -> int:
        """Its rows."""
        return _count_rows(self.symbols)

    @property
    def parts(self) -> dict[str, int]:
        """Its parameters."""
        return {"rows": self.rows * self.width}

    @property
    def needs_symbols(self) -> bool:
        """Whether it has not got its symbols yet."""
        return self.symbols is None

    def find_code(self, values: NDArray) -> NDArray:
        """Number the rows of values, unknown ones 0. *Shape:* `(n, 1)`, uint64."""
        return _look_up(values, self.symbols)

    def identify(self, values: NDArray) -> NDArray:
        """Give numbers that are equal where vectors are. *Shape:* `(n, 1)`, uint64."""
        return self.find_code(values)


@dataclass(frozen=True, kw_only=True)
class WeightedTable:
    """A table of component vectors chosen by hashing, and one of weights for them.

    attr (str): The attribute that it embeds.
    rows (int): Component vectors.
    width (int): Of a component vector.
    num_hashes (int): How many component vectors each value gets, and how many weights.
    seed (int): Of the hash function.
    same_hash (bool): Whether the row of weights chooses the component vectors too.
    hashed_weights (int, optional): Rows of weights, if they are chosen by hashing. None
        if symbols have a row each, and all other values one.
    symbols (NDArray, optional): These symbols in ascending order, None if there are
        none, or none yet. *Shape:* `(n,)`, uint64.
    """

    kind: ClassVar = "weighted"

    attr: str
    rows: int
    width: int
    num_hashes: int
    seed: int
    same_hash: bool = False
    hashed_weights: int | None = None
    symbols: NDArray | None = None

    @property
    def importance_rows(self) -> int:
        """Rows of weights."""
        if self.hashed_weights is not None:
            return self.hashed_weights
        return _count_rows(self.symbols)

    @property
    def parts(self) -> dict[str, int]:
        """The parameters of its two parts, B·d and K·k in the paper's letters."""
        return {
            "components": self.rows * self.width,
            "weights": self.importance_rows * self.num_hashes,
        }

    @property
    def needs_symbols(self) -> bool:
        """Whether it has not got its symbols yet."""
        return self.hashed_weights is None and self.symbols is None

    def find_code(self, values: NDArray) -> NDArray:
        """Find the component vectors of values, and their rows of weights, the last.

        RETURNS (NDArray): *Shape:* `(n, num_hashes + 1)`, uint64.
        """
        weights = self._find_weights(values)
        components = find_code(
            weights[:, 0] if self.same_hash else values,
            rows=self.rows,
            num_hashes=self.num_hashes,
            seed=self.seed,
        )
        return np.hstack([components, weights])

    def identify(self, values: NDArray) -> NDArray:
        """Give numbers that are equal where vectors are: weights know an order of rows.

        RETURNS (NDArray): *Shape:* `(n, num_hashes + 1)`, uint64.
        """
        return self.find_code(values)

    def _find_weights(self, values: NDArray) -> NDArray:
        if self.hashed_weights is None:
            return _look_up(values, self.symbols)
        num_hashes = self.num_hashes + 1  # one that is independent of the components'
        rows = self.hashed_weights
        code = find_code(values, rows=rows, num_hashes=num_hashes, seed=self.seed)
        return code[:, -1:]


Table = HashTable | LookupTable | WeightedTable | HybridTable


@dataclass(frozen=True, kw_only=True)
class Embedder:
    """An embedding layer of a pipeline.

    component (str): The name of its component.
    tables (Sequence[Table]): In the order of the layer.
    has_vectors (bool): Whether it mixes in word vectors, which may tell apart words
        that the tables don't.
    """

    component: str
    tables: Sequence[Table]
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


def _find_tables(layer: Model) -> list[Table]:
    """Find the tables of a layer, or none if it is no embedding by attributes alone."""
    nodes = list(layer.walk())
    extractors = [node for node in nodes if node.name == "extract_features"]
    is_known = len(extractors) == 1 and all(node.name != "charembed" for node in nodes)
    if not is_known:
        return []
    attrs = check_attributes(extractors[0].attrs["columns"])
    return [
        make_table(node, attrs[node.attrs["column"]])
        for node in nodes
        if node.name in _MAKE_TABLE
    ]


def make_table(layer: Model, attr: str) -> Table:
    """Describe the table of a layer that is known to `_MAKE_TABLE`.

    attr (str): What it embeds.
    """
    return _MAKE_TABLE[layer.name](layer, attr)


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


def _make_hybrid_table(node: Model, attr: str) -> HybridTable:
    return HybridTable(
        attr=attr,
        rows=node.maybe_get_dim("nV") or node.attrs["rows"],
        width=node.get_dim("nO"),
        num_hashes=node.attrs["num_hashes"],
        seed=node.attrs["seed"],
        symbols=node.attrs["symbols"],
    )


def _make_weighted_table(node: Model, attr: str) -> WeightedTable:
    has_symbols = "symbols" in node.attrs
    return WeightedTable(
        attr=attr,
        rows=node.get_dim("nV"),
        width=node.get_dim("nE"),
        num_hashes=node.attrs["num_hashes"],
        seed=node.attrs["hash_seed"],
        same_hash=node.attrs["same_hash"],
        hashed_weights=None if has_symbols else node.get_dim("nK"),
        symbols=node.attrs.get("symbols"),
    )


_MAKE_TABLE: dict[str, Callable[[Model, str], Table]] = {
    "hashembed": _make_hash_table,
    "hybridembed": _make_hybrid_table,
    "symbolembed": _make_lookup_table,
    "weightedhashembed": _make_weighted_table,
}


def _count_rows(symbols: NDArray | None) -> int:
    """Count a row for each symbol, and one for all other values."""
    return 1 if symbols is None else 1 + len(symbols)


def _look_up(values: NDArray, symbols: NDArray | None) -> NDArray:
    """Number the rows of values, unknown ones 0. *Shape:* `(n, 1)`, uint64."""
    known = np.zeros(0, "uint64") if symbols is None else symbols
    return look_up(NUMPY_OPS, values, known, unk=0).astype("uint64")
