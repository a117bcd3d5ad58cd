"""Ablations and attention (.json), as `report --paper why-attention` reads them."""

import json
import math
from operator import attrgetter
from pathlib import Path
from typing import Any

from lab.papers.listings import Attention, read_listing
from lab.papers.paper import read_paper
from lab.papers.tables import Table
from lab.papers.why_attention import make_chunk_table

from ..damage_text import damage_json
from ..target import Part, Target
from .results import has_duplicates

_FOLDER = "metrics/wnut17/bilstm_char_cnn/att"
_ABLATION, _ATTENTION = (f"{_FOLDER}/{name}.json" for name in ("ablation", "attention"))
_PARTS = ("H", "C", "C1", "C2")


def _make_ablation(folder: Path) -> None:
    chunks = {
        tag: {
            "support": 10 * number,
            "recall": number / 8,
            "other": None,
            "parts": {part: i / 8 for i, part in enumerate(_PARTS)},
        }
        for number, tag in enumerate("OSBIE", start=1)
    }
    setting = {"test": "dev.spacy", "parts": [*_PARTS]}
    _write(folder / _ABLATION, {"setting": setting, "chunks": chunks})


def _make_attention(folder: Path) -> None:
    heads = [[[0.25, 0.75], [0.5, 0.5]], [[1.0, 0.0], [0.125, 0.875]]]
    component = {"name": "tok2vec", "heads": heads}
    tokens = ["four", "é"]
    data = {"text": "four é", "tokens": tokens, "components": [component]}
    _write(folder / _ATTENTION, data)


def _write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(data, indent=2), encoding="utf8")


def _load_ablation(folder: Path, part: Part) -> Table:
    return make_chunk_table(read_paper("why-attention"), folder / "metrics")


def _load_attention(folder: Path, part: Part) -> Attention:
    return read_listing(Attention, folder / part.path)


def _find_fault_of_ablation(
    part: Part, original: bytes, damaged: bytes, answer: Any
) -> str | None:
    if has_duplicates(damaged):
        return "a key is there twice"
    if not _has_recalls(json.loads(damaged)):
        return "a recall or a count is none"
    return None


def _find_fault_of_attention(
    part: Part, original: bytes, damaged: bytes, answer: Any
) -> str | None:
    if has_duplicates(damaged):
        return "a key is there twice"
    if not _has_weights(json.loads(damaged)):
        return "weights are no square of shares"
    return None


def _has_recalls(data: Any) -> bool:
    chunks = [data["chunks"][tag] for tag in "OSBIE"]
    recalls = [chunk[key] for chunk in chunks for key in ("recall", "other")]
    recalls += [
        chunk["parts"][part] for chunk in chunks for part in data["setting"]["parts"]
    ]
    are_counts = all(
        type(chunk["support"]) is int and chunk["support"] >= 0 for chunk in chunks
    )
    return are_counts and all(value is None or _is_share(value) for value in recalls)


def _has_weights(data: Any) -> bool:
    n_tokens = len(data["tokens"])
    matrices = [head for component in data["components"] for head in component["heads"]]
    rows = [row for matrix in matrices for row in matrix]
    lengths = {*map(len, matrices), *map(len, rows)}
    is_square = lengths <= {n_tokens}
    return is_square and all(_is_share(weight) for row in rows for weight in row)


def _is_share(value: Any) -> bool:
    is_number = isinstance(value, float | int) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value <= 1


ABLATION = Target(
    name="ablation",
    parts=[Part(path=_ABLATION, structured=damage_json)],
    make=_make_ablation,
    load=_load_ablation,
    use=attrgetter("rows"),
    find_fault=_find_fault_of_ablation,
)
ATTENTION = Target(
    name="attention",
    parts=[Part(path=_ATTENTION, structured=damage_json)],
    make=_make_attention,
    load=_load_attention,
    use=Attention.model_dump,
    find_fault=_find_fault_of_attention,
)
