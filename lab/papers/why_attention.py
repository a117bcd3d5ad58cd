"""Tables of "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in the Case of
NER" (Li, Fu and Ma 2020).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from spacy_hashembeds.training.scorer import ALL, LENGTHS

from ..trials.configs import locate_grid
from ..trials.grid import read_grid
from ..trials.results import Estimate, Groups, estimate
from . import filling
from .filling import Blank, Measured
from .tables import Cell, Column, Paper, Row, Sections, Source, Table

#: The property of entities by which tables 3 and 4 divide scores.
_PARTS = {"3": "type", "4": "length"}


def select_trials(paper: Paper, groups: Groups) -> Groups:
    """Keep the trials with a name in the paper's tables, and those of its grid."""
    planned = (trial for name in paper.grids for trial in read_grid(locate_grid(name)))
    chosen = {*paper.trials, *(f"{each.embedder}/{each.variant}" for each in planned)}
    return {key: results for key, results in groups.items() if key.trials in chosen}


def fill(paper: Paper, measured: Measured, results: Path) -> Sections:
    """Fill the paper's tables."""
    splits: list[Blank] = [
        ((name,), name, {"split": name}) for name in paper.get_rows("2")
    ]
    return {
        "Overview": [filling.make_overview(paper, measured)],
        "Tables": [
            filling.fill_systems(paper, "1", measured),
            filling.fill_table(paper, "2", measured.find, splits),
            *(_fill_changes(paper, table, measured) for table in _PARTS),
            make_chunk_table(paper, results),
        ],
    }


def _fill_changes(paper: Paper, table: str, measured: Measured) -> Table:
    """Fill table 3 or 4, with a row for each type or length of entities."""
    kind = _PARTS[table]
    blanks: list[Blank] = []
    for dataset, title in paper.datasets.items():
        found = _find_parts(measured, dataset, paper.trials, "type")
        # printed types, and types of our trials
        keys = (key.partition(" ") for key in paper.get_rows("3"))
        types = {name for of, _, name in keys if of == dataset}
        types |= {n for _, parts in found for n in parts if parts[n]["support"]}
        for name in LENGTHS if kind == "length" else sorted(types):
            source = {"dataset": dataset, kind: name}
            blanks.append(((title, name), f"{dataset} {name}", source))

    def find(source: Source) -> Estimate | None:
        dataset, name = source["dataset"], source[kind]
        if "trials" not in source:  # trials on a dataset have the same entities
            found = _find_parts(measured, dataset, paper.trials, kind)
            counts = (parts[name]["support"] for _, parts in found if name in parts)
            return next((Estimate(mean=n) for n in counts), None)
        ours, baseline = (
            {
                seed: parts[name]["f"] if parts[name]["support"] else None
                for seed, parts in _find_parts(measured, dataset, [trials], kind)
                if name in parts
            }
            for trials in (source["trials"], source["baseline"])
        )
        # differences from the baseline with the same seed
        seeds = sorted(ours.keys() & baseline.keys())
        pairs = [(ours[seed], baseline[seed]) for seed in seeds]
        return estimate(x - y for x, y in pairs if x is not None and y is not None)

    return filling.fill_table(paper, table, find, blanks)


def _find_parts(
    measured: Measured, dataset: str, every: Iterable[str], kind: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield seeds and recorded scores by type or by length."""
    for trials in every:
        for result in measured.get_results(dataset, trials):
            scores = result.recorded["scores"].get("test", {})
            yield result.seed, scores.get(f"{ALL}_per_{kind}") or {}


def make_chunk_table(paper: Paper, results: Path) -> Table:
    """Make table 5 with rows for parts of our encoders below the printed rows."""
    tags = paper.get_rows("5")
    *columns, other = paper.columns["5"]
    rows = []
    name = f"{paper.datasets['ontonotes']}, dev"
    for tag in tags:
        stub = (name, "the paper's Att-BiLSTM-CNN", tag)
        printed = {key: paper.get_printed("5", tag, key) for key in tags[tag]}
        cells = {key: Cell(printed=figure) for key, figure in printed.items()}
        rows.append(Row(stub=stub, cells=cells, has_ours=False))
    for key, ablation in filling.read_beside(results, "ablation"):
        corpus = Path(ablation["setting"]["test"]).stem
        name = f"{paper.name_dataset(key.dataset)}, {corpus}"
        for tag in tags:
            cells = _make_cells(ablation["chunks"][tag])
            known = {column.key for column in (*columns, other)}
            more = [part for part in cells if part not in known]
            columns += [Column(key=x, label=x, kind=other.kind) for x in more]
            stub = (name, paper.name_trials(key.trials), tag)
            rows.append(Row(stub=stub, cells=cells))
    columns.append(other)
    empty = {column.key: Cell() for column in columns}
    rows = [replace(row, cells={**empty, **row.cells}) for row in rows]
    return paper.make_table("5", rows, columns)


def _make_cells(chunk: Mapping[str, Any]) -> dict[str, Cell]:
    """Make cells of the recall of the whole, and of differences of its parts."""
    whole, recalls = chunk["recall"], {**chunk["parts"], "other": chunk["other"]}
    figures = {"support": chunk["support"], "whole": whole}
    for part, recall in recalls.items():
        is_known = recall is not None and whole is not None
        figures[part] = recall - whole if is_known else None
    return {
        key: Cell(ours=None if figure is None else Estimate(mean=figure))
        for key, figure in figures.items()
    }
