"""Fill docs/results.md and lab/trials.md: `python -m lab.pages.results`.

results.json lists the trials of each table ("EMBEDDER/VARIANT"). Their results are in
lab/results, pairs.json and misspellings.json.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import srsly
from scipy.stats import t

from lab.baseline import NAME as CRF
from lab.trials.results import Groups, Result, TrialKey, estimate_score, read_results

from .misspellings import MISSPELLINGS
from .page import DOCS, RESULTS, fill_all, read_rows, to_markdown

PAGE, VECTORS = DOCS / "results.md", DOCS / "vectors.md"
TRIALS = DOCS.parent / "lab" / "trials.md"
PAIRS = Path(__file__).with_name("pairs.json")

PLAN: Any = srsly.read_json(Path(__file__).with_suffix(".json"))
CORPORA: Mapping[str, str] = PLAN["corpora"]
HEADINGS: Mapping[str, str] = PLAN["headings"]

#: The pairs of pipelines whose differences are tested.
PAIRS_TESTED: Sequence[tuple[str, str]] = [
    tuple(part["pair"]) for parts in PLAN["differences"].values() for part in parts
]

#: The mark of a difference with a small adjusted p-value.
MARK = "\N{DAGGER}"

NONE = "\N{EN DASH}"

#: The usual number of seeds, which is not shown.
USUAL_SEEDS = 5


def make_tables(
    groups: Groups,
    pairs: Sequence[Mapping[str, Any]],
    misspellings: Sequence[Mapping[str, Any]],
) -> dict[Path, dict[str, str]]:
    """Make the Markdown tables of each page, by name."""
    tables = {
        name: to_markdown(_tabulate(table, groups))
        for name, table in PLAN["tables"].items()
    }
    tables["misspellings"] = _make_misspelling_table(misspellings)
    differences = {
        name: _make_difference_table(parts, pairs)
        for name, parts in PLAN["differences"].items()
    }
    of_page = {"main": _make_main(groups, PLAN["main"])}
    of_page["differences"] = differences.pop("main")
    vectors = {"vectors": _make_main(groups, PLAN["vectors"])}
    return {PAGE: of_page, VECTORS: vectors, TRIALS: tables | differences}


def _make_main(groups: Groups, pipelines: Mapping[str, str]) -> str:
    """Make a table of F1 with confidence intervals, and F1 on seen / unseen, on the
    corpora on which all pipelines are trained.
    """
    found = {
        dataset: of_all
        for dataset in CORPORA
        if all(of_all := [find_trials(groups, dataset, each) for each in pipelines])
    }
    rows = [["pipeline", *(HEADINGS[dataset] for dataset in found), "MB on disk"]]
    half_widths = [_find_half_width(groups, dataset) for dataset in found]
    for (trials, label), *of_each in zip(
        pipelines.items(), *found.values(), strict=True
    ):
        of_row = half_widths if has_seed(trials) else [0.0] * len(half_widths)
        results = chain.from_iterable(of_each)
        sizes = [r.recorded["sizes"]["bytes_on_disk"] / 1e6 for r in results]
        ends = dict.fromkeys(f"{size:.1f}" for size in (min(sizes), max(sizes)))
        rows.append([label, *map(_format_main, of_each, of_row), " to ".join(ends)])
    return to_markdown(rows)


def _find_half_width(groups: Groups, dataset: str) -> float:
    """Return half the width of the 95 percent interval of one seed's F1, in points. The
    deviation over seeds is pooled over all compared pipelines.
    """
    compared = {*chain.from_iterable(PAIRS_TESTED)}
    of_all = (find_trials(groups, dataset, trials) for trials in compared)
    scores = [[100 * (r.get_score("test", "ents_f") or 0) for r in of] for of in of_all]
    deviation, n_free = pool_sample_sds(scores)
    return t.ppf(0.975, n_free) * deviation


def _format_main(results: Sequence[Result], half_width: float) -> str:
    """Format the means over seeds: F1, seen / unseen. One of them may be undefined."""
    scores = [
        [100 * s for r in results if (s := r.get_score("test", key)) is not None]
        for key in ("ents_f", "ents_seen_f", "ents_unseen_f")
    ]
    f1, seen, unseen = (f"{fmean(of):.1f}" if of else NONE for of in scores)
    n = len(results)
    # the CRF has no seed
    interval = f"±{half_width / n**0.5:.1f}" if half_width else ""
    seeds = "" if n == USUAL_SEEDS else f" ({n})"
    return f"**{f1}**{interval}{seeds}<br>{seen} / {unseen}"


def _tabulate(table: Mapping[str, Any], groups: Groups) -> list[list[str]]:
    """Tabulate means, unusual numbers of seeds, and pooled deviations over seeds."""
    split, usual = table.get("split", "test"), table.get("usual_seeds", 1)
    most_seeds = table.get("most_seeds")
    rows = [[table["stub"], *(heading for heading, *_ in table["columns"])]]
    rows += [[label] for label in table["rows"].values()]
    last = ["deviation"]
    for _, dataset, score in table["columns"]:
        of_all = (find_trials(groups, dataset, trials) for trials in table["rows"])
        found = [results[:most_seeds] for results in of_all]
        for row, results in zip(rows[1:], found, strict=True):
            value = estimate_score(results, split, score)
            seeds = "" if len(results) == usual else f" ({len(results)})"
            row.append(f"{100 * value.mean:.1f}{seeds}" if value else "")
        samples = ([r.get_score(split, score) or 0.0 for r in of] for of in found)
        last.append(format_deviation(samples))
    return [*rows, last]


def find_trials(groups: Groups, dataset: str, trials: str) -> Sequence[Result]:
    """Find the results of EMBEDDER/VARIANT on a corpus, ordered by seed.

    EMBEDDER/VARIANT@SUFFIX names the results on the corpus DATASET + SUFFIX.
    """
    trials, _, suffix = trials.partition("@")
    return groups.get(TrialKey(dataset + suffix, *trials.split("/")), [])


def has_seed(trials: str) -> bool:
    """True if training depends on a seed, as for all but the CRF."""
    return not trials.startswith(f"{CRF}/")


def format_deviation(samples: Iterable[Sequence[float]]) -> str:
    """Format the deviation over seeds, pooled over samples, in points."""
    deviation, n_free = pool_sample_sds(samples)
    return f"{100 * deviation:.1f}" if n_free else NONE


def pool_sample_sds(samples: Iterable[Sequence[float]]) -> tuple[float, int]:
    """Pool the standard deviations (divisor n - 1) of samples. Return it and its
    degrees of freedom, which are 0 if no sample has two values.
    """
    several = [sample for sample in samples if len(sample) > 1]
    n_free = sum(len(sample) - 1 for sample in several)
    squares = sum((len(sample) - 1) * stdev(sample) ** 2 for sample in several)
    return (squares / max(n_free, 1)) ** 0.5, n_free


def _make_difference_table(
    parts: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]
) -> str:
    """Make a table of differences between pairs of trials, in points of F1."""
    compared = {(pair["dataset"], *pair["pair"]): pair["differences"] for pair in pairs}
    rows = [["compared", *HEADINGS.values()]]
    for part in parts:
        found = [compared.get((dataset, *part["pair"])) for dataset in CORPORA]
        for kind in part["kinds"]:
            label = part["compared"] if kind == "all" else f"{kind} entities"
            rows.append([label, *(format_difference(of and of[kind]) for of in found)])
    return to_markdown(rows)


def format_difference(found: Mapping[str, float] | None) -> str:
    """Format a difference with its interval, in points, and mark a small p-value."""
    if not found:
        return NONE
    mark = MARK if found["adjusted_p_value"] < 0.05 else ""
    points = f"{100 * found['difference']:+.1f}".replace("-", "\N{MINUS SIGN}")
    return f"{points}\N{PLUS-MINUS SIGN}{100 * found['half_width']:.1f}{mark}"


def _make_misspelling_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of the losses of F1 on misspelt entities in Spanish."""
    shown = [["on Spanish", "F1", "misspelt", "lost"]]
    spanish = (row for row in rows if row["dataset"] == "conll2002_es")
    rows_of = {f"{row['embedder']}/{row['variant']}": row for row in spanish}
    for trials, label in PLAN["misspellings"].items():
        row = rows_of[trials]
        plain = row["scores"]["all"]["f"]
        misspelt = fmean(copy["all"]["f"] for copy in row["misspelt"])
        figures = (plain, misspelt, plain - misspelt)
        shown.append([label, *(f"{100 * figure:.1f}" for figure in figures)])
    return to_markdown(shown)


if __name__ == "__main__":
    measured = map(read_rows, (PAIRS, MISSPELLINGS))
    fill_all(make_tables(read_results(RESULTS), *measured))
