import base64
import zlib

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given
from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds.evaluation import counts as counts_module
from spacy_hashembeds.evaluation.counts import (
    Run,
    add_counts,
    pack_counts,
    score_counts,
    unpack_counts,
)


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


DAMAGES = [
    lambda text: text[:-8],
    lambda text: f"{text[:9]}\n{text[9:]}",
    lambda _: "no base64",
    lambda _: 7,
    lambda _: pack_counts(np.full((4, 3, 3), -1, dtype="int32")),
    lambda _: base64.b64encode(zlib.compress(bytes(36)) + b"more").decode(),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_packed_counts_that_are_damaged_are_refused(damage):
    text = pack_counts(np.ones((4, 3, 3), dtype="int32"))
    with pytest.raises(ValueError, match="those of 3 things, but are '"):
        unpack_counts(damage(text), 3)
    with pytest.raises(ValueError, match="those of 5 things"):
        unpack_counts(text, 5)


def test_counts_that_unpack_to_too_much_are_refused(monkeypatch):
    text = pack_counts(np.zeros((4, 3, 3), dtype="int32"))
    monkeypatch.setattr(counts_module, "MAX_BYTES", 4 * 36)
    assert unpack_counts(text, 3).shape == (4, 3, 3)
    monkeypatch.setattr(counts_module, "MAX_BYTES", 3 * 36)
    with pytest.raises(ValueError, match="those of 3 things"):
        unpack_counts(text, 3)
