"""Embedding tables on a GPU: the launcher of `embed.cu`.

Thinc finds, gathers and sums the rows of each table in kernels of their own, with a
thread for each token, so that neighbouring threads read far apart. Here one kernel does
all tables at once, with neighbouring threads on neighbouring numbers. Thinc adds up
gradients by atomic additions, whose order changes from run to run, and with it the last
bits of the sums. Here the gradients of each row are added up in the order of tokens.

CuPy compiles the kernels when they are first needed, and keeps them in its own cache.
Nothing here waits for the GPU.
"""

import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from thinc.api import CupyOps, Ops, get_array_module

from . import rows
from .rows import Array, Table, describe

#: A compiled kernel, as CuPy has them: takes a grid, a block and arguments.
Kernel = Callable[[tuple[int], tuple[int], tuple], None]

#: The name of the environment variable that says in which order gradients are added up.
DETERMINISTIC_NAME = "SPACY_HASHEMBEDS_DETERMINISTIC"

HEADER = Path(__file__).with_name("rows.h")
SOURCE = Path(__file__).with_name("embed.cu")
THREADS = 256
#: Kernels go round where there is more to do than so many blocks can.
MAX_BLOCKS = 2**16

_GPU_OPS: tuple[type[Ops], ...] = (CupyOps,)

# As in `embed.cu`.
_TILE = 8

# None, which not every CuPy passes as an address.
_NULL = np.uint64(0)


def is_used_by(ops: Ops) -> bool:
    """Tell whether a layer that has these ops is on a GPU."""
    return isinstance(ops, _GPU_OPS)


def is_deterministic() -> bool:
    """Read from the environment whether to add up gradients in a fixed order.

    RAISES (ValueError): If it says neither 1 nor 0.
    """
    value = os.environ.get(DETERMINISTIC_NAME, "1")
    if value not in ("0", "1"):
        raise ValueError(
            f"The environment variable {DETERMINISTIC_NAME} should be 1, for equal "
            f"seeds to give equal weights, or 0, but is {value!r}."
        )
    return value == "1"


