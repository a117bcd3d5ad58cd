"""Embed tokens through folded tables by a compiled kernel.

It finds the rows of each distinct token, sums and finishes them: what is several passes
over arrays in `cpumixedembed.py` is one over the processor's registers. It takes
columns whose vectors are sums of rows without weights, as the kernels for GPUs describe
them; mixers with others are left to numpy.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels import compiled
from ...kernels.identity import Snapshot
from ...kernels.rows import Finder, Hashing, Table, describe
from .folding import FoldedTables
from .mixer import Mixer


class Description(NamedTuple):
    """What the kernel is told of folded tables.

    attrs (Snapshot): The attributes of the columns' layers, which say how rows are
        found.
    tables (list[Table], optional): What is described, and whose memory is read. None if
        the kernel can't embed the columns.
    columns (NDArray, optional): The bytes of the kernel's structs.
    """

    attrs: Snapshot
    tables: list[Table] | None
    columns: NDArray | None


def predict(mixer: Mixer, folded: FoldedTables, keys: NDArray) -> NDArray | None:
    """Embed tokens by their keys: see `cpumixedembed.predict`.

    RAISES (ValueError): If attributes can't be those of their layers.
    RETURNS (NDArray, optional): None if there is no kernel that can.
    """
    if compiled.kernels is None:
        return None
    columns = _get_columns(mixer, folded)
    if columns is None:
        return None
    return compiled.kernels.embed_folded(folded.F, columns, keys, *folded.norm)


def _get_columns(mixer: Mixer, folded: FoldedTables) -> NDArray | None:
    """Get what the kernel is told, as long as nobody sets other attributes."""
    described: Description | None = folded.description
    if described is None or not described.attrs.is_current():
        folded.description = described = _describe(mixer, folded)
    return described.columns


def _describe(mixer: Mixer, folded: FoldedTables) -> Description:
    attrs = Snapshot(model.attrs for model in mixer.embedding)
    for column in mixer.columns:
        column.check()
    starts = [*map(int, folded.starts.values()), len(folded.F)]
    tables = []
    for i, column in enumerate(mixer.columns):
        finder = column.get_plain_finder()
        if finder is None or not _can_be_read(finder):
            return Description(attrs, None, None)
        tables.append(Table(folded.F[starts[i] : starts[i + 1]], finder))
    columns, _ = describe(tables)
    return Description(attrs, tables, columns.view("uint8"))


def _can_be_read(finder: Finder) -> bool:
    """Tell whether the kernel can read the symbols, if there are any.

    They were checked, but another thread may have set others since.
    """
    if isinstance(finder, Hashing):
        return True
    symbols = finder.symbols
    is_plain = type(symbols) is np.ndarray and symbols.dtype == "uint64"
    return is_plain and symbols.ndim == 1 and symbols.flags.c_contiguous
