"""Fill docs/features.md with results: `python -m lab.pages.features`."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from statistics import fmean
from typing import Any

from scipy.stats import t

from spacy_hashembeds.files import parse_json

from ..features import ATTRS, RESULTS
from .page import DOCS, fill_all, to_markdown
from .results import NONE, format_deviation, pool_sample_sds

PAGE = DOCS / "features.md"

#: Headings of columns, by corpus.
CORPORA = {"conll2002_es": "Spanish", "conll2002_nl": "Dutch"}
#: The scores of a cell, by split.
SCORES = {"dev": ("ents_f",), "test": ("ents_f", "ents_unseen_f")}


def read_trials() -> list[dict[str, Any]]:
    """Read the results, sorted by corpus, setting and seed."""
    lines = RESULTS.read_text(encoding="utf8").splitlines()
    return sorted(map(parse_json, lines), key=itemgetter("dataset", "setting", "seed"))


def make_table(trials: Iterable[Mapping[str, Any]]) -> str:
    """Tabulate means over seeds, and the pooled deviation."""
    groups = groupby(trials, itemgetter("dataset", "setting"))
    trials_of = {key: list(group) for key, group in groups}
    settings = [s for s in ATTRS if any((d, s) in trials_of for d in CORPORA)]
    names = (", ".join(f"`{attr}`" for attr in ATTRS[s]) or "none" for s in settings)
    columns = [["feature", *names, "deviation"]]
    for dataset, name in CORPORA.items():
        trained = [trials_of.get((dataset, setting), []) for setting in settings]
        for split, scores in SCORES.items():
            heading = {"dev": "development", "test": "test (unseen)"}[split]
            parts = [_list_means(trained, split, score) for score in scores]
            cells = map(" ".join, zip(*parts, strict=True))
            columns.append([f"{name}, {heading}", *cells])
    return to_markdown(list(zip(*columns, strict=True)))


def _list_means(
    trained: Iterable[list[Mapping[str, Any]]], split: str, score: str
) -> list[str]:
    """List means, with marks of significant differences, and the pooled deviation."""
    samples = [[trial[split][score] / 100 for trial in trials] for trials in trained]
    deviation, n_free = pool_sample_sds(samples)
    cells = []
    for sample in samples:
        if not sample:
            cells.append(NONE)
            continue
        error = deviation * (1 / len(sample) + 1 / len(samples[0])) ** 0.5
        difference = abs(fmean(sample) - fmean(samples[0]))
        mark = "*" if difference > t.ppf(0.975, n_free) * error else ""
        cells.append(f"{100 * fmean(sample):.1f}{mark}")
    cells.append(format_deviation(samples))
    return [f"({cell})" for cell in cells] if score == "ents_unseen_f" else cells


if __name__ == "__main__":
    fill_all({PAGE: {"features": make_table(read_trials())}})
