from collections.abc import Callable

from thinc.api import Model, Ops, uniform_init

from ..hashing.murmur import MAX_HASHES
from ..kernels.rows import Hashing
from .checks import check_foreign, check_integer
from .table import check_table
from .tableembed import HashedColumn, InT, OutT, TableEmbed


class HashColumn(HashedColumn):
    """Column of keys that have `num_hashes` rows each by hashing.

    Of Thinc's `HashEmbed` too, to measure it.
    """

    kind = "hash"

    def check_weights(self) -> None:
        """Check weights and attributes, which may come from a file."""
        check_foreign(self.model, "hashes", "symbols")
        check_integer(self.model, "seed", 0, 2**32 - 1)
        check_integer(self.model, "num_hashes", 1, MAX_HASHES)
        check_table(self.model)

    def make_finder(self, ops: Ops) -> Hashing:
        """Say how rows are found."""
        return Hashing(seed=self.seed, num_hashes=self.num_hashes)

    @property
    def num_hashes(self) -> int:
        """Rows of a key: Thinc's own layer has no attribute that says it."""
        return self.model.attrs.get("num_hashes", MAX_HASHES)


def HashEmbed(
    nO: int,
    nV: int,
    *,
    num_hashes: int = MAX_HASHES,
    seed: int,
    column: int | None = None,
    initializer: Callable = uniform_init,
    dropout: float | None = None,
) -> Model[InT, OutT]:
    """Map integers to the sum of one to four rows of a table, chosen by hashing.

    With four hashes this is Thinc's `HashEmbed.v1`, but that empty input works both
    ways, the gradient that comes in is left as it was, and the seed is always explicit.

    nO, nV (int): The width of the table and of the output, and the number of rows.
    num_hashes (int): How many rows to sum, 1 to 4. Row k of key x is
        `murmur(x, seed)[k] % nV`, so fewer hashes use a prefix of the same rows.
    seed (int): The hash seed, an unsigned 32-bit integer.
    initializer (Callable): What fills the table, by default with uniform numbers
        in ±0.1.
    column, dropout: See `TableEmbed`.

    *Input shape:* `(n,)` or, with `column`, `(n, columns)`, any integer dtype.
    *Output shape:* `(n, nO)`, float32.

    Source: Tito Svenstrup et al. (2017), and Miranda et al., "Multi hash embeddings in
    spaCy", §3.1, equation 2.
    """
    return TableEmbed(
        "hashembed",
        HashColumn,
        dims={"nO": nO, "nV": nV},
        attrs={"seed": seed, "num_hashes": num_hashes},
        initializer=initializer,
        column=column,
        dropout=dropout,
    )
