"""Write invented results of trials."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy_hashembeds.tools.evaluate.categories import CATEGORY_SCORES

CATEGORIES = {
    **dict.fromkeys(CATEGORY_SCORES, 0.5),
    "cats_support": 20,
    "cats_per_type": {},
}
ENTITIES = {
    f"{prefix}_{key}": 10 if key == "support" else 0.5
    for prefix in ("ents", "ents_seen", "ents_unseen")
    for key in ("p", "r", "f", "support")
}


def write_result(
    root: Path,
    dataset: str,
    embedder: str,
    seed: int = 0,
    scores: Mapping[str, Any] | None = None,
    **changes: Any,
) -> None:
    """Write an invented result. Scores of the test data are 0.5, or `scores`.

    Tasks are text classification if `scores` has "cats_acc", else NER.
    """
    base = CATEGORIES if "cats_acc" in (scores or {}) else ENTITIES
    result: dict[str, Any] = {"dataset": dataset, "embedder": embedder, "seed": seed}
    result |= {"variant": "default", "model": "training/model-best", "overrides": {}}
    result |= {"corpus_hashes": {"train": f"hash of {dataset}"}}
    result["scores"] = {"dev": base, "test": {**base, **(scores or {})}}
    result["sizes"] = {"embedding_parameters": 1000, "bytes_on_disk": 2_500_000}
    path = root / dataset / embedder / "default" / f"seed{seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result | changes), encoding="utf8")


def write_seeds(root: Path, embedder: str, values: Sequence[float]) -> None:
    """Write results on AnEM with these F1 scores of entities on the test set."""
    for seed, value in enumerate(values):
        write_result(root, "anem", embedder, seed, {"ents_f": value})
