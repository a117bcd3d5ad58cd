"""Fill docs/whole-texts.md and README's table, and draw their picture.

    python -m lab.pages.whole_texts

Both are of the trials in lab/results that the grid `joined` has run, as results.json
names them: trained on single sentences, and on sentences joined at random, and scored
on Docs of more and more.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from lab.extras import import_figure
from lab.trials.results import Estimate, Groups, Result, estimate, read_results
from lab.trials.scores import SENTENCES

from .page import DOCS, RESULTS, fill_all, to_markdown
from .results import CORPORA, HEADINGS, NONE, PLAN, find_trials, pool_deviations

PAGE, README = DOCS / "whole-texts.md", DOCS.parent / "README.md"
PICTURE = PAGE.with_suffix(".png")

#: What is trained, by what: its label, and how it is drawn.
PIPELINES: Mapping[str, Sequence[str]] = PLAN["whole texts"]
#: In Docs of how many sentences tables show F1: the picture has more.
SHOWN = (1, 10)
ARROW = " \N{RIGHTWARDS ARROW} "

Scores = Mapping[str, Sequence[Estimate | None]]


def find_scores(groups: Groups, dataset: str) -> Scores:
    """Find F1 at each number of sentences, of those pipelines that were trained."""
    return {
        trials: [estimate(list_scores(results, n, "ents_f")) for n in SENTENCES]
        for trials in PIPELINES
        if (results := find_trials(groups, dataset, trials))
    }


def make_tables(groups: Groups) -> dict[Any, dict[str, str]]:
    """Make the tables of each page by their names in it."""
    found = {dataset: find_scores(groups, dataset) for dataset in CORPORA}
    rows = [["trained", *HEADINGS.values()]]
    for trials, (label, *_) in PIPELINES.items():
        rows.append([label, *(_format(of.get(trials)) for of in found.values())])
    last = ["deviation"]
    for dataset in CORPORA:
        of_corpus = [of for key, of in groups.items() if key.dataset == dataset]
        pooled = (
            pool_deviations(list_scores(of, n, "ents_f") for of in of_corpus)
            for n in SHOWN
        )
        last.append(ARROW.join(pooled))
    of_page = {"whole texts": to_markdown([*rows, last])}
    chosen = PLAN["whole texts summary"]
    summary = [["F1 on test data", *(PIPELINES[trials][0] for trials in chosen)]]
    for dataset, corpus in CORPORA.items():
        of, (*others, last_chosen) = found[dataset], chosen
        # trained where the bias is not 0
        best = of.get(f"{last_chosen}_balanced") or of.get(last_chosen)
        cells = (*map(of.get, others), best)
        summary.append([corpus, *map(_format, cells)])
    return {PAGE: of_page, README: {"summary": to_markdown(summary)}}


def _format(scores: Sequence[Estimate | None] | None) -> str:
    """Format F1 in Docs of one sentence and of ten."""
    if scores is None:
        return NONE
    shown = (scores[SENTENCES.index(n)] for n in SHOWN)
    return ARROW.join(f"{100 * score.mean:.1f}" if score else NONE for score in shown)


def list_scores(results: Sequence[Result], n: int, key: str) -> list[float]:
    """List the scores of trials that were scored in Docs of so many sentences."""
    joined = (r.recorded.get("joined", {}).get("test", {}) for r in results)
    return [of[str(n)][key] for of in joined if str(n) in of]


def draw(groups: Groups) -> Any:
    """Draw a panel for each corpus: F1 by how many sentences a Doc has."""
    found = {dataset: find_scores(groups, dataset) for dataset in CORPORA}
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
    # a point is as high in each panel
    limits = [panel.get_ylim() for panel in panels]
    height = max(top - bottom for bottom, top in limits)
    for panel, (bottom, top) in zip(panels, limits, strict=True):
        panel.set_ylim((bottom + top - height) / 2, (bottom + top + height) / 2)
    handles, labels = panels[0].get_legend_handles_labels()
    # in the place of a sixth panel
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
