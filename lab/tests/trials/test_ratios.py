"""Ratios, computed by hand."""

import pytest

from lab.trials.ratios import compute_ratios

BASELINE = {
    "score": 0.8,
    "pipeline_parameters": 1000,
    "embedding_parameters": 400,
    "mixing_parameters": 80,
}
MODEL = {
    "score": 0.6,
    "pipeline_parameters": 750,
    "embedding_parameters": 150,
    "mixing_parameters": 70,
}
UNKNOWN = {
    "score": None,
    "pipeline_parameters": None,
    "embedding_parameters": None,
    "mixing_parameters": None,
}


def test_each_ratio():
    ratios = compute_ratios(MODEL, BASELINE)
    assert ratios["prr"] == pytest.approx(0.6 / 0.8)
    assert ratios["pcr_all"] == pytest.approx(1 - 750 / 1000)
    assert ratios["pcr_emb"] == pytest.approx(1 - 150 / 400)
    assert ratios["pcr_tables"] == pytest.approx(1 - (150 - 70) / (400 - 80))
    assert ratios["poep"] == pytest.approx(150 / 750)


def test_beside_itself():
    expected = {"prr": 1, "pcr_all": 0, "pcr_emb": 0, "pcr_tables": 0, "poep": 0.4}
    assert compute_ratios(BASELINE, BASELINE) == expected


@pytest.mark.parametrize(
    ("model", "baseline"), [(UNKNOWN, BASELINE), (BASELINE, UNKNOWN)]
)
def test_what_is_not_known_has_no_ratio(model, baseline):
    ratios = compute_ratios(model, baseline)
    poep = None if model is UNKNOWN else 0.4
    none = dict.fromkeys(("prr", "pcr_all", "pcr_emb", "pcr_tables"))
    assert ratios == {**none, "poep": poep}


def test_nothing_is_divided_by_nothing():
    sizes = ("pipeline_parameters", "embedding_parameters", "mixing_parameters")
    empty = {"score": 0.0, **dict.fromkeys(sizes, 0)}
    none = dict.fromkeys(("prr", "pcr_all", "pcr_emb", "pcr_tables", "poep"))
    assert compute_ratios(empty, empty) == none
    ratios = compute_ratios(empty, BASELINE)
    assert ratios == {**none, "prr": 0, "pcr_all": 1, "pcr_emb": 1, "pcr_tables": 1}


@pytest.mark.parametrize(
    ("score", "baseline", "kept"),
    [(0.5, -0.25, None), (-0.25, 0.5, -0.5), (0.0, 0.5, 0.0), (0.5, 0.0, None)],
)
def test_nothing_is_kept_of_a_score_that_is_not_above_zero(score, baseline, kept):
    model, other = ({**UNKNOWN, "score": each} for each in (score, baseline))
    assert compute_ratios(model, other)["prr"] == kept
