"""Fill the tables of results.md from the trials in results/: `python docs/results.py`.

The text around them is written by hand. A test sees that the tables are those of the
trials.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from spacy_hashembeds.evaluation.scorer import KINDS
from spacy_hashembeds.evaluation.tasks import NER
from spacy_hashembeds.experiments.results import (
    Estimate,
    Groups,
    TrialKey,
    estimate,
    estimate_score,
    read_results,
    select_task,
)
from spacy_hashembeds.report.layouts import FEWER, HASH, LOOKUP, SEED_9, Source
from spacy_hashembeds.report.printed import find_printed

FOLDER = Path(__file__).with_name("results")
PAGE = Path(__file__).with_name("results.md")

CORPORA = {
    "wnut17": "WNUT 2017",
    "anem": "AnEM",
    "conll2002_es": "CoNLL 2002 Spanish",
    "conll2002_nl": "CoNLL 2002 Dutch",
    "archaeology": "Dutch archaeology",
}

#: What is trained, in the order of the table.
EMBEDDERS = {
    (HASH, "default"): "hash, 4 hashes (`multi_hash_embed`)",
    (FEWER, "hashes3"): "hash, 3 hashes",
    (FEWER, "hashes2"): "hash, 2 hashes",
    (FEWER, "default"): "hash, 1 hash (`multi_fewer_hash_embed`)",
    (FEWER, SEED_9): "hash, 1 hash, hash seed 9",
    (HASH, "rows100"): "hash, 4 hashes, as many rows as symbols (`rows100`)",
    (HASH, "rows20"): "hash, 4 hashes, a fifth of that (`rows20`)",
    (HASH, "rows10"): "hash, 4 hashes, a tenth of that (`rows10`)",
    (LOOKUP, "default"): "lookup, min_freq 10 (`multi_embed`)",
    (LOOKUP, "min_freq5"): "lookup, min_freq 5",
    (LOOKUP, "min_freq2"): "lookup, min_freq 2",
    (LOOKUP, "min_freq1"): "lookup, min_freq 1",
}

NONE = "\N{EN DASH}"


def make_tables(groups: Groups) -> dict[str, str]:
    """Make the tables of the page, as Markdown. They have no text classifiers.

    groups (Groups): The trials, as `read_results` gives them.
    RAISES (ValueError): If a trial has no place in the tables.
    RETURNS (dict[str, str]): The tables by their names in the page.
    """
    groups = select_task(groups, NER)
    for key in groups:
        if key.dataset not in CORPORA or key[1:] not in EMBEDDERS:
            raise ValueError(
                f"{'/'.join(key)} has no name for the table. Add one to {__file__}."
            )
    return {"trials": make_trial_table(groups)}


def make_trial_table(groups: Groups) -> str:
    """Make a table of all trials: F1 on the test set, and size."""
    header = ("corpus", "embedder", "F1 all", "report", "seen", "unseen", "report")
    header += ("seeds", "embedding parameters", "MB on disk")
    keys = [TrialKey(d, *variant) for d in CORPORA for variant in EMBEDDERS]
    return format_table(header, [make_row(k, groups) for k in keys if k in groups])


def make_row(key: TrialKey, groups: Groups) -> Sequence[str]:
    """Make the row of one corpus, embedder and variant."""
    results = groups[key]
    ours = {kind: f"{prefix}_f" for kind, prefix in KINDS.items()}
    f1 = {k: format_f1(estimate_score(results, "test", f)) for k, f in ours.items()}
    printed = {
        kind: find_printed(key.dataset, Source(key.embedder, key.variant, "test", f))
        for kind, f in ours.items()
    }
    size = estimate(result.bytes_on_disk / 1e6 for result in results)
    assert size is not None
    return (
        CORPORA[key.dataset],
        EMBEDDERS[key.embedder, key.variant],
        f1["all"],
        format_printed(printed["all"]),
        f1["seen"],
        f1["unseen"],
        format_printed(printed["unseen"]),
        str(len(results)),
        f"{results[0].embedding_parameters:,}",
        f"{size.mean:.1f}",
    )


def format_f1(value: Estimate | None) -> str:
    """Format a score in percent with its deviation over the seeds, if it has one."""
    if value is None:
        return NONE
    mean = f"{100 * value.mean:.1f}"
    if value.deviation is None:
        return mean
    return f"{mean} ± {100 * value.deviation:.1f}"


def format_printed(value: Estimate | None) -> str:
    """Format a score of the report, if it prints one: in percent, in italics."""
    if value is None:
        return ""
    deviation = "" if value.deviation is None else f" ± {100 * value.deviation:.0f}"
    return f"*{100 * value.mean:.0f}{deviation}*"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table as Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def fill(page: str, tables: Mapping[str, str]) -> str:
    """Put tables between the comments that name them.

    RAISES (ValueError): If the page has no place for one of them.
    """
    for name, table in tables.items():
        pattern = f"(<!-- table: {name} -->\n).*?(<!-- end of table -->)"
        page, n = re.subn(pattern, rf"\1\n{table}\n\n\2", page, flags=re.DOTALL)
        if n != 1:
            raise ValueError(f"'{PAGE}' should have one place for the table '{name}'.")
    return page


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf8")
    PAGE.write_text(fill(page, make_tables(read_results(FOLDER))), encoding="utf8")
    sys.stdout.write(f"Filled the tables of {PAGE}\n")
