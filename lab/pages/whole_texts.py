"""Fill docs/whole-texts.md and README's table, and draw their picture.

    python -m lab.pages.whole_texts

Both are of the trials in lab/results that the grid `joined` has run: trained on single
sentences, and on sentences joined at random, and scored on Docs of more and more.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import ttest_ind

from lab.baseline.recognizer import NAME as CRF
from lab.figures import make_panels, render_png
from lab.papers.multi_hash_embeddings import HASH
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
from .pairs import RECOMMENDED, TOKEN_NER, adjust_p_values
from .results import (
    CORPORA,
    FOLDER,
    HEADINGS,
    NONE,
    fill_all,
    format_test,
    pool_deviations,
)

PAGE = Path(__file__).parents[2] / "docs" / "whole-texts.md"
README = PAGE.parents[1] / "README.md"
PICTURE = PAGE.with_suffix(".png")

#: What is trained, by what, and how it is drawn.
PIPELINES = {
    (HASH, "sentences"): "spaCy's default, on sentences",
    (HASH, "joined"): "spaCy's default, joined",
    (HASH, "joined_averaged"): "spaCy's, averaged, joined",
    (CRF, "default"): "a CRF, on sentences",
    (TOKEN_NER, "sentences"): "without n-grams, on sentences",
    (TOKEN_NER, "joined"): "without n-grams, joined",
    (RECOMMENDED, "joined"): "recommended, joined",
    (RECOMMENDED, "joined_balanced"): "recommended, balanced",
}
#: In Docs of how many sentences tables show F1: the picture has more.
SHOWN = (1, 10)
ARROW = " \N{RIGHTWARDS ARROW} "
#: Those of README's table.
SUMMARY = (
    (HASH, "sentences"),
    (HASH, "joined_averaged"),
    (CRF, "default"),
    (RECOMMENDED, "joined"),
)
#: What is tested: of two trials, in Docs of so many sentences, which entities.
TESTED = (
    (
        "spaCy's default, joined against on sentences",
        ((HASH, "joined"), (HASH, "sentences")),
        {1: ("all",), 10: ("all",)},
    ),
    (
        "without n-grams, joined against on sentences",
        ((TOKEN_NER, "joined"), (TOKEN_NER, "sentences")),
        {1: ("all",), 10: ("all",)},
    ),
    (
        "recommended against without n-grams, joined",
        ((RECOMMENDED, "joined"), (TOKEN_NER, "joined")),
        {1: ("all",), 10: ("all", "unseen")},
    ),
    (
        "recommended against spaCy's, averaged, joined",
        ((RECOMMENDED, "joined"), (HASH, "joined_averaged")),
        {10: ("all", "seen", "unseen")},
    ),
)
STYLES = (
    *(("#8a8f98", ":o"), ("#8a8f98", "-o"), ("#8a8f98", "-v"), ("#b5762a", ":^")),
    *(("#7aa6c2", ":D"), ("#7aa6c2", "-D"), ("#1b3a57", "-s"), ("#3f7f4f", "-P")),
)


def find_scores(groups: Groups, dataset: str) -> dict[str, list[Estimate | None]]:
    """Find F1 at each number of sentences, of those pipelines that were trained."""
    return {
        name: [
            estimate(result.joined["test"][n]["ents_f"] for result in groups[key])
            for n in SENTENCES
        ]
        for trial, name in PIPELINES.items()
        if (key := TrialKey(dataset, *trial)) in groups
    }


def make_tables(groups: Groups) -> dict[Path, dict[str, str]]:
    """Make the tables of each page by their names in it."""
    return {
        PAGE: {
            "whole texts": make_table(groups),
            "differences on whole texts": make_difference_table(groups),
        },
        README: {"summary": make_summary(groups)},
    }


def make_table(groups: Groups) -> str:
    """Make the table that has a row for each pipeline, and a column for each corpus."""
    found = [find_scores(groups, dataset) for dataset in CORPORA]
    rows = [["trained", *HEADINGS.values()]]
    for name in PIPELINES.values():
        rows.append([name, *(_format_means(scores.get(name)) for scores in found)])
    rows.append(["deviation", *(_format_deviations(groups, d) for d in CORPORA)])
    return to_markdown(rows)


def _format_means(scores: Sequence[Estimate | None] | None) -> str:
    """Format F1 in Docs of one sentence and of ten."""
    if scores is None:
        return NONE
    shown = (scores[SENTENCES.index(n)] for n in SHOWN)
    return ARROW.join(f"{100 * score.mean:.1f}" if score else NONE for score in shown)


def _format_deviations(groups: Groups, dataset: str) -> str:
    """Format the deviation that all trials of a corpus have in common, likewise."""
    of_corpus = [results for key, results in groups.items() if key.dataset == dataset]
    found = ([[*_list_scores(of, n, "ents_f")] for of in of_corpus] for n in SHOWN)
    several = ([sample for sample in samples if len(sample) > 1] for samples in found)
    return ARROW.join(f"{100 * pool_deviations(samples):.1f}" for samples in several)


def make_summary(groups: Groups) -> str:
    """Make README's table: F1 in Docs of one sentence, and of ten."""
    names = [PIPELINES[trial] for trial in SUMMARY]
    rows = [["F1 on test data", *names]]
    for dataset, corpus in CORPORA.items():
        found = find_scores(groups, dataset)
        if balanced := found.get(PIPELINES[RECOMMENDED, "joined_balanced"]):
            found[names[-1]] = balanced  # trained where the bias is not 0
        rows.append([corpus, *(_format_means(found.get(name)) for name in names)])
    return to_markdown(rows)


