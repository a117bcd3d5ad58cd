"""Embed tokens through folded tables by a compiled kernel.

It finds the rows of each distinct token, sums and finishes them: what is several passes
over arrays in `cpumixedembed.py` is one over the processor's registers. It takes
columns whose vectors are sums of rows without weights, as the kernels for GPUs describe
them; mixers with others are left to numpy.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels import compiled
from ...kernels.identity import Snapshot
from ...kernels.rows import Finder, Table, describe_finder
from .folding import FoldedTables
from .mixer import Mixer


class Description(NamedTuple):
    """What the kernel is told of folded tables.

    attrs (Snapshot): The attributes of the columns' layers, which say how rows are
        found.
    columns (FoldedColumns, optional): What the kernel keeps. None if it can't embed the
        columns.
    """

    attrs: Snapshot
    columns: Any


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


def _get_columns(mixer: Mixer, folded: FoldedTables) -> Any:
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
    finders = []
    for i, column in enumerate(mixer.columns):
        finder = column.get_plain_finder()
        if finder is None or not _can_be_read(finder):
            return Description(attrs, None)
        table = Table(folded.F[starts[i] : starts[i + 1]], finder)
        finders.append(describe_finder(table))
    n_rows = np.diff(starts).tolist()
    return Description(attrs, compiled.kernels.FoldedColumns(n_rows, finders))


def _can_be_read(finder: Finder) -> bool:
    """Tell whether the kernel can read the symbols, if there are any.

    They were checked, but another thread may have set others since.
    """
    symbols = finder.symbols
    if symbols is None:
        return True
    if type(symbols) is not np.ndarray or symbols.dtype != "uint64":
        return False
    return symbols.ndim == 1 and symbols.flags.c_contiguous and symbols.flags.aligned
