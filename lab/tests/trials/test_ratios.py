"""Ratios equal ratios computed by hand."""

import pytest

from lab.trials.ratios import compute_ratios

KEYS = ("score", "pipeline_parameters", "embedding_parameters", "mixing_parameters")
BASELINE, UNKNOWN, EMPTY = (0.8, 1000, 400, 80), (None,) * 4, (0.0, 0, 0, 0)


@pytest.mark.parametrize(
    ("model", "baseline", "expected"),
    [
        ((0.6, 750, 150, 70), BASELINE, [0.75, 0.25, 0.625, 0.75, 0.2]),
        (UNKNOWN, BASELINE, [None] * 5),
        (BASELINE, UNKNOWN, [None, None, None, None, 0.4]),
        # divisions by 0 give None
        (EMPTY, EMPTY, [None] * 5),
        (EMPTY, BASELINE, [0, 1, 1, 1, None]),
    ],
)
def test_each_ratio(model, baseline, expected):
    both = (dict(zip(KEYS, values, strict=True)) for values in (model, baseline))
    ratios = compute_ratios(*both)
    assert list(ratios) == ["prr", "pcr_all", "pcr_emb", "pcr_tables", "poep"]
    assert list(ratios.values()) == pytest.approx(expected)
