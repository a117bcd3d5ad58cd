"""A paper's printed figures, and how its tables are filled: data, a file for each."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from ..trials.results import Estimate
from . import PAPERS
from .tables import Column, Row, Source, Table

#: The one that is meant where none is named: "Multi hash embeddings in spaCy".
REPORT = PAPERS[0]

#: Keys of a column that are not of its source.
_SHOWN = ("label", "group", "kind")


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose tables are filled: the data of a file in data/."""

    name: str  # one of `PAPERS`
    source: str  # where its figures are from
    about: str  # how they are written down
    title: str
    called: str  # "the paper", or "the report"
    task: str  # "ner" or "textcat"
    intro: Sequence[str]  # Markdown, with fields
    datasets: Mapping[str, str]  # its names for them, in its order
    trials: Mapping[str, str]  # names of trials that have one, in the order of rows
    grids: Sequence[str] = ()  # all of whose trials belong to it
    # by number or name: caption, notes, columns, what is printed as rows, and so on
    tables: Mapping[str, Mapping[str, Any]]
    # rows that are the paper's alone
    models: Mapping[str, str] = field(default_factory=dict)
    # for trials the row of the same model
    same: Mapping[str, str] = field(default_factory=dict)
    seeds: int = 3  # how many are in a printed deviation
    incomparable: str = ""  # why its figures and ours are not compared, if not

    def get_printed(self, table: str, row: str, column: str) -> Estimate | None:
        """Look up a figure. None if the paper prints none."""
        value = self.get_rows(table).get(row, {}).get(column)
        if isinstance(value, list):
            return Estimate(mean=value[0], deviation=value[1], n=self.seeds)
        return None if value is None else Estimate(mean=value)

    def get_rows(self, table: str) -> Mapping[str, Mapping[str, Any]]:
        """Get what is printed in each row of a table, in the paper's order."""
        return self.tables[table].get("rows", {})

    @cached_property
    def columns(self) -> Mapping[str, list[Column]]:
        """The columns of each table, and what fills them."""
        return {
            name: [
                _read_column(key, values, layout.get("kind", "score"))
                for key, values in layout.get("columns", {}).items()
            ]
            for name, layout in self.tables.items()
        }

    def make_table(
        self, table: str, rows: Iterable[Row], columns: Sequence[Column] | None = None
    ) -> Table:
        """Make one of its tables, with columns of the data if no others are given."""
        layout = self.tables[table]
        return Table(
            number=int(table) if table.isdigit() else None,
            title=layout.get("title", f"Table {table}"),
            caption=layout["caption"],
            stub=layout.get("stub", [""]),
            columns=self.columns[table] if columns is None else columns,
            rows=list(rows),
            notes=layout.get("notes", []),
        )

    def name_dataset(self, dataset: str) -> str:
        """Name a dataset: as the paper does, if it is one of the paper's."""
        return self.datasets.get(dataset, dataset)

    def name_trials(self, trials: str) -> str:
        """Name EMBEDDER/VARIANT: by both, if it has no other name."""
        return self.trials.get(trials, trials.replace("/", " "))

    def find_printed(self, source: Source) -> Estimate | None:
        """Look up a score of trials, in the first table with a row for each dataset."""
        wanted = {key: source.get(key) for key in ("trials", "score")}
        for table in self.tables:
            rows = self.get_rows(table)
            if source["dataset"] in rows:
                for column in self.columns[table]:
                    if column.source == wanted:
                        return self.get_printed(table, source["dataset"], column.key)
        return None


def _read_column(key: str, values: Mapping[str, Any], kind: str) -> Column:
    shown = {"kind": kind, **{k: values[k] for k in _SHOWN if k in values}}
    source = {k: v for k, v in values.items() if k not in _SHOWN}
    return Column(key=key, source=source, **shown)


@cache
def read_paper(name: str = REPORT) -> Paper:
    """Read the data of one of `PAPERS`."""
    path = files(__package__).joinpath("data", f"{name}.json")
    return Paper(name=name, **json.loads(path.read_text(encoding="utf8")))
