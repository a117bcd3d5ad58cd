"""lab/pages/calibration.py, and its table in ner.md."""

import numpy as np
import pytest

from lab.pages import calibration as script
from lab.pages.page import fill, read_rows
from spacy_hashembeds.components.decoding import apply_calibration
from spacy_hashembeds.tools.evaluate.measures import measure_calibration
from spacy_hashembeds.training.calibration import fit_calibration

TRIAL = ("wnut17", "recommended", "default")


def test_the_page_has_the_table_of_the_measurements():
    rows = read_rows(script.CALIBRATION)
    text = fill(script.PAGE, {"calibration": script.make_table(rows)})
    assert text == script.PAGE.read_text(encoding="utf8")


def make_part(seed: int):
    state = np.random.default_rng(seed)
    scores = state.uniform(0.05, 0.99, size=40)
    return scores, state.random(40) < scores**3


def test_folds_are_calibrated_by_the_other_folds(monkeypatch):
    monkeypatch.setattr(script, "N_DIVISIONS", 1)
    parts = [make_part(seed) for seed in range(5)]  # as many as folds
    errors = []
    for i, (scores, is_right) in enumerate(parts):
        fitted = fit_calibration(*script.join(parts[:i] + parts[i + 1 :]))
        errors += zip(apply_calibration(np.log(scores), fitted), is_right, strict=True)
    found = script.cross_validate(parts)
    expected = measure_calibration(*zip(*errors, strict=True))["error"]
    assert found["after"] == pytest.approx(expected)
    scores, is_right = script.join(parts)
    assert found["before"] == measure_calibration(scores, is_right)["error"]
