"""Read the results of trials from files or tables, and average them over seeds.

A trial writes the file DATASET/EMBEDDER/VARIANT/seedN.json. A table, DATASET.jsonl, has
a line for each collected trial.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from spacy_hashembeds.files import parse_json, read_json, replacing
from spacy_hashembeds.tools.evaluate.categories import SUPPORT
from spacy_hashembeds.tools.evaluate.sources import NER, TEXTCAT

#: Sizes of a pipeline. Early trials lack some.
SIZES = tuple(f"{part}_parameters" for part in ("embedding", "mixing", "pipeline"))
SIZES += ("bytes_on_disk",)


class TrialKey(NamedTuple):
    """The key of trials that differ only by their seed."""

    dataset: str
    embedder: str
    variant: str

    @property
    def trials(self) -> str:
        """The key without the dataset: EMBEDDER/VARIANT."""
        return f"{self.embedder}/{self.variant}"


@dataclass(frozen=True)
class Result:
    """The recorded results of a trial."""

    place: str  # the file, or the line of a table, for errors
    recorded: Mapping[str, Any]

    @property
    def key(self) -> TrialKey:
        """The key of the trial and of trials with other seeds."""
        return TrialKey(*(self.recorded[name] for name in TrialKey._fields))

    @property
    def seed(self) -> int:
        """The seed of the trial."""
        return self.recorded["seed"]

    @property
    def settings(self) -> tuple[Any, ...]:
        """The values that trials with other seeds share."""
        size, overrides = self.get_size(SIZES[0]), self.recorded["overrides"]
        return get_task(self.recorded), size, overrides

    def get_score(self, split: str, name: str) -> float | None:
        """Return a score, 0 to 1, or None without entities or categories to find."""
        scores = self.recorded["scores"].get(split, {})
        prefix, _, _ = name.rpartition("_")
        support = SUPPORT if name.startswith("cats_") else f"{prefix}_support"
        return scores[name] if scores.get(support) else None

    def get_size(self, name: str) -> float | None:
        """Return one of `SIZES`, or a timing, or None if the trial lacks it."""
        sizes = {**self.recorded.get("timings", {}), **self.recorded["sizes"]}
        return sizes.get(name)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over seeds, or a single figure."""

    mean: float
    population_sd: float | None = None  # standard deviation over seeds, divided by n
    n: int | None = None  # the number of seeds of a mean


Groups = Mapping[TrialKey, Sequence[Result]]


def read_results(folder: Path) -> dict[TrialKey, list[Result]]:
    """Read all files and tables of results in a folder, ordered by seed."""
    results = [*read_files(folder), *read_tables(folder)]
    if not results:
        raise FileNotFoundError(
            f"There are no results in '{folder}'. Name the folder 'metrics' that "
            "`python -m lab trial` writes, or a folder of tables, DATASET.jsonl."
        )
    return group_results(results)


def read_files(folder: Path) -> Iterator[Result]:
    """Read the files that trials wrote."""
    for path in folder.glob("*/*/*/seed*.json"):
        yield Result(f"'{path}'", read_json(path))


def read_tables(folder: Path) -> Iterator[Result]:
    """Read the tables of collected results."""
    for path in folder.glob("[!.]*.jsonl"):
        lines = path.read_text(encoding="utf8").splitlines()
        for number, line in enumerate(lines, start=1):
            yield Result(f"'{path}', line {number},", parse_json(line))


def group_results(results: Iterable[Result]) -> dict[TrialKey, list[Result]]:
    """Group results that differ by their seed, and check that they are comparable."""
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
        for last in group[-1:]:
            if result.seed == last.seed or result.settings != last.settings:
                raise ValueError(
                    f"{result.place} and {last.place} should differ by their seed "
                    "only, but have equal seeds, or other tasks, sizes or overrides. "
                    "Remove one, rename its variant, or run it again with --force."
                )
        group.append(result)
    return groups


def collect_results(
    source: Path, tables: Path, *, force: bool = False
) -> tuple[int, int, int]:
    """Add the results of trials to the tables of their corpora.

    force: Replace different results of the same trials.
    RETURNS (tuple[int, int, int]): The numbers of added, replaced and equal results.
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
            f"{len(other)} results in '{source}' differ from those in tables, such as "
            f"{new[key].place} and {old[key].place}. Replace them with --force."
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
    return {k: of for k, of in groups.items() if get_task(of[0].recorded) == task}


def estimate(values: Iterable[float | None]) -> Estimate | None:
    """Average over seeds. Return None if there are no figures, or if one is None."""
    figures = list(values)
    known = [value for value in figures if value is not None]
    if not known or len(known) < len(figures):
        return None
    sd = pstdev(known) if len(known) > 1 else None
    return Estimate(mean=fmean(known), population_sd=sd, n=len(known))


def estimate_score(
    results: Iterable[Result], split: str, score: str
) -> Estimate | None:
    """Average one score over seeds, as `estimate` does."""
    return estimate(result.get_score(split, score) for result in results)


def get_task(metrics: Mapping[str, Any]) -> str:
    """Return the task of a trial, by its scores: "ner" or "textcat"."""
    scores = next(iter(metrics["scores"].values()))
    return TEXTCAT if any(key.startswith("cats_") for key in scores) else NER
