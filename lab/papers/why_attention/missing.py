"""Which trials of the grid are still to be run."""

from ...trials.grid import Grid
from ...trials.results import Groups
from ..missing import Missing, find_missing_of_grid
from .layouts import DATASETS, FAMILIES, NAMES

#: The grid that has the trials.
GRID = "encoders"


def find_missing(groups: Groups, grid: Grid) -> list[Missing]:
    """Find the trials of the grid that are not there often enough.

    groups (Groups): What `read_results` returns.
    grid (Grid): The grid.
    RETURNS (list[Missing]): A line for each variant, in the grid's order.
    """
    return find_missing_of_grid(
        groups, grid, GRID, names=DATASETS, get_tables=_get_tables
    )


def _get_tables(embedder: str, variant: str) -> tuple[int, ...]:
    trials = (embedder, variant)
    compared = {family.embedder for family in FAMILIES}
    if trials not in NAMES:
        return ()
    return (1, 3, 4) if embedder in compared else (1,)
