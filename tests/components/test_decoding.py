"""Tags and labels, Viterbi against brute force, entities and their scores."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, product
from math import exp, log

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_hashembeds.components.decoding import (
    DECODERS,
    MISSING,
    apply_calibration,
    check_labels,
    count_tags,
    find_entities,
    get_tag_ids,
    search,
)


@st.composite
def batches(draw) -> tuple[np.ndarray, np.ndarray]:
    """Return log-probabilities of tags, some of them -inf, and lengths of texts."""
    lengths = np.array(draw(st.lists(st.integers(0, 4), min_size=1, max_size=3)))
    n_types = draw(st.integers(1, 2))
    state = np.random.default_rng(draw(st.integers(0, 10**6)))
    scores = state.normal(size=(lengths.sum(), count_tags(n_types)))
    scores[:, 0] -= draw(st.sampled_from([0, 3]))  # no bias, or a bias against O
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    is_impossible = state.random(scores.shape) < draw(st.sampled_from([0, 0.2, 0.8]))
    is_impossible[:, 0] = False
    return np.where(is_impossible, -np.inf, scores), lengths


def scan(tags: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Find the entities of one text sequentially."""
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
    """True if each tag except O is part of an entity."""
    n_inside = sum(end - start for start, end, _ in scan(tags))
    return n_inside == sum(tag != 0 for tag in tags)


def split(values: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(lengths)[:-1])


def add_up(scores: np.ndarray, tags: Sequence[int]) -> float:
    return sum(row[tag] for row, tag in zip(scores, tags, strict=True))


@given(st.lists(st.lists(st.integers(0, 8), max_size=5), min_size=1))
@example([[0, 1, 0], [2, 3, 3, 4], [2, 8], [2, 4, 6, 8], [2, 3], [4], [2, 2, 4]])
def test_entities_are_complete(texts):
    """An entity is right only if all of its tags are (§4.5)."""
    lengths = np.array(list(map(len, texts)))
    tags = np.array([*chain(*texts)], dtype="int64")
    scores = np.log(np.arange(1, 1 + 9 * len(tags)).reshape(-1, 9) / 1000)
    pieces = split(scores, lengths)
    found = find_entities(tags, scores, lengths)
    for text, piece, of_text in zip(texts, pieces, found, strict=True):
        expected = list(scan(text))
        assert list(zip(*of_text[:3], strict=True)) == expected
        probs = [np.exp(add_up(piece[a:b], text[a:b])) for a, b, _ in expected]
        np.testing.assert_allclose(of_text.scores, probs, rtol=1e-5)


@cache
def list_legal(n_tokens: int, n_tags: int) -> np.ndarray:
    """Return all legal sequences. *Shape:* `(sequences, n_tokens)`."""
    sequences = product(range(n_tags), repeat=n_tokens)
    legal = [tags for tags in sequences if is_legal(tags)]
    return np.array(legal, dtype="int64")


@given(batches())
def test_viterbi_equals_brute_force(batch):
    scores, lengths = batch
    tags = split(DECODERS["viterbi"](scores, lengths), lengths)
    for chosen, text_scores in zip(tags, split(scores, lengths), strict=True):
        legal = list_legal(*text_scores.shape)
        sums = text_scores[np.arange(len(chosen)), legal].sum(axis=1)
        assert is_legal(chosen.tolist())
        np.testing.assert_allclose(add_up(text_scores, chosen), sums.max())
    greedy = DECODERS["greedy"](scores, lengths)
    np.testing.assert_array_equal(greedy, scores.argmax(axis=1))


def test_long_and_short_texts():
    """Sums of many float32 scores keep precision."""
    state = np.random.default_rng(0)
    lengths = np.array([3, 2000, 7])
    scores = np.log(state.dirichlet(np.ones(9), lengths.sum())).astype("float32")
    tags, pieces = split(search(scores, lengths), lengths), split(scores, lengths)
    for i in (0, 2):
        np.testing.assert_array_equal(tags[i], search(pieces[i], lengths[[i]]))
    assert is_legal(tags[1].tolist())
    # a text split at O is decoded like its halves
    pieces[1][1000, 1:] = -np.inf
    whole = search(pieces[1], np.array([2000]))
    parts = [search(pieces[1][:1000], np.array([1000]))]
    parts += [[0], search(pieces[1][1001:], np.array([999]))]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_number_of_tags_equals_the_papers():
    """OntoNotes has 18 types and 73 classes, WNUT 2017 has 6 and 25 (§3.2)."""
    assert [count_tags(n_types) for n_types in (18, 6, 0)] == [73, 25, 1]


def test_numbers_of_spacys_tags_and_of_new_types():
    numbers = get_tag_ids(["PER", "work-of-art"])
    tags = ["O", "U-PER", "B-PER", "I-PER", "L-PER", "U-work-of-art", None, "-"]
    expected = [0, 1, 2, 3, 4, 5, MISSING, MISSING]
    assert [numbers[tag] for tag in tags] == expected
    assert numbers.items() <= get_tag_ids(["PER", "work-of-art", "NEW"]).items()


@pytest.mark.parametrize(
    "labels",
    [
        *(["A B", label] for label in ("", "PER ", None)),
        *("PER", None, ["PER", "LOC", "PER"]),
    ],
)
def test_invalid_labels_are_refused(labels):
    with pytest.raises(ValueError, match="'labels'"):
        check_labels(labels)


@given(
    st.lists(st.floats(0.001, 0.999), min_size=1), st.floats(0.1, 10), st.floats(-5, 5)
)
@example([0.99999], 1.0, -5.0)
def test_calibrated_log_odds_are_linear(scores, slope, offset):
    expected = [1 / (1 + exp(slope * log(1 - s) - offset)) for s in scores]
    found = apply_calibration(np.log(scores), (slope, offset))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("calibration", [(1.0, 0.0), (20.0, 300.0), (20.0, -300.0)])
def test_calibrated_scores_are_between_0_and_1(calibration):
    logs = np.array([-np.inf, -200.0, -1e-9, 0.0, 0.01])
    with np.errstate(all="raise", under="ignore"):
        found = apply_calibration(logs, calibration)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()
