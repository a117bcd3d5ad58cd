"""Results of a trial as they were recorded, checked when they are read."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy_hashembeds.evaluation.categories import EXCLUSIVE, SCORES, SUPPORT
from spacy_hashembeds.evaluation.scorer import KINDS
from spacy_hashembeds.evaluation.tasks import NER, TEXTCAT
from spacy_hashembeds.files import parse_json, quote

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

#: The scores of each task, by the number of things that they are of.
_SUPPORTED: Mapping[str, Mapping[str, Sequence[str]]] = {
    NER: {f"{of}_support": [f"{of}_{key}" for key in "prf"] for of in KINDS.values()},
    TEXTCAT: {SUPPORT: SCORES},
}

#: Far more than any count here, and still exact as a float.
MAX_COUNT = 2**53


#: What to do about a damaged file.
_REMEDY = "If it is of a trial, run that again, with --force."


def read_metrics(path: Path) -> dict[str, Any]:
    """Read what `run_trial` recorded, if it has all that comparisons show."""
    return parse_metrics(path.read_bytes(), f"'{path}'")


def parse_metrics(
    data: bytes,
    place: str,
    *,
    remedy: str = _REMEDY,
    check_more: Callable[[Mapping[str, Any]], None] = lambda metrics: None,
) -> dict[str, Any]:
    """Parse what `run_trial` recorded, likewise.

    place, remedy: What errors name, and advise.
    check_more: Raises a ValueError if something else is damaged.
    """
    try:
        metrics = parse_json(data.decode("utf8"))
        _check(metrics)
        check_more(metrics)
    except ValueError as error:
        raise ValueError(
            f"{place} should hold the results of a trial, but is damaged or of another "
            f"kind: {error}. {remedy}"
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
        _check_scores(scores, tasks[split])


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


def _check_scores(scores: Mapping[str, Any], task: str) -> None:
    if task == TEXTCAT:
        get_part(scores, EXCLUSIVE, bool)
    for support, names in _SUPPORTED[task].items():
        check_count(scores, support)
        for name in names:
            if scores[support] or scores.get(name) is not None:
                check_score(scores, name)


def get_scores(scores: Mapping[str, Any], task: str) -> dict[str, float | None]:
    """Get the scores of a split, None where there was nothing to score."""
    # spaCy scores wrong predictions with 0 even where there is nothing to find
    return {
        name: scores[name] if scores[support] else None
        for support, names in _SUPPORTED[task].items()
        for name in names
    }


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
