"""What `spacy hashembeds config` says of its choices, beside what was measured."""

from statistics import fmean

import pytest

from lab.pages.calibration import CALIBRATION
from lab.pages.markdown import read_measured
from lab.papers.paper import read_paper
from lab.trials.results import Groups, TrialKey
from spacy_hashembeds.analysis import recommendation

HASH, LOOKUP = "multi_hash_embed", "multi_embed"
RECOMMENDED, SUBWORDS = "multi_embed_token_ner", "subword_token_ner"
PRETRAINED, AVERAGED = "pretrain_recommended", "steps2400_averaged"
DATASETS = ("wnut17", "anem", "conll2002_es", "conll2002_nl")


def read_f1(groups: Groups, key: TrialKey, sentences: int | None) -> dict[int, float]:
    """F1 on test data by seed, of Docs as they are or of so many sentences."""
    if sentences is None:
        return {r.seed: r.scores["test"]["ents_f"] for r in groups[key]}
    return {r.seed: r.joined["test"][sentences]["ents_f"] for r in groups[key]}


def check_gain(
    groups: Groups,
    printed: float,
    dataset: str,
    ours: tuple[str, str],
    theirs: tuple[str, str],
    sentences: int | None = None,
) -> int:
    """Check points that one trial gains on another, and say over how many seeds."""
    first, second = (
        read_f1(groups, TrialKey(dataset, *trials), sentences)
        for trials in (ours, theirs)
    )
    seeds = first.keys() & second.keys()
    gained = 100 * fmean(first[seed] - second[seed] for seed in seeds)
    assert printed == pytest.approx(gained, abs=0.051)
    return len(seeds)


@pytest.mark.parametrize(
    ("points", "ours", "theirs"),
    [
        ("LOOKUP", (LOOKUP, AVERAGED), (HASH, AVERAGED)),
        ("AVERAGES", (LOOKUP, AVERAGED), (LOOKUP, "steps2400")),
        ("TOKEN_NER", (RECOMMENDED, AVERAGED), (LOOKUP, AVERAGED)),
        ("ALL", (SUBWORDS, "joined"), (HASH, "steps2400")),
    ],
)
def test_what_choices_are_worth_is_what_was_measured(groups, points, ours, theirs):
    for dataset, printed in zip(DATASETS, recommendation.POINTS[points], strict=True):
        seeds = check_gain(groups, printed, dataset, ours, theirs)
        assert seeds >= recommendation.SEEDS


@pytest.mark.parametrize(("name", "sentences"), [("TEXTS", 10), ("SENTENCES", 1)])
@pytest.mark.parametrize(
    ("points", "ours", "theirs"),
    [
        ("POINTS_JOINED", (RECOMMENDED, "joined"), (RECOMMENDED, "sentences")),
        ("POINTS_SUBWORDS", (SUBWORDS, "joined"), (RECOMMENDED, "joined")),
    ],
)
def test_what_is_gained_on_whole_texts_is_what_was_measured(
    groups, points, ours, theirs, name, sentences
):
    every = getattr(recommendation, points)[name]
    for dataset, printed in zip(DATASETS, every, strict=True):
        check_gain(groups, printed, dataset, ours, theirs, sentences)


def test_what_pretraining_is_worth_is_what_was_measured(groups):
    trials = (PRETRAINED, "pretrained2400"), (RECOMMENDED, "depth4")
    check_gain(groups, recommendation.PRETRAINED_POINTS, "wnut17", *trials)


def test_what_calibration_is_worth_is_what_was_measured():
    measured = read_measured(CALIBRATION)
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


@pytest.mark.parametrize(
    ("table", "dataset", "difference"),
    [("15", "anem", 0.11), ("16", "conll2002_nl", -0.04)],
)
def test_the_report_said_so(table, dataset, difference):
    one, ten = (
        read_paper().get_printed(table, dataset, f"me_{freq}") for freq in (1, 10)
    )
    assert one.mean - ten.mean == pytest.approx(difference)
