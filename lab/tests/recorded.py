"""Results of trials that were never run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy_hashembeds.tools.evaluate.categories import SCORES

SETTING = {"cats_support": 20, "cats_exclusive": True, "cats_per_type": {}}
SIZES = {"embedding_parameters": 1000, "bytes_on_disk": 2_500_000}
ENTITIES = {
    f"{prefix}_{key}": 10 if key == "support" else 0.5
    for prefix in ("ents", "ents_seen", "ents_unseen")
    for key in ("p", "r", "f", "support")
}


def write_result(
    root: Path,
    dataset: str,
    embedder: str,
    variant: str,
    seed: int = 0,
    scores: Mapping[str, Mapping[str, Any]] | None = None,
    **changes: Any,
) -> Path:
    """Write the results of a trial that was never run.

    scores: For each split, scores such as ents_f; others are 0.5.
    """
    splits = {"dev": {}, "test": {}, **(scores or {})}
    result = {
        "dataset": dataset,
        "embedder": embedder,
        "variant": variant,
        "seed": seed,
        "model": "training/model-best",
        "overrides": {},
        "corpus_hashes": {"train": f"hash of {dataset}"},
        "scores": {split: {**ENTITIES, **values} for split, values in splits.items()},
        "sizes": SIZES,
    }
    path = root / dataset / embedder / variant / f"seed{seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result | changes), encoding="utf8")
    return path


def change_result(path: Path, change: Mapping[str, Any]) -> Path:
    """Replace parts of results that were written."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    return path


def write_categories(
    root: Path,
    dataset: str,
    embedder: str,
    variant: str,
    seed: int = 0,
    scores: Mapping[str, Any] | None = None,
) -> Path:
    """Write the results of a text classifier's trial: all is 0.5, or as given."""
    values = {**dict.fromkeys(SCORES, 0.5), **SETTING, **(scores or {})}
    path = write_result(root, dataset, embedder, variant, seed)
    return change_result(path, {"scores": {"dev": values, "test": values}})


def write_seeds(
    root: Path,
    dataset: str,
    embedder: str,
    variant: str,
    values: list[float],
) -> None:
    """Write results that have an F1 of all entities on the test set, of each seed."""
    for seed, value in enumerate(values):
        scores = {"test": {"ents_f": value}}
        write_result(root, dataset, embedder, variant, seed, scores)
