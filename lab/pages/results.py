"""Fill docs/results.md and lab/trials.md: `python -m lab.pages.results`.

Their tables are of the trials in lab/results that results.json names, in its order
("EMBEDDER/VARIANT"), and of what pairs.py and misspellings.py have written.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

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
        "ladder": _make_ladder(groups),
        "differences": _make_difference_table(pairs),
    }
    tables["misspellings"] = _make_misspelling_table(misspellings)
    return {PAGE: of_page, TRIALS: tables}


def _make_ladder(groups: Groups) -> str:
    """Make the table of the ladder: sizes are from the smallest to the largest."""
    columns = [(heading, d, "ents_f") for d, heading in HEADINGS.items()]
    table = {**PLAN["ladder"], "stub": "pipeline", "columns": columns}
    header, *rows, last = _tabulate(table, groups)
    for row, trials in zip(rows, table["rows"], strict=True):
        found = (find_trials(groups, dataset, trials) for dataset in CORPORA)
        sizes = [
            fmean(r.recorded["sizes"]["bytes_on_disk"] for r in of) / 1e6
            for of in found
            if of
        ]
        ends = {f"{size:.1f}": size for size in sorted(sizes)}
        row.append(" to ".join([*ends][:: max(len(ends) - 1, 1)]))
    return to_markdown([[*header, "MB on disk"], *rows, [*last, ""]])


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
