"""Tables of "Hash Embeddings for Efficient Word Representations" (2017).

Tito Svenstrup, Jonas Meinertz Hansen and Ole Winther, https://arxiv.org/abs/1709.03933
"""

from collections.abc import Iterable
from pathlib import Path

from .filling import Measured, fill_datasets, fill_systems, make_overview
from .listings import Importance, Weights, read_listings
from .paper import Paper
from .tables import Row, Sections, Table

#: What the paper writes between the words of an n-gram.
_BETWEEN = "_"


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
    """Set what is important in our pipelines below what the paper prints."""
    rows = [
        _make_row(
            paper.datasets[dataset],
            "the paper",
            *(printed["largest"], printed["smallest"]),
        )
        for dataset, printed in paper.get_rows("4").items()
    ]
    for key, importance in read_listings(Importance, results):
        for table in importance.tables:
            name = f"{paper.name_trials(key.trials)}: {table.attr}"
            if table.ngram_size > 1:
                name += f", 1 to {table.ngram_size} words"
            ends = (map(_name_row, end) for end in (table.largest, table.smallest))
            rows.append(_make_row(paper.name_dataset(key.dataset), name, *ends))
    return paper.make_table("4", rows)


def _make_row(dataset: str, name: str, *ends: Iterable[str]) -> Row:
    return Row(stub=(dataset, name, *map(", ".join, ends)))


def _name_row(row: Weights) -> str:
    """Name what has a row of weights: the most frequent, and how many others."""
    first = row.values[0]
    if first.name is None:
        name = f"#{first.key}"
    else:
        name = _BETWEEN.join(first.name.split()) or repr(first.name)
    return f"{name} (+{len(row.values) - 1})" if len(row.values) > 1 else name
