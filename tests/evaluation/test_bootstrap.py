from itertools import product
from math import comb

import numpy as np
import pytest

from spacy_hashembeds.evaluation import bootstrap
from spacy_hashembeds.evaluation.bootstrap import (
    Draws,
    bootstrap_mean,
    bootstrap_scores,
    compare_means,
    compare_scores,
)
from spacy_hashembeds.evaluation.counts import score_counts


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


# Intervals.


@pytest.mark.parametrize("seed", range(5))
def test_a_pipeline_beside_itself_has_no_interval(seed):
    counts = np.random.default_rng(seed).integers(0, 6, (30, 4, 3))
    draws = Draws(samples=50, seed=0)
    for same in (
        *compare_scores(counts, counts, draws),
        compare_means(counts, counts, draws),
    ):
        assert [*same] == [(0, None, 1)] * 3


def test_intervals_equal_those_of_drawing_documents_one_by_one():
    rng = np.random.default_rng(3)
    counts = np.concatenate(make_pair(rng, 50, gain=0.3), axis=1)
    intervals = bootstrap_scores(counts, Draws(samples=20_000, seed=1))
    drawn = np.array([counts[rng.integers(50, size=50)].sum(0) for _ in range(20_000)])
    expected = np.quantile(score_counts(drawn), [0.025, 0.975], axis=0)
    for thing, found in enumerate(intervals):
        for i, key in enumerate("prf"):
            assert getattr(found, key) == pytest.approx(expected[:, thing, i], abs=0.01)


