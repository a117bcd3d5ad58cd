"""Fill docs/whole-texts.md, and draw its picture: `python -m lab.pages.whole_texts`.

Both are of the trials in lab/results that the grid `joined` has run: trained on single
sentences, and on sentences joined at random, and scored on Docs of more and more.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.figures import make_panels, render_png
from lab.trials.results import (
    Estimate,
    Groups,
    Result,
    TrialKey,
    estimate,
    read_results,
)
from lab.trials.scores import SENTENCES

from .markdown import to_markdown
from .results import CORPORA, FOLDER, fill, format_score

PAGE = Path(__file__).parents[2] / "docs" / "whole-texts.md"
PICTURE = PAGE.with_suffix(".png")

#: What is trained, by what, and how it is drawn.
PIPELINES = {
    ("multi_hash_embed", "sentences"): "spaCy's default, on sentences",
    ("multi_hash_embed", "joined"): "spaCy's default, joined",
    ("multi_embed_token_ner", "sentences"): "recommended, on sentences",
    ("multi_embed_token_ner", "joined"): "recommended, joined",
}
STYLES = ("#8a8f98", ":o"), ("#8a8f98", "-o"), ("#1b3a57", ":D"), ("#1b3a57", "-D")


def find_scores(
    groups: Groups, dataset: str, split: str = "test"
) -> dict[str, list[Estimate | None]]:
    """Find F1 at each number of sentences, of those pipelines that were trained."""
    found = {
        name: groups[key]
        for trial, name in PIPELINES.items()
        if (key := TrialKey(dataset, *trial)) in groups
    }
    return {name: _estimate(results, split) for name, results in found.items()}


def _estimate(results: Sequence[Result], split: str) -> list[Estimate | None]:
    return [
        estimate(result.joined[split][n]["ents_f"] for result in results)
        for n in SENTENCES
    ]


def make_table(groups: Groups) -> str:
    """Make the table that has a row for each corpus and pipeline."""
    rows = [["corpus", "trained", *map(str, SENTENCES), "seeds"]]
    for dataset, corpus in CORPORA.items():
        for name, scores in find_scores(groups, dataset).items():
            seeds = str(scores[0].n) if scores[0] else ""
            rows.append([corpus, name, *map(format_score, scores), seeds])
            corpus = ""  # said once
    return to_markdown(rows)


def draw(groups: Groups) -> bytes:
    """Draw a panel for each corpus: F1 by how many sentences a Doc has."""
    found = {dataset: find_scores(groups, dataset) for dataset in CORPORA}
    found = {dataset: scores for dataset, scores in found.items() if scores}
    figure, panels = make_panels(len(found), 3, 3.4, 2.6, above=0.4)
    for panel, (dataset, scores) in zip(panels, found.items(), strict=True):
        _draw_panel(panel, scores)
        panel.set_title(CORPORA[dataset], loc="left", fontsize=10)
    # a point is as high in each panel
    limits = [panel.get_ylim() for panel in panels]
    height = max(top - bottom for bottom, top in limits)
    for panel, (bottom, top) in zip(panels, limits, strict=True):
        panel.set_ylim((bottom + top - height) / 2, (bottom + top + height) / 2)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    figure.supxlabel("sentences in a Doc of the test set", fontsize=10)
    figure.supylabel("F1 (percent)", fontsize=10)
    return render_png(figure)


def _draw_panel(panel: Any, scores: Mapping[str, Sequence[Estimate | None]]) -> None:
    for name, (color, line) in zip(PIPELINES.values(), STYLES, strict=True):
        if name in scores:
            values = [100 * score.mean for score in scores[name] if score]
            panel.plot(SENTENCES, values, line, color=color, markersize=4, label=name)
    panel.set_xscale("log")
    panel.set_xticks(SENTENCES, map(str, SENTENCES))
    panel.minorticks_off()
    panel.grid(visible=True, alpha=0.3)


if __name__ == "__main__":
    groups = read_results(FOLDER)
    page = fill(PAGE.read_text(encoding="utf8"), {"whole texts": make_table(groups)})
    PAGE.write_text(page, encoding="utf8")
    PICTURE.write_bytes(draw(groups))
    sys.stdout.write(f"Filled {PAGE} and drew {PICTURE}\n")
