"""The results of trials (.json), as `report` and `compare` read them."""

import json
import math
from collections.abc import Iterable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest.mock import patch

import spacy
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from lab.papers.filling import Measured
from lab.papers.page import FILL
from lab.papers.paper import read_paper
from lab.papers.tables import Table
from lab.trials import comparison
from lab.trials.results import Groups, estimate_score, read_results, select_task
from spacy_hashembeds.acceleration.timing import Speed
from spacy_hashembeds.evaluation.categories import SCORES

from ..damage_text import damage_json
from ..target import Part, Target
from .material import make_docs

_PREFIXES = ("ents", "ents_seen", "ents_unseen")
_SEEDS = (0, 1)
_ENTITIES = "metrics/wnut17/multi_embed/default/seed{}.json"
_ENCODER = "metrics/wnut17/bilstm_char_cnn/att/seed{}.json"
_CODES = "metrics/wnut17/hash_former_embed/lsh_proj/seed{}.json"
_CATEGORIES = "metrics/ag_news/ngrams/classifier/seed{}.json"
_PARTS = (*map(_ENTITIES.format, _SEEDS), _CATEGORIES.format(0))
_ALL_PARTS = (*_PARTS, _ENCODER.format(0), _CODES.format(0))


def _make(folder: Path) -> None:
    for seed in _SEEDS:
        entities, categories = _score_entities(seed), _score_categories(seed)
        _write(folder, "wnut17/multi_embed/default", seed, entities)
        _write(folder, "wnut17/multi_hash_embed/default", seed, entities)
        _write(folder, "wnut17/multi_fewer_hash_embed/default", seed, entities)
        _write(folder, "wnut17/hash_former_embed/lsh_proj", seed, entities)
        for variant in ("att", "baseline"):
            _write(folder, f"wnut17/bilstm_char_cnn/{variant}", seed, entities)
        _write(folder, "ag_news/ngrams/classifier", seed, categories)
    spacy.blank("xx").to_disk(folder / "model-best")
    DocBin(docs=make_docs(Vocab())).to_disk(folder / "test.spacy")


def _score_entities(seed: int) -> dict[str, Any]:
    scores = {
        f"{prefix}_{key}": 0.25 + seed / 8 for prefix in _PREFIXES for key in "prf"
    }
    part = {"p": 0.5, "r": 0.5, "f": 0.25 + seed / 8, "support": 5}
    return {
        **scores,
        **{f"{prefix}_support": 10 + seed for prefix in _PREFIXES},
        "ents_per_type": {"location": part, "group": part},
        "ents_per_length": {"1": part, "4+": part},
    }


def _score_categories(seed: int) -> dict[str, Any]:
    scores = dict.fromkeys(SCORES, 0.25 + seed / 8)
    return {**scores, "cats_support": 10 + seed, "cats_exclusive": True}


def _write(folder: Path, name: str, seed: int, scores: dict[str, Any]) -> None:
    path = folder / f"metrics/{name}/seed{seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    dataset, embedder, variant = name.split("/")
    result = {
        "dataset": dataset,
        "embedder": embedder,
        "variant": variant,
        "seed": seed,
        "gpu_id": -1,
        "overrides": {},
        "config_hash": "c0ffee",
        "corpus_hashes": {"train": "1a", "dev": "2b", "test": "3c"},
        "versions": {"python": "3.11.7"},
        "scores": {"dev": scores, "test": scores},
        "timings": {"train_seconds": 12.5, "words_per_second": 1000.5},
        "sizes": {
            **{"embedding_parameters": 1000, "mixing_parameters": 100},
            "bytes_on_disk": 2_500_000,
        },
        "model": "model-best",
    }
    path.write_text(json.dumps(result, indent=2), encoding="utf8")


def _load_results(folder: Path, part: Part) -> Groups:
    return read_results(folder / "metrics")