def test_equal_seeds_give_equal_results_and_others_do_not():
    ours, theirs = make_pair(np.random.default_rng(0), 30, gain=0.1)
    first, again, other = (
        (
            bootstrap_scores(ours, Draws(samples=100, seed=seed)),
            compare_scores(ours, theirs, Draws(samples=100, seed=seed)),
        )
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first[0] != other[0]
    assert first[1] != other[1]


def test_results_do_not_depend_on_how_many_draws_are_in_memory(monkeypatch):
    rng = np.random.default_rng(0)
    ours, theirs = make_pair(rng, 30)
    draws = Draws(samples=100, seed=0)
    expected = bootstrap_scores(ours, draws)
    compared = compare_scores(ours, theirs, draws)
    monkeypatch.setattr(bootstrap, "_CELLS", 70)
    assert bootstrap_scores(ours, draws) == expected
    [found] = compare_scores(ours, theirs, draws)
    for difference, before in zip(found, compared[0], strict=True):
        # sums of other numbers of draws may be rounded otherwise
        assert difference.interval == pytest.approx(before.interval, abs=1e-12)
        assert difference.p_value == before.p_value


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
    [intervals] = bootstrap_scores(counts, Draws(samples=50, seed=0))
    assert (intervals.p, intervals.r, intervals.f) == (None, None, None)


def test_draws_without_the_thing_are_left_out():
    # In a third of draws both documents with gold entities are absent.
    counts = np.zeros((100, 1, 3), dtype=int)
    counts[0, 0] = (1, 0, 0)
    counts[1, 0] = (0, 0, 1)
    [intervals] = bootstrap_scores(counts, Draws(samples=300, seed=0))
    assert intervals.r == (0.0, 1.0)


def test_draws_without_gold_entities_say_nothing_of_recall():
    # All of two entities are found, and in a seventh of draws there are none.
    counts = np.zeros((100, 1, 3), dtype=int)
    counts[:2, 0, 0] = 1
    counts[2:, 0, 1] = 1
    [intervals] = bootstrap_scores(counts, Draws(samples=500, seed=0))
    assert intervals.r is None  # always 1
    assert intervals.p[0] == intervals.f[0] == 0


# Comparison.


def find_parts(
    ours: np.ndarray, theirs: np.ndarray, key: str
) -> tuple[np.ndarray, np.ndarray]:
    """What documents have beyond the share that both have, and how much they weigh."""
    divisors = {"p": [1, 1, 0], "r": [1, 0, 1], "f": [1, 0.5, 0.5]}
    (tp, n), (other_tp, other_n) = (
        (counts[:, 0, 0], counts[:, 0] @ divisors[key]) for counts in (ours, theirs)
    )
    share = (tp.sum() + other_tp.sum()) / (n.sum() + other_n.sum())
    parts = (tp - share * n) / n.sum() - (other_tp - share * other_n) / other_n.sum()
    sizes = n / n.sum() ** 2 + other_n / other_n.sum() ** 2
    return parts, sizes / sizes.sum()


@pytest.mark.parametrize("key", ["p", "r", "f"])
def test_p_values_are_those_of_all_signs(key):
    pair = make_pair(np.random.default_rng(5), 10, gain=0.15, share=0.7)
    [found] = compare_scores(*pair, Draws(samples=20_000, seed=0))
    parts, sizes = find_parts(*pair, key)
    tested = []
    for signs in product([1, -1], repeat=10):
        difference = (signs * parts).sum()
        error = np.sqrt(((signs * parts - difference * sizes) ** 2).sum())
        tested.append(abs(difference) / error)
    expected = np.mean(np.array(tested) >= tested[0] - 1e-9)
    scores = [score_counts(counts.sum(axis=0))[0]["prf".index(key)] for counts in pair]
    score = getattr(found, key)
    assert score.difference == pytest.approx(scores[0] - scores[1])
    assert score.difference == pytest.approx(parts.sum())
    assert score.p_value == pytest.approx(expected, abs=0.015)
    # as many standard errors as one of twenty draws exceeds
    error = np.sqrt(((parts - parts.sum() * sizes) ** 2).sum())
    margin = error * np.quantile(tested, 0.95)
    assert score.interval[1] - score.difference == pytest.approx(margin, rel=0.1)


def test_parts_sum_up_to_the_difference_also_from_a_pipeline_that_predicts_nothing():
    ours, _ = make_pair(np.random.default_rng(6), 20)
    theirs = np.array([0, 0, 1]) * (ours[..., [0]] + ours[..., [2]])
    scores = [score_counts(counts.sum(axis=0)) for counts in (ours, theirs)]
    for pair in ((ours, theirs), (theirs, ours)):
        differences, parts, sizes = bootstrap._split(np.stack(pair), np.eye(1))
        assert np.abs(differences) == pytest.approx(scores[0])
        assert parts.sum(axis=0) == pytest.approx(differences)
        assert sizes.sum(axis=0) == pytest.approx(1)


def test_no_bound_of_a_difference_is_beyond_1():
    right, half, wrong = [[1, 0, 0]], [[1, 1, 1]], [[0, 1, 1]]
    ours = np.array([right] * 5 + [half] * 3)
    theirs = np.array([wrong] * 7 + [right])
    draws = Draws(samples=99, seed=0)
    for pair, bound in (((ours, theirs), 1), ((theirs, ours), -1)):
        [found] = compare_scores(*pair, draws)
        assert [bound in each.interval for each in found] == [True] * 3
        assert all(-1 <= x <= 1 for each in found for x in each.interval)


@pytest.mark.parametrize("n", [3, 12])
def test_there_is_no_interval_where_each_document_differs_alike(n):
    right, wrong = (np.tile(row, (n, 1, 1)) for row in ((1, 0, 0), (0, 1, 1)))
    [found] = compare_scores(right, wrong, Draws(samples=2000, seed=0))
    assert [difference.interval for difference in found] == [None] * 3
    assert [difference.difference for difference in found] == [1.0] * 3
    assert found.f.p_value == pytest.approx(2 / 2**n, abs=0.03)


def test_a_clear_difference_is_found_in_either_direction():
    ours, theirs = make_pair(np.random.default_rng(1), 200, gain=0.2)
    [better] = compare_scores(ours, theirs, Draws(samples=999, seed=0))
    [worse] = compare_scores(theirs, ours, Draws(samples=999, seed=0))
    assert better.f.difference > 0
    assert better.f.interval[0] > 0
    assert worse.f.difference == -better.f.difference
    assert worse.f.interval[1] < 0
    assert better.f.p_value == worse.f.p_value == 1 / 1000


def test_an_interval_excludes_zero_where_p_says_so_and_nowhere_else():
    rng = np.random.default_rng(8)
    decided = set()
    for seed in range(60):
        pair = make_pair(rng, 8 + seed // 2, gain=0.05 * (seed % 5))
        # of 19 and the data themselves, one has p = 0.05
        samples = 19 if seed % 2 else 399
        [found] = compare_scores(*pair, Draws(samples=samples, seed=seed))
        for difference, (low, high), p_value in found:
            assert low <= difference <= high
            assert (low > 0 or high < 0) == (p_value <= 0.05)
            decided.add(p_value <= 0.05)
    assert decided == {True, False}


@pytest.mark.parametrize("share", [1, 0.1])
def test_intervals_of_differences_hold_the_truth_about_as_often_as_they_say(share):
    rng = np.random.default_rng(9)
    truth = np.subtract(
        *(score_counts(c.sum(0))[0] for c in make_pair(rng, 500_000, 0.1, share))
    )
    held = np.zeros(3)
    n_documents = max(80, int(20 / share))  # with too few predictions, nothing holds
    for seed in range(300):
        pair = make_pair(rng, n_documents, 0.1, share)
        [found] = compare_scores(*pair, Draws(samples=399, seed=seed))
        bounds = np.array([difference.interval for difference in found])
        held += (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
    # 95 of 100, within some three standard errors
    assert (held / 300 > 0.91).all()
    assert (held / 300 < 0.99).all()


def test_nothing_is_compared_without_gold_entities():
    ours = np.array([[[0, 1, 0], [1, 0, 0]], [[0, 2, 0], [0, 0, 1]]])
    nothing, something = compare_scores(ours, ours, Draws(samples=10, seed=0))
    assert nothing is None
    assert something is not None
    assert compare_scores(ours[:0], ours[:0], Draws(samples=10, seed=0)) == [None, None]


def test_there_is_no_interval_of_a_difference_where_one_document_has_gold_entities():
    ours = np.array([[[1, 0, 0]], [[0, 1, 0]], [[0, 0, 0]]])
    theirs = np.array([[[0, 0, 1]], [[0, 0, 0]], [[0, 2, 0]]])
    [found] = compare_scores(ours, theirs, Draws(samples=50, seed=0))
    assert [each.interval for each in found] == [None] * 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"samples": 0}, "'samples' should be 1 to 1000000, but is 0"),
        # which would fill the memory
        ({"samples": 1_000_001}, "'samples' should be 1 to 1000000, but is 1000001"),
        ({"seed": -1}, "'seed' should be 0 or more, but is -1"),
    ],
)
def test_draws_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        Draws(**{"samples": 1, "seed": 0, **settings})


