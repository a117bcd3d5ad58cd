"""Which trials of HashFormers are still to be run."""

from itertools import product

from ...experiments.results import Groups, TrialKey
from ..missing import Missing, find_fewer
from .layouts import BASELINE, DATASETS, NAMES

#: The grid that has the trials, and the one that has what they are compared with.
GRID, BASELINE_GRID = "hashformers", "num_hashes"

#: The tables that they fill: those of our own trials.
_TABLES = (2, 3)


def find_missing(groups: Groups) -> list[Missing]:
    """Find the trials that are not there often enough.

    groups (Groups): What `read_results` returns.
    RETURNS (list[Missing]): A line for each variant, in order of the tables.
    """
    needed = {
        TrialKey(dataset, *trials): _TABLES
        for trials, dataset in product(NAMES, DATASETS)
    }
    return find_fewer(needed, groups, names=DATASETS, get_grid=_get_grid)


def _get_grid(embedder: str, variant: str) -> str:
    return BASELINE_GRID if (embedder, variant) == BASELINE else GRID
