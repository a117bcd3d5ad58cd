import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given
from spacy.scorer import PRFScore

from spacy_hashembeds.evaluation.counts import score_counts, tabulate_counts


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
