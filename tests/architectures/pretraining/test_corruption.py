"""What is drawn for Shuffle + Random, beside plain Python and expected frequencies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import fix_random_seed

from spacy_hashembeds.architectures.pretraining.pretrain_shuffle_random import (
    INTACT,
    RANDOM,
    SHUFFLED,
    corrupt,
)

SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.99])


def run(lengths: list[int], shuffle: float, random: float, words=None, seed: int = 0):
    fix_random_seed(seed)
    words = np.arange(sum(lengths)) if words is None else np.array(words, "uint64")
    sizes = np.array(lengths, dtype="int64")
    return corrupt(words, sizes, shuffle=shuffle, random=random)


def list_texts(lengths: list[int]) -> list[int]:
    return [i for i, length in enumerate(lengths) for _ in range(length)]


@given(
    lengths=st.lists(st.integers(0, 6), max_size=6),
    shuffle=SHARES,
    random=SHARES,
    seed=st.integers(0, 99),
)
def test_words_come_from_where_the_label_says(lengths, shuffle, random, seed):
    sources, labels = run(lengths, shuffle, random, seed=seed)
    assert len(sources) == len(labels) == sum(lengths)
    texts = list_texts(lengths)
    for place, (source, label) in enumerate(zip(sources, labels, strict=True)):
        expected = {
            INTACT: source == place,
            SHUFFLED: source != place and texts[source] == texts[place],
            RANDOM: texts[source] != texts[place],
        }
        assert expected[label]


@given(
    texts=st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=5),
    seed=st.integers(0, 99),
)
def test_a_word_in_place_of_itself_is_intact_and_no_other_is(texts, seed):
    words = [word for text in texts for word in text]
    sources, labels = run([len(t) for t in texts], 0.5, 0.5, words=words, seed=seed)
    is_equal = [words[sources[place]] == word for place, word in enumerate(words)]
    assert (labels == INTACT).tolist() == is_equal


def test_shares_are_those_asked_for():
    _, labels = run([50] * 2000, 0.1, 0.2)
    shares = np.bincount(labels, minlength=3) / len(labels)
    np.testing.assert_allclose(shares, [0.9 * 0.8, 0.1, 0.9 * 0.2], atol=0.005)


@pytest.mark.parametrize(
    ("shuffle", "random", "expected"),
    [
        (0.0, 0.0, {INTACT}),
        (0.5, 0.0, {INTACT, SHUFFLED}),
        (0.0, 0.5, {INTACT, RANDOM}),
    ],
)
def test_what_is_not_asked_for_is_not_drawn(shuffle, random, expected):
    sources, labels = run([20] * 10, shuffle, random)
    assert set(labels.tolist()) == expected
    assert (sources[labels == INTACT] == np.flatnonzero(labels == INTACT)).all()


def test_all_other_tokens_of_the_text_are_equally_likely():
    n = 20000
    sources, labels = run([4] * n, 0.9, 0.0)
    is_second = (np.arange(4 * n) % 4 == 1) & (labels == SHUFFLED)
    donors = np.bincount(sources[is_second] % 4, minlength=4) / is_second.sum()
    np.testing.assert_allclose(donors, [1 / 3, 0, 1 / 3, 1 / 3], atol=0.02)
    # itself is not drawn: that would be an intact one
    assert np.mean(labels == SHUFFLED) == pytest.approx(0.9, abs=0.01)


def test_all_tokens_of_other_texts_are_equally_likely():
    """So a word is as likely to come as it is frequent in the batch."""
    counts = np.zeros((6, 6))
    for seed in range(300):
        sources, labels = run([2, 3, 1], 0.0, 0.9, seed=seed)
        np.add.at(counts, (np.arange(6), sources), labels == RANDOM)
    texts = np.array(list_texts([2, 3, 1]))
    is_other = texts[:, None] != texts
    expected = is_other / is_other.sum(axis=1, keepdims=True)
    found = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=0.08)


def test_draws_follow_the_random_seed():
    drawn = [run([30, 20], 0.3, 0.3, seed=seed)[0].tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    words, sizes = np.arange(50), np.array([30, 20])
    for seed in (0, 1):  # nor on any other generator than the one that is given
        fix_random_seed(seed)
        own = np.random.RandomState(5)
        found = corrupt(words, sizes, shuffle=0.3, random=0.3, draws=own)
        drawn.append(found[0].tolist())
    assert drawn[3] == drawn[4]
