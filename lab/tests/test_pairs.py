"""lab/pages/pairs.py: significance tests of the embedders of docs/results.md."""

import pytest

from lab.pages.pairs import adjust_p_values

LOOKUP, FEWER = ("multi_embed", "equal"), ("multi_fewer_hash_embed", "equal")


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        # that of Wikipedia's "Holm-Bonferroni method", and R's p.adjust(…, "holm")
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.01, 0.02, 0.03, 0.04, 0.05], [0.05, 0.08, 0.09, 0.09, 0.09]),
        ([0.6, 0.02, 0.9], [1.0, 0.06, 1.0]),
        ([0.2], [0.2]),
        ([], []),
    ],
)
def test_p_values_are_adjusted_as_by_holm(p_values, expected):
    assert adjust_p_values(p_values) == pytest.approx(expected)
