"""Tables with Maxout's weights multiplied in, so that prediction has none left to do.

The product of a sum of rows is the sum of their products:

    W (E[a] + E[b]) = (W E[a]) + (W E[b])

What is left is to gather and sum rows of `nP * nO` numbers, to take the maximum, and to
normalise: see `mixedembed.py`. Columns that are no sums of rows go beside.

Folded tables take `nP` times the memory of the tables (14.4 MB for spaCy's usual ones),
and some milliseconds to make. They are made when weights are first used to predict, and
cached until these change: see `plan.py`. So are the products of keys of other columns
that were met lately: see `Column.is_kept`.
"""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.mixing import Norm
from ..maxout import lay_out
from ..params import peek
from ..plan import Plan
from .column import Mixer

#: The name of the environment variable that bounds the size of a folded table.
LIMIT_NAME = "SPACY_HASHEMBEDS_FOLD_MB"
DEFAULT_LIMIT = "256"

#: The most bytes of products that are kept: at width 96, those of 16,384 words.
MOST_KEPT = 2**25


@dataclass
class FoldedTables:
    """All tables in one, with Maxout's weights multiplied in; or none.

    F: The products. *Shape:* `(rows of all tables, nP * nO)`, float32.
    starts: For each column that has rows, where they begin.
    W: For each other column its part of Maxout's weights.
    room: How many bytes of products of keys may be kept beside.
    ready: What `mixedembed.py` made of them for some columns. It is replaced as a
        whole, so that threads never see a part of it.
    """

    F: NDArray
    starts: dict[int, np.uint32]
    W: dict[int, NDArray]
    norm: Norm
    room: int = 0
    ready: Any = None


class Fold(Plan[Any, FoldedTables]):
    """The plan of a layer that embeds by folded tables."""

    def __init__(self) -> None:
        super().__init__()
        self._awaiting: NDArray | None = None

    def expect_update(self, mixer: Mixer) -> None:
        """Let go of folded tables, and make none for the next prediction, unless an
        optimizer comes before it.

        To fold takes longer than to embed the batch of a training step, which is all
        that annotating components predict before the optimizer comes.
        """
        self.drop()
        self._awaiting = peek(mixer.layernorm, "b")

    def get(self, mixer: Mixer) -> FoldedTables:
        """Get the folded tables, or none of them if they can't be used this time."""
        found = self.find(mixer.folded, mixer.embedding)
        if found is not None:
            return found
        mixer.check()
        # optimizers set each parameter anew, if only another view of it
        awaiting, self._awaiting = self._awaiting, None
        if awaiting is not peek(mixer.layernorm, "b") and _is_worth_it(mixer):
            models, embedding = mixer.folded, mixer.embedding
            found = self.get_or_compute(models, lambda: fold(mixer), embedding)
        if found is None:
            W, norm = lay_out(mixer.maxout, mixer.layernorm)
            parts = dict(enumerate(mixer.split_columns(W)))
            return FoldedTables(W[:0], {}, parts, norm)
        # rounded as in the batches that they were met in, which a saved copy lacks
        found.ready = None
        return found


def fold(mixer: Mixer) -> FoldedTables:
    """Multiply all rows of all tables with Maxout's weights, once they are checked."""
    mixer.check()
    W, norm = lay_out(mixer.maxout, mixer.layernorm)
    products, starts, rest, n_rows = [], {}, {}, 0
    for i, W_column in enumerate(mixer.split_columns(W)):
        column = mixer.columns[i]
        if column.has_rows:
            starts[i] = np.uint32(n_rows)
            products.append((column.get_table(), W_column.T))
            n_rows += len(products[-1][0])
        else:
            rest[i] = W_column.copy()
    F = np.empty((n_rows, len(W)), dtype="float32")
    for (E, W_column), start in zip(products, starts.values(), strict=True):
        np.matmul(E, W_column, out=F[start : start + len(E)])
    room = int(min(MOST_KEPT, 1e6 * _get_limit() - F.nbytes))
    return FoldedTables(F, starts, rest, norm, room)


def _is_worth_it(mixer: Mixer) -> bool:
    if not any(column.has_rows or column.is_kept for column in mixer.columns):
        return False
    n_rows = sum(
        column.count_folded_rows() for column in mixer.columns if column.has_rows
    )
    n_numbers = n_rows * mixer.maxout.get_dim("nO") * mixer.maxout.get_dim("nP")
    limit = _get_limit()
    return limit > 0 and n_numbers * 4 / 1e6 <= limit


def _get_limit() -> float:
    """Read the limit in MB from the environment, so that it can be changed."""
    value = os.environ.get(LIMIT_NAME, DEFAULT_LIMIT)
    try:
        return float(value)
    except ValueError:
        raise ValueError(
            f"The environment variable {LIMIT_NAME} should be a number of megabytes, "
            f"but is {value!r}."
        ) from None
