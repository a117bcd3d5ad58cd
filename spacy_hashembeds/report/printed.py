"""What the report "Multi hash embeddings in spaCy" prints in its tables."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from ..experiments.results import Estimate
from .layouts import LAYOUTS, Source


def get_printed(number: int, row: str, column: str) -> Estimate | None:
    """Look up a figure.

    number (int): The table's number.
    row (str): A dataset, or a variant in tables 2 and 3.
    column (str): The column's key.
    RETURNS (Estimate, optional): None if the report prints none.
    """
    value = _read_printed()[str(number)]["rows"].get(row, {}).get(column)
    if value is None:
        return None
    if isinstance(value, list):
        return Estimate(mean=value[0], deviation=value[1], n=3)
    return Estimate(mean=value)


def find_printed(dataset: str, source: Source) -> Estimate | None:
    """Look up the score of a trial, in the first table that has it.

    dataset (str): The dataset.
    source (Source): The trial and its score.
    RETURNS (Estimate, optional): None if the report prints none.
    """
    for layout in LAYOUTS:
        for column in layout.columns:
            if column.source == source:
                return get_printed(layout.number, dataset, column.key)
    return None


def get_caption(number: int) -> str:
    """Get what a table shows, in a sentence or two.

    number (int): The table's number.
    """
    return _read_printed()[str(number)]["caption"]


def get_notes(number: int) -> list[str]:
    """Get our footnotes to a table: where the report contradicts itself or is silent.

    number (int): The table's number.
    """
    return _read_printed()[str(number)]["notes"]


@cache
def _read_printed() -> dict[str, Any]:
    path = files(__package__).joinpath("printed_tables.json")
    return json.loads(path.read_text(encoding="utf8"))["tables"]
