"""Which trials of the paper are still to be run."""

from ...trials.configs import locate_grid
from ...trials.grid import Grid, read_grid
from ...trials.results import Groups
from ..missing import Missing, find_missing_of_grid
from .layouts import DATASETS, TABLE_2

#: The grid that has the trials.
GRID = "ngrams"


def read_paper_grid() -> Grid:
    """Read the grid that has the trials: ours, or the one of this project.

    RAISES (ValueError): If it can't be read.
    """
    return read_grid(locate_grid(GRID))


def find_missing(groups: Groups, grid: Grid) -> list[Missing]:
    """Find the trials of the grid that are not there often enough.

    groups (Groups): What `read_results` returns.
    grid (Grid): The grid.
    RETURNS (list[Missing]): A line for each variant, in the grid's order.
    """
    columns = {column.source[:2] for column in TABLE_2.columns}
    return find_missing_of_grid(
        groups,
        grid,
        GRID,
        names=DATASETS,
        get_tables=lambda *trials: (2, 3) if trials in columns else (3,),
    )
