"""Fill tables with the results of trials and with counts of corpora."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

from spacy_hashembeds.files import read_json

from ..trials.results import (
    Estimate,
    Groups,
    Result,
    TrialKey,
    estimate,
    estimate_score,
)
from .corpora import Counted
from .tables import Paper, Row, Source, Table, compare


@dataclass(frozen=True)
class Measured:
    """Results of trials, and counts of corpora."""

    groups: Groups = field(default_factory=dict)
    counted: Counted = field(default_factory=dict)

    def find(self, source: Source) -> Estimate | None:
        """Return our figure, or None if it is missing or has no source."""
        if "count" in source:
            parts = (source.get("split"), source["count"])
            name = "_".join(part for part in parts if part)
            value = self.counted.get(source["dataset"], {}).get(name)
            return None if value is None else Estimate(mean=value)
        if "trials" not in source:
            return None
        results = self.get_results(source["dataset"], source["trials"])
        size = source.get("size")
        if size is None:
            return estimate_score(results, *source["score"].split("/"))
        if size == "seeds":
            return Estimate(mean=len(results))
        # bytes are shown in millions
        average = estimate(result.get_size(size) for result in results)
        unit = 1e6 if size == "bytes_on_disk" else 1
        return average and Estimate(mean=average.mean / unit)

    def get_results(self, dataset: str, trials: str) -> Sequence[Result]:
        """Return the results of EMBEDDER/VARIANT on a dataset."""
        return self.groups.get(TrialKey(dataset, *trials.split("/")), ())


#: A row to fill: its stub, its key in the printed rows, and the common source of its
#: figures, which is None if only the paper has figures.
Blank = tuple[tuple[str, ...], str, Source | None]

Find = Callable[[Source], Estimate | None]


def fill_table(paper: Paper, table: str, find: Find, blanks: Iterable[Blank]) -> Table:
    """Fill one of a paper's tables with the figures that `find` returns."""
    rows = []
    for stub, key, common in blanks:
        cells = {}
        for column in paper.columns[table]:
            source = {} if common is None else {**common, **column.source}
            ours = find(source) if source else None
            printed = paper.get_printed(table, key, column.key)
            if not paper.get_rows(table) and ours is not None:
                # the table is not the paper's
                printed = paper.find_printed(source)
            cells[column.key] = compare(ours, printed, column.kind, source)
        rows.append(Row(stub=stub, cells=cells, has_ours=common is not None))
    return paper.make_table(table, rows)


def fill_datasets(paper: Paper, table: str, measured: Measured) -> Table:
    """Fill a table with a row for each dataset."""
    names = paper.get_rows(table)
    blanks = [((paper.datasets[name],), name, {"dataset": name}) for name in names]
    return fill_table(paper, table, measured.find, blanks)


def fill_systems(paper: Paper, table: str, measured: Measured) -> Table:
    """Fill a table with a row for each system of the paper, and for our other ones."""
    systems = paper.tables[table]["systems"]
    found = sort_trials(paper, measured.groups)
    others = [key.trials for key in found if key.dataset in paper.datasets]
    pairs = [(key, systems.get(key)) for key in paper.get_rows(table)]
    named = dict.fromkeys([*paper.trials, *others])
    pairs += [("", trials) for trials in named if trials not in systems.values()]
    blanks: list[Blank] = []
    for key, trials in pairs:
        if trials is None:
            blanks.append(((key, ""), key, None))
        else:
            stub = (paper.name_trials(trials), trials.replace("/", " "))
            blanks.append((stub, key, {"trials": trials}))
    return fill_table(paper, table, measured.find, blanks)


def make_overview(paper: Paper, measured: Measured) -> Table:
    """Make a table with a row for each dataset, embedder and variant."""
    blanks: list[Blank] = []
    for key in sort_trials(paper, measured.groups):
        stub = (paper.name_dataset(key.dataset), *key[1:])
        blanks.append((stub, "", {"dataset": key.dataset, "trials": key.trials}))

    def find(source: Source) -> Estimate | None:
        # another column has the number of seeds
        ours = measured.find(source)
        return ours and replace(ours, n=None)

    return fill_table(paper, "overview", find, blanks)


def sort_trials(paper: Paper, groups: Iterable[TrialKey]) -> list[TrialKey]:
    """Order trials by dataset and embedder, as in the paper's tables."""
    columns = chain(*paper.columns.values())
    in_columns = (column.source.get("trials", "") for column in columns)
    names = dict.fromkeys([*paper.trials, *in_columns])
    trials = {name: place for place, name in enumerate(names)}
    datasets = {name: place for place, name in enumerate(paper.datasets)}

    def order(key: TrialKey) -> tuple[object, ...]:
        # rows20 before rows100
        parts = re.split(r"(\d+)", key.variant)
        variant = [int(part) if part.isdecimal() else part for part in parts]
        places = datasets.get(key.dataset, inf), trials.get(key.trials, inf)
        return places[0], key.dataset, places[1], key.embedder, variant

    return sorted(groups, key=order)


def read_beside(results: Path, name: str) -> Iterator[tuple[TrialKey, dict[str, Any]]]:
    """Read the files NAME.json beside results."""
    for path in sorted(results.glob(f"*/*/*/{name}.json")):
        yield TrialKey(*path.parts[-4:-1]), read_json(path)
