"""Draw ladder.png: F1 on test data, rung by rung: `python -m lab.pages.ladder`.

The rungs are those of `ladder` in results.json; whiskers are deviations over
the seeds of training.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.figures import make_panels, render_png
from lab.trials.results import Groups, Result, TrialKey, estimate_score, read_results

from .results import CORPORA, FOLDER, LADDER

PICTURE = Path(__file__).parents[2] / "docs" / "ladder.png"

#: Colour and mark of each kind of entities.
STYLES = {
    "all": ("ents_f", "#1b3a57", "o"),
    "seen in training": ("ents_seen_f", "#3f7f4f", "^"),
    "unseen": ("ents_unseen_f", "#c8701a", "D"),
}


#: The colour of what others are compared with.
BASELINE = "#b3261e"


def draw_ladder(groups: Groups) -> bytes:
    """Draw a panel for each corpus that has two rungs or more."""
    found = {
        dataset: {
            label: groups[key][: LADDER["most_seeds"]]
            for trials, label in LADDER["rows"].items()
            if (key := TrialKey(dataset, *trials.split("/"))) in groups
        }
        for dataset in CORPORA
    }
    datasets = [dataset for dataset, rungs in found.items() if len(rungs) > 1]
    figure, panels = make_panels(len(datasets), 1, 5.6, 2.6, above=0.5)
    for panel, dataset in zip(panels, datasets, strict=True):
        _draw_panel(panel, found[dataset])
        panel.set_title(CORPORA[dataset], loc="left", fontsize=10)
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figure.supxlabel("F1 on the test set (percent)", fontsize=10)
    return render_png(figure)


def _draw_panel(panel: Any, rungs: Mapping[str, Sequence[Result]]) -> None:
    has_seen = all(estimate_score(r, "test", "ents_seen_f") for r in rungs.values())
    for name, (score, color, mark) in STYLES.items():
        if has_seen or name == "all":  # without seen ones the unseen are all
            scores = [estimate_score(r, "test", score) for r in rungs.values()]
            panel.errorbar(
                [100 * s.mean for s in scores if s],
                range(len(rungs)),
                xerr=[100 * (s.deviation or 0) for s in scores if s],
                **{"label": name, "color": color, "marker": mark, "capsize": 2},
                **{"linestyle": "none", "markersize": 5},
            )
    names = [label.replace("`", "") for label in rungs]
    panel.set_yticks(range(len(rungs)), names, fontsize=9)
    for name, label in zip(names, panel.get_yticklabels(), strict=True):
        label.set_color(BASELINE if name.startswith("spaCy") else "black")
    panel.invert_yaxis()
    panel.grid(visible=True, alpha=0.3)


if __name__ == "__main__":
    PICTURE.write_bytes(draw_ladder(read_results(FOLDER)))
    sys.stdout.write(f"Drew {PICTURE}\n")
