"""docs/results.md and docs/trials.md, with the trials behind them in lab/results/."""

import re
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from scipy.stats import t as student

from lab.pages import results as script
from lab.papers.multi_hash_embeddings import HASH
from lab.papers.page import make_page, write_page
from lab.trials.results import (
    ABLATION,
    ATTENTION,
    Result,
    TrialKey,
    estimate_score,
    select_task,
)
from spacy_hashembeds.evaluation.bootstrap import Draws, compare_scores
from spacy_hashembeds.evaluation.counts import score_counts
from spacy_hashembeds.evaluation.tasks import NER
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "results.md"
FOLDER = ROOT / "lab" / "results"


def test_the_tables_of_the_pages_are_those_of_the_trials(groups):
    measured = map(script.read_measured, (script.PAIRS, script.MISSPELLINGS))
    for page, tables in script.make_tables(groups, *measured).items():
        assert script.fill(page, tables) == page.read_text(encoding="utf8")


def test_the_p_values_of_the_page_are_those_of_the_counts(groups):
    pairs = import_module("lab.pages.pairs")
    assert pairs.compare_pairs(groups) == script.read_measured(script.PAIRS)


def test_the_pipelines_that_evaluate_compares_are_those_of_the_counts(groups):
    pairs = import_module("lab.pages.pairs")
    ours, theirs = (
        pairs.read_counts(groups[TrialKey("wnut17", embedder, "steps2400")])[0]
        for embedder in ("multi_embed", "multi_hash_embed")
    )
    page = PAGE.with_name("evaluate.md").read_text(encoding="utf8")
    shown = [line.split() for line in page.splitlines()]
    found = compare_scores(ours, theirs, Draws(samples=5000, seed=0))[0]
    both = [100 * score_counts(counts.sum(axis=0)[0]) for counts in (ours, theirs)]
    for key, score, other in zip("prf", *both, strict=True):
        tested = getattr(found, key)
        low, high = (100 * bound for bound in tested.interval)
        row = f"{score:.2f} {other:.2f} {score - other:+.2f} {low:.1f}..{high:.1f}"
        expected = ["All", key.upper(), *row.split(), f"{tested.p_value:.4f}"]
        assert expected in shown


#: Corpora of which the page says what parts of the recommended pipeline gain.
WNUT, ANEM, ARCHAEOLOGY = "wnut17", "anem", "archaeology"
SPANISH, DUTCH = "conll2002_es", "conll2002_nl"
CHOSEN = {ANEM, SPANISH, DUTCH, ARCHAEOLOGY}


def find_tests(part: int, kind: str = "all") -> dict[str, Any]:
    """The tests in a row of the table of differences, by their corpus."""
    row = script.PLAN["differences"][part]
    return {
        pair["dataset"]: pair["differences"][kind]
        for pair in script.read_measured(script.PAIRS)
        for names in [("/".join(pair["first"]), "/".join(pair["second"]))]
        if names == tuple(row["pair"])
        if pair["differences"][kind]
    }


ALL = CHOSEN | {WNUT}


@pytest.mark.parametrize(
    ("part", "kind", "over_documents", "over_seeds", "losses"),
    [
        (0, "all", ALL, {ANEM, DUTCH}, set()),
        (1, "all", ALL, CHOSEN, set()),
        (1, "seen", set(), set(), set()),
        (1, "unseen", CHOSEN, CHOSEN, set()),
        (2, "all", ALL, CHOSEN, set()),
        (2, "unseen", CHOSEN, CHOSEN, set()),
        (3, "all", {ANEM}, {ANEM, ARCHAEOLOGY}, set()),
        (4, "all", {ANEM, ARCHAEOLOGY}, {ANEM, ARCHAEOLOGY}, set()),
        (5, "all", set(), set(), set()),
        (6, "all", {WNUT, DUTCH}, set(), set()),
        (6, "seen", set(), set(), {ANEM}),
        (7, "all", {ANEM, SPANISH, DUTCH}, set(), set()),
        (8, "all", {ANEM}, set(), set()),
        (9, "all", {WNUT}, {WNUT}, set()),
        (10, "all", set(), set(), set()),
    ],
)
def test_what_is_said_to_gain_gains_by_the_tests(
    part, kind, over_documents, over_seeds, losses
):
    tests = find_tests(part, kind)
    for key, gains in (
        ("adjusted_p_value", over_documents),
        ("adjusted_seeds_p_value", over_seeds),
    ):
        counts = {d: t["difference"] for d, t in tests.items() if t[key] < 0.05}
        assert {d for d, difference in counts.items() if difference > 0} == gains
        lost = losses if key == "adjusted_p_value" else set()
        assert {d for d, difference in counts.items() if difference < 0} == lost


