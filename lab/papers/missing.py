"""Which trials of a paper are still to be run."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from ..trials.grid import Grid
from ..trials.results import Groups, TrialKey
from .layouts import (
    ABLATION_DATASETS,
    ABLATIONS,
    DATASET_NAMES,
    FEWER,
    HASH,
    LAYOUTS,
    SEED_9,
)

#: How many seeds the report averages over (section 5), and we for other papers too.
SEEDS = 3

#: For each trial, the tables that need it.
Needed = Mapping[TrialKey, Iterable[int]]

_VARIANT_GRIDS = {
    "rows20": "rows",
    "rows10": "rows",
    "min_freq5": "min_freq",
    "min_freq1": "min_freq",
    **{variant: "features" for variant in ABLATIONS if variant != "default"},
}


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A variant with fewer than `SEEDS` seeds on some datasets.

    embedder (str): The config.
    variant (str): The name of its overrides.
    seeds (Mapping[str, int]): For each such dataset, how many seeds are there.
    tables (tuple[int, ...]): The tables that it fills. Empty for what is our own
        alone, such as the report's comparison of hash seeds.
    grid (str): The grid that `python -m lab sweep` runs it from.
    names (Mapping[str, str]): The names of all datasets of the paper.
    """

    embedder: str
    variant: str
    seeds: Mapping[str, int]
    tables: tuple[int, ...]
    grid: str
    names: Mapping[str, str]

    @property
    def command(self) -> str:
        """The command that runs it on all of these datasets."""
        command = f"python -m lab sweep {self.grid}"
        if len(self.seeds) < len(self.names):
            datasets = [dataset for dataset in self.names if dataset in self.seeds]
            command += f" --datasets {','.join(datasets)}"
        return f"{command} --embedders {self.embedder} --variants {self.variant}"

    @property
    def datasets(self) -> str:
        """These datasets by their names, with the number of seeds where some are."""
        if len(self.names) > 1 and self.seeds == dict.fromkeys(self.names, 0):
            return f"all {len(self.names)}"
        return ", ".join(
            name + (f" ({n} of {SEEDS} seeds there)" if n else "")
            for dataset, name in self.names.items()
            if (n := self.seeds.get(dataset)) is not None
        )


def find_missing(groups: Groups) -> list[Missing]:
    """Find the trials that the report has and that are not there three times.

    groups (Groups): What `read_results` returns.
    RETURNS (list[Missing]): A line for each variant, in order of the tables.
    """
    return find_fewer(_find_needed(), groups, names=DATASET_NAMES, get_grid=_get_grid)


def find_fewer(
    needed: Needed,
    groups: Groups,
    *,
    names: Mapping[str, str],
    get_grid: Callable[[str, str], str],
) -> list[Missing]:
    """Find the trials that are not there `SEEDS` times.

    needed (Needed): The trials that should be there.
    groups (Groups): What `read_results` returns.
    names (Mapping[str, str]): The names of all datasets of the paper.
    get_grid (Callable[[str, str], str]): Gives the grid of an embedder and a variant.
    RETURNS (list[Missing]): A line for each variant, in the order of `needed`.
    """
    seeds: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    tables: dict[tuple[str, str], set[int]] = defaultdict(set)
    for key, numbers in needed.items():
        n = len(groups.get(key, ()))
        if n < SEEDS:
            variant = (key.embedder, key.variant)
            seeds[variant][key.dataset] = n
            tables[variant].update(numbers)
    return [
        Missing(
            embedder=embedder,
            variant=variant,
            seeds=counts,
            tables=tuple(sorted(tables[embedder, variant])),
            grid=get_grid(embedder, variant),
            names=names,
        )
        for (embedder, variant), counts in seeds.items()
    ]


def find_missing_of_grid(
    groups: Groups,
    grid: Grid,
    name: str,
    *,
    names: Mapping[str, str],
    get_tables: Callable[[str, str], Iterable[int]],
) -> list[Missing]:
    """Find the trials of a grid that are not there `SEEDS` times.

    groups (Groups): What `read_results` returns.
    grid (Grid): The grid.
    name (str): Its name.
    names (Mapping[str, str]): The names of all datasets of the paper.
    get_tables (Callable[[str, str], Iterable[int]]): Gives the tables that an embedder
        and a variant fill.
    RETURNS (list[Missing]): A line for each variant, in the grid's order.
    """
    datasets = {key: names[key] for key in names if key in grid.datasets}
    needed = {
        TrialKey(dataset, row.embedder, row.variant): get_tables(
            row.embedder, row.variant
        )
        for row in grid.rows
        for dataset in datasets
        if dataset in row.overrides
    }
    return find_fewer(needed, groups, names=datasets, get_grid=lambda *trials: name)


def find_unplanned(grid: Grid, names: Mapping[str, str]) -> list[str]:
    """Find the datasets of a paper that a grid has no trials on, by their names.

    grid (Grid): The grid.
    names (Mapping[str, str]): The names of all datasets of the paper.
    """
    return [name for key, name in names.items() if key not in grid.datasets]


def _get_grid(embedder: str, variant: str) -> str:
    if variant.endswith(("vectors", "fasttext")):
        return "vectors"
    if embedder == FEWER:
        return "num_hashes"
    return _VARIANT_GRIDS.get(variant, "main")


def _find_needed() -> dict[TrialKey, set[int]]:
    needed: dict[TrialKey, set[int]] = defaultdict(set)
    for layout in LAYOUTS:
        for dataset, column in product(layout.datasets, layout.columns):
            key = TrialKey(dataset, column.source.embedder, column.source.variant)
            needed[key].add(layout.number)
    for number, dataset in ABLATION_DATASETS.items():
        for variant in ABLATIONS:
            needed[TrialKey(dataset, HASH, variant)].add(number)
    # our own comparison of hash seeds
    for dataset in DATASET_NAMES:
        needed[TrialKey(dataset, FEWER, SEED_9)] = set()
    return needed