def make_difference_table(groups: Groups) -> str:
    """Make a table of differences between trials, with p over their seeds.

    Corrected for all tests of the table; marked where it is small.
    """
    found = {
        (name, n, kind): [_test(groups, d, trials, n, kind) for d in CORPORA]
        for name, trials, numbers in TESTED
        for n, kinds in numbers.items()
        for kind in kinds
    }
    tests = [test for row in found.values() for test in row if test]
    adjusted = iter(adjust_p_values([p for _, p in tests]))
    rows = [["compared", "in Docs of", *HEADINGS.values()]]
    said = ""
    for (name, n, kind), row in found.items():
        cells = [
            test and format_test(test[0], {"seeds_p_value": next(adjusted)})
            for test in row
        ]
        compared = "" if name == said else name
        what = str(n) if kind == "all" else f"{n}, {kind}"
        rows.append([compared, what, *(cell or NONE for cell in cells)])
        said = name
    return to_markdown(rows)


def _test(
    groups: Groups, dataset: str, trials: Sequence[tuple[str, str]], n: int, kind: str
) -> tuple[float, float] | None:
    """Give the difference of two trials, if both have seeds, and p by Welch's test;
    none of seen and unseen entities where no entity is seen.
    """
    first, second = (groups.get(TrialKey(dataset, *trial), ()) for trial in trials)
    if kind != "all" and not any(_list_scores(first, n, "ents_seen_f")):
        return None
    key = "ents_f" if kind == "all" else f"ents_{kind}_f"
    ours, theirs = (list(_list_scores(of, n, key)) for of in (first, second))
    if min(len(ours), len(theirs)) < 2:
        return None
    difference = fmean(ours) - fmean(theirs)
    return difference, float(ttest_ind(ours, theirs, equal_var=False).pvalue)


def _list_scores(results: Sequence[Result], n: int, key: str) -> Iterator[float]:
    """List the scores of trials that were scored in Docs of so many sentences."""
    for result in results:
        score = result.joined.get("test", {}).get(n, {}).get(key)
        if score is not None:
            yield score


def draw(groups: Groups) -> bytes:
    """Draw a panel for each corpus: F1 by how many sentences a Doc has."""
    found = {dataset: find_scores(groups, dataset) for dataset in CORPORA}
    found = {dataset: scores for dataset, scores in found.items() if scores}
    figure, panels = make_panels(len(found), 2, 2.8, 2.2, above=0.2)
    for panel, (dataset, scores) in zip(panels, found.items(), strict=True):
        _draw_panel(panel, scores)
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
    fill_all(make_tables(groups))
    PICTURE.write_bytes(draw(groups))
    sys.stdout.write(f"Drew {PICTURE}\n")