def gather_rows(
    keys: Array,
    tables: Sequence[Table],
    out: Array,
    *,
    weights: Array | None = None,
    scale: Array | None = None,
) -> Array:
    """Sum the rows of each key in its table, the sums of a token side by side.

    keys (Array): A column for each table. *Shape:* `(n, tables)`, uint64, contiguous.
    tables (Sequence[Table]): The tables, all of the same width, at most 64.
    out (Array): Written: the first `tables * width` columns. *Shape:* `(n, columns)`,
        float32, contiguous.
    weights (Array, optional): What each row is multiplied with. *Shape:* `(n, rows of a
        token)`, float32, contiguous.
    scale (Array, optional): What each sum is multiplied with, for dropout. *Shape:*
        `(tables * width,)`, float32.
    RAISES (ValueError): If there are 2³² rows to sum, or more.
    RETURNS (Array): The rows that were summed, paired with their places, to be given to
        `scatter_rows`. *Shape:* `(n * rows of a token,)`, uint64.
    """
    columns, n_slots = describe(tables)
    n, width = len(keys), tables[0].array.shape[1]
    n_pairs = n * n_slots
    if n_pairs >= 2**32:
        raise ValueError(
            f"A batch should have less than {2**32} rows to sum, but has {n_pairs}, of "
            f"{n} tokens. Make smaller batches."
        )
    pairs = get_array_module(keys).empty(n_pairs, dtype="uint64")
    size = _find_vector_size([out, scale], tables)
    args = (
        *(out, pairs, keys, weights, scale, columns),
        *(np.uint32(len(tables)), np.uint32(n_slots)),
        *(np.uint64(n), np.uint32(width // size), np.uint32(out.shape[1] // size)),
    )
    _launch("gather_sum", size, -(-n // _TILE), args)
    return pairs


def scatter_rows(
    pairs: Array,
    d_out: Array,
    gradients: Sequence[Table],
    *,
    weights: Array | None = None,
    scale: Array | None = None,
) -> None:
    """Add the gradient of each sum to those of its rows: backpropagates `gather_rows`.

    pairs (Array): What `gather_rows` returned.
    d_out (Array): *Shape:* `(n, columns)`, float32, contiguous.
    gradients (Sequence[Table]): The gradients of the tables, which are added to.
    weights (Array, optional): As `gather_rows` had them.
    scale (Array, optional): As `gather_rows` had it.
    RAISES (ValueError): If the environment says neither that the order is fixed nor
        that it is not.
    """
    in_order = is_deterministic()
    if len(pairs) == 0:
        return
    if in_order:
        _scatter_in_order(pairs, d_out, gradients, weights, scale)
    else:
        _scatter_atomically(pairs, d_out, gradients, weights, scale)


@cache
def get_kernel(name: str) -> Kernel:
    """Get a kernel of `embed.cu`: CuPy compiles all when the first one is got."""
    return _get_module().get_function(name)


@cache
def _get_module() -> Any:
    cupy = import_module("cupy")
    code = "".join(path.read_text(encoding="utf8") for path in (HEADER, SOURCE))
    return cupy.RawModule(code=code, options=("-std=c++17",))


def _scatter_in_order(
    pairs: Array,
    d_out: Array,
    gradients: Sequence[Table],
    weights: Array | None,
    scale: Array | None,
) -> None:
    columns, n_slots = describe(gradients)
    width, n_columns = gradients[0].array.shape[1], np.uint32(len(gradients))
    chunk_size = _get_chunk_size(len(pairs))
    n_chunks = -(-len(pairs) // chunk_size)
    heads, tails = get_array_module(pairs).empty((2, n_chunks, width), dtype="float32")
    size = _find_vector_size([d_out, scale, heads, tails], gradients)
    n_blocks = -(-n_chunks * (width // size) // THREADS)
    how_many = np.uint64(len(pairs)), np.uint32(chunk_size), np.uint32(width // size)
    # each pair is there once, so that there is only one order
    pairs = get_array_module(pairs).sort(pairs)
    args: tuple = (pairs, d_out, weights, scale, heads, tails, columns, n_columns)
    args = (*args, np.uint32(n_slots), *how_many, np.uint32(d_out.shape[1] // size))
    _launch("sum_runs", size, n_blocks, args)
    args = (pairs, heads, tails, columns, n_columns, *how_many)
    _launch("join_runs", size, n_blocks, args)


def _scatter_atomically(
    pairs: Array,
    d_out: Array,
    gradients: Sequence[Table],
    weights: Array | None,
    scale: Array | None,
) -> None:
    columns, n_slots = describe(gradients)
    n, n_columns, width = len(d_out), len(gradients), gradients[0].array.shape[1]
    size = _find_vector_size([d_out, scale], gradients)
    args = (
        *(pairs, d_out, weights, scale, columns),
        *(np.uint32(n_columns), np.uint32(n_slots)),
        *(np.uint64(n), np.uint32(width // size), np.uint32(d_out.shape[1] // size)),
    )
    n_blocks = -(-n * n_columns * (width // size) // THREADS)
    _launch("scatter_atomically", size, n_blocks, args)


def _find_vector_size(arrays: Sequence[Array | None], tables: Sequence[Table]) -> int:
    """Say whether the kernels can take four numbers at once, or only one.

    The arrays' last axes should be multiples of four and all of them aligned.
    """
    all_arrays = [table.array for table in tables]
    all_arrays += [array for array in arrays if array is not None]
    fits = all(
        array.shape[-1] % 4 == 0 and rows.get_address(array) % 16 == 0
        for array in all_arrays
    )
    return 4 if fits else 1


def _get_chunk_size(n_pairs: int) -> int:
    """Choose how many pairs a thread adds up: few in small batches, to use all threads.

    It depends on nothing else, for it decides in which order numbers are added.
    """
    chunk_size = 8
    while chunk_size < 256 and chunk_size * 2**15 < n_pairs:
        chunk_size *= 2
    return chunk_size


def _launch(name: str, vector_size: int, n_blocks: int, args: tuple) -> None:
    if n_blocks == 0:
        return
    kernel = get_kernel(f"{name}_{'float4' if vector_size == 4 else 'float'}")
    args = tuple(_NULL if arg is None else arg for arg in args)
    kernel((min(n_blocks, MAX_BLOCKS),), (THREADS,), args)
