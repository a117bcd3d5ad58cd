"""Results of encoders that were never trained, and what lies beside them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...trials.test_results import write_result


def write_f1(
    root: Path,
    dataset: str,
    trials: tuple[str, str],
    values: list[float],
    *,
    parts: Mapping[str, Mapping[str, tuple[float, int]]] | None = None,
    first_seed: int = 0,
) -> None:
    """Write results that have an F1, of each seed, and those of types and lengths.

    parts: For "type" and "length" F1 and support by name, of all seeds.
    """
    scores: dict[str, Any] = {
        f"ents_per_{part}": {
            name: {"p": 0.1, "r": 0.2, "f": f, "support": support}
            for name, (f, support) in names.items()
        }
        for part, names in (parts or {}).items()
    }
    for seed, value in enumerate(values, start=first_seed):
        test = {"ents_f": value, **scores}
        sizes = {"embedding_parameters": 10, "bytes_on_disk": 2_000_000}
        write_result(
            root,
            dataset,
            *trials,
            seed,
            {"test": test},
            sizes={**sizes, "pipeline_parameters": 30},
            timings={"words_per_second": 1000 + seed},
        )


def make_ablation(**changes: Any) -> dict[str, Any]:
    """Make what `spacy hashembeds evaluate --ablation` writes, as far as it is read."""
    chunk = {
        "support": 7,
        "recall": 0.5,
        "other": 0.25,
        "parts": {"H": 0.75, "C": None, "C1": 0.0},
    }
    return {
        "setting": {"test": "corpus/x/dev.spacy", "parts": ["H", "C", "C1"]},
        "chunks": {tag: {**chunk, **changes} for tag in "OSBIE"},
    }


def make_attention(**changes: Any) -> dict[str, Any]:
    """Make what `python -m lab attention` writes, of two heads and tokens."""
    heads = [[[1.0, 0.0], [0.25, 0.75]], [[0.5, 0.5], [0, 1]]]
    component = {"name": "tok2vec", "heads": heads}
    return {
        "text": "$ _x_",
        "tokens": ["$", "_x_"],
        "components": [component],
        **changes,
    }


def write_beside(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path
