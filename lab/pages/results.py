"""Fill docs/results.md and docs/trials.md: `python -m lab.pages.results`.

Their tables are of the trials in lab/results that results.json names, in its order
("EMBEDDER/VARIANT"), and of what pairs.py and misspellings.py have written.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from lab.trials.results import (
    Estimate,
    Groups,
    Result,
    TrialKey,
    estimate,
    estimate_score,
    read_results,
)

from .markdown import read_measured, to_markdown
from .misspellings import MISSPELLINGS
from .pairs import FOLDER, P_VALUES, PAIRS

PAGE = Path(__file__).parents[2] / "docs" / "results.md"
TRIALS = PAGE.with_name("trials.md")

PLAN = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf8"))
CORPORA: Mapping[str, str] = PLAN["corpora"]
HEADINGS: Mapping[str, str] = PLAN["headings"]
LADDER: Mapping[str, Any] = PLAN["ladder"]
TABLES: Mapping[str, Mapping[str, Any]] = PLAN["tables"]

#: Those tables of variants that stand in `PAGE`; the others stand in `TRIALS`.
CHOICES = ("encoders",)

#: What marks a difference whose p is below `LEVEL`: over documents, and over seeds.
MARKS = dict(zip(P_VALUES, "\N{DAGGER}\N{DOUBLE DAGGER}", strict=True))
LEVEL = 0.05

NONE = "\N{EN DASH}"


def make_tables(
    groups: Groups,
    pairs: Sequence[Mapping[str, Any]] = (),
    misspellings: Sequence[Mapping[str, Any]] = (),
) -> dict[Path, dict[str, str]]:
    """Make the tables of each page, as Markdown, by their names in it.

    pairs, misspellings: As pairs.py and misspellings.py write them.
    """
    of_variants = {name: make_table(name, groups) for name in TABLES}
    return {
        PAGE: {
            **{name: of_variants.pop(name) for name in CHOICES},
            "ladder": make_ladder(groups),
            "differences": make_difference_table(pairs),
        },
        TRIALS: {
            **of_variants,
            "misspellings": make_misspelling_table(misspellings),
        },
    }


def make_ladder(groups: Groups) -> str:
    """Make the table of the ladder: sizes are from the smallest to the largest."""
    columns = [(heading, d, "ents_f") for d, heading in HEADINGS.items()]
    table = {**LADDER, "stub": "pipeline", "columns": columns}
    header, *rows, last = _tabulate(table, groups)
    for row, trials in zip(rows, LADDER["rows"], strict=True):
        found = (find_trials(groups, dataset, trials) for dataset in CORPORA)
        sizes = [fmean(r.bytes_on_disk for r in of) / 1e6 for of in found if of]
        ends = {f"{size:.1f}": size for size in sorted(sizes)}
        row.append(" to ".join([*ends][:: max(len(ends) - 1, 1)]))
    return to_markdown([[*header, "MB on disk"], *rows, [*last, ""]])


def make_table(name: str, groups: Groups) -> str:
    """Make a table that has a row for each variant, and columns for scores."""
    return to_markdown(_tabulate(TABLES[name], groups))


def _tabulate(table: Mapping[str, Any], groups: Groups) -> list[list[str]]:
    """Give means, with the number of seeds behind it where it is not the usual one.

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
            row.append(_format_mean(results, split, score, usual))
        samples = [[r.scores[split][score] or 0.0 for r in of] for of in found]
        several = [sample for sample in samples if len(sample) > 1]
        last.append(f"{100 * pool_deviations(several):.1f}" if several else NONE)
    return [*rows, last]


def _format_mean(results: Sequence[Result], split: str, score: str, usual: int) -> str:
    """Format a mean with the number of seeds, if not as usual; "" without results."""
    value = estimate_score(results, split, score)
    if value is None:
        return ""
    seeds = "" if len(results) == usual else f" ({len(results)})"
    return f"{100 * value.mean:.1f}{seeds}"


