"""The file in which a trial records its results, checked when it is read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..evaluation.scorer import KINDS
from ..files import quote, read_json

_NAMES = {str: "text", int: "a whole number", dict: "an object"}
_PARTS = {
    **dict.fromkeys(("dataset", "embedder", "variant", "model"), str),
    "seed": int,
    **dict.fromkeys(("overrides", "corpus_hashes", "scores", "sizes"), dict),
}
_SIZES = ("embedding_parameters", "bytes_on_disk")

#: Far more than any count here, and still exact as a float.
_MAX_COUNT = 2**53


def read_metrics(path: Path) -> dict[str, Any]:
    """Read what a trial recorded.

    path (Path): The file, as `run_trial` writes it.
    RAISES (ValueError): If it is damaged or of another kind: no JSON, or without what
        tables and comparisons show, or with something else in its place.
    RETURNS (dict[str, Any]): The results.
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


def _check(metrics: Mapping[str, Any]) -> None:
    for key, kind in _PARTS.items():
        _get_part(metrics, key, kind)
    _check_count(metrics, "seed")
    for key in _SIZES:
        _check_count(metrics["sizes"], key)
    if not metrics["scores"]:
        raise ValueError("'scores' should have a split or more, but is {}")
    for split in metrics["scores"]:
        _check_scores(_get_part(metrics["scores"], split, dict))


def _check_count(metrics: Mapping[str, Any], key: str) -> None:
    if not 0 <= _get_part(metrics, key, int) <= _MAX_COUNT:
        raise ValueError(
            f"'{key}' should be from 0 to 2**53, but is {quote(metrics[key])}"
        )


def _check_scores(scores: Mapping[str, Any]) -> None:
    for prefix in KINDS.values():
        _check_count(scores, f"{prefix}_support")
        is_there = scores[f"{prefix}_support"] > 0
        for key in (f"{prefix}_{letter}" for letter in "prf"):
            # spaCy scores wrong predictions with 0 where there is nothing to find
            if is_there or scores.get(key) is not None:
                _check_score(scores, key)


def _check_score(scores: Mapping[str, Any], key: str) -> None:
    score: Any = scores.get(key)
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise ValueError(f"'{key}' should be from 0 to 1, but is {quote(score)}")


def _get_part(metrics: Mapping[str, Any], key: str, kind: type) -> Any:
    value = metrics.get(key)
    if type(value) is not kind:  # True is no number here
        raise ValueError(f"'{key}' should be {_NAMES[kind]}, but is {quote(value)}")
    return value
