"""The results of trials, read from a metrics folder and averaged over seeds."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from spacy_hashembeds.evaluation.categories import SCORES
from spacy_hashembeds.evaluation.scorer import ALL, KINDS
from spacy_hashembeds.evaluation.tasks import NER, TEXTCAT
from spacy_hashembeds.files import quote

from .metrics import (
    MAX_COUNT,
    check_count,
    check_score,
    get_part,
    get_task,
    read_metrics,
)

#: What `python -m lab importance`, `attention` and `ablation` have found of a variant,
#: beside its results.
IMPORTANCE, ATTENTION, ABLATION = "importance.json", "attention.json", "ablation.json"
_BESIDE = (IMPORTANCE, ATTENTION, ABLATION)

#: The scores of each type and of each length of entities: see `score_seen_unseen`.
_PARTS = {"type": f"{ALL}_per_type", "length": f"{ALL}_per_length"}


class TrialKey(NamedTuple):
    """What trials that differ by nothing but their seed have in common."""

    dataset: str
    embedder: str
    variant: str


class PartScore(NamedTuple):
    """F1 of a type or a length, 0 to 1 or None without any, and how many there are."""

    f: float | None
    support: int


#: For "type" and "length" the scores of each one that was recorded.
Parts = Mapping[str, Mapping[str, PartScore]]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one trial recorded, as far as the report needs it. None is of older ones."""

    path: Path
    key: TrialKey
    seed: int
    task: str  # "ner" or "textcat"
    overrides: Mapping[str, Any]
    corpus_hashes: Mapping[str, str]  # by split
    # by split, 0 to 1; None: nothing to score
    scores: Mapping[str, Mapping[str, float | None]]
    # by split; those by length are not there in earlier trials
    parts: Mapping[str, Parts]
    # by split and number of sentences in a Doc; not there in earlier trials
    joined: Mapping[str, Mapping[int, Mapping[str, float]]]
    embedding_parameters: int
    mixing_parameters: int | None
    pipeline_parameters: int | None
    bytes_on_disk: int
    words_per_second: float | None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over seeds, or a figure that has none."""

    mean: float
    deviation: float | None = None  # of seeds' figures, divided by n: the report's
    n: int | None = None  # how many seeds, if it is a mean over seeds


Groups = Mapping[TrialKey, Sequence[Result]]


def read_results(folder: str | Path) -> dict[TrialKey, list[Result]]:
    """Read all `<dataset>/<embedder>/<variant>/seed<N>.json`, in order of seeds."""
    folder = Path(folder)
    paths = [path for path in folder.glob("*/*/*/seed*.json") if _is_result(path)]
    if not paths:
        nothing = "are no results in" if folder.is_dir() else "is no folder"
        raise FileNotFoundError(
            f"There {nothing} '{folder}'. Give the folder 'metrics' that `python -m "
            "lab trial` writes to, with files DATASET/EMBEDDER/VARIANT/seedN.json."
        )
    results = sorted(map(_read_result, paths), key=lambda r: (r.key, r.seed))
    groups: dict[TrialKey, list[Result]] = {}
    for result in results:
        groups.setdefault(result.key, []).append(result)
    _check_alike(groups)
    return groups


def select_task(groups: Groups, task: str) -> Groups:
    """Keep the trials of one task: "ner" or "textcat"."""
    return {key: results for key, results in groups.items() if results[0].task == task}


def find_misnamed(folder: str | Path) -> list[Path]:
    """Find JSON files that no trial or command writes there, but for hidden ones."""
    return sorted(
        path
        for path in Path(folder).glob("*/*/*/[!.]*.json")
        if not (_is_result(path) or path.name in _BESIDE)
    )


def estimate(values: Iterable[float | None]) -> Estimate | None:
    """Average over seeds: None if there are no figures or if one is None."""
    figures = list(values)
    known = [value for value in figures if value is not None]
    if not known or len(known) < len(figures):
        return None
    deviation = pstdev(known) if len(known) > 1 else None
    return Estimate(mean=fmean(known), deviation=deviation, n=len(known))


def estimate_score(
    results: Iterable[Result], split: str, score: str
) -> Estimate | None:
    """Average one score over seeds: None without results, or anything to score."""
    return estimate(result.scores.get(split, {}).get(score) for result in results)


def _is_result(path: Path) -> bool:
    return re.fullmatch(r"seed[0-9]+", path.stem) is not None


def _read_result(path: Path) -> Result:
    metrics = read_metrics(path, _check)
    task, sizes = get_task(metrics), metrics["sizes"]
    get_scores = _get_categories if task == TEXTCAT else _get_entities
    result = Result(
        path=path,
        key=TrialKey(metrics["dataset"], metrics["embedder"], metrics["variant"]),
        seed=metrics["seed"],
        task=task,
        overrides=metrics["overrides"],
        corpus_hashes=metrics["corpus_hashes"],
        scores={split: get_scores(s) for split, s in metrics["scores"].items()},
        parts={split: _get_parts(s) for split, s in metrics["scores"].items()},
        joined={
            split: {int(n): scores for n, scores in of.items()}
            for split, of in metrics.get("joined", {}).items()
        },
        embedding_parameters=sizes["embedding_parameters"],
        mixing_parameters=sizes.get("mixing_parameters"),
        pipeline_parameters=sizes.get("pipeline_parameters"),
        bytes_on_disk=sizes["bytes_on_disk"],
        words_per_second=metrics.get("timings", {}).get("words_per_second"),
    )
    expected = (*path.parts[-4:-1], path.stem)
    if (*result.key, f"seed{result.seed}") != expected:
        raise ValueError(
            f"'{path}' should be named after its trial, but holds the results of "
            f"{quote('/'.join(result.key))}, seed {result.seed}. Move it back or "
            "remove it."
        )
    return result


def _check(metrics: Mapping[str, Any]) -> None:
    """Check what comparisons do not show."""
    if "timings" in metrics:
        speed = get_part(metrics, "timings", dict).get("words_per_second", 0)
        if type(speed) not in (int, float) or not 0 <= speed <= MAX_COUNT:
            raise ValueError(
                "'words_per_second' should be a number from 0 to 2**53, but is "
                f"{quote(speed)}"
            )
    if get_task(metrics) == NER:
        for scores in metrics["scores"].values():
            _check_parts(scores)


def _check_parts(scores: Mapping[str, Any]) -> None:
    for key in _PARTS.values():
        # not there in earlier trials, and None where nothing was found or to be found
        if scores.get(key) is not None:
            parts = get_part(scores, key, dict)
            for part in (get_part(parts, name, dict) for name in parts):
                check_count(part, "support")
                if part["support"] or part.get("f") is not None:
                    check_score(part, "f")


def _get_categories(metrics: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: metrics.get(name) for name in SCORES}


def _get_entities(metrics: Mapping[str, Any]) -> dict[str, float | None]:
    scores: dict[str, float | None] = {}
    for prefix in KINDS.values():
        # spaCy scores wrong predictions with 0 even where there is nothing to find
        is_there = metrics[f"{prefix}_support"] > 0
        for name in (f"{prefix}_{key}" for key in "prf"):
            scores[name] = metrics[name] if is_there else None
    return scores


def _get_parts(scores: Mapping[str, Any]) -> dict[str, dict[str, PartScore]]:
    return {
        part: {
            name: PartScore(score["f"] if score["support"] else None, score["support"])
            for name, score in (scores.get(key) or {}).items()
        }
        for part, key in _PARTS.items()
    }


def _check_alike(groups: Groups) -> None:
    first_of: dict[str, Result] = {}
    for (dataset, *_), results in groups.items():
        for result in results:
            first = first_of.setdefault(dataset, result)
            if result.corpus_hashes != first.corpus_hashes:
                raise ValueError(
                    f"'{result.path}' and '{first.path}' are results on different "
                    f"files of {dataset}. Run the older trial again, with --force."
                )
            for name in ("task", "overrides", "embedding_parameters"):
                ours, theirs = getattr(result, name), getattr(results[0], name)
                if ours != theirs:
                    raise ValueError(
                        f"'{result.path}' and '{results[0].path}' should differ by "
                        f"their seed alone, but '{name}' is {quote(ours)} and "
                        f"{quote(theirs)}. Give one a variant of its own, or, where "
                        "the config changed, run the older trial again, with --force."
                    )
