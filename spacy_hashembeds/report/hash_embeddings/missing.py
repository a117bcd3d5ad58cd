"""Which trials of the paper are still to be run."""

from ...experiments.configs import locate_grid
from ...experiments.grid import Grid, read_grid
from ...experiments.results import Groups, TrialKey
from ..missing import Missing, find_fewer
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
    datasets = {key: name for key, name in DATASETS.items() if key in grid.datasets}
    needed = {
        TrialKey(dataset, row.embedder, row.variant): (
            (2, 3) if (row.embedder, row.variant) in columns else (3,)
        )
        for row in grid.rows
        for dataset in datasets
        if dataset in row.overrides
    }
    return find_fewer(needed, groups, names=datasets, get_grid=lambda *trials: GRID)


def find_unplanned(grid: Grid) -> list[str]:
    """Find the datasets of the paper that the grid has no trials on, by their names.

    grid (Grid): The grid.
    """
    return [name for key, name in DATASETS.items() if key not in grid.datasets]
