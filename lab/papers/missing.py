"""Trials of a paper that are still to be run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ..trials.configs import locate_grid
from ..trials.grid import Grid, read_grid
from ..trials.results import Groups, TrialKey
from .paper import Paper
from .tables import Row, Table

#: How many seeds the report averages over (section 5), and we for other papers too.
SEEDS = 3

#: The grids of a paper by name, the first ones before others.
Grids = Mapping[str, Grid]


def read_grids(paper: Paper) -> Grids:
    """Read the grids that have a paper's trials: ours, or those of this project."""
    return {name: read_grid(locate_grid(name)) for name in paper.grids}


def find_missing(
    paper: Paper, groups: Groups, tables: Iterable[Table], grids: Grids
) -> Table:
    """List the trials that are not there `SEEDS` times, and commands that run them."""
    needed = _find_needed(paper, tables, grids)
    fewer = {key: n for key in needed if (n := len(groups.get(key, ()))) < SEEDS}
    rows = []
    for trials in dict.fromkeys(key.trials for key in fewer):
        keys = [key for key in fewer if key.trials == trials]
        _, embedder, variant = keys[0]
        seeds = {key.dataset: fewer[key] for key in keys}
        numbers = sorted({number for key in keys for number in needed[key]})
        tables_of_it = ", ".join(map(str, numbers)) or paper.untabled
        command = _make_command(paper, embedder, variant, seeds, grids)
        names = _describe(paper, seeds)
        rows.append(Row(stub=(embedder, variant, names, tables_of_it, command)))
    return Table(
        title="Trials to run",
        caption="The command of each line runs them, from the project's folder.",
        stub=("Embedder", "Variant", "Datasets", "For tables", "Command"),
        columns=[],
        rows=rows,
    )


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
            needed.setdefault(TrialKey(dataset, *trials.split("/")), set())
    return needed


def _find_keys(table: Table) -> Iterator[TrialKey]:
    for row in table.rows:
        for cell in row.cells.values():
            for name in ("trials", "baseline"):
                if name in cell.source:
                    trials = cell.source[name].split("/")
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
    paper: Paper, embedder: str, variant: str, missing: Iterable[str], grids: Grids
) -> str:
    planned = {
        name: {dataset for row in rows for dataset in row.overrides}
        for name, grid in grids.items()
        if (rows := [row for row in grid.rows if row[:2] == (embedder, variant)])
    }
    grid = next(iter(planned), paper.grids[0])
    command = f"python -m lab sweep {grid}"
    datasets = [dataset for dataset in paper.datasets if dataset in missing]
    if not planned.get(grid, set()) <= set(datasets):
        chosen = [dataset for dataset in datasets if dataset in planned[grid]]
        command += f" --datasets {','.join(chosen or datasets)}"
    return f"{command} --embedders {embedder} --variants {variant}"