def test_other_documents_are_refused():
    counts = np.ones((5, 1, 3), dtype=int)
    with pytest.raises(ValueError, match=r"same documents.*\(5,.*3\) and \(4, 1, 3\)"):
        compare_scores(counts, counts[:4], Draws(samples=10, seed=0))


def test_things_that_do_not_fit_in_memory_together_get_the_same_draws(monkeypatch):
    rng = np.random.default_rng(5)
    counts = np.concatenate([make_pair(rng, 20)[0] for _ in range(5)], axis=1)
    counts[1:, 2] = 0  # so that there is nothing to draw from
    together = bootstrap_scores(counts, Draws(samples=100, seed=0))
    drawn = []
    score = bootstrap.score_counts
    monkeypatch.setattr(
        bootstrap, "score_counts", lambda sums: drawn.append(sums.size) or score(sums)
    )
    monkeypatch.setattr(bootstrap, "_DRAWN", 900)
    assert bootstrap_scores(counts, Draws(samples=100, seed=0)) == together
    assert drawn == [900, 300]
    assert together[2] == bootstrap.NONE
    assert None not in (together[1].f, together[4].f)


def test_the_mean_of_one_thing_is_that_thing():
    rng = np.random.default_rng(1)
    ours, theirs = make_pair(rng, 40, gain=0.1)
    ours[:, :, 0] += 1  # so that each draw has gold ones
    theirs[:, :, 0] += 1
    draws = Draws(samples=200, seed=0)
    assert [bootstrap_mean(ours, draws)] == bootstrap_scores(ours, draws)
    assert [compare_means(ours, theirs, draws)] == compare_scores(ours, theirs, draws)


