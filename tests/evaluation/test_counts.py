import hypothesis.strategies as st
import numpy as np
from hypothesis import example, given
from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds.evaluation.counts import Run, add_counts, score_counts


class CategoriesAsCounts(Run):
    """Counts what stands in the categories of gold docs."""

    def count(self, number, example):
        return example.reference.cats or None


def count(*documents: dict) -> Run:
    examples = [Example(Doc(Vocab()), Doc(Vocab())) for _ in documents]
    for eg, document in zip(examples, documents, strict=True):
        eg.reference.cats = document
    return CategoriesAsCounts(examples)


def test_counts_stand_in_their_documents_row_and_their_keys_column():
    run = count({"a": (1, 2, 3), "c": (0, 0, 0)}, {}, {"b": [4, 5, 6], "a": [7, 8, 9]})
    assert (run.n_read, run.numbers) == (3, [0, 2])
    assert run.list_keys() == ["a", "b"]  # c is seen, and none of it counted
    assert run.stack(["b", "a"]).tolist() == [
        [[0, 0, 0], [1, 2, 3]],
        [[4, 5, 6], [7, 8, 9]],
    ]
    totals = add_counts(run.documents)
    assert totals == {"a": [8, 10, 12], "b": [4, 5, 6], "c": [0, 0, 0]}


def test_nothing_counted_makes_an_array_without_columns():
    assert count().stack([]).shape == (0, 0, 3)
    assert count({"a": (0, 0, 0)}).stack(["b"]).tolist() == [[[0, 0, 0]]]


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
