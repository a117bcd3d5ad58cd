"""The results of trials, read from their files or tables, and averaged over seeds.

Each trial writes a file of its own, DATASET/EMBEDDER/VARIANT/seedN.json. A table,
DATASET.jsonl, has a line for each that was collected.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from spacy_hashembeds.files import parse_json, quote, replacing
from spacy_hashembeds.tools.evaluate.categories import SCORES, SUPPORT
from spacy_hashembeds.tools.evaluate.sources import NER, TEXTCAT
from spacy_hashembeds.training.scorer import ALL, KINDS

#: The scores of each task, by the number of things that they are of.
_SUPPORTED: Mapping[str, Mapping[str, Sequence[str]]] = {
    NER: {f"{of}_support": [f"{of}_{key}" for key in "prf"] for of in KINDS.values()},
    TEXTCAT: {SUPPORT: SCORES},
}
#: The scores of each type and of each length of entities: see `score_seen_unseen`.
_PARTS = {"type": f"{ALL}_per_type", "length": f"{ALL}_per_length"}

#: Sizes of a pipeline; early trials have not recorded all.
SIZES = (
    "embedding_parameters",
    "mixing_parameters",
    "pipeline_parameters",
    "bytes_on_disk",
)
_NEEDED = {"dataset", "embedder", "variant", "seed", "model", "scores", "sizes"}


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


@dataclass(frozen=True, kw_only=True)
class Result:
    """The results of a trial, None where older ones have not recorded something."""

    place: str  # its file, or its line of a table, for errors
    recorded: Mapping[str, Any]  # all of it
    key: TrialKey
    seed: int
    task: str  # "ner" or "textcat"
    # by split, 0 to 1; None: nothing to score
    scores: Mapping[str, Mapping[str, float | None]]
    # by split, and "type" or "length"
    parts: Mapping[str, Mapping[str, Mapping[str, PartScore]]]
    # by split and number of sentences in a Doc; not there in early trials
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
        raise FileNotFoundError(
            f"There are no results in '{folder}'. Give the folder 'metrics' that "
            "`python -m lab trial` writes to, with files "
            "DATASET/EMBEDDER/VARIANT/seedN.json, or one of tables, DATASET.jsonl."
        )
    return group_results(results)


def read_files(folder: Path) -> Iterator[Result]:
    """Read the files that trials have written."""
    for path in folder.glob("*/*/*/seed*.json"):
        yield _parse_result(path.read_text(encoding="utf8"), f"'{path}'")


def read_tables(folder: Path) -> Iterator[Result]:
    """Read the tables of collected results."""
    for path in folder.glob("[!.]*.jsonl"):
        lines = path.read_text(encoding="utf8").splitlines()
        for number, line in enumerate(lines, start=1):
            yield _parse_result(line, f"'{path}', line {number},")


def group_results(results: Iterable[Result]) -> dict[TrialKey, list[Result]]:
    """Group results that differ by their seed, if they may be compared."""
    groups: dict[TrialKey, list[Result]] = {}
    first_of: dict[str, Result] = {}
    for result in sorted(results, key=lambda r: (r.key, r.seed)):
        groups.setdefault(result.key, []).append(result)
        first = first_of.setdefault(result.key.dataset, result)
        if result.recorded["corpus_hashes"] != first.recorded["corpus_hashes"]:
            raise ValueError(
                f"{result.place} and {first.place} are results on different files of "
                f"{result.key.dataset}. Run the older trial again, with --force."
            )
    for of in groups.values():
        for before, result in pairwise(of):
            if before.seed == result.seed:
                raise ValueError(
                    f"{result.place} and {before.place} hold results of the same "
                    "trial. Remove one of them."
                )
            ours, theirs = (
                [r.task, r.embedding_parameters, r.recorded["overrides"]]
                for r in (result, before)
            )
            if ours != theirs:
                raise ValueError(
                    f"{result.place} and {before.place} should differ by their seed "
                    "alone, but their task, embedding parameters and overrides are "
                    f"{quote(ours)} and {quote(theirs)}. Give one a variant of its "
                    "own, or, where the config changed, run the older trial again, "
                    "with --force."
                )
    return groups


def collect_results(
    source: Path, tables: Path, *, force: bool = False
) -> tuple[int, int, int]:
    """Put the results that trials have written into the tables of their corpora.

    Lines are in order of embedder, variant and seed, and have what was recorded.

    force: Replaces other results of the same trials.
    RETURNS (tuple[int, int, int]): How many were added, replaced, and there before.
    """
    old, new = (
        {(r.key, r.seed): r for rs in group_results(results).values() for r in rs}
        for results in (read_tables(tables), read_files(source))
    )
    if not new:
        raise FileNotFoundError(f"There are no results of trials in '{source}'.")
    known = old.keys() & new.keys()
    other = [key for key in known if old[key].recorded != new[key].recorded]
    if other and not force:
        first = min(other)
        raise FileExistsError(
            f"{len(other)} results in '{source}' are other than those in tables, such "
            f"as {new[first].place}: {old[first].place} has others. Replace them with "
            "--force."
        )
    groups = group_results({**old, **new}.values())
    for dataset in {key.dataset for key, _ in new}:
        results = [r for key in groups if key.dataset == dataset for r in groups[key]]
        lines = [json.dumps(r.recorded, ensure_ascii=False) for r in results]
        with replacing(tables / f"{dataset}.jsonl") as temporary:
            temporary.write_text("".join(f"{line}\n" for line in lines), "utf8")
    return len(new) - len(known), len(other), len(known) - len(other)


def select_task(groups: Groups, task: str) -> Groups:
    """Keep the trials of one task: "ner" or "textcat"."""
    return {key: results for key, results in groups.items() if results[0].task == task}


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


def get_task(metrics: Mapping[str, Any]) -> str:
    """Get what a trial was scored on: "ner" or "textcat"."""
    scores = next(iter(metrics["scores"].values()))
    return TEXTCAT if any(key.startswith("cats_") for key in scores) else NER


def parse_metrics(text: str, place: str) -> dict[str, Any]:
    """Parse what `run_trial` recorded. Errors name its place."""
    try:
        metrics = parse_json(text)
        if missing := sorted(_NEEDED - metrics.keys()):
            raise ValueError(f"{missing[0]} is missing")
    except ValueError as e:
        raise ValueError(f"{place} should hold the results of a trial: {e}.") from e
    return metrics


def _parse_result(text: str, place: str) -> Result:
    metrics = parse_metrics(text, place)
    task, splits = get_task(metrics), metrics["scores"]
    return Result(
        place=place,
        recorded=metrics,
        key=TrialKey(metrics["dataset"], metrics["embedder"], metrics["variant"]),
        seed=metrics["seed"],
        task=task,
        # spaCy scores wrong predictions with 0 even where there is nothing to find
        scores={
            split: {
                name: scores[name] if scores[support] else None
                for support, names in _SUPPORTED[task].items()
                for name in names
            }
            for split, scores in splits.items()
        },
        parts={
            split: {
                part: {
                    name: PartScore(of["f"] if of["support"] else None, of["support"])
                    for name, of in (scores.get(key) or {}).items()
                }
                for part, key in _PARTS.items()
            }
            for split, scores in splits.items()
        },
        joined={
            split: {int(n): scores for n, scores in of.items()}
            for split, of in metrics.get("joined", {}).items()
        },
        **{name: metrics["sizes"].get(name) for name in SIZES},
        words_per_second=metrics.get("timings", {}).get("words_per_second"),
    )