def test_the_interval_of_a_mean_is_that_of_drawing_one_by_one():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 3, size=(30, 4, 3))
    counts[:, 3] = 0
    counts[:2, 3] = (1, 0, 1)  # rare, and sometimes not drawn
    counts[:, 2, [0, 2]] = 0  # never gold, and so in every mean
    draws_ = []
    for _ in range(4000):
        sums = counts[rng.integers(0, 30, size=30)].sum(axis=0)
        there = [i for i in range(4) if i == 2 or sums[i, 0] + sums[i, 2]]
        draws_.append(np.nan_to_num(score_counts(sums[there])).mean(axis=0))
    expected = np.quantile(draws_, [0.025, 0.975], axis=0).T
    intervals = bootstrap_mean(counts, Draws(samples=4000, seed=0))
    found = np.array([intervals.p, intervals.r, intervals.f])
    assert found == pytest.approx(expected, abs=0.01)


def test_things_that_no_document_has_score_0_in_a_mean():
    rng = np.random.default_rng(3)
    ours, theirs = (rng.integers(1, 4, size=(20, 2, 3)) for _ in range(2))
    draws = Draws(samples=50, seed=0)
    alone = compare_means(ours, theirs, draws)
    found = compare_means(ours, theirs, draws, absent=2)
    mean, half = (bootstrap_mean(ours, draws, absent=n) for n in (0, 2))
    assert alone is not None
    assert found is not None
    for key in "prf":
        whole, part = getattr(alone, key), getattr(found, key)
        assert part.difference == pytest.approx(whole.difference / 2)
        assert part.interval == pytest.approx(np.array(whole.interval) / 2)
        assert part.p_value == whole.p_value
        interval = np.array(getattr(mean, key)) / 2
        assert getattr(half, key) == pytest.approx(interval)


def test_a_mean_without_gold_things_has_no_interval():
    counts = np.zeros((5, 2, 3), dtype=int)
    counts[:, 0, 1] = 1
    draws = Draws(samples=20, seed=0)
    nothing = bootstrap.NONE
    assert bootstrap_mean(counts, draws) == nothing
    assert compare_means(counts, counts, draws) is None


@pytest.mark.parametrize(("better", "worse"), [(9, 3), (20, 16), (5, 0)])
def test_the_test_of_accuracies_is_that_of_mcnemar(better, worse):
    """A sign tosses a coin where one of two is right: his exact test."""
    right, wrong = (1, 0, 0), (0, 1, 1)
    ours = [right] * better + [wrong] * worse + [right] * 30
    theirs = [wrong] * better + [right] * worse + [right] * 30
    counts = [np.array(rows)[:, None] for rows in (ours, theirs)]
    [differences] = compare_scores(*counts, Draws(samples=20_000, seed=0))
    n = better + worse
    tail = sum(comb(n, k) for k in range(min(better, worse) + 1)) / 2**n
    assert differences.f.p_value == pytest.approx(min(1, 2 * tail), abs=0.01)
    assert differences.f == differences.p == differences.r
    assert differences.f.difference == pytest.approx((better - worse) / (n + 30))
