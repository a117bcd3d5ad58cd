"""Spans of sequences, beside a search, and groups of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_hashembeds.kernels.spans import (
    FEWEST_ROWS,
    MOST_PADDING,
    find_spans,
    group_spans,
)


def list_spans(length, max_length, stride) -> list[tuple[int, int]]:
    """The spans of one sequence, each from where to where."""
    if length <= max_length:
        return [(0, length)] if length else []
    starts = range(0, length - max_length, stride)
    spans = [(start, start + max_length) for start in starts]
    return [*spans, (length - max_length, length)]


def choose_span(spans, token) -> int:
    """The span in which a token is furthest away from the nearest end."""
    distances = [min(token - start, end - 1 - token) for start, end in spans]
    return distances.index(max(distances))


@st.composite
def cases(draw):
    max_length = draw(st.integers(1, 8))
    lengths = draw(st.lists(st.integers(0, 40), max_size=5))
    return lengths, max_length, draw(st.integers(1, max_length))


@given(cases())
def test_each_token_has_the_span_with_most_around_it(case):
    lengths, max_length, stride = case
    spans = [np.asarray(column).tolist() for column in find_spans(*case)]
    expected, offset = [], 0
    for length in lengths:
        found = list_spans(length, max_length, stride)
        chosen = [choose_span(found, token) for token in range(length)]
        for number, (start, end) in enumerate(found):
            kept = [token - start for token in range(length) if chosen[token] == number]
            assert kept == list(range(kept[0], kept[-1] + 1))
            expected.append((offset + start, end - start, kept[0], kept[-1] + 1))
        offset += length
    assert list(zip(*spans, strict=True)) == expected


@pytest.mark.parametrize(
    ("lengths", "max_rows", "sizes"),
    [
        ([100, 100], 200, [2]),
        ([100, 100], 199, [1, 1]),
        ([64, 64, 1], 1000, [2, 1]),  # wasteful, of 128 rows
        ([63, 63, 1], 1000, [3]),
    ],
)
def test_limits_of_groups_are_inclusive(lengths, max_rows, sizes):
    assert [len(group) for group in group_spans(lengths, max_rows)] == sizes


@given(st.lists(st.integers(1, 60), max_size=300), st.sampled_from([1, 200, 10**6]))
def test_groups_are_of_similar_length_and_no_larger_than_allowed(lengths, max_rows):
    groups = [group.tolist() for group in group_spans(lengths, max_rows)]
    order = [number for group in groups for number in group]
    assert order == sorted(range(len(lengths)), key=lambda i: -lengths[i])
    for i, group in enumerate(groups):
        longest, tokens = lengths[group[0]], sum(lengths[n] for n in group)
        n_rows = longest * len(group)
        assert n_rows <= max_rows or len(group) == 1
        assert n_rows - tokens <= max(MOST_PADDING * n_rows, FEWEST_ROWS + longest)
        if i + 1 < len(groups):  # why the next one is not in it
            following = lengths[groups[i + 1][0]]
            n_rows += longest
            padding = n_rows - tokens - following
            is_wasteful = padding > MOST_PADDING * n_rows
            assert n_rows > max_rows or (
                is_wasteful and n_rows - longest >= FEWEST_ROWS
            )
