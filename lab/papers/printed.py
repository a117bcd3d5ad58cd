"""What the papers print in their tables."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ..trials.results import Estimate
from .layouts import DATASET_NAMES, LAYOUTS, Source


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose tables are filled.

    file (str): The file here that has what it prints.
    datasets (Mapping[str, str]): Its names for the datasets, in its order.
    rounding (float): Half of the last place that it prints of a score.
    seeds (int): How many seeds it averages over, where it prints a deviation.
    """

    file: str
    datasets: Mapping[str, str]
    rounding: float
    seeds: int = 3


#: The report "Multi hash embeddings in spaCy", which is meant where none is named.
REPORT = Paper(file="printed_tables.json", datasets=DATASET_NAMES, rounding=0.005)


def get_printed(
    number: int, row: str, column: str, paper: Paper = REPORT
) -> Estimate | None:
    """Look up a figure.

    number (int): The table's number.
    row (str): The row's key: a dataset in most tables.
    column (str): The column's key.
    paper (Paper): The paper.
    RETURNS (Estimate, optional): None if the paper prints none.
    """
    value = _read_tables(paper.file)[str(number)]["rows"].get(row, {}).get(column)
    if value is None:
        return None
    if isinstance(value, list):
        return Estimate(mean=value[0], deviation=value[1], n=paper.seeds)
    return Estimate(mean=value)


def get_printed_texts(number: int, row: str, paper: Paper) -> dict[str, list[str]]:
    """Look up texts, of a table that has them in place of figures.

    number (int): The table's number.
    row (str): The row's key.
    paper (Paper): The paper.
    RETURNS (dict[str, list[str]]): The texts by the columns' keys.
    """
    return _read_tables(paper.file)[str(number)]["rows"][row]


def find_printed(dataset: str, source: Source) -> Estimate | None:
    """Look up the score of a trial, in the first table of the report that has it.

    dataset (str): The dataset.
    source (Source): The trial and its score.
    RETURNS (Estimate, optional): None if the report prints none.
    """
    for layout in LAYOUTS:
        for column in layout.columns:
            if column.source == source:
                return get_printed(layout.number, dataset, column.key)
    return None


def get_rows(number: int, paper: Paper = REPORT) -> list[str]:
    """List the keys of the rows of a table, in the paper's order.

    number (int): The table's number.
    paper (Paper): The paper.
    """
    return list(_read_tables(paper.file)[str(number)]["rows"])


def get_caption(number: int, paper: Paper = REPORT) -> str:
    """Get what a table shows, in a sentence or two.

    number (int): The table's number.
    paper (Paper): The paper.
    """
    return _read_tables(paper.file)[str(number)]["caption"]


def get_notes(number: int, paper: Paper = REPORT) -> list[str]:
    """Get our footnotes to a table: where the paper contradicts itself or is silent.

    number (int): The table's number.
    paper (Paper): The paper.
    """
    return _read_tables(paper.file)[str(number)]["notes"]


@cache
def _read_tables(file: str) -> dict[str, Any]:
    path = files(__package__).joinpath(file)
    return json.loads(path.read_text(encoding="utf8"))["tables"]
