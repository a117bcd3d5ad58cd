"""Decoding against all legal sequences of tags, one token at a time."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_hashembeds.components.decoding import (
    decode_greedily,
    decode_viterbi,
    find_entities,
    search,
)
from spacy_hashembeds.components.tags import count_tags

SEEDS = st.integers(0, 10**6)


@st.composite
def batches(draw, *, shortest=0, longest=4) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities of tags, some of them impossible, and the lengths of texts."""
    lengths = np.array(
        draw(st.lists(st.integers(shortest, longest), min_size=1, max_size=3))
    )
    n_types = draw(st.integers(1, 2))
    state = np.random.default_rng(draw(SEEDS))
    scores = state.normal(size=(lengths.sum(), count_tags(n_types)))
    scores[:, 0] -= draw(st.sampled_from([0, 3]))  # few entities, or nothing else
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    is_impossible = state.random(scores.shape) < draw(st.sampled_from([0, 0.2, 0.8]))
    is_impossible[:, 0] = False
    return np.where(is_impossible, -np.inf, scores), lengths


def scan(tags: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Find the entities of one text, a tag after the other."""
    start = None
    for i, tag in enumerate(tags):
        kind, k = (tag and (tag - 1) % 4 + 1), (tag - 1) // 4
        goes_on = start is not None and kind in (3, 4) and k == start[1]
        if kind == 1:
            yield i, i + 1, k
        elif kind == 4 and goes_on:
            yield start[0], i + 1, k
        if kind == 2:
            start = (i, k)
        elif kind != 3 or not goes_on:
            start = None


def is_legal(tags: Sequence[int]) -> bool:
    """Whether each tag but O is part of an entity."""
    n_inside = sum(end - start for start, end, _ in scan(tags))
    return n_inside == sum(tag != 0 for tag in tags)


def split(values: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(lengths)[:-1])


def add_up(scores: np.ndarray, tags: Sequence[int]) -> float:
    return sum(row[tag] for row, tag in zip(scores, tags, strict=True))


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ([0, 1, 0], [(1, 2, 0)]),
        ([2, 3, 3, 4], [(0, 4, 0)]),
        ([2, 4, 6, 8], [(0, 2, 0), (2, 4, 1)]),
        ([1, 1, 5], [(0, 1, 0), (1, 2, 0), (2, 3, 1)]),
        ([2, 8], []),  # of two types
        ([2, 3], []),  # no end
        ([3, 4], []),  # no beginning
        ([4], []),
        ([2, 0, 4], []),
        ([2, 2, 4], [(1, 3, 0)]),
        ([2, 4, 4], [(0, 2, 0)]),
        ([2, 7, 4], []),
    ],
)
def test_entities_are_whole_ones(tags, expected):
    """All tokens have to have the right tags for one right entity (§4.5)."""
    assert list(scan(tags)) == expected
    lengths = np.array([len(tags)])
    (found,) = find_entities(np.array(tags), np.zeros((len(tags), 9)), lengths)
    assert list(zip(*found[:3], strict=True)) == expected


@given(batches(longest=6), SEEDS)
def test_entities_of_any_tags(batch, seed):
    scores, lengths = batch
    tags = np.random.default_rng(seed).integers(0, scores.shape[1], len(scores))
    found = find_entities(tags, scores, lengths)
    texts = zip(found, split(tags, lengths), split(scores, lengths), strict=True)
    for entities, text, text_scores in texts:
        assert list(zip(*entities[:3], strict=True)) == list(scan(text.tolist()))
        assert entities.scores.dtype == "float32"
        for start, end, _, score in zip(*entities, strict=True):
            chosen = text[start:end]
            expected = np.exp(add_up(text_scores[start:end], chosen))
            np.testing.assert_allclose(score, expected, rtol=1e-5)


@cache
def list_legal(n_tokens: int, n_tags: int) -> np.ndarray:
    """All legal sequences. *Shape:* `(sequences, n_tokens)`."""
    sequences = product(range(n_tags), repeat=n_tokens)
    legal = [tags for tags in sequences if is_legal(tags)]
    return np.array(legal, dtype="int64")


@settings(max_examples=200)
@given(batches())
def test_viterbi_finds_the_best_of_all_legal_sequences(batch):
    scores, lengths = batch
    tags = split(decode_viterbi(scores, lengths), lengths)
    for chosen, text_scores in zip(tags, split(scores, lengths), strict=True):
        legal = list_legal(*text_scores.shape)
        sums = text_scores[np.arange(len(chosen)), legal].sum(axis=1)
        assert is_legal(chosen.tolist())
        np.testing.assert_allclose(add_up(text_scores, chosen), sums.max())


@given(batches(shortest=1, longest=9))
def test_what_is_legal_needs_no_search(batch):
    scores, lengths = batch
    searched = split(search(scores, lengths), lengths)
    greedy = split(decode_greedily(scores, lengths), lengths)
    viterbi = split(decode_viterbi(scores, lengths), lengths)
    for tags, best, other in zip(greedy, searched, viterbi, strict=True):
        np.testing.assert_array_equal(other, best)
        if is_legal(tags.tolist()):
            np.testing.assert_array_equal(tags, best)


def test_long_texts_beside_short_ones():
    """Sums of many scores lose nothing of the last ones; scores may be float32."""
    state = np.random.default_rng(0)
    lengths = np.array([3, 5000, 0, 7])
    scores = np.log(state.dirichlet(np.ones(9), lengths.sum())).astype("float32")
    tags = split(search(scores, lengths[[0, 1, 3]]), lengths)
    pieces = split(scores, lengths)
    for i in (0, 3):
        alone = search(pieces[i], lengths[[i]])
        np.testing.assert_array_equal(tags[i], alone)
    assert is_legal(tags[1].tolist())
    # A text with O in it is as good as its two halves.
    halves = [pieces[1][:2500], pieces[1][2501:]]
    pieces[1][2500, 1:] = -np.inf
    whole = search(pieces[1], np.array([5000]))
    parts = [search(half, np.array([len(half)])) for half in halves]
    np.testing.assert_array_equal(whole, np.concatenate([parts[0], [0], parts[1]]))


def test_sums_of_large_scores_do_not_hide_small_differences():
    """What all tags of a token have in common decides nothing."""
    differences = np.random.default_rng(0).normal(size=(3000, 9)) / 1000
    scores = (differences - 16).astype("float32")
    lengths = np.array([3000])
    tags = search(scores, lengths)
    np.testing.assert_array_equal(tags, search(scores.astype("d") + 16, lengths))
