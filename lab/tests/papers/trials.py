"""Results that were never trained, what lies beside them, and tables of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.papers.filling import Measured
from lab.papers.page import FILL
from lab.papers.paper import read_paper
from lab.papers.tables import Cell, Table
from lab.trials.results import read_results, select_task

from ..recorded import SIZES, change_result, write_categories, write_result

#: What mixes, and all that is not the embedder's, of every pipeline here.
MIXING, OTHERS = 80, 600


def fill(
    name: str, root: Path | None = None, counted: Mapping[str, Any] | None = None
) -> dict[str, Table]:
    """Fill the tables of a paper: by their number, or their title."""
    paper = read_paper(name)
    groups = {} if root is None else select_task(read_results(root), paper.task)
    measured = Measured(groups=groups, counted=counted or {})
    sections = FILL[name](paper, measured, root or Path("nowhere"))
    blocks = [block for blocks in sections.values() for block in blocks]
    tables = [block for block in blocks if isinstance(block, Table)]
    return {str(table.number or table.title): table for table in tables}


def get_row(table: Table, *stub: str) -> Mapping[str, Cell]:
    (row,) = [row for row in table.rows if row.stub == stub]
    return row.cells


def get_means(cells: Mapping[str, Cell]) -> dict[str, float | None]:
    return {key: cell.ours and cell.ours.mean for key, cell in cells.items()}


def find_filled(table: Table) -> dict[tuple[str, str], float]:
    """Our figures of a table by the first name of the row, and the column's key."""
    return {
        (row.stub[0], key): cell.ours.mean
        for row in table.rows
        for key, cell in row.cells.items()
        if cell.ours
    }


def write_f1(
    root: Path,
    dataset: str,
    trials: str,
    values: Sequence[float],
    *,
    parts: Mapping[str, Mapping[str, tuple[float, int]]] | None = None,
    first_seed: int = 0,
    tables: int = 320,
    words_per_second: float = 1000,
    is_early: bool = False,
) -> None:
    """Write results that have an F1, of each seed, the same on all and unseen entities.

    parts: For "type" and "length" F1 and support by name, of all seeds.
    is_early: Whether nothing was recorded but what trials have always recorded.
    """
    sizes = {"embedding_parameters": tables + MIXING, "bytes_on_disk": 2_000_000}
    if not is_early:
        total = tables + MIXING + OTHERS
        sizes.update(mixing_parameters=MIXING, pipeline_parameters=total)
    by_part = {
        f"ents_per_{part}": {
            name: {"p": 0.1, "r": 0.2, "f": f, "support": support}
            for name, (f, support) in names.items()
        }
        for part, names in (parts or {}).items()
    }
    for seed, f in enumerate(values, start=first_seed):
        test = {"ents_f": f, "ents_unseen_f": f, "ents_seen_support": 0, **by_part}
        write_result(
            root,
            dataset,
            *trials.split("/"),
            seed,
            {"test": test},
            sizes=sizes,
            timings={} if is_early else {"words_per_second": words_per_second},
        )


def write_accuracies(
    root: Path,
    dataset: str,
    trials: str,
    values: Sequence[float],
    *,
    parameters: int = 1000,
) -> None:
    """Write results that have an accuracy, of each seed, and a size."""
    for seed, value in enumerate(values):
        scores = {"cats_acc": value}
        path = write_categories(root, dataset, *trials.split("/"), seed, scores)
        change_result(path, {"sizes": {**SIZES, "embedding_parameters": parameters}})


def make_importance(*names: str | None, **changes: Any) -> dict[str, Any]:
    """Make a table that `python -m lab importance` writes, as far as it is read."""
    values = [{"name": name, "key": f"{i}7"} for i, name in enumerate(names, start=1)]
    rows = [{"row": 3, "importance": 0.5, "values": values}]
    table = {"attr": "NORM", "ngram_size": 9, "largest": rows, "smallest": rows}
    return {**table, **changes}


def make_ablation(**changes: Any) -> dict[str, Any]:
    """Make what `python -m lab ablation` writes, as far as it is read."""
    chunk = {
        "support": 7,
        "recall": 0.5,
        "other": 0.25,
        "parts": {"H": 0.75, "C": None, "C1": 0.0},
    }
    return {
        "setting": {"test": "corpus/x/dev.spacy"},
        "chunks": {tag: {**chunk, **changes} for tag in "OSBIE"},
    }


def make_attention(**changes: Any) -> dict[str, Any]:
    """Make what `python -m lab attention` writes, of two heads and tokens."""
    heads = [[[1.0, 0.0], [0.25, 0.75]], [[0.5, 0.5], [0, 1]]]
    component = {"name": "tok2vec", "heads": heads}
    tokens = ["$", "_x_"]
    return {"text": "$ _x_", "tokens": tokens, "components": [component], **changes}


def write_beside(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path
