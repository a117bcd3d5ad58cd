"""Fill docs/results.md and lab/trials.md: `python -m lab.pages.results`.

Their tables are of the trials in lab/results that results.json names, in its order
("EMBEDDER/VARIANT"), and of what pairs.py and misspellings.py have written.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from scipy.stats import t

from lab.trials.results import Groups, Result, TrialKey, estimate_score, read_results

from .misspellings import MISSPELLINGS
from .page import DOCS, RESULTS, fill_all, read_measured, to_markdown

PAGE, TRIALS = DOCS / "results.md", DOCS.parent / "lab" / "trials.md"
PAIRS = Path(__file__).with_name("pairs.json")

PLAN = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf8"))
CORPORA: Mapping[str, str] = PLAN["corpora"]
HEADINGS: Mapping[str, str] = PLAN["headings"]

#: What marks a difference whose adjusted p is small: over documents, and over seeds.
MARKS = {"p_value": "\N{DAGGER}", "seeds_p_value": "\N{DOUBLE DAGGER}"}

NONE = "\N{EN DASH}"

#: The number of seeds that is not shown.
USUAL_SEEDS = 5


def make_tables(
    groups: Groups,
    pairs: Sequence[Mapping[str, Any]],
    misspellings: Sequence[Mapping[str, Any]],
) -> dict[Path, dict[str, str]]:
    """Make the tables of each page, as Markdown, by their names in it.

    pairs, misspellings: As pairs.py and misspellings.py write them.
    """
    tables = {
        name: to_markdown(_tabulate(table, groups))
        for name, table in PLAN["tables"].items()
    }
    of_page = {
        "encoders": tables.pop("encoders"),
        "main": _make_main(groups),
        "differences": _make_difference_table(pairs),
    }
    tables["misspellings"] = _make_misspelling_table(misspellings)
    return {PAGE: of_page, TRIALS: tables}


def _make_main(groups: Groups) -> str:
    """Make a table of F1 with its interval over seeds, and F1 on seen / on unseen
    entities.
    """
    rows = [["pipeline", *HEADINGS.values(), "MB on disk"]]
    for trials, label in PLAN["main"].items():
        found = [find_trials(groups, dataset, trials) for dataset in CORPORA]
        sizes = [r.recorded["sizes"]["bytes_on_disk"] / 1e6 for of in found for r in of]
        ends = dict.fromkeys(f"{size:.1f}" for size in (min(sizes), max(sizes)))
        rows.append([label, *map(_format_main, found), " to ".join(ends)])
    return to_markdown(rows)


def _format_main(results: Sequence[Result]) -> str:
    """Format the means over seeds: F1, seen / unseen. One of them may be undefined."""
    if not results:
        return NONE
    scores = [
        [100 * s for r in results if (s := r.get_score("test", key)) is not None]
        for key in ("ents_f", "ents_seen_f", "ents_unseen_f")
    ]
    f1, seen, unseen = (f"{fmean(of):.1f}" if of else NONE for of in scores)
    n, interval = len(results), ""
    if n > 1:
        interval = f" ± {t.ppf(0.975, n - 1) * stdev(scores[0]) / n**0.5:.1f}"
    seeds = "" if n == USUAL_SEEDS else f" ({n})"
    return f"**{f1}**{interval}{seeds}<br>{seen} / {unseen}"


def _tabulate(table: Mapping[str, Any], groups: Groups) -> list[list[str]]:
    """List means, with the number of seeds behind it where it is not the usual one.

    Below stands the deviation over seeds that a column has in common.
    """
    split, usual = table.get("split", "test"), table.get("usual_seeds", 1)
    most_seeds = table.get("most_seeds")
    rows = [[table["stub"], *(heading for heading, *_ in table["columns"])]]
    rows += [[label] for label in table["rows"].values()]
    last = ["deviation"]
    for _, dataset, score in table["columns"]:
        found = [
            find_trials(groups, dataset, trials)[:most_seeds]
            for trials in table["rows"]
        ]
        for row, results in zip(rows[1:], found, strict=True):
            value = estimate_score(results, split, score)
            seeds = "" if len(results) == usual else f" ({len(results)})"
            row.append(f"{100 * value.mean:.1f}{seeds}" if value else "")
        samples = ([r.get_score(split, score) or 0.0 for r in of] for of in found)
        last.append(pool_deviations(samples))
    return [*rows, last]


def find_trials(groups: Groups, dataset: str, trials: str) -> Sequence[Result]:
    """Find what was trained on a corpus as EMBEDDER/VARIANT, in order of seeds, or as
    EMBEDDER/VARIANT@SUFFIX on one of the same test data, whose name ends so.
    """
    trials, _, suffix = trials.partition("@")
    return groups.get(TrialKey(dataset + suffix, *trials.split("/")), [])


def pool_deviations(samples: Iterable[Sequence[float]]) -> str:
    """Estimate the deviation that samples with means of their own have in common."""
    several = [sample for sample in samples if len(sample) > 1]
    if not several:
        return NONE
    squares = sum((len(sample) - 1) * stdev(sample) ** 2 for sample in several)
    pooled = (squares / sum(len(sample) - 1 for sample in several)) ** 0.5
    return f"{100 * pooled:.1f}"


def _make_difference_table(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of tests of significance between pairs of trials."""
    tested = {
        (pair["dataset"], "/".join(pair["first"]), "/".join(pair["second"])): pair
        for pair in pairs
    }
    rows = [["compared", *HEADINGS.values()]]
    for part in PLAN["differences"]:
        found = [tested.get((d, *part["pair"])) for d in CORPORA]
        for kind in part["kinds"]:
            row = [part["compared"] if kind == "all" else f"{kind} entities"]
            for pair in found:
                test = pair and pair["differences"][kind]
                p_values = {name: test[f"adjusted_{name}"] for name in MARKS if test}
                row.append(format_test(test["difference"], p_values) if test else NONE)
            rows.append(row)
    return to_markdown(rows)


def format_test(difference: float, p_values: Mapping[str, float]) -> str:
    """Format a difference in points, marked by those p-values that are small."""
    points = f"{100 * difference:+.1f}".replace("-", "\N{MINUS SIGN}")
    return points + "".join(MARKS[name] for name, p in p_values.items() if p < 0.05)


def _make_misspelling_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of what F1 pipelines lose on Spanish where entities are misspelt."""
    shown = [["on Spanish", "F1", "misspelt", "lost"]]
    for trials, label in PLAN["misspellings"].items():
        (row,) = (
            row
            for row in rows
            if row["dataset"] == "conll2002_es"
            and f"{row['embedder']}/{row['variant']}" == trials
        )
        plain = row["scores"]["all"]["f"]
        misspelt = fmean(copy["all"]["f"] for copy in row["misspelt"])
        figures = (plain, misspelt, plain - misspelt)
        shown.append([label, *(f"{100 * figure:.1f}" for figure in figures)])
    return to_markdown(shown)


if __name__ == "__main__":
    measured = map(read_measured, (PAIRS, MISSPELLINGS))
    fill_all(make_tables(read_results(RESULTS), *measured))
