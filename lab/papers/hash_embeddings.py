"""Tables of "Hash Embeddings for Efficient Word Representations" (2017).

Tito Svenstrup, Jonas Meinertz Hansen and Ole Winther, https://arxiv.org/abs/1709.03933
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .filling import Measured, fill_datasets, fill_systems, make_overview, read_beside
from .tables import Paper, Row, Sections, Table

_ENDS = ("largest", "smallest")


def fill(paper: Paper, measured: Measured, results: Path) -> Sections:
    """Fill the paper's tables."""
    return {
        "Overview": [make_overview(paper, measured)],
        "Tables": [
            fill_datasets(paper, "1", measured),
            fill_datasets(paper, "2", measured),
            fill_systems(paper, "3", measured),
            make_importance_table(paper, results),
        ],
    }


def make_importance_table(paper: Paper, results: Path) -> Table:
    """Make table 4 with rows for our pipelines below the printed rows."""
    rows = [
        (paper.datasets[dataset], "the paper", *(printed[end] for end in _ENDS))
        for dataset, printed in paper.get_rows("4").items()
    ]
    for key, importance in read_beside(results, "importance"):
        for table in importance["tables"]:
            name = f"{paper.name_trials(key.trials)}: {table['attr']}"
            if table["ngram_size"] > 1:
                name += f", 1 to {table['ngram_size']} words"
            ends = (map(_name_row, table[end]) for end in _ENDS)
            rows.append((paper.name_dataset(key.dataset), name, *ends))
    stubs = [(dataset, name, *map(", ".join, ends)) for dataset, name, *ends in rows]
    return paper.make_table("4", [Row(stub=stub) for stub in stubs])


def _name_row(row: Mapping[str, Any]) -> str:
    """Return the most frequent value of a row of weights, and the number of others."""
    first, *others = row["values"]
    name = first["name"]
    # n-grams are written as in the paper
    name = f"#{first['key']}" if name is None else "_".join(name.split()) or repr(name)
    return f"{name} (+{len(others)})" if others else name
