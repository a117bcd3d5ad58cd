"""The file in which a trial records its results, checked when it is read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..evaluation.categories import EXCLUSIVE, SCORES, SUPPORT
from ..evaluation.scorer import ALL, KINDS
from ..evaluation.tasks import NER, TEXTCAT
from ..files import quote, read_json

_NAMES: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    dict: "an object",
    bool: "true or false",
}
_PARTS = {
    **dict.fromkeys(("dataset", "embedder", "variant", "model"), str),
    "seed": int,
    **dict.fromkeys(("overrides", "corpus_hashes", "scores", "sizes"), dict),
}
_SIZES = ("embedding_parameters", "bytes_on_disk")
_MORE_SIZES = ("mixing_parameters", "pipeline_parameters")

#: The scores of each type and of each length of entities: see `score_seen_unseen`.
PARTS = {"type": f"{ALL}_per_type", "length": f"{ALL}_per_length"}

#: Far more than any count here, and still exact as a float.
MAX_COUNT = 2**53


def read_metrics(path: Path) -> dict[str, Any]:
    """Read what `run_trial` recorded.

    It has all that tables and comparisons show, or is refused as damaged.
    """
    try:
        metrics = read_json(path)
        _check(metrics)
    except ValueError as error:
        raise ValueError(
            f"'{path}' should hold the results of a trial, but is damaged or of "
            f"another kind: {error}. Remove it and run its trial again."
        ) from error
    return metrics


def get_task(metrics: Mapping[str, Any]) -> str:
    """Say what a trial was scored on: "ner" or "textcat"."""
    return _find_task(next(iter(metrics["scores"].values())))


def _find_task(scores: Mapping[str, Any]) -> str:
    """Say what a split was scored on, by the names of its scores."""
    entities, categories = (
        [key for key in scores if key.startswith(prefix)]
        for prefix in ("ents_", "cats_")
    )
    if entities and categories:
        raise ValueError(
            "a split should have scores of entities or of categories, but has "
            f"{quote(entities[0])} and {quote(categories[0])}"
        )
    return TEXTCAT if categories else NER


def _check(metrics: Mapping[str, Any]) -> None:
    for key, kind in _PARTS.items():
        _get_part(metrics, key, kind)
    _check_count(metrics, "seed")
    _check_sizes(metrics["sizes"])
    _check_timings(metrics)
    if not metrics["scores"]:
        raise ValueError("'scores' should have a split or more, but is {}")
    splits = {
        split: _get_part(metrics["scores"], split, dict) for split in metrics["scores"]
    }
    tasks = {split: _find_task(scores) for split, scores in splits.items()}
    if len(set(tasks.values())) > 1:
        raise ValueError(
            "all splits should be scored on entities or all on categories, but they "
            f"are of {quote(tasks)}"
        )
    for split, scores in splits.items():
        check = _check_categories if tasks[split] == TEXTCAT else _check_entities
        check(scores)


def _check_sizes(sizes: Mapping[str, Any]) -> None:
    # earlier trials have recorded less
    more = [key for key in _MORE_SIZES if key in sizes]
    for key in (*_SIZES, *more):
        _check_count(sizes, key)
    for part, whole in (
        ("mixing_parameters", "embedding_parameters"),
        ("embedding_parameters", "pipeline_parameters"),
    ):
        if sizes.get(part, 0) > sizes.get(whole, MAX_COUNT):
            raise ValueError(
                f"'{part}' should be a part of the {sizes[whole]:,} '{whole}', but is "
                f"{sizes[part]:,}"
            )


def _check_timings(metrics: Mapping[str, Any]) -> None:
    if "timings" not in metrics:
        return
    speed = _get_part(metrics, "timings", dict).get("words_per_second", 0)
    if type(speed) not in (int, float) or not 0 <= speed <= MAX_COUNT:
        raise ValueError(
            "'words_per_second' should be a number from 0 to 2**53, but is "
            f"{quote(speed)}"
        )


def _check_count(metrics: Mapping[str, Any], key: str) -> None:
    if not 0 <= _get_part(metrics, key, int) <= MAX_COUNT:
        raise ValueError(
            f"'{key}' should be from 0 to 2**53, but is {quote(metrics[key])}"
        )


def _check_categories(scores: Mapping[str, Any]) -> None:
    _check_count(scores, SUPPORT)
    _get_part(scores, EXCLUSIVE, bool)
    for key in SCORES:
        if scores[SUPPORT] or scores.get(key) is not None:
            _check_score(scores, key)


def _check_entities(scores: Mapping[str, Any]) -> None:
    for prefix in KINDS.values():
        _check_count(scores, f"{prefix}_support")
        is_there = scores[f"{prefix}_support"] > 0
        for key in (f"{prefix}_{letter}" for letter in "prf"):
            # spaCy scores wrong predictions with 0 where there is nothing to find
            if is_there or scores.get(key) is not None:
                _check_score(scores, key)
    for key in PARTS.values():
        # not there in earlier trials, and None where nothing was found or to be found
        if scores.get(key) is not None:
            parts = _get_part(scores, key, dict)
            for part in (_get_part(parts, name, dict) for name in parts):
                _check_count(part, "support")
                if part["support"] or part.get("f") is not None:
                    _check_score(part, "f")


def _check_score(scores: Mapping[str, Any], key: str) -> None:
    score: Any = scores.get(key)
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise ValueError(f"'{key}' should be from 0 to 1, but is {quote(score)}")


def _get_part(metrics: Mapping[str, Any], key: str, kind: type) -> Any:
    value = metrics.get(key)
    if type(value) is not kind:  # True is no number here
        raise ValueError(f"'{key}' should be {_NAMES[kind]}, but is {quote(value)}")
    return value
