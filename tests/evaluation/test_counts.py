import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given
from spacy.scorer import PRFScore

from spacy_hashembeds.evaluation.counts import (
    pack_counts,
    score_counts,
    tabulate_counts,
    unpack_counts,
)


def test_counts_stand_in_their_documents_row_and_their_keys_column():
    keys, counts = tabulate_counts(
        [{"a": (1, 2, 3)}, {}, {"b": [4, 5, 6], "a": [7, 8, 9]}]
    )
    assert keys == ["a", "b"]
    assert counts.tolist() == [
        [[1, 2, 3], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0]],
        [[7, 8, 9], [4, 5, 6]],
    ]


@pytest.mark.parametrize("documents", [[], [{}, {}]])
def test_nothing_counted_makes_an_array_without_columns(documents):
    keys, counts = tabulate_counts(documents)
    assert keys == []
    assert counts.shape == (len(documents), 0, 3)


@example([(0, 0, 0), (50, 0, 0), (0, 50, 0), (0, 0, 50), (50, 50, 50)])
@given(st.lists(st.tuples(*[st.integers(0, 50)] * 3), min_size=1))
def test_scores_are_those_of_spacy_to_the_last_bit(rows):
    scores = score_counts(np.array(rows))
    for (tp, fp, fn), values in zip(rows, scores, strict=True):
        score = PRFScore(tp=tp, fp=fp, fn=fn)
        if len(score):
            expected = [score.precision, score.recall, score.fscore]
            assert values.tolist() == expected
        else:
            assert np.isnan(values).all()


@pytest.mark.parametrize("shape", [(5, 3, 3), (1, 1, 3), (0, 3, 3)])
def test_counts_are_packed_as_text_and_unpacked(shape):
    counts = np.random.default_rng(0).integers(0, 70_000, shape).astype("int32")
    text = pack_counts(counts)
    assert text.isascii()
    found = unpack_counts(text, shape[1])
    assert (found.shape, found.dtype) == (shape, counts.dtype)
    assert (found == counts).all()


def test_most_documents_take_a_few_bytes():
    counts = np.zeros((1000, 3, 3), dtype="int32")
    counts[::10, 0, 0] = counts[::10, 2, 0] = 1
    counts[5::25, :, 1] = 1
    assert len(pack_counts(counts)) < 1000


@pytest.mark.parametrize("damage", [lambda text: text[:-8], lambda _: "no base64"])
def test_packed_counts_that_are_damaged_are_refused(damage):
    text = pack_counts(np.ones((4, 3, 3), dtype="int32"))
    with pytest.raises(ValueError, match="those of 3 things, but are '"):
        unpack_counts(damage(text), 3)
    with pytest.raises(ValueError, match="those of 5 things"):
        unpack_counts(text, 5)
