"""Results of a trial as they were recorded, checked when they are read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy_hashembeds.evaluation.categories import EXCLUSIVE, SCORES, SUPPORT
from spacy_hashembeds.evaluation.scorer import ALL, KINDS
from spacy_hashembeds.evaluation.tasks import NER, TEXTCAT
from spacy_hashembeds.files import parse_json, quote

_NAMES = {str: "text", dict: "an object", bool: "true or false"}
_KINDS = {
    **dict.fromkeys(("dataset", "embedder", "variant", "model"), str),
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
#: The scores of each type and of each length of entities: see `score_seen_unseen`.
PARTS = {"type": f"{ALL}_per_type", "length": f"{ALL}_per_length"}

#: Far more than any count here, and still exact as a float.
MAX_COUNT = 2**53

#: What to do about a damaged file.
REMEDY = "If it is of a trial, run that again, with --force."


def read_metrics(path: Path) -> dict[str, Any]:
    """Read what `run_trial` recorded, if it has all that comparisons show."""
    return parse_metrics(path.read_bytes(), f"'{path}'", REMEDY)


def parse_metrics(data: bytes, place: str, remedy: str) -> dict[str, Any]:
    """Parse it likewise. Errors name its place, and a remedy."""
    try:
        metrics = parse_json(data.decode("utf8"))
        _check(metrics)
    except ValueError as error:
        raise ValueError(
            f"{place} should hold the results of a trial, but is damaged or of another "
            f"kind: {error}. {remedy}"
        ) from error
    return metrics


def get_task(metrics: Mapping[str, Any]) -> str:
    """Say what a trial was scored on: "ner" or "textcat"."""
    return _find_task(next(iter(metrics["scores"].values())))


def get_scores(scores: Mapping[str, Any], task: str) -> dict[str, float | None]:
    """Get the scores of a split, None where there was nothing to score."""
    # spaCy scores wrong predictions with 0 even where there is nothing to find
    return {
        name: scores[name] if scores[support] else None
        for support, names in _SUPPORTED[task].items()
        for name in names
    }


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
    for key, kind in _KINDS.items():
        _get(metrics, key, kind)
    _check_names(metrics)
    _check_number(metrics, "seed")
    _check_sizes(metrics["sizes"])
    if "timings" in metrics:  # not in earlier trials
        timings = _get(metrics, "timings", dict)
        if "words_per_second" in timings:
            _check_number(timings, "words_per_second", of=float)
    if not metrics["scores"]:
        raise ValueError("'scores' should have a split or more, but is {}")
    splits = [_get(metrics["scores"], split, dict) for split in metrics["scores"]]
    tasks = {_find_task(scores) for scores in splits}
    if len(tasks) > 1:
        raise ValueError(
            "all splits should be scored on entities or all on categories, but there "
            "are both"
        )
    for scores in splits:
        _check_scores(scores, *tasks)
    if "joined" in metrics:  # not in earlier trials
        _check_joined(_get(metrics, "joined", dict))


def _check_names(metrics: Mapping[str, Any]) -> None:
    for key in ("dataset", "embedder", "variant"):
        name = metrics[key]
        if not name.strip(".") or "/" in name:
            raise ValueError(
                f"'{key}' should be the name of a folder, but is {quote(name)}"
            )


def _check_joined(joined: Mapping[str, Any]) -> None:
    """Check scores by split and by how many sentences a Doc has."""
    for split in joined:
        for n in (lengths := _get(joined, split, dict)):
            if not n.isdecimal() or int(n) > MAX_COUNT:
                raise ValueError(
                    f"'joined' should have numbers of sentences, but has {quote(n)}"
                )
            scores = _get(lengths, n, dict)
            for name in scores:
                _check_number(scores, name, most=1, of=float)


def _check_sizes(sizes: Mapping[str, Any]) -> None:
    for key in SIZES:
        if key in sizes or key not in _LATER_SIZES:
            _check_number(sizes, key)
    for part, whole in (
        ("mixing_parameters", "embedding_parameters"),
        ("embedding_parameters", "pipeline_parameters"),
    ):
        if sizes.get(part, 0) > sizes.get(whole, MAX_COUNT):
            raise ValueError(
                f"'{part}' should be a part of the {sizes[whole]:,} '{whole}', but is "
                f"{sizes[part]:,}"
            )


def _check_scores(scores: Mapping[str, Any], task: str) -> None:
    for support, names in _SUPPORTED[task].items():
        _check_supported(scores, support, names)
    if task == TEXTCAT:
        _get(scores, EXCLUSIVE, bool)
        return
    for key in PARTS.values():
        # not there in earlier trials, and None where nothing was found or to be found
        if scores.get(key) is not None:
            parts = _get(scores, key, dict)
            for name in parts:
                _check_supported(_get(parts, name, dict), "support", ["f"])


def _check_supported(
    scores: Mapping[str, Any], support: str, names: Sequence[str]
) -> None:
    """Check a count, and the scores of what is counted, None only if it is 0."""
    _check_number(scores, support)
    for name in names:
        if scores[support] or scores.get(name) is not None:
            _check_number(scores, name, most=1, of=float)


def _check_number(
    metrics: Mapping[str, Any], key: str, most: int = MAX_COUNT, of: type = int
) -> None:
    value: Any = metrics.get(key)
    # True is no number here
    if type(value) not in (int, of) or not 0 <= value <= most:
        kind = "a whole number" if of is int else "a number"
        raise ValueError(
            f"{quote(key)} should be {kind} from 0 to {most:,}, but is {quote(value)}"
        )


def _get(metrics: Mapping[str, Any], key: str, kind: type) -> Any:
    """Get what is of this type exactly, or else raise a ValueError."""
    value = metrics.get(key)
    if type(value) is not kind:
        raise ValueError(
            f"{quote(key)} should be {_NAMES[kind]}, but is {quote(value)}"
        )
    return value
