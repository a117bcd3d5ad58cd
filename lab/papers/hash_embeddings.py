"""What is special to "Hash Embeddings for Efficient Word Representations" (2017).

Tito Svenstrup, Jonas Meinertz Hansen and Ole Winther,
https://arxiv.org/abs/1709.03933. Table 4 is read from what `python -m lab importance`
writes.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..trials.results import IMPORTANCE
from .filling import Measured, fill_datasets, fill_systems, make_overview
from .listings import find_listings, get_part, read_listing
from .paper import Paper, get_trials
from .sizes import make_sizes
from .tables import Row, Sections, Table

_KEYS = ("largest", "smallest")

#: What the paper writes between the words of an n-gram.
_BETWEEN = "_"


def fill(paper: Paper, measured: Measured, results: Path) -> Sections:
    """Fill the paper's tables, and draw accuracy against parameters."""
    return {
        "Overview": [make_overview(paper, measured)],
        "Accuracy and parameters": [make_sizes(paper, measured.groups)],
        "Tables": [
            fill_datasets(paper, "1", measured),
            fill_datasets(paper, "2", measured),
            fill_systems(paper, "3", measured),
            make_importance_table(paper, results),
        ],
    }


def make_importance_table(paper: Paper, results: Path) -> Table:
    """Set what is important in our pipelines below what the paper prints.

    paper (Paper): The paper.
    results (Path): The folder of results. Lists that belong to trials are beside them:
        `<dataset>/<embedder>/<variant>/importance.json`.
    RAISES (ValueError): If such a file can't be read.
    RETURNS (Table): The paper's rows, and one for each table of weights.
    """
    rows = [
        _make_row(paper.datasets[dataset], "the paper", printed)
        for dataset, printed in paper.get_rows("4").items()
    ]
    for key, path in find_listings(results, IMPORTANCE):
        for table in read_importance(path):
            name = f"{paper.name_trials(get_trials(key))}: {table['attr']}"
            if table["ngram_size"] > 1:
                name += f", 1 to {table['ngram_size']} words"
            rows.append(_make_row(paper.name_dataset(key.dataset), name, table))
    return paper.make_table("4", rows)


def read_importance(path: Path) -> list[dict[str, Any]]:
    """Read the tables of weights that `python -m lab importance` has listed.

    path (Path): The JSON file.
    RAISES (ValueError): If it is damaged or of another kind.
    RETURNS (list[dict[str, Any]]): For each table its "attr", "ngram_size", and under
        "largest" and "smallest" what has a row of weights, as text.
    """
    return read_listing(
        path, "python -m lab importance", lambda content: list(_read_tables(content))
    )


def _make_row(dataset: str, name: str, table: Mapping[str, Any]) -> Row:
    return Row(stub=(dataset, name, *(", ".join(table[key]) for key in _KEYS)))


def _read_tables(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for table in get_part(content, "tables", list):
        size = get_part(table, "ngram_size", int)
        if size < 1:
            raise ValueError(f"'ngram_size' is {size}")
        rows = {key: get_part(table, key, list) for key in _KEYS}
        names = {key: [_name_row(row) for row in rows[key]] for key in _KEYS}
        yield {"attr": get_part(table, "attr", str), "ngram_size": size, **names}


def _name_row(row: Any) -> str:
    """Name what has a row of weights: the most frequent, and how many others."""
    values = get_part(row, "values", list)
    if not values:
        raise ValueError("'values' should have one or more, but is []")
    first = values[0]
    # what nobody knows the text of has its hash alone
    if get_part(first, "name", (str, type(None))) is None:
        name = f"#{get_part(first, 'key', str)}"
    else:
        name = _BETWEEN.join(first["name"].split()) or repr(first["name"])
    return f"{name} (+{len(values) - 1})" if len(values) > 1 else name