def _use_results(groups: Groups) -> Any:
    """Fill all papers' tables, and average the scores of text classifiers."""
    cells = []
    for paper, fill in FILL.items():
        about = read_paper(paper)
        measured = Measured(groups=select_task(groups, about.task))
        # there is no such folder, and so nothing beside the results
        for blocks in fill(about, measured, Path("none")).values():
            cells += [
                list(_read_cells(block)) for block in blocks if isinstance(block, Table)
            ]
    averages = [
        estimate_score(results, "test", score)
        for results in select_task(groups, "textcat").values()
        for score in SCORES
    ]
    return cells, averages


def _read_cells(table: Table) -> Iterator[tuple[Any, ...]]:
    for row in table.rows:
        for key, cell in row.cells.items():
            if cell.ours is not None:
                yield (*row.stub, key, cell.ours.mean, cell.ours.deviation, cell.ours.n)


def _find_fault_of_results(
    part: Part, original: bytes, damaged: bytes, answer: Any
) -> str | None:
    data = json.loads(damaged)
    if has_duplicates(damaged):
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
    speed = data.get("timings", {}).get("words_per_second", 0)
    if isinstance(speed, bool) or not isinstance(speed, float | int) or speed < 0:
        yield "the speed is no number of at least 0"
    yield from _find_faulty_splits(data["scores"])


def _find_faulty_splits(splits: Any) -> Iterator[str]:
    kinds = set()
    for scores in splits.values():
        found = {key[:5] for key in scores} & {"ents_", "cats_"}
        kinds |= found
        find = _find_faulty_categories if "cats_" in found else _find_faulty_entities
        yield from find(scores)
    if len(kinds) > 1:
        yield "entities and categories are scored in one file"


def _find_faulty_entities(scores: Any) -> Iterator[str]:
    for prefix in _PREFIXES:
        names = [f"{prefix}_{key}" for key in "prf"]
        yield from _find_faulty_scores(scores, names, scores[f"{prefix}_support"])
    for key in ("ents_per_type", "ents_per_length"):
        for part in (scores.get(key) or {}).values():
            yield from _find_faulty_scores(part, ["f"], part["support"])


def _find_faulty_categories(scores: Any) -> Iterator[str]:
    if not isinstance(scores["cats_exclusive"], bool):
        yield "cats_exclusive is neither true nor false"
    yield from _find_faulty_scores(scores, SCORES, scores["cats_support"])


def _find_faulty_scores(
    scores: Any, names: Iterable[str], support: Any
) -> Iterator[str]:
    if not _is_count(support):
        yield "a support is no integer of at least 0"
    for value in (scores.get(name) for name in names):
        if value is None and support == 0:
            continue
        is_number = isinstance(value, float | int) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not 0 <= value <= 1:
            yield "a score is no number from 0 to 1"


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def has_duplicates(data: bytes) -> bool:
    """Whether JSON has a key twice in one object."""
    found = []

    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    json.loads(data, object_pairs_hook=check)
    return any(found)


def _load_comparison(folder: Path, part: Part) -> Any:
    """Compare two trials. The time that their pipelines take is no part of it."""
    template = _CATEGORIES if part.path == _CATEGORIES.format(0) else _ENTITIES
    trials = [Path(template.format(seed)) for seed in _SEEDS]
    with chdir(folder), patch.object(comparison, "measure_speeds", _measure):
        return comparison.compare_trials(trials, Path("test.spacy"))


def _measure(loaders: Any, docs: Any, progress: Any) -> dict[str, Speed]:
    return dict.fromkeys(loaders, Speed(1000.0, (990.0, 1010.0)))


def _find_fault_of_comparison(
    part: Part, original: bytes, damaged: bytes, answer: Any
) -> str | None:
    data = json.loads(damaged)
    if has_duplicates(damaged):
        return "a key is there twice"
    # the last split is the one that is compared, without types, lengths and timings
    *_, (split, scores) = data["scores"].items()
    shown = {key: score for key, score in scores.items() if "_per_" not in key}
    return next(_find_faults({**data, "timings": {}, "scores": {split: shown}}), None)


RESULTS = Target(
    name="results",
    parts=[Part(path=path, structured=damage_json) for path in _ALL_PARTS],
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
