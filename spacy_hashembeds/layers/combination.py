"""Ways to put the weighted components of a hash embedding together.

To fold tables, all are one: a weighted sum of rows of a table. For components side by
side it has a block for each hash, and for the weights a row each that has 1 in their
place.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

#: Those that there are: components are added up, or stand side by side.
COMBINE = ("sum", "concat")


class Combination(NamedTuple):
    """Combination of components and weights to a vector: see `WeightedHashEmbed`."""

    num_hashes: int
    combine: str
    append_weights: bool

    @property
    def is_sum(self) -> bool:
        """Tell whether the weighted components are added up, and no more."""
        return self.combine == "sum" and not self.append_weights

    def measure_width(self, nE: int) -> int:
        """Say how wide vectors of components of a width are."""
        width = nE if self.combine == "sum" else nE * self.num_hashes
        return width + self.num_hashes * self.append_weights

    def make_vectors(self, components: Sequence[Any], weights: Any, xp: Any) -> Any:
        """Put components, for each hash `(n, nE)`, together to vectors, `(n, nO)`.

        Weights are of shape `(n, num_hashes)`.
        """
        parts = [c * weights[:, k : k + 1] for k, c in enumerate(components)]
        if self.combine == "sum":
            parts = [sum(parts[1:], start=parts[0])]
        if self.append_weights:
            parts.append(weights)
        return parts[0] if len(parts) == 1 else xp.concatenate(parts, axis=1)

    def split_gradient(self, dY: Any, nE: int, xp: Any) -> tuple[list[Any], Any]:
        """Backpropagate `make_vectors` to weighted components, and to weights.

        The second is of the weights where they were appended, to be added to.
        """
        if self.combine == "sum":
            parts = [dY[:, :nE]] * self.num_hashes
        else:
            parts = [dY[:, k * nE : (k + 1) * nE] for k in range(self.num_hashes)]
        if self.append_weights:
            return parts, dY[:, -self.num_hashes :].copy()
        return parts, xp.zeros((len(dY), self.num_hashes), dtype="float32")

    def count_rows(self, nV: int) -> int:
        """Count the rows of `make_table`, for a table of `nV` components."""
        n_rows = nV if self.combine == "sum" else nV * self.num_hashes
        return n_rows + self.num_hashes * self.append_weights

    def make_table(self, E: Any) -> Any:
        """Make the table that vectors are weighted sums of rows of, `(rows, nO)`."""
        if self.combine == "concat":
            E = np.kron(np.eye(self.num_hashes, dtype="f"), E)
        if self.append_weights:
            width = E.shape[1]
            E = np.pad(E, ((0, 0), (0, self.num_hashes)))
            rest = np.eye(self.num_hashes, E.shape[1], k=width, dtype="f")
            E = np.concatenate([E, rest])
        return E

    def find_rows(self, rows: Any, weights: Any, nV: int) -> tuple[Any, Any]:
        """Find the rows of this table that make up vectors, and their weights.

        Rows and weights are those of the components. *Shape:* `(n, num_hashes)`.
        """
        places = np.arange(self.num_hashes, dtype="uint32")
        if self.combine == "concat":
            rows, nV = rows + places * nV, nV * self.num_hashes
        if self.append_weights:
            appended = np.tile(places + nV, (len(rows), 1))
            rows = np.concatenate([rows, appended], axis=1)
            weights = np.concatenate([weights, weights], axis=1)
        return rows.astype("uint32", copy=False), weights