@pytest.mark.parametrize(
    ("sentence", "part", "kind", "corpora"),
    [
        (1, 0, "all", (WNUT, ANEM, SPANISH, DUTCH, ARCHAEOLOGY)),
        (2, 1, "all", (WNUT, ANEM, SPANISH, DUTCH, ARCHAEOLOGY)),
        (3, 1, "unseen", (ANEM, SPANISH, DUTCH, ARCHAEOLOGY)),
        (3, 1, "seen", (ANEM, SPANISH, DUTCH, ARCHAEOLOGY)),
        (4, 6, "seen", (ANEM,)),
        (5, 9, "all", (WNUT,)),
        *((5, 3, "all", (corpus,)) for corpus in (ANEM, SPANISH, DUTCH, ARCHAEOLOGY)),
        (5, 4, "all", (ANEM, SPANISH, DUTCH, ARCHAEOLOGY)),
        (5, 5, "all", (WNUT,)),
    ],
)
def test_points_of_the_first_sentences_are_those_of_the_tests(
    sentence, part, kind, corpora
):
    sentences = re.split(r"^\d\. ", PAGE.read_text(encoding="utf8"), flags=re.M)
    tests = find_tests(part, kind)
    for dataset in corpora:
        points = f"{100 * abs(tests[dataset]['difference']):.1f}"
        assert points in re.findall(r"\d+\.\d", sentences[sentence])


def test_the_page_says_how_many_tests_there_are():
    pairs = script.read_measured(script.PAIRS)
    n_tests = sum(bool(t) for pair in pairs for t in pair["differences"].values())
    assert f"for all {n_tests} tests of their kind" in PAGE.read_text(encoding="utf8")


def test_what_is_said_of_the_baseline_is_so(groups):
    said = " ".join(PAGE.read_text(encoding="utf8").split()).split("A [CRF]")[1]

    def is_below(dataset: str, other: str, first: str = "crf/default") -> float:
        found = (script.find_trials(groups, dataset, each) for each in (first, other))
        ours, theirs = (estimate_score(each[:5], "test", "ents_f") for each in found)
        return 100 * (theirs.mean - ours.mean)

    plain, balanced, best = (
        f"subword_token_ner/joined{x}" for x in ("", "_balanced", "_balanced_dropout03")
    )
    gained, ahead = is_below(WNUT, balanced, plain), -is_below(WNUT, balanced)
    assert f"gains the pipeline {gained:.1f} points" in said
    assert f"and the CRF is ahead by {ahead:.1f}, which" in said
    f1 = estimate_score(script.find_trials(groups, WNUT, best)[:5], "test", "ents_f")
    found = f"has {100 * f1.mean:.1f} and is ahead by {is_below(WNUT, best):.1f}"
    assert f"the pipeline {found}" in said


def test_what_the_page_names_was_trained(groups):
    parts = script.PLAN["differences"]
    paired = {trials for part in parts for trials in part["pair"]}
    tables = [script.LADDER, *script.TABLES.values()]
    named = paired.union(script.PLAN["misspellings"])
    corpora = {key.dataset for key in groups}
    for trials in named.union(*(table["rows"] for table in tables)):
        assert any(script.find_trials(groups, d, trials) for d in corpora), trials


def test_a_page_without_a_place_for_a_table_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("# Results\n")
    with pytest.raises(ValueError, match=r"page\.md' should .* the table 'trials'"):
        script.fill(tmp_path / "page.md", {"trials": "| a |"})


def make_seeds(result: Result, *f1: float, **key: str) -> dict[TrialKey, list[Result]]:
    """Trials like one that was run, with so many seeds, of these scores."""
    key = {"dataset": "wnut17", "variant": "steps2400", **key}
    scores: list[Mapping[str, Any]] = [{"test": {"ents_f": value}} for value in f1]
    results = [replace(result, seed=i, scores=s) for i, s in enumerate(scores)]
    return {TrialKey(**key): results}


