"""The results of trials (.json), as `report` and `compare` read them."""

import json
import math
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest.mock import patch

import spacy
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_hashembeds.acceleration.timing import Speed
from spacy_hashembeds.experiments import comparison
from spacy_hashembeds.experiments.results import Groups, read_results
from spacy_hashembeds.report.findings import make_overview, make_seed_table
from spacy_hashembeds.report.missing import find_missing
from spacy_hashembeds.report.tables import Table, make_trial_tables

from ..damage_text import damage_json
from ..target import Part, Target
from .material import make_docs

_PREFIXES = ("ents", "ents_seen", "ents_unseen")
_SEEDS = (0, 1)
_PARTS = tuple(f"metrics/wnut17/multi_embed/default/seed{seed}.json" for seed in _SEEDS)


def _make(folder: Path) -> None:
    for seed in _SEEDS:
        for embedder in ("multi_embed", "multi_hash_embed"):
            path = folder / f"metrics/wnut17/{embedder}/default/seed{seed}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            result = _make_result(embedder, seed)
            result["model"] = "model-best"
            path.write_text(json.dumps(result, indent=2), encoding="utf8")
    spacy.blank("xx").to_disk(folder / "model-best")
    DocBin(docs=make_docs(Vocab())).to_disk(folder / "test.spacy")


def _make_result(embedder: str, seed: int) -> dict[str, Any]:
    scores = {
        f"{prefix}_{key}": 0.25 + seed / 8 for prefix in _PREFIXES for key in "prf"
    }
    supports = {f"{prefix}_support": 10 + seed for prefix in _PREFIXES}
    return {
        "dataset": "wnut17",
        "embedder": embedder,
        "variant": "default",
        "seed": seed,
        "gpu_id": -1,
        "overrides": {},
        "config_hash": "c0ffee",
        "corpus_hashes": {"train": "1a", "dev": "2b", "test": "3c"},
        "versions": {"python": "3.11.7"},
        "scores": {split: {**scores, **supports} for split in ("dev", "test")},
        "timings": {"train_seconds": 12.5},
        "sizes": {"embedding_parameters": 1000, "bytes_on_disk": 2_500_000},
    }


def _load_results(folder: Path, part: Part) -> Groups:
    return read_results(folder / "metrics")


def _use_results(groups: Groups) -> Any:
    """Fill the report's tables."""
    tables = [make_overview(groups), make_seed_table(groups)]
    tables += make_trial_tables(groups).values()
    find_missing(groups)
    return [list(_read_cells(table)) for table in tables]


def _read_cells(table: Table) -> Iterator[tuple[Any, ...]]:
    for row in table.rows:
        for key, cell in row.cells.items():
            if cell.ours is not None:
                yield (*row.stub, key, cell.ours.mean, cell.ours.deviation, cell.ours.n)


def _find_fault_of_results(
    part: Part, original: bytes, damaged: bytes, answer: Any
) -> str | None:
    data = json.loads(damaged)
    if _has_duplicates(damaged):
        return "a key is there twice"
    return next(_find_faults(data), None)


def _find_faults(data: Any) -> Iterator[str]:
    """Say what a trial can't have recorded."""
    for key in ("dataset", "embedder", "variant"):
        if not isinstance(data[key], str):
            yield f"{key} is no text"
    if not _is_count(data["seed"]):
        yield "seed is no integer"
    for key, value in data["sizes"].items():
        if not _is_count(value):
            yield f"{key} is no integer of at least 0"
    if not all(isinstance(v, str) for v in data["corpus_hashes"].values()):
        yield "a hash is no text"
    for scores in data["scores"].values():
        yield from _find_faulty_scores(scores)


def _find_faulty_scores(scores: Any) -> Iterator[str]:
    for prefix in _PREFIXES:
        if not _is_count(scores[f"{prefix}_support"]):
            yield "a support is no integer of at least 0"
        for key in "prf":
            value = scores[f"{prefix}_{key}"]
            if value is None and scores[f"{prefix}_support"] == 0:
                continue
            is_number = isinstance(value, float | int) and not isinstance(value, bool)
            if not is_number or not math.isfinite(value) or not 0 <= value <= 1:
                yield "a score is no number from 0 to 1"


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _has_duplicates(data: bytes) -> bool:
    found = []

    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    json.loads(data, object_pairs_hook=check)
    return any(found)


def _load_comparison(folder: Path, part: Part) -> Any:
    """Compare two trials. The time that their pipelines take is no part of it."""
    with chdir(folder), patch.object(comparison, "measure_speeds", _measure):
        return comparison.compare_trials([*map(Path, _PARTS)], Path("test.spacy"))


def _measure(loaders: Any, docs: Any, progress: Any) -> dict[str, Speed]:
    return dict.fromkeys(loaders, Speed(1000.0, (990.0, 1010.0)))


def _find_fault_of_comparison(
    part: Part, original: bytes, damaged: bytes, answer: Any
) -> str | None:
    data = json.loads(damaged)
    if _has_duplicates(damaged):
        return "a key is there twice"
    # the last split is the one that is compared
    return next(
        _find_faults({**data, "scores": dict([*data["scores"].items()][-1:])}), None
    )


RESULTS = Target(
    name="results",
    parts=[Part(path=path, structured=damage_json) for path in _PARTS],
    make=_make,
    load=_load_results,
    use=_use_results,
    find_fault=_find_fault_of_results,
)
COMPARISON = Target(
    name="comparison",
    parts=[Part(path=path, structured=damage_json) for path in _PARTS],
    make=_make,
    load=_load_comparison,
    use=list,
    find_fault=_find_fault_of_comparison,
)
