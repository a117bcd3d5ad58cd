"""Keys and tables for kernels, and their sums on the CPU. Imports no spaCy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray
from thinc.api import NumpyOps

from spacy_hashembeds.hashing.murmur import MAX_HASHES, find_rows
from spacy_hashembeds.kernels.rows import Hashing, Table

from ._gpu_device import Device

#: The seed of spaCy's first table: the others count up from it.
SEED = 8

# Words of made-up text, as frequent as Zipf's law says, and how many prefixes, suffixes
# and shapes they have.
_N_WORDS = 50_000
_N_VALUES = (100, 2000, 100)

Rng = numpy.random.Generator

#: Draws the keys of so many tokens, a column for each table.
Draw = Callable[[int, Rng], NDArray]


@dataclass(frozen=True)
class Tables:
    """Tables of random numbers.

    values (list[NDArray]): Their rows, on the host. *Shape:* `(rows, width)` each.
    tables (list[Table]): The same on the GPU.
    """

    values: list[NDArray]
    tables: list[Table]

    @property
    def n_bytes(self) -> int:
        """The bytes of all rows."""
        return sum(values.nbytes for values in self.values)

    @property
    def width(self) -> int:
        """The width of each."""
        return self.values[0].shape[1]

    def find_rows(self, keys: NDArray) -> list[NDArray]:
        """Find the rows of keys by Thinc on the CPU. *Shape:* `(n, hashes)` each."""
        return [
            find_rows(
                NumpyOps(),
                column,
                seed=SEED + i,
                num_hashes=MAX_HASHES,
                rows=len(self.values[i]),
            )
            for i, column in enumerate(keys.T)
        ]

    def sum_rows(self, keys: NDArray) -> list[NDArray]:
        """Sum the rows of keys, in double precision. *Shape:* `(n, width)` each."""
        return [
            values[rows].sum(axis=1, dtype="float64")
            for values, rows in zip(self.values, self.find_rows(keys), strict=True)
        ]

    def add_gradients(self, keys: NDArray, d_out: NDArray) -> list[NDArray]:
        """Add the gradients of sums to the rows, in double precision.

        d_out (NDArray): *Shape:* `(n, tables * width)`.
        RETURNS (list[NDArray]): *Shape:* `(rows, width)` each.
        """
        parts = numpy.split(d_out, len(self.values), axis=1)
        return [
            _add_at(values, rows, part)
            for values, rows, part in zip(
                self.values, self.find_rows(keys), parts, strict=True
            )
        ]


def draw_text_keys(n: int, rng: Rng) -> NDArray:
    """Draw the keys of tokens of made-up text. *Shape:* `(n, 4)`, uint64."""
    weights = (1 / numpy.arange(1, _N_WORDS + 1)).cumsum()
    words = numpy.searchsorted(weights, rng.random(n) * weights[-1]).astype("uint64")
    norms = (words + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
    columns = [norms]
    for bits, size in zip((40, 39, 38), _N_VALUES, strict=True):
        columns.append((norms >> numpy.uint64(bits)) % numpy.uint64(size))
    return numpy.stack(columns, axis=1)


def draw_distinct_keys(n: int, rng: Rng) -> NDArray:
    """Draw keys that hardly ever come twice. *Shape:* `(n, 4)`, uint64."""
    return rng.integers(2**64, size=(n, 4), dtype="uint64")


def draw_samples(draw: Draw, n_tokens: int, n_samples: int) -> list[NDArray]:
    """Draw the keys of several batches, the same ones each time."""
    rng = numpy.random.default_rng(n_tokens)
    return [draw(n_tokens, rng) for _ in range(n_samples)]


def make_tables(device: Device, rows: Sequence[int], width: int) -> Tables:
    """Make tables in which rows are found by four hashes, as in spaCy's."""
    rng = numpy.random.default_rng(0)
    values = [rng.standard_normal((n, width), dtype="float32") for n in rows]
    tables = [
        Table(device.array(array), Hashing(seed=SEED + i, num_hashes=MAX_HASHES))
        for i, array in enumerate(values)
    ]
    return Tables(values, tables)


def _add_at(values: NDArray, rows: NDArray, d_sums: NDArray) -> NDArray:
    """Do what `numpy.add.at` does for each hash, a lot faster."""
    order = rows.reshape(-1).argsort(kind="stable")
    in_order = rows.reshape(-1)[order]
    firsts = numpy.flatnonzero(numpy.r_[True, in_order[1:] != in_order[:-1]])
    added = d_sums[order // rows.shape[1]].astype("float64")
    summed = values.astype("float64")
    summed[in_order[firsts]] += numpy.add.reduceat(added, firsts, axis=0)
    return summed
