"""Tables of "Why Attention?" (2020).

Peng-Hsuan Li, Tsu-Jui Fu and Wei-Yun Ma: "Why Attention? Analyze BiLSTM Deficiency and
Its Remedies in the Case of NER".
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from spacy_hashembeds.evaluation.scorer import LENGTHS

from ..trials.results import Estimate, Groups, PartScore, estimate
from .filling import Blank, Measured, fill_systems, fill_table, make_overview
from .heatmaps import show_attention
from .listings import Ablation, Chunk, read_listings
from .missing import Grids
from .paper import Paper
from .tables import Cell, Column, Row, Sections, Source, Table

#: Columns of table 5 beside those of parts.
_SUPPORT, _WHOLE, _OTHER = "support", "whole", "other"

#: The kinds of parts of entities in tables 3 and 4.
_PARTS = {"3": "type", "4": "length"}


def select_trials(paper: Paper, groups: Groups, grids: Grids) -> Groups:
    """Keep the trials that have a name in the paper's tables, or are of its grid."""
    planned = {row[:2] for grid in grids.values() for row in grid.rows}
    chosen = {*planned, *(tuple(trials.split("/")) for trials in paper.trials)}
    return {key: results for key, results in groups.items() if key[1:] in chosen}


def fill(paper: Paper, measured: Measured, results: Path) -> Sections:
    """Fill the paper's tables, and draw its figure 2."""
    splits: list[Blank] = [
        ((name,), name, {"split": name}) for name in paper.get_rows("2")
    ]
    return {
        "Overview": [make_overview(paper, measured)],
        "Tables": [
            fill_systems(paper, "1", measured),
            fill_table(paper, "2", measured, splits),
            *(_fill_changes(paper, table, measured) for table in _PARTS),
            make_chunk_table(paper, results),
        ],
        "Figure 2: heat maps of attention": [
            paper.figures["attention"]["caption"],
            *show_attention(paper, results),
            paper.figures["attention"]["note"],
        ],
    }


def _fill_changes(paper: Paper, table: str, measured: Measured) -> Table:
    """Fill table 3 or 4, with a row for each type or length of each dataset."""
    kind = _PARTS[table]
    blanks: list[Blank] = []
    for dataset, title in paper.datasets.items():
        types = _find_types(paper, measured, dataset)
        for name in LENGTHS if kind == "length" else types:
            source = {"dataset": dataset, kind: name}
            blanks.append(((title, name), f"{dataset} {name}", source))

    def find(source: Source) -> Estimate | None:
        dataset, name = source["dataset"], source[kind]
        if "trials" not in source:  # all trials on a dataset have the same entities
            found = _find_parts(measured, dataset, paper.trials, kind)
            counts = (parts[name].support for _, parts in found if name in parts)
            return next((Estimate(mean=n) for n in counts), None)
        ours, baseline = (
            {
                seed: parts[name].f
                for seed, parts in _find_parts(measured, dataset, [trials], kind)
                if name in parts
            }
            for trials in (source["trials"], source["baseline"])
        )
        # how much more it has than the baseline with the same seed
        seeds = sorted(ours.keys() & baseline.keys())
        pairs = [(ours[seed], baseline[seed]) for seed in seeds]
        return estimate(x - y for x, y in pairs if x is not None and y is not None)

    return fill_table(paper, table, measured, blanks, find=find)


def _find_types(paper: Paper, measured: Measured, dataset: str) -> list[str]:
    """Find the types of a dataset: those that the paper prints, and all of ours."""
    prefix = f"{dataset} "
    keys = paper.get_rows("3")
    printed = {key.removeprefix(prefix) for key in keys if key.startswith(prefix)}
    ours = {
        name
        for _, parts in _find_parts(measured, dataset, paper.trials, "type")
        for name, score in parts.items()
        if score.support
    }
    return sorted(printed | ours)


def _find_parts(
    measured: Measured, dataset: str, every: Iterable[str], kind: str
) -> Iterator[tuple[int, Mapping[str, PartScore]]]:
    """Find what trials have recorded by type or by length, if they have, by seed."""
    for trials in every:
        for result in measured.get_results(dataset, trials):
            yield result.seed, result.parts.get("test", {}).get(kind, {})


def make_chunk_table(paper: Paper, results: Path) -> Table:
    """Set what parts of our encoders do with each chunk tag below the paper's."""
    tags = paper.get_rows("5")
    *columns, other = paper.columns["5"]
    name = f"{paper.datasets['ontonotes']}, dev"
    rows = [
        Row(
            stub=(name, "the paper's Att-BiLSTM-CNN", tag),
            cells={
                key: Cell(printed=paper.get_printed("5", tag, key)) for key in tags[tag]
            },
            has_ours=False,
        )
        for tag in tags
    ]
    known = {column.key for column in columns}
    for key, ablation in read_listings(Ablation, results):
        corpus = Path(ablation.setting.test).stem
        name = f"{paper.name_dataset(key.dataset)}, {corpus}"
        for tag in tags:
            cells = _make_cells(ablation.chunks[tag])
            parts = [part for part in cells if part not in (*known, _OTHER)]
            columns += [Column(key=p, label=p, kind=other.kind) for p in parts]
            known.update(parts)
            rows.append(
                Row(stub=(name, paper.name_trials(key.trials), tag), cells=cells)
            )
    columns.append(other)
    empty = {column.key: Cell() for column in columns}
    rows = [replace(row, cells={**empty, **row.cells}) for row in rows]
    return paper.make_table("5", rows, columns)


def _make_cells(chunk: Chunk) -> dict[str, Cell]:
    """Set the recall of parts, alone, beside that of the whole."""
    parts = {**chunk.parts, _OTHER: chunk.other}
    cells = {part: _make_cell(recall, chunk.recall) for part, recall in parts.items()}
    cells[_SUPPORT] = Cell(ours=Estimate(mean=chunk.support))
    cells[_WHOLE] = _make_cell(chunk.recall, 0.0)
    return cells


def _make_cell(recall: float | None, whole: float | None) -> Cell:
    if recall is None or whole is None:
        return Cell()
    return Cell(ours=Estimate(mean=recall - whole))
