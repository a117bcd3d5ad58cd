"""The results of trials, read from their files or tables, and averaged over seeds.

Each trial writes a file of its own, DATASET/EMBEDDER/VARIANT/seedN.json. A table,
DATASET.jsonl, has a line for each that was collected.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from spacy_hashembeds.files import parse_json, replacing
from spacy_hashembeds.tools.evaluate.categories import SUPPORT
from spacy_hashembeds.tools.evaluate.sources import NER, TEXTCAT

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


@dataclass(frozen=True)
class Result:
    """The results of a trial, as it has recorded them."""

    place: str  # its file, or its line of a table, for errors
    recorded: Mapping[str, Any]

    @property
    def key(self) -> TrialKey:
        """Its name, but for the seed."""
        return TrialKey(*(self.recorded[name] for name in TrialKey._fields))

    @property
    def seed(self) -> int:
        """Its seed."""
        return self.recorded["seed"]

    @property
    def task(self) -> str:
        """What it was scored on: "ner" or "textcat"."""
        return get_task(self.recorded)

    @property
    def settings(self) -> tuple[Any, ...]:
        """What it has in common with other seeds."""
        overrides = self.recorded["overrides"]
        return self.task, self.get_size("embedding_parameters"), overrides

    def get_score(self, split: str, name: str) -> float | None:
        """Get a score such as "ents_f", 0 to 1: None if there was nothing to score,
        where spaCy has 0 for wrong predictions.
        """
        scores = self.recorded["scores"].get(split, {})
        prefix, _, _ = name.rpartition("_")
        support = SUPPORT if name.startswith("cats_") else f"{prefix}_support"
        return scores[name] if scores.get(support) else None

    def get_size(self, name: str) -> float | None:
        """Get one of `SIZES`, or a timing: None where older trials have none."""
        sizes = {**self.recorded.get("timings", {}), **self.recorded["sizes"]}
        return sizes.get(name)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over seeds, or a figure that has none."""

    mean: float
    deviation: float | None = None  # of seeds' figures, divided by n: the report's
    n: int | None = None  # how many seeds, if it is a mean over seeds


Groups = Mapping[TrialKey, Sequence[Result]]


def read_results(folder: Path) -> dict[TrialKey, list[Result]]:
    """Read all files and tables of results in a folder, in order of seeds."""
    results = [*read_files(folder), *read_tables(folder)]
    if not results:
        raise FileNotFoundError(
            f"There are no results in '{folder}'. Give the folder 'metrics' that "
            "`python -m lab trial` writes to, or one of tables, DATASET.jsonl."
        )
    return group_results(results)


def read_files(folder: Path) -> Iterator[Result]:
    """Read the files that trials have written."""
    for path in folder.glob("*/*/*/seed*.json"):
        place = f"'{path}'"
        yield Result(place, parse_metrics(path.read_text(encoding="utf8"), place))


def read_tables(folder: Path) -> Iterator[Result]:
    """Read the tables of collected results."""
    for path in folder.glob("[!.]*.jsonl"):
        lines = path.read_text(encoding="utf8").splitlines()
        for number, line in enumerate(lines, start=1):
            place = f"'{path}', line {number},"
            yield Result(place, parse_metrics(line, place))


def group_results(results: Iterable[Result]) -> dict[TrialKey, list[Result]]:
    """Group results that differ by their seed, if they may be compared."""
    groups: dict[TrialKey, list[Result]] = {}
    first_of: dict[str, Result] = {}
    for result in sorted(results, key=lambda r: (r.key, r.seed)):
        first = first_of.setdefault(result.key.dataset, result)
        if result.recorded["corpus_hashes"] != first.recorded["corpus_hashes"]:
            raise ValueError(
                f"{result.place} and {first.place} are results on different files of "
                f"{result.key.dataset}. Run the older trial again, with --force."
            )
        group = groups.setdefault(result.key, [])
        if group and (
            result.seed == group[-1].seed or result.settings != group[-1].settings
        ):
            raise ValueError(
                f"{result.place} and {group[-1].place} should differ by their seed "
                "alone, but have the same, or another task, size or overrides. Remove "
                "one, give it a variant of its own, or, where the config changed, run "
                "the older trial again, with --force."
            )
        group.append(result)
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
        key = min(other)
        raise FileExistsError(
            f"{len(other)} results in '{source}' are other than those in tables, such "
            f"as {new[key].place} than {old[key].place}. Replace them with --force."
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
    return estimate(result.get_score(split, score) for result in results)


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
