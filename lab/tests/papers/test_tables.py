import pytest

from lab.papers.tables import compare, divide, relative_error_increase, subtract
from lab.trials.results import Estimate

# F1 scores of two decimals that give the percentages of tables 2 and 3.
ABLATIONS = [
    ([0.70, 0.65, 0.61, 0.56, 0.55], [17, 30, 47, 50]),
    ([0.95, 0.95, 0.91, 0.90, 0.87], [0, 80, 100, 160]),
    ([0.74, 0.82, 0.86, 0.83, 0.83], [-31, -46, -35, -35]),
    ([0.25, 0.23, 0.21, 0.16, 0.13], [3, 5, 12, 16]),
]


@pytest.mark.parametrize(
    ("kind", "ours", "printed", "differs"),
    [
        # 2 sqrt(0.03^2 + 0.04^2) = 0.1
        ("score", (0.601, 0.03), (0.50, 0.04), True),
        ("score", (0.599, 0.03), (0.50, 0.04), False),
        ("score", (0.399, 0.03), (0.50, 0.04), True),
        # a deviation printed as 0.00 counts as 0.005, so that 0.01 is not a difference
        ("score", (0.509, 0.0), (0.50, 0.0), False),
        ("score", (0.511, 0.0), (0.50, 0.0), True),
        # an unknown deviation is replaced by the other one: 2 sqrt(2) 0.01
        ("score", (0.528, None), (0.50, 0.01), False),
        ("score", (0.529, None), (0.50, 0.01), True),
        ("score", (0.529, 0.01), (0.50, None), True),
        ("score", (0.9, None), (0.1, None), False),
        # printed to a tenth of a percent, or to a hundredth: 2 * 0.0005, 2 * 0.00005
        ("exact", (0.9009, 0.0), (0.9, None), False),
        ("exact", (0.8989, 0.0), (0.9, None), True),
        ("fine", (0.90011, 0.0), (0.9, None), True),
        # counts must be equal to the last printed place
        ("count", (8324, None), (8323, None), True),
        ("decimal", (2.2586, None), (2.25, None), True),
        ("decimal", (2.2549, None), (2.25, None), False),
        # truncated, not rounded
        ("thousands", (23.299, None), (23.3, None), True),
        ("thousands", (23.399, None), (23.3, None), False),
    ],
)
def test_differences_beyond_chance_and_rounding_are_marked(
    kind, ours, printed, differs
):
    own, theirs = (Estimate(mean=m, population_sd=d, n=3) for m, d in (ours, printed))
    cell = compare(own, theirs, kind)
    assert (cell.ours, cell.printed) == (own, theirs)
    assert cell.differs is differs
    # missing figures do not differ
    assert not compare(None, theirs, kind).differs
    assert not compare(own, None, kind).differs


@pytest.mark.parametrize(("scores", "percentages"), ABLATIONS)
def test_relative_errors_give_the_reports_percentages(scores, percentages):
    baseline, *others = (Estimate(mean=score, n=3) for score in scores)
    increases = [relative_error_increase(f, baseline) for f in others]
    assert [round(100 * increase.mean) for increase in increases] == percentages


def test_deviations_of_differences_and_quotients():
    mean = Estimate(mean=0.5, population_sd=0.03, n=3)
    other = Estimate(mean=0.25, population_sd=0.04, n=2)
    expected = Estimate(mean=0.25, population_sd=pytest.approx(0.05), n=2)
    assert subtract(mean, other) == expected
    one_seed = Estimate(mean=0.25, n=1)
    assert subtract(mean, one_seed) == Estimate(mean=0.25, n=1)
    assert subtract(None, mean) is subtract(mean, None) is None
    # relative deviations of 0.06 and 0.16, to first order
    ratio = divide(mean, other)
    assert (ratio.mean, ratio.n) == (2, 2)
    assert ratio.population_sd == pytest.approx(2 * (0.06**2 + 0.16**2) ** 0.5)
