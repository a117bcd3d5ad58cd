"""Fill the tables of F1 by the length of Docs, and draw docs/whole-texts.png.

    python -m lab.pages.whole_texts

Tables are in README and lab/trials.md. results.json lists the pipelines, of the grids
`commands` and `joined`.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.trials.results import Estimate, Groups, Result, estimate, read_results
from lab.trials.scores import SENTENCES

from .page import DOCS, RESULTS, fill_all, import_figure, to_markdown
from .results import (
    CORPORA,
    HEADINGS,
    NONE,
    PLAN,
    TRIALS,
    find_trials,
    format_deviation,
)

README, PICTURE = DOCS.parent / "README.md", DOCS / "whole-texts.png"

#: The labels, colors and line styles of pipelines in README.
PIPELINES: Mapping[str, Sequence[str]] = PLAN["readme"]
#: The numbers of sentences in Docs that tables show. The picture has more.
SHOWN = (1, 10)
ARROW = " \N{RIGHTWARDS ARROW} "

Scores = Mapping[str, Sequence[Estimate | None]]


def find_scores(groups: Groups, dataset: str, pipelines: Iterable[str]) -> Scores:
    """Find F1 at each number of sentences, for the pipelines that have results."""
    return {
        trials: [estimate(list_scores(results, n, "ents_f")) for n in SENTENCES]
        for trials in pipelines
        if (results := find_trials(groups, dataset, trials))
    }


def make_tables(groups: Groups) -> dict[Path, dict[str, str]]:
    """Make the tables of each page, by name."""
    summary = [["F1 on test data", *(label for label, *_ in PIPELINES.values())]]
    for dataset, corpus in CORPORA.items():
        found = find_scores(groups, dataset, PIPELINES)
        summary.append([corpus, *(_format(found.get(trials)) for trials in PIPELINES)])
    joined = [["trained", *HEADINGS.values()]]
    for trials, label in PLAN["joined"].items():
        of_all = (find_scores(groups, d, [trials]).get(trials) for d in CORPORA)
        joined.append([label, *map(_format, of_all)])
    last = ["deviation"]
    for dataset in CORPORA:
        of_corpus = [find_trials(groups, dataset, trials) for trials in PLAN["joined"]]
        pooled = (
            format_deviation(list_scores(of, n, "ents_f") for of in of_corpus)
            for n in SHOWN
        )
        last.append(ARROW.join(pooled))
    return {
        README: {"summary": to_markdown(summary)},
        TRIALS: {"joined": to_markdown([*joined, last])},
    }


def _format(scores: Sequence[Estimate | None] | None) -> str:
    """Format F1 in Docs of one sentence and of ten."""
    if scores is None:
        return NONE
    shown = (scores[SENTENCES.index(n)] for n in SHOWN)
    return ARROW.join(f"{100 * score.mean:.1f}" if score else NONE for score in shown)


def list_scores(results: Sequence[Result], n: int, key: str) -> list[float]:
    """List the scores of trials in Docs of n sentences."""
    joined = (r.recorded.get("joined", {}).get("test", {}) for r in results)
    return [of[str(n)][key] for of in joined if str(n) in of]


def draw(groups: Groups) -> Any:
    """Draw F1 by the number of sentences in a Doc, with a panel for each corpus."""
    found = {dataset: find_scores(groups, dataset, PIPELINES) for dataset in CORPORA}
    n_rows = -(-len(found) // 2)
    figure = import_figure()(figsize=(5.6, 0.2 + 2.2 * n_rows), layout="constrained")
    panels = list(figure.subplots(n_rows, 2, squeeze=False).flat)
    while len(panels) > len(found):
        panels.pop().remove()
    for panel, (dataset, scores) in zip(panels, found.items(), strict=True):
        for trials, of in scores.items():
            label, color, line = PIPELINES[trials]
            values = [100 * score.mean for score in of if score]
            panel.plot(SENTENCES, values, line, color=color, markersize=4, label=label)
        panel.set_xscale("log")
        panel.set_xticks(SENTENCES, map(str, SENTENCES))
        panel.minorticks_off()
        panel.grid(visible=True, alpha=0.3)
        panel.set_title(CORPORA[dataset], loc="left", fontsize=10)
    # use the same scale in each panel
    limits = [panel.get_ylim() for panel in panels]
    height = max(top - bottom for bottom, top in limits)
    for panel, (bottom, top) in zip(panels, limits, strict=True):
        panel.set_ylim((bottom + top - height) / 2, (bottom + top + height) / 2)
    handles, labels = panels[0].get_legend_handles_labels()
    # put the legend in the place of a sixth panel
    place: Any = {"loc": "lower right", "bbox_to_anchor": (1, 0.1), "fontsize": 9}
    figure.legend(handles, labels, frameon=False, **place)
    figure.supxlabel("sentences in a Doc of the test set", fontsize=10)
    figure.supylabel("F1 (percent)", fontsize=10)
    return figure


if __name__ == "__main__":
    groups = read_results(RESULTS)
    fill_all(make_tables(groups))
    draw(groups).savefig(PICTURE, dpi=150, metadata={"Software": None})
    sys.stdout.write(f"Drew {PICTURE}\n")
