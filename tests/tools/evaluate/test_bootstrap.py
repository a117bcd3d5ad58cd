from itertools import product

import numpy as np
import pytest

from spacy_hashembeds.tools.evaluate import bootstrap
from spacy_hashembeds.tools.evaluate.bootstrap import (
    NO_INTERVALS,
    Draws,
    bootstrap_scores,
    compare_scores,
)
from spacy_hashembeds.training.scorer import score_counts


def make_pair(
    n_documents: int, gain: float = 0.0, share: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return counts of two systems, the first better by `gain`, the second with only a
    share of its predictions.
    """
    rng = np.random.default_rng(5)
    gold = rng.poisson(3, n_documents)
    ease = rng.beta(3, 2, n_documents)
    pair = []
    for quality, kept in ((np.clip(ease + gain, 0, 1), 1.0), (ease, share)):
        tp = rng.binomial(gold, quality * kept)
        fp = rng.binomial(3, (1 - quality) / 2 * kept)
        pair.append(np.stack([tp, fp, gold - tp], axis=-1)[:, None])
    return pair[0], pair[1]


def compare(ours, theirs, samples: int = 50, **options):
    """Return the results for the last key, as lists over precision, recall and F1."""
    *_, found = compare_scores(ours, theirs, Draws(samples, 0), **options)
    return {name: [found[key][name] for key in "prf"] for name in found["f"]}


def score_all(counts: np.ndarray) -> np.ndarray:
    return score_counts(counts.sum(axis=0))[0]


def test_intervals_equal_a_naive_bootstrap():
    ours, theirs = make_pair(50, gain=0.3)
    drawn = np.random.default_rng(3).integers(50, size=(20_000, 50))
    both = np.concatenate([ours, theirs], axis=1)
    scores = score_counts(np.array([both[of].sum(axis=0) for of in drawn]))
    expected = np.quantile(scores, [0.025, 0.975], axis=0)
    bounds = [[*of.values()] for of in bootstrap_scores(both, Draws(20_000, 0))]
    assert np.array(bounds) == pytest.approx(np.moveaxis(expected, 0, -1), abs=0.01)
    found = compare(ours, theirs, 20_000)
    expected = np.quantile(scores[:, 0] - scores[:, 1], [0.025, 0.975], axis=0)
    assert np.array(found["interval"]) == pytest.approx(expected.T, abs=0.01)
    assert found["other"] == pytest.approx(score_all(theirs))


def test_results_do_not_depend_on_the_batch_size(monkeypatch):
    ours, theirs = make_pair(20)
    expected = compare(ours, theirs, 100)
    monkeypatch.setattr(bootstrap, "_CELLS", 140)
    found = compare(ours, theirs, 100)
    difference = np.subtract(found["interval"], expected["interval"])
    assert difference == pytest.approx(0, abs=1e-12)  # rounding may differ
    assert found["p_value"] == expected["p_value"]


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
def test_degenerate_samples_have_no_interval(rows):
    counts = np.array(rows, dtype=int).reshape(len(rows), 1, 3)
    beside = np.tile(np.arange(len(rows))[:, None, None], (1, 1, 3))
    for both in (counts, np.concatenate([counts, beside], axis=1)):
        assert bootstrap_scores(both, Draws(50, 0))[0] == NO_INTERVALS


def test_draws_with_undefined_scores_are_dropped():
    # 13% of draws lack both documents with gold entities
    counts = np.zeros((100, 1, 3), dtype=int)
    counts[0, 0] = (1, 0, 0)
    counts[1, 0] = (0, 0, 1)
    assert bootstrap_scores(counts, Draws(300, 0))[0]["r_interval"] == (0.0, 1.0)
    # both entities are found; 13% of draws have none
    counts[:2] = (1, 0, 0)
    counts[2:, 0, 1] = 1
    [intervals] = bootstrap_scores(counts, Draws(500, 0))
    assert intervals["r_interval"] is None  # always 1
    assert intervals["p_interval"][0] == intervals["f_interval"][0] == 0


# Comparison.


def test_p_values_equal_those_of_all_swaps():
    ours, theirs = make_pair(10, gain=0.15, share=0.7)
    found = compare(ours, theirs, 20_000)
    expected = score_all(ours) - score_all(theirs)
    swapped = []
    for swaps in product([False, True], repeat=10):
        is_swapped = np.array(swaps)[:, None, None]
        pair = np.where(is_swapped, theirs, ours), np.where(is_swapped, ours, theirs)
        swapped.append(score_all(pair[0]) - score_all(pair[1]))
    p_values = np.mean(np.abs(swapped) >= np.abs(expected) - 1e-9, axis=0)
    assert found["difference"] == pytest.approx(expected)
    assert found["p_value"] == pytest.approx(p_values, abs=0.015)


def test_a_pipeline_compared_with_itself_has_no_interval():
    counts = np.random.default_rng(0).integers(0, 6, (30, 1, 3))
    for found in compare_scores(counts, counts, Draws(50, 0), 1):
        for record in found.values():
            del record["other"]
            assert [*record.values()] == [0, None, 1]


def test_comparisons_and_intervals_of_small_corpora():
    ours = np.array([[[0, 1, 0], [1, 0, 0]], [[0, 2, 0], [0, 0, 1]]])
    nothing, something = compare_scores(ours, ours, Draws(10, 0))
    assert nothing is None
    assert something is not None
    assert compare_scores(ours[:0], ours[:0], Draws(10, 0)) == [None, None]
    ours = np.array([[[1, 0, 0]], [[0, 1, 0]], [[0, 0, 0]]])
    theirs = np.array([[[0, 0, 1]], [[0, 0, 0]], [[0, 2, 0]]])
    assert compare(ours, theirs)["interval"] == [None] * 3
    ours[2, 0, 0] = theirs[2, 0, 2] = 1
    assert compare(ours, theirs)["interval"][2] is not None


# Means.


def test_the_interval_of_a_mean_equals_a_naive_bootstrap():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 3, size=(30, 4, 3))
    counts[:, 3] = 0
    counts[:2, 3] = (1, 0, 1)  # rare, absent from some draws
    counts[:, 2, [0, 2]] = 0  # never gold: in every mean
    scores = []
    for _ in range(4000):
        sums = counts[rng.integers(0, 30, size=30)].sum(axis=0)
        used = [i for i in range(4) if i == 2 or sums[i, 0] + sums[i, 2]]
        scores.append(np.nan_to_num(score_counts(sums[used])).mean(axis=0))
    expected = np.quantile(scores, [0.025, 0.975], axis=0).T
    *_, found = bootstrap_scores(counts, Draws(4000, 0), 4)
    assert np.array([*found.values()]) == pytest.approx(expected, abs=0.01)


def test_keys_without_gold_score_0_in_a_mean():
    rng = np.random.default_rng(3)
    pair = [rng.integers(1, 4, size=(20, 2, 3)) for _ in range(2)]
    padded = [np.pad(counts, ((0, 0), (0, 2), (0, 0))) for counts in pair]
    alone, found = (
        compare(*both, n_averaged=both[0].shape[1]) for both in (pair, padded)
    )
    for name in ("other", "difference", "interval"):
        assert np.array(found[name]) == pytest.approx(np.array(alone[name]) / 2)
    assert found["p_value"] == alone["p_value"]
    nothing = np.zeros((5, 2, 3), dtype=int)
    nothing[:, 0, 1] = 1
    for counts in (nothing, nothing[:, :0]):
        n = counts.shape[1]
        assert bootstrap_scores(counts, Draws(20, 0), n)[-1] == NO_INTERVALS
        assert compare_scores(counts, counts, Draws(9, 0), n)[-1] is None