def find_trials(groups: Groups, dataset: str, trials: str) -> Sequence[Result]:
    """Find what was trained on a corpus as EMBEDDER/VARIANT, in order of seeds, or as
    EMBEDDER/VARIANT@SUFFIX on one of the same test data, whose name ends so.
    """
    trials, _, suffix = trials.partition("@")
    return groups.get(TrialKey(dataset + suffix, *trials.split("/")), [])


def pool_deviations(samples: Sequence[Sequence[float]]) -> float:
    """Estimate the deviation that samples with means of their own have in common."""
    squares = sum((len(sample) - 1) * stdev(sample) ** 2 for sample in samples)
    return (squares / sum(len(sample) - 1 for sample in samples)) ** 0.5


def make_difference_table(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of tests of significance between pairs of trials."""
    tested = {
        (pair["dataset"], "/".join(pair["first"]), "/".join(pair["second"])): pair
        for pair in pairs
    }
    rows = [["compared", *HEADINGS.values()]]
    for part in PLAN["differences"]:
        found = [tested.get((d, *part["pair"])) for d in CORPORA]
        for kind in part["kinds"]:
            cells = (_format_difference(f and f["differences"][kind]) for f in found)
            compared = part["compared"] if kind == "all" else f"{kind} entities"
            rows.append([compared, *cells])
    return to_markdown(rows)


def _format_difference(value: Mapping[str, Any] | None) -> str:
    """Format a difference in points, marked by adjusted p over documents and seeds."""
    if value is None:
        return NONE
    p_values = {name: value[f"adjusted_{name}"] for name in P_VALUES}
    return format_test(value["difference"], p_values)


def format_test(difference: float, p_values: Mapping[str, float]) -> str:
    """Format a difference in points, marked by those p-values that are small."""
    points = f"{100 * difference:+.1f}".replace("-", "\N{MINUS SIGN}")
    small = (name for name, p_value in p_values.items() if p_value < LEVEL)
    return points + "".join(MARKS[name] for name in small)


def make_misspelling_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of what F1 pipelines lose on Spanish where entities are misspelt."""
    shown = [["on Spanish", "F1", "misspelt", "lost"]]
    for trials, label in PLAN["misspellings"].items():
        key = ["conll2002_es", *trials.split("/")]
        names = ("dataset", "embedder", "variant")
        pairs = [
            (
                row["scores"]["all"]["f"],
                fmean(copy["all"]["f"] for copy in row["misspelt"]),
            )
            for row in rows
            if [row[name] for name in names] == key
        ]
        estimates = (
            estimate(plain for plain, _ in pairs),
            estimate(misspelt for _, misspelt in pairs),
            estimate(plain - misspelt for plain, misspelt in pairs),
        )
        shown.append([label, *map(format_score, estimates)])
    return to_markdown(shown)


def format_score(value: Estimate | None) -> str:
    """Format a score in percent with its deviation over the seeds, if it has one."""
    if value is None:
        return NONE
    deviation = value.deviation
    return f"{100 * value.mean:.1f}" + (
        "" if deviation is None else f" ± {100 * deviation:.1f}"
    )


def fill(page: Path, tables: Mapping[str, str]) -> str:
    """Read a page, and put tables between the comments that name them."""
    text = page.read_text(encoding="utf8")
    for name, table in tables.items():
        pattern = f"(<!-- table: {name} -->\n).*?(<!-- end of table -->)"
        text, n = re.subn(pattern, rf"\1\n{table}\n\n\2", text, flags=re.DOTALL)
        if n != 1:
            raise ValueError(f"'{page}' should have one place for the table '{name}'.")
    return text


def fill_all(pages: Mapping[Path, Mapping[str, str]]) -> None:
    """Write pages with their tables."""
    for page, tables in pages.items():
        page.write_text(fill(page, tables), encoding="utf8")
        sys.stdout.write(f"Filled the tables of {page}\n")


if __name__ == "__main__":
    measured = map(read_measured, (PAIRS, MISSPELLINGS))
    fill_all(make_tables(read_results(FOLDER), *measured))
