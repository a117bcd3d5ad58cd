"""What `spacy hashembeds config` says of its choices, beside what was measured."""

from statistics import fmean

import pytest

from lab.pages import calibration
from lab.papers.paper import read_paper
from lab.trials.results import TrialKey, read_results
from spacy_hashembeds.analysis import recommendation
from tests.conftest import ROOT

HASH, LOOKUP = "multi_hash_embed", "multi_embed"
RECOMMENDED = "multi_embed_token_ner"
DATASETS = ("wnut17", "anem", "conll2002_es", "conll2002_nl")


@pytest.mark.parametrize(
    ("points", "ours", "theirs"),
    [
        ("LOOKUP", (LOOKUP, "_averaged"), (HASH, "_averaged")),
        ("AVERAGES", (LOOKUP, "_averaged"), (LOOKUP, "")),
        ("TOKEN_NER", (RECOMMENDED, "_averaged"), (LOOKUP, "_averaged")),
        ("ALL", (RECOMMENDED, "_chosen"), (HASH, "")),
    ],
)
def test_what_choices_are_worth_is_what_was_measured(points, ours, theirs):
    groups = read_results(ROOT / "lab" / "results")
    for dataset, printed in zip(DATASETS, recommendation.POINTS[points], strict=True):
        first, second = (
            {r.seed: r.scores["test"]["ents_f"] for r in groups[key]}
            for embedder, variant in (ours, theirs)
            for key in [TrialKey(dataset, embedder, name_variant(variant, dataset))]
        )
        seeds = first.keys() & second.keys()
        assert len(seeds) >= recommendation.SEEDS
        difference = fmean(first[seed] - second[seed] for seed in seeds)
        assert printed == pytest.approx(100 * difference, abs=0.051)


@pytest.mark.parametrize(("name", "sentences"), [("TEXTS", 10), ("SENTENCES", 1)])
@pytest.mark.parametrize(
    ("points", "ours", "theirs"),
    [
        (
            recommendation.POINTS_JOINED,
            (RECOMMENDED, "joined"),
            (RECOMMENDED, "sentences"),
        ),
        (
            recommendation.POINTS_SUBWORDS,
            ("subword_token_ner", "joined"),
            (RECOMMENDED, "joined"),
        ),
    ],
    ids=["joining", "n-grams"],
)
def test_what_is_gained_on_whole_texts_is_what_was_measured(
    points, ours, theirs, name, sentences
):
    groups = read_results(ROOT / "lab" / "results")
    for dataset, printed in zip(DATASETS, points[name], strict=True):
        first, second = (
            {r.seed: r.joined["test"][sentences]["ents_f"] for r in groups[key]}
            for key in (TrialKey(dataset, *ours), TrialKey(dataset, *theirs))
        )
        seeds = first.keys() & second.keys()
        difference = fmean(first[seed] - second[seed] for seed in seeds)
        assert printed == pytest.approx(100 * difference, abs=0.051)


def test_what_pretraining_is_worth_is_what_was_measured():
    groups = read_results(ROOT / "lab" / "results")
    keys = ("pretrain_recommended", "pretrained2400"), (RECOMMENDED, "depth4")
    first, second = (
        {r.seed: r.scores["test"]["ents_f"] for r in groups[TrialKey("wnut17", *key)]}
        for key in keys
    )
    assert first.keys() == second.keys()
    gained = 100 * fmean(first[seed] - second[seed] for seed in first)
    assert pytest.approx(gained, abs=0.051) == recommendation.PRETRAINED_POINTS


def test_what_calibration_is_worth_is_what_was_measured():
    measured = calibration.read_measured(calibration.CALIBRATION)
    said = recommendation.CALIBRATION
    for dataset in DATASETS:
        rows = [row for row in measured if row["dataset"] == dataset]
        errors = (fmean(row["dev"][key] for row in rows) for key in ("before", "after"))
        assert " and ".join(f"{100 * error:.1f}" for error in errors) in said
        balanced = [row["balance"]["dev"] for row in rows if "balance" in row]
        before, after = (fmean(f1) for f1 in zip(*balanced, strict=True))
        gained = 100 * (after - before)
        if dataset == "wnut17":
            assert f"gains {gained:.1f} points on WNUT 2017" in said
        else:
            assert abs(gained) < 0.05


def name_variant(variant: str, dataset: str) -> str:
    """Name trials; `config` chooses 3 as `min_freq` for the corpora of CoNLL 2002."""
    if variant == "_chosen":
        return "min_freq3" if "conll" in dataset else "steps2400_averaged"
    return f"steps2400{variant}"


def test_the_report_said_so():
    for table, dataset, difference in ((15, "anem", 0.11), (16, "conll2002_nl", -0.04)):
        one, ten = (
            read_paper().get_printed(str(table), dataset, f"me_{freq}")
            for freq in (1, 10)
        )
        assert one.mean - ten.mean == pytest.approx(difference)
