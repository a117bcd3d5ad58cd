"""What `python -m lab importance` has listed (.json), as `report` reads it."""

import json
from operator import attrgetter
from pathlib import Path
from typing import Any

from lab.papers.hash_embeddings import make_importance_table
from lab.papers.paper import read_paper

from ..damage_text import damage_json
from ..target import Part, Target
from .results import has_duplicates

_FILE = "metrics/yelp_full/hash_ngram_textcat/dictionary/importance.json"


_NAMES: tuple[list[str | None], ...] = (["four stars", "é"], [None], ["awful"])


def _make(folder: Path) -> None:
    rows = [
        {
            "row": row,
            "importance": 0.5 + row,
            "weights": [0.5, -0.25],
            "count": 2 * len(names),
            "values": [
                {"name": name, "key": str(2**63 + row), "count": 2, "vector_norm": 1.5}
                for name in names
            ],
        }
        for row, names in enumerate(_NAMES)
    ]
    table = {
        "component": "textcat",
        "number": 1,
        "attr": "NORM",
        "ngram_size": 9,
        "largest": rows[:2],
        "smallest": rows[2:],
    }
    data = {"texts": 3, "min_count": 1, "tables": [table]}
    path = folder / _FILE
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(data, indent=2), encoding="utf8")


def _load(folder: Path, part: Part) -> Any:
    return make_importance_table(read_paper("hash-embeddings"), folder / "metrics")


def _find_fault(part: Part, original: bytes, damaged: bytes, answer: Any) -> str | None:
    if has_duplicates(damaged):
        return "a key is there twice"
    tables = json.loads(damaged)["tables"]
    if not all(isinstance(table["attr"], str) for table in tables):
        return "an attribute is no text"
    sizes = [table["ngram_size"] for table in tables]
    if not all(type(size) is int and size > 0 for size in sizes):
        return "a size is no integer of at least 1"
    rows = [row for table in tables for row in table["largest"] + table["smallest"]]
    firsts = [row["values"][0] for row in rows]
    if not all(isinstance(first["name"] or first["key"], str) for first in firsts):
        return "a name is no text"
    return None


IMPORTANCE = Target(
    name="importance",
    parts=[Part(path=_FILE, structured=damage_json)],
    make=_make,
    load=_load,
    use=attrgetter("rows"),
    find_fault=_find_fault,
)
