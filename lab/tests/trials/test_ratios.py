"""Ratios, computed by hand."""

import pytest

from lab.trials.ratios import compute_ratios

KEYS = ("score", "pipeline_parameters", "embedding_parameters", "mixing_parameters")


def make(*values: float | None) -> dict[str, float | None]:
    return dict(zip(KEYS, values, strict=True))


BASELINE = make(0.8, 1000, 400, 80)
UNKNOWN = make(None, None, None, None)
EMPTY = make(0.0, 0, 0, 0)


@pytest.mark.parametrize(
    ("model", "baseline", "expected"),
    [
        (make(0.6, 750, 150, 70), BASELINE, [0.75, 0.25, 0.625, 0.75, 0.2]),
        (BASELINE, BASELINE, [1, 0, 0, 0, 0.4]),
        (UNKNOWN, BASELINE, [None, None, None, None, None]),
        (BASELINE, UNKNOWN, [None, None, None, None, 0.4]),
        # nothing is divided by nothing
        (EMPTY, EMPTY, [None, None, None, None, None]),
        (EMPTY, BASELINE, [0, 1, 1, 1, None]),
    ],
)
def test_each_ratio(model, baseline, expected):
    ratios = compute_ratios(model, baseline)
    assert list(ratios) == ["prr", "pcr_all", "pcr_emb", "pcr_tables", "poep"]
    assert list(ratios.values()) == pytest.approx(expected)
