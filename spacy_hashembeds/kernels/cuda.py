"""Embedding tables on a GPU: the launcher of `embed.cu`.

Thinc finds, gathers and sums the rows of each table in separate kernels, with a thread
per token, so that memory accesses are not coalesced. Here one kernel processes all
tables, with coalesced accesses. Thinc sums gradients by atomic additions, whose order,
and thus rounding, varies from run to run. Here gradients are deterministic: those of a
row are summed in the order of tokens. No function synchronizes with the GPU.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from thinc.api import get_array_module

from .distinct import MAX_COLUMNS
from .rows import Array, Table, describe_finder

#: CuPy kernel: a function of grid, block and arguments.
Kernel = Callable[[tuple[int], tuple[int], tuple], None]

HEADER = Path(__file__).with_name("rows.h")
SOURCE = Path(__file__).with_name("embed.cu")
THREADS = 256
#: Maximum number of blocks per launch. Kernels loop over the rest.
MAX_BLOCKS = 2**16

# TILE of `embed.cu`.
_TILE = 8

# Structs of `rows.h`.
_COLUMN = np.dtype(
    [("table", "u8"), ("symbols", "u8")]
    + [(name, "u4") for name in ("n_symbols", "unk", "seed", "num_hashes")]
    + [(name, "u4") for name in ("n_hashed", "first_row", "first_slot")],
    align=True,
)
_COLUMNS = np.dtype([("column", _COLUMN, (MAX_COLUMNS,))])


def gather_rows(
    keys: Array,
    tables: Sequence[Table],
    out: Array,
    *,
    weights: Array | None = None,
    scale: Array | None = None,
) -> Array:
    """Sum the rows of each key in its table, and concatenate the sums of a token.

    Sums are written to the first `tables * width` columns of `out`. Rows are multiplied
    by `weights`, and sums by `scale`, for dropout. Return pairs of rows and places for
    `scatter_rows`, `(n * rows of a token,)`, uint64. All arrays are contiguous. There
    are at most 64 tables, of one width.

    *Shapes:* `keys`: `(n, tables)`, uint64; `out`: `(n, columns)`; `weights`:
    `(n, rows of a token)`; `scale`: `(tables * width,)`, all float32.
    """
    columns, n_slots = _describe(tables)
    n, width = len(keys), tables[0].array.shape[1]
    n_pairs = n * n_slots
    if n_pairs >= 2**32:
        raise ValueError(
            f"A batch should have fewer than {2**32} rows to sum, but has {n_pairs} "
            f"for {n} tokens. Use smaller batches."
        )
    pairs = get_array_module(keys).empty(n_pairs, dtype="uint64")
    size = _find_vector_size(tables, out, scale)
    args = (out, pairs, keys, weights, scale, columns, len(tables), n_slots)
    sizes = (np.uint64(n), width // size, out.shape[1] // size)
    _launch("gather_sum", size, -(-n // _TILE), *args, *sizes)
    return pairs


def scatter_rows(
    pairs: Array,
    d_out: Array,
    gradients: Sequence[Table],
    *,
    weights: Array | None = None,
    scale: Array | None = None,
) -> None:
    """Backpropagate `gather_rows`, which returned `pairs`: add to the gradients."""
    if len(pairs) == 0:
        return
    columns, n_slots = _describe(gradients)
    n_columns, width = len(gradients), gradients[0].array.shape[1]
    xp, chunk_size = get_array_module(pairs), _get_chunk_size(len(pairs))
    n_chunks = -(-len(pairs) // chunk_size)
    heads, tails = xp.empty((2, n_chunks, width), dtype="float32")
    size = _find_vector_size(gradients, d_out, scale, heads, tails)
    n_blocks = -(-n_chunks * (width // size) // THREADS)
    pairs = xp.sort(pairs)  # distinct, so the order is deterministic
    args = (pairs, d_out, weights, scale, heads, tails, columns, n_columns, n_slots)
    sizes = (np.uint64(len(pairs)), chunk_size, width // size)
    _launch("sum_runs", size, n_blocks, *args, *sizes, d_out.shape[1] // size)
    _launch(
        "join_runs", size, n_blocks, pairs, heads, tails, columns, n_columns, *sizes
    )


@cache
def get_kernel(name: str, vector: str) -> Kernel:
    """Get a kernel of `embed.cu` for float or float4, compiled by CuPy."""
    return _get_module(vector).get_function(name)


@cache
def _get_module(vector: str) -> Any:
    cupy = import_module("cupy")
    code = "".join(path.read_text(encoding="utf8") for path in (HEADER, SOURCE))
    return cupy.RawModule(code=code, options=("-std=c++17", f"-DVector={vector}"))


def _describe(tables: Sequence[Table]) -> tuple[np.ndarray, int]:
    """Describe tables to the kernels, and count the rows of a token in all tables."""
    described = np.zeros(1, dtype=_COLUMNS)  # a struct, passed by value
    first_row = first_slot = 0
    for i, table in enumerate(tables):
        symbols, *settings = describe_finder(table)
        found = (0, 0) if symbols is None else (_get_address(symbols), len(symbols))
        places = (first_row, first_slot)
        column = (_get_address(table.array), *found, *settings, *places)
        described["column"][0, i] = column
        first_row += len(table.array)
        first_slot += table.finder.num_hashes
    return described, first_slot


def _get_address(array: Array) -> int:
    """Return the address of an array on the GPU, or on an emulated GPU."""
    is_emulated = isinstance(array, np.ndarray)
    return array.ctypes.data if is_emulated else array.data.ptr


def _find_vector_size(tables: Sequence[Table], *arrays: Array | None) -> int:
    """Return the vector size for these arrays: 4 numbers or 1."""
    fits = all(
        array.shape[-1] % 4 == 0 and _get_address(array) % 16 == 0
        for array in (*(table.array for table in tables), *arrays)
        if array is not None
    )
    return 4 if fits else 1


def _get_chunk_size(n_pairs: int) -> int:
    """Return the number of pairs per thread: few in small batches, for parallelism."""
    chunk_size = 8  # only from `n_pairs`: it determines the order of additions
    while chunk_size < 256 and chunk_size * 2**15 < n_pairs:
        chunk_size *= 2
    return chunk_size


def _launch(name: str, vector_size: int, n_blocks: int, *args: Any) -> None:
    """Launch a kernel. Python integers are passed as uint32."""
    if n_blocks == 0:
        return
    kernel = get_kernel(name, "float4" if vector_size == 4 else "float")
    # some versions of CuPy do not accept None as a null pointer
    args = tuple(np.uint64(0) if arg is None else arg for arg in args)
    args = tuple(np.uint32(arg) if isinstance(arg, int) else arg for arg in args)
    kernel((min(n_blocks, MAX_BLOCKS),), (THREADS,), args)
