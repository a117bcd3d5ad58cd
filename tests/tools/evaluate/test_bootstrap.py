from itertools import product
from math import comb

import numpy as np
import pytest

from spacy_hashembeds.tools.evaluate import bootstrap
from spacy_hashembeds.tools.evaluate.bootstrap import (
    Draws,
    bootstrap_scores,
    compare_scores,
)
from spacy_hashembeds.training.scorer import score_counts


def make_pair(
    rng: np.random.Generator, n_documents: int, gain: float = 0.0, share: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Two systems on the same documents, the first better by `gain`; the second keeps
    a share of its predictions.
    """
    gold = rng.poisson(3, n_documents)
    ease = rng.beta(3, 2, n_documents)
    pair = []
    for quality, kept in ((np.clip(ease + gain, 0, 1), 1.0), (ease, share)):
        tp = rng.binomial(gold, quality * kept)
        fp = rng.binomial(3, (1 - quality) / 2 * kept)
        pair.append(np.stack([tp, fp, gold - tp], axis=-1)[:, None])
    return pair[0], pair[1]


def draw(samples: int, seed: int = 0) -> Draws:
    return Draws(samples=samples, seed=seed)


def score_difference(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    first, second = (score_counts(counts.sum(axis=0))[0] for counts in (ours, theirs))
    return first - second


# Intervals.


def test_intervals_equal_those_of_drawing_documents_one_by_one():
    rng = np.random.default_rng(3)
    ours, theirs = make_pair(rng, 50, gain=0.3)
    drawn = rng.integers(50, size=(20_000, 50))
    both = np.concatenate([ours, theirs], axis=1)
    scores = score_counts(np.array([both[of].sum(axis=0) for of in drawn]))
    expected = np.quantile(scores, [0.025, 0.975], axis=0)
    for thing, found in enumerate(bootstrap_scores(both, draw(20_000, 1))):
        assert np.array(found) == pytest.approx(expected[:, thing].T, abs=0.01)
    [found] = compare_scores(ours, theirs, draw(20_000, 1))
    expected = np.quantile(scores[:, 0] - scores[:, 1], [0.025, 0.975], axis=0)
    bounds = np.array([each.interval for each in found])
    assert bounds == pytest.approx(expected.T, abs=0.01)


def test_results_do_not_depend_on_how_much_is_in_memory(monkeypatch):
    ours, theirs = make_pair(np.random.default_rng(5), 20)
    expected = bootstrap_scores(ours, draw(100))
    [compared] = compare_scores(ours, theirs, draw(100))
    monkeypatch.setattr(bootstrap, "_CELLS", 140)
    assert bootstrap_scores(ours, draw(100)) == expected
    [found] = compare_scores(ours, theirs, draw(100))
    for one, other in zip(found, compared, strict=True):
        # sums of other numbers of draws may be rounded otherwise
        assert one.interval == pytest.approx(other.interval, abs=1e-12)
        assert one.p_value == other.p_value


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[2, 1, 3]],
        [[2, 1, 3], [0, 0, 0], [0, 4, 0]],
        [[2, 0, 0], [1, 0, 0]],
        [[0, 0, 2], [0, 3, 1]],
    ],
    ids=["no documents", "one", "gold in only one", "all right", "all wrong"],
)
def test_there_is_no_interval_where_there_is_nothing_to_draw_from(rows):
    counts = np.array(rows, dtype=int).reshape(len(rows), 1, 3)
    assert bootstrap_scores(counts, draw(50)) == [(None, None, None)]
    beside = np.tile(np.arange(len(rows))[:, None, None], (1, 1, 3))
    both = np.concatenate([counts, beside], axis=1)
    assert bootstrap_scores(both, draw(50))[0] == (None, None, None)


def test_draws_without_the_thing_or_without_gold_ones_are_left_out():
    # In a third of draws both documents with gold entities are absent.
    counts = np.zeros((100, 1, 3), dtype=int)
    counts[0, 0] = (1, 0, 0)
    counts[1, 0] = (0, 0, 1)
    assert bootstrap_scores(counts, draw(300))[0].r == (0.0, 1.0)
    # All of two entities are found, and in a seventh of draws there are none.
    counts[:2] = (1, 0, 0)
    counts[2:, 0, 1] = 1
    [intervals] = bootstrap_scores(counts, draw(500))
    assert intervals.r is None  # always 1
    assert intervals.p[0] == intervals.f[0] == 0


# Comparison.


def test_p_values_are_those_of_all_swaps():
    ours, theirs = make_pair(np.random.default_rng(5), 10, gain=0.15, share=0.7)
    [found] = compare_scores(ours, theirs, draw(20_000))
    expected = score_difference(ours, theirs)
    swapped = []
    for swaps in product([False, True], repeat=10):
        is_swapped = np.array(swaps)[:, None, None]
        pair = np.where(is_swapped, theirs, ours), np.where(is_swapped, ours, theirs)
        swapped.append(score_difference(*pair))
    p_values = np.mean(np.abs(swapped) >= np.abs(expected) - 1e-9, axis=0)
    assert [each.difference for each in found] == pytest.approx(expected)
    assert [each.p_value for each in found] == pytest.approx(p_values, abs=0.015)


@pytest.mark.parametrize("outcome", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_few_documents_that_differ_may_do_so_by_chance(outcome, n):
    """Of 13, n have one false positive or missed entity more by one pipeline."""
    ours = np.tile([10, 0, 0], (13, 1, 1))
    theirs = ours.copy()
    theirs[:n, 0, outcome] += 1
    ours[:n, 0, 0] += outcome == 2
    for pair in ((ours, theirs), (theirs, ours)):
        [found] = compare_scores(*pair, draw(5000))
        assert found.f.p_value == pytest.approx(2 / 2**n, abs=0.02)


@pytest.mark.parametrize(("better", "worse"), [(9, 3), (20, 16), (5, 0)])
def test_the_test_of_accuracies_is_that_of_mcnemar(better, worse):
    """A sign tosses a coin where one of two is right: his exact test."""
    right, wrong = (1, 0, 0), (0, 1, 1)
    ours = [right] * better + [wrong] * worse + [right] * 30
    theirs = [wrong] * better + [right] * worse + [right] * 30
    counts = [np.array(rows)[:, None] for rows in (ours, theirs)]
    [differences] = compare_scores(*counts, draw(20_000))
    n = better + worse
    tail = sum(comb(n, k) for k in range(min(better, worse) + 1)) / 2**n
    assert differences.f.p_value == pytest.approx(min(1, 2 * tail), abs=0.01)
    assert differences.f == differences.p == differences.r
    assert differences.f.difference == pytest.approx((better - worse) / (n + 30))


def test_a_pipeline_beside_itself_has_no_interval():
    counts = np.random.default_rng(0).integers(0, 6, (30, 4, 3))
    for absent in (None, 0):
        for same in compare_scores(counts, counts, draw(50), absent=absent):
            assert [*same] == [(0, None, 1)] * 3


@pytest.mark.parametrize("n", [3, 12])
def test_there_is_no_interval_where_each_document_differs_alike(n):
    right, wrong = (np.tile(row, (n, 1, 1)) for row in ((1, 0, 0), (0, 1, 1)))
    [found] = compare_scores(right, wrong, draw(2000))
    for each in found:
        assert (each.difference, each.interval) == (1.0, None)
        assert each.p_value == pytest.approx(2 / 2**n, abs=0.03)


def test_without_gold_entities_nothing_is_compared_and_of_one_document_not_drawn():
    ours = np.array([[[0, 1, 0], [1, 0, 0]], [[0, 2, 0], [0, 0, 1]]])
    nothing, something = compare_scores(ours, ours, draw(10))
    assert nothing is None
    assert something is not None
    assert compare_scores(ours[:0], ours[:0], draw(10)) == [None, None]
    ours = np.array([[[1, 0, 0]], [[0, 1, 0]], [[0, 0, 0]]])
    theirs = np.array([[[0, 0, 1]], [[0, 0, 0]], [[0, 2, 0]]])
    [found] = compare_scores(ours, theirs, draw(50))
    assert [each.interval for each in found] == [None] * 3
    ours[2, 0, 0] = theirs[2, 0, 2] = 1
    [found] = compare_scores(ours, theirs, draw(50))
    assert None not in (found.p.interval, found.f.interval)


# Means.


def test_the_interval_of_a_mean_is_that_of_drawing_one_by_one():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 3, size=(30, 4, 3))
    counts[:, 3] = 0
    counts[:2, 3] = (1, 0, 1)  # rare, and sometimes not drawn
    counts[:, 2, [0, 2]] = 0  # never gold, and so in every mean
    scores = []
    for _ in range(4000):
        sums = counts[rng.integers(0, 30, size=30)].sum(axis=0)
        there = [i for i in range(4) if i == 2 or sums[i, 0] + sums[i, 2]]
        scores.append(np.nan_to_num(score_counts(sums[there])).mean(axis=0))
    expected = np.quantile(scores, [0.025, 0.975], axis=0).T
    [found] = bootstrap_scores(counts, draw(4000), absent=0)
    assert np.array(found) == pytest.approx(expected, abs=0.01)


def test_things_that_no_document_has_score_0_in_a_mean():
    rng = np.random.default_rng(3)
    ours, theirs = (rng.integers(1, 4, size=(20, 2, 3)) for _ in range(2))
    [alone], [found] = (
        compare_scores(ours, theirs, draw(50), absent=n) for n in (0, 2)
    )
    for whole, part in zip(alone, found, strict=True):
        assert part.difference == pytest.approx(whole.difference / 2)
        assert part.interval == pytest.approx(np.array(whole.interval) / 2)
        assert part.p_value == whole.p_value
    [mean], [half] = (bootstrap_scores(ours, draw(50), absent=n) for n in (0, 2))
    assert np.array(half) == pytest.approx(np.array(mean) / 2)
    nothing = np.zeros((5, 2, 3), dtype=int)
    nothing[:, 0, 1] = 1
    assert bootstrap_scores(nothing, draw(20), absent=0) == [(None, None, None)]
    assert compare_scores(nothing, nothing, draw(20), absent=0) == [None]
    assert compare_scores(nothing[:, :0], nothing[:, :0], draw(9), absent=0) == [None]
