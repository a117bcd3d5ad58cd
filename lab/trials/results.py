"""The results of trials, read from their files or tables, and averaged over seeds.

Each trial writes a file of its own, DATASET/EMBEDDER/VARIANT/seedN.json. A table,
DATASET.jsonl, has a line for each that was collected (`collected.py`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from spacy_hashembeds.files import quote

from .metrics import PARTS, REMEDY, SIZES, get_scores, get_task, parse_metrics

#: What `python -m lab importance`, `attention` and `ablation` have found of a variant,
#: beside its results.
IMPORTANCE, ATTENTION, ABLATION = "importance.json", "attention.json", "ablation.json"
_BESIDE = (IMPORTANCE, ATTENTION, ABLATION)

#: What to do about a damaged line of a table.
_COLLECT_AGAIN = "Remove the line, run the trial again, and `python -m lab collect` it."


class TrialKey(NamedTuple):
    """A name of all trials that differ by nothing but their seed."""

    dataset: str
    embedder: str
    variant: str

    @property
    def trials(self) -> str:
        """Its name on whichever dataset: EMBEDDER/VARIANT."""
        return f"{self.embedder}/{self.variant}"


class PartScore(NamedTuple):
    """F1 of a type or a length, 0 to 1 or None without any, and how many there are."""

    f: float | None
    support: int


#: For "type" and "length" the scores of each one that was recorded.
Parts = Mapping[str, Mapping[str, PartScore]]


@dataclass(frozen=True, kw_only=True)
class Result:
    """The results of a trial, None where older ones have not recorded something."""

    place: str  # its file, or its line of a table, for errors
    recorded: Mapping[str, Any]  # all of it
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
    """Read all files and tables of results in a folder, in order of seeds."""
    folder = Path(folder)
    results = [*read_files(folder), *read_tables(folder)]
    if not results:
        nothing = "are no results in" if folder.is_dir() else "is no folder"
        raise FileNotFoundError(
            f"There {nothing} '{folder}'. Give the folder 'metrics' that `python -m "
            "lab trial` writes to, with files DATASET/EMBEDDER/VARIANT/seedN.json, or "
            "one of tables, DATASET.jsonl."
        )
    return group_results(results)


def read_files(folder: Path) -> Iterator[Result]:
    """Read the files that trials have written."""
    for path in filter(_is_result, folder.glob("*/*/*/seed*.json")):
        result = _parse_result(path.read_bytes(), f"'{path}'", REMEDY)
        if (*result.key, f"seed{result.seed}") != (*path.parts[-4:-1], path.stem):
            what = f"but {_describe(result)}. Move it back or remove it."
            raise ValueError(f"{result.place} should be named after its trial, {what}")
        yield result


def read_tables(folder: Path) -> Iterator[Result]:
    """Read the tables of collected results."""
    for path in folder.glob("[!.]*.jsonl"):
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            place = f"'{path}', line {number},"
            result = _parse_result(line, place, _COLLECT_AGAIN)
            if result.key.dataset != path.stem:
                what = f"but {_describe(result)}. {_COLLECT_AGAIN}"
                raise ValueError(f"{place} should be of {path.stem}, {what}")
            yield result


def group_results(results: Iterable[Result]) -> dict[TrialKey, list[Result]]:
    """Group results that differ by their seed, if they may be compared."""
    groups: dict[TrialKey, list[Result]] = {}
    for result in sorted(results, key=lambda r: (r.key, r.seed)):
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


def _parse_result(data: bytes, place: str, remedy: str) -> Result:
    metrics = parse_metrics(data, place, remedy)
    task = get_task(metrics)
    return Result(
        place=place,
        recorded=metrics,
        key=TrialKey(metrics["dataset"], metrics["embedder"], metrics["variant"]),
        seed=metrics["seed"],
        task=task,
        overrides=metrics["overrides"],
        corpus_hashes=metrics["corpus_hashes"],
        scores={split: get_scores(s, task) for split, s in metrics["scores"].items()},
        parts={split: _get_parts(s) for split, s in metrics["scores"].items()},
        joined={
            split: {int(n): scores for n, scores in of.items()}
            for split, of in metrics.get("joined", {}).items()
        },
        **{name: metrics["sizes"].get(name) for name in SIZES},
        words_per_second=metrics.get("timings", {}).get("words_per_second"),
    )


def _describe(result: Result) -> str:
    return f"holds the results of {quote('/'.join(result.key))}, seed {result.seed}"


def _get_parts(scores: Mapping[str, Any]) -> dict[str, dict[str, PartScore]]:
    return {
        part: {
            name: PartScore(score["f"] if score["support"] else None, score["support"])
            for name, score in (scores.get(key) or {}).items()
        }
        for part, key in PARTS.items()
    }


def _check_alike(groups: Groups) -> None:
    first_of: dict[str, Result] = {}
    for (dataset, *_), results in groups.items():
        for before, result in pairwise(results):
            if before.seed == result.seed:
                raise ValueError(
                    f"{result.place} and {before.place} hold results of the same "
                    "trial. Remove one of them."
                )
        for result in results:
            first = first_of.setdefault(dataset, result)
            if result.corpus_hashes != first.corpus_hashes:
                raise ValueError(
                    f"{result.place} and {first.place} are results on different files "
                    f"of {dataset}. Run the older trial again, with --force."
                )
            for name in ("task", "overrides", "embedding_parameters"):
                ours, theirs = getattr(result, name), getattr(results[0], name)
                if ours != theirs:
                    raise ValueError(
                        f"{result.place} and {results[0].place} should differ by their "
                        f"seed alone, but '{name}' is {quote(ours)} and "
                        f"{quote(theirs)}. Give one a variant of its own, or, where "
                        "the config changed, run the older trial again, with --force."
                    )
