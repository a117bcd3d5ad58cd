"""Which trials of a paper are still to be run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..trials.configs import locate_grid
from ..trials.grid import Grid, read_grid
from ..trials.results import Groups, TrialKey
from .paper import Paper, Trials, parse_trials
from .tables import Table

#: How many seeds the report averages over (section 5), and we for other papers too.
SEEDS = 3

#: The grids of a paper by name, the first ones before others.
Grids = Mapping[str, Grid]


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A variant with fewer than `SEEDS` seeds on some datasets.

    trials (Trials): The config and the name of its overrides.
    datasets (str): The names of such datasets, with the number of seeds where some are.
    tables (str): The tables that it fills, or what else it is for.
    command (str): The command that runs it on all of these datasets.
    """

    trials: Trials
    datasets: str
    tables: str
    command: str


def read_grids(paper: Paper) -> Grids:
    """Read the grids that have a paper's trials: ours, or those of this project.

    RAISES (ValueError): If one can't be read.
    """
    return {name: read_grid(locate_grid(name)) for name in paper.grids}


def find_missing(
    paper: Paper, groups: Groups, tables: Iterable[Table], grids: Grids
) -> list[Missing]:
    """Find the trials that are not there `SEEDS` times.

    paper (Paper): The paper.
    groups (Groups): What `read_results` returns.
    tables (Iterable[Table]): Its tables.
    grids (Grids): Its grids.
    RETURNS (list[Missing]): A line for each variant, in order of the tables, or of the
        grid all of whose trials belong to the paper.
    """
    seeds: dict[Trials, dict[str, int]] = defaultdict(dict)
    numbers: dict[Trials, set[int]] = defaultdict(set)
    for key, filled in _find_needed(paper, tables, grids).items():
        n = len(groups.get(key, ()))
        if n < SEEDS:
            trials = Trials(*key[1:])
            seeds[trials][key.dataset] = n
            numbers[trials] |= filled
    return [
        Missing(
            trials=trials,
            datasets=_describe(paper, counts),
            tables=", ".join(map(str, sorted(numbers[trials]))) or paper.untabled,
            command=_make_command(paper, trials, counts, grids),
        )
        for trials, counts in seeds.items()
    ]


def find_unplanned(paper: Paper, grids: Grids) -> list[str]:
    """Find the datasets of a paper that its grid has no trials on, by their names.

    RETURNS (list[str]): None if no grid has all of the paper's trials.
    """
    if paper.whole is None:
        return []
    planned = grids[paper.whole].datasets
    return [name for key, name in paper.datasets.items() if key not in planned]


def _find_needed(
    paper: Paper, tables: Iterable[Table], grids: Grids
) -> dict[TrialKey, set[int]]:
    """Find the trials that should be there, and the tables that need each."""
    filled: dict[TrialKey, set[int]] = defaultdict(set)
    for table in tables:
        if table.number is not None:
            for key in _find_keys(table):
                filled[key].add(table.number)
    if paper.whole is not None:
        planned = [
            TrialKey(dataset, row.embedder, row.variant)
            for row in grids[paper.whole].rows
            for dataset in row.overrides
        ]
        filled = {key: filled[key] for key in planned}
    needed = {key: filled[key] for key in filled if key.dataset in paper.datasets}
    for trials in paper.needed:
        for dataset in paper.datasets:
            needed.setdefault(TrialKey(dataset, *parse_trials(trials)), set())
    return needed


def _find_keys(table: Table) -> Iterator[TrialKey]:
    for row in table.rows:
        for cell in row.cells.values():
            for name in ("trials", "baseline"):
                if name in cell.source:
                    trials = parse_trials(cell.source[name])
                    yield TrialKey(cell.source["dataset"], *trials)


def _describe(paper: Paper, seeds: Mapping[str, int]) -> str:
    if seeds == dict.fromkeys(paper.datasets, 0):
        return f"all {len(seeds)}"
    return ", ".join(
        name + (f" ({n} of {SEEDS} seeds there)" if n else "")
        for dataset, name in paper.datasets.items()
        if (n := seeds.get(dataset)) is not None
    )


def _make_command(
    paper: Paper, trials: Trials, missing: Iterable[str], grids: Grids
) -> str:
    planned = {
        name: {dataset for row in rows for dataset in row.overrides}
        for name, grid in grids.items()
        if (rows := [row for row in grid.rows if row[:2] == trials])
    }
    name = next(iter(planned), paper.grids[0])
    command = f"python -m lab sweep {name}"
    datasets = [dataset for dataset in paper.datasets if dataset in missing]
    if not planned.get(name, set()) <= set(datasets):
        chosen = [dataset for dataset in datasets if dataset in planned[name]]
        command += f" --datasets {','.join(chosen or datasets)}"
    return f"{command} --embedders {trials.embedder} --variants {trials.variant}"