def test_the_ladder_says_seeds_where_they_are_not_as_many_as_usual(groups):
    result = next(iter(groups.values()))[0]
    seeds = make_seeds(result, 0.1, 0.2, 0.3, embedder=HASH)
    seeds |= make_seeds(result, *[0.2] * 7, dataset="anem", embedder=HASH)
    seeds |= make_seeds(result, 0.4, dataset="archaeology", embedder=HASH)
    (size,) = {r.bytes_on_disk / 1e6 for of in seeds.values() for r in of}
    lines = script.make_ladder(seeds).splitlines()
    found = {row[0]: row[1:] for row in (line[2:-2].split(" | ") for line in lines)}
    cells = ["20.0 (3)", "20.0", "", "", "40.0 (1)", f"{size:.1f}"]
    assert found["spaCy's tables, `ner`"] == cells
    assert found["deviation"] == ["10.0", "0.0", *3 * [script.NONE], ""]


def test_differences_are_marked_by_what_is_small():
    over_documents, over_seeds = script.P_VALUES
    p_values = {over_documents: 0.049, over_seeds: 0.05}
    assert script.format_test(-0.0123, p_values) == "\N{MINUS SIGN}1.2\N{DAGGER}"
    p_values[over_seeds] = 0.01
    marks = "\N{DAGGER}\N{DOUBLE DAGGER}"
    assert script.format_test(0.0123, p_values) == f"+1.2{marks}"


def test_deviations_in_common_are_of_all_seeds_from_their_means():
    # squares of 0.02 twice, and of 0.02 twice, by two degrees of freedom and one
    samples = [[0.10, 0.14, 0.12], [0.30, 0.34]]
    assert script.pool_deviations(samples) == pytest.approx((16e-4 / 3) ** 0.5)


def test_means_have_to_be_apart_by_t_of_the_deviation_in_common(groups):
    page = " ".join(PAGE.read_text(encoding="utf8").split())
    (said,) = re.findall(
        r"by (\d) deviations with one seed each, (.*?) with five", page
    )
    factors = [
        float(x) for x in " ".join(said).replace(",", "").split() if x[0].isdigit()
    ]
    for dataset in script.CORPORA:
        found = (script.find_trials(groups, dataset, t) for t in script.LADDER["rows"])
        freedom = sum(len(of[:5]) - 1 for of in found if of)
        t = student.ppf(0.975, freedom)
        expected = [t * (2 / n) ** 0.5 for n in (1, 2, 3, 5)]
        assert factors == pytest.approx(expected, abs=0.16)


def test_every_file_is_a_table_or_beside_the_results(groups):
    paths = {path for path in FOLDER.rglob("*") if path.is_file()}
    tables = {FOLDER / f"{key.dataset}.jsonl" for key in groups}
    assert {path.name for path in paths - tables} == {ABLATION, ATTENTION}


def test_the_report_is_filled_from_them(groups, tmp_path):
    report = make_page(FOLDER)
    write_page(report, tmp_path / "report.html")
    assert report.n_results == sum(map(len, select_task(groups, NER).values()))
    assert "CoNLL nl" in (tmp_path / "report.html").read_text(encoding="utf8")


def test_the_ladder_is_drawn_with_a_rung_for_each_row(groups, monkeypatch):
    ladder = import_module("lab.pages.ladder")
    drawn = {}
    draw_panel = ladder._draw_panel
    monkeypatch.setattr(
        ladder,
        "_draw_panel",
        lambda panel, rungs: (
            drawn.update({len(drawn): panel}) or draw_panel(panel, rungs)
        ),
    )
    assert ladder.draw_ladder(groups).startswith(b"\x89PNG")
    wnut, anem, *_ = drawn.values()
    labels = [label.get_text() for label in wnut.get_yticklabels()]
    names = script.LADDER["rows"].values()
    assert set(labels) <= {name.replace("`", "") for name in names}
    # all entities of WNUT 2017 are unseen
    assert len(wnut.get_legend_handles_labels()[1]) == 1
    assert len(anem.get_legend_handles_labels()[1]) == 3
