"""The file in which a trial records its results, checked when it is read."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spacy_hashembeds.evaluation.categories import EXCLUSIVE, SCORES, SUPPORT
from spacy_hashembeds.evaluation.scorer import KINDS
from spacy_hashembeds.evaluation.tasks import NER, TEXTCAT
from spacy_hashembeds.files import quote, read_json

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
#: What earlier trials have not recorded.
_LATER_SIZES = ("mixing_parameters", "pipeline_parameters")
SIZES = ("embedding_parameters", *_LATER_SIZES, "bytes_on_disk")

#: Far more than any count here, and still exact as a float.
MAX_COUNT = 2**53


def read_metrics(
    path: Path, check_more: Callable[[Mapping[str, Any]], None] = lambda metrics: None
) -> dict[str, Any]:
    """Read what `run_trial` recorded, if it has all that comparisons show. `check_more`
    raises a ValueError if something else is damaged.
    """
    try:
        metrics = read_json(path)
        _check(metrics)
        check_more(metrics)
    except ValueError as error:
        raise ValueError(
            f"'{path}' should hold the results of a trial, but is damaged or of "
            f"another kind: {error}. If it is of a trial, run that again, with --force."
        ) from error
    return metrics


def get_task(metrics: Mapping[str, Any]) -> str:
    """Say what a trial was scored on: "ner" or "textcat"."""
    return _find_task(next(iter(metrics["scores"].values())))


def _find_task(scores: Mapping[str, Any]) -> str:
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
        get_part(metrics, key, kind)
    check_count(metrics, "seed")
    _check_sizes(metrics["sizes"])
    if not metrics["scores"]:
        raise ValueError("'scores' should have a split or more, but is {}")
    splits = {
        split: get_part(metrics["scores"], split, dict) for split in metrics["scores"]
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
    for key in SIZES:
        if key in sizes or key not in _LATER_SIZES:
            check_count(sizes, key)
    for part, whole in (
        ("mixing_parameters", "embedding_parameters"),
        ("embedding_parameters", "pipeline_parameters"),
    ):
        if sizes.get(part, 0) > sizes.get(whole, MAX_COUNT):
            raise ValueError(
                f"'{part}' should be a part of the {sizes[whole]:,} '{whole}', but is "
                f"{sizes[part]:,}"
            )


def check_count(metrics: Mapping[str, Any], key: str) -> None:
    """Check that there is a count."""
    if not 0 <= get_part(metrics, key, int) <= MAX_COUNT:
        raise ValueError(
            f"{quote(key)} should be from 0 to 2**53, but is {quote(metrics[key])}"
        )


def _check_categories(scores: Mapping[str, Any]) -> None:
    check_count(scores, SUPPORT)
    get_part(scores, EXCLUSIVE, bool)
    for key in SCORES:
        if scores[SUPPORT] or scores.get(key) is not None:
            check_score(scores, key)


def _check_entities(scores: Mapping[str, Any]) -> None:
    for prefix in KINDS.values():
        check_count(scores, f"{prefix}_support")
        is_there = scores[f"{prefix}_support"] > 0
        for key in (f"{prefix}_{letter}" for letter in "prf"):
            # spaCy scores wrong predictions with 0 where there is nothing to find
            if is_there or scores.get(key) is not None:
                check_score(scores, key)


def check_score(scores: Mapping[str, Any], key: str) -> None:
    """Check that there is a score from 0 to 1."""
    score: Any = scores.get(key)
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise ValueError(f"{quote(key)} should be from 0 to 1, but is {quote(score)}")


def get_part(metrics: Mapping[str, Any], key: str, kind: type) -> Any:
    """Get what is of this type exactly, or else raise a ValueError."""
    value = metrics.get(key)
    if type(value) is not kind:  # True is no number here
        raise ValueError(
            f"{quote(key)} should be {_NAMES[kind]}, but is {quote(value)}"
        )
    return value
