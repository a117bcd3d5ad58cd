"""Which trials of HashFormers are still to be run."""

from collections.abc import Iterable
from itertools import product

from ...trials.results import Groups, TrialKey
from ..layouts import DATASET_NAMES, Trials
from ..missing import Missing, find_fewer
from .layouts import BASELINE, DATASETS, NAMES

#: The grid that has the trials, and the one that has what they are compared with.
GRID, BASELINE_GRID = "hashformers", "num_hashes"

#: The names of the datasets of the latter, of which it has more than we need.
_BASELINE_NAMES = {**DATASET_NAMES, **DATASETS}

#: The tables that they fill: those of our own trials.
_TABLES = (2, 3)


def find_missing(groups: Groups) -> list[Missing]:
    """Find the trials that are not there often enough.

    groups (Groups): What `read_results` returns.
    RETURNS (list[Missing]): A line for each variant, in order of the tables.
    """
    others = [trials for trials in NAMES if trials != BASELINE]
    return [
        *find_fewer(
            _need([BASELINE]),
            groups,
            names=_BASELINE_NAMES,
            get_grid=lambda *trials: BASELINE_GRID,
        ),
        *find_fewer(
            _need(others), groups, names=DATASETS, get_grid=lambda *trials: GRID
        ),
    ]


def _need(trials: Iterable[Trials]) -> dict[TrialKey, tuple[int, ...]]:
    return {
        TrialKey(dataset, *each): _TABLES for each, dataset in product(trials, DATASETS)
    }
