"""lab/held_out_calibration.py: documents are not divided, and sources are compared."""

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from lab.held_out_calibration import compare, divide, number_documents

VOCAB = Vocab()


def test_documents_begin_where_offsets_do():
    text = "A\t0\t1\tO\nb\t2\t3\tO\n\nC\t4\t5\tO\n\nD\t0\t1\tB-X\n"
    expected = [(("A", "b"), 0), (("C",), 0), (("D",), 1)]
    assert [*number_documents(text)] == expected


def test_shuffled_sentences_of_a_document_are_in_one_fold():
    numbers = {("a",): 0, ("b",): 0, ("c",): 1, ("d",): 2, ("e",): 1}
    docs = [Doc(VOCAB, [*words]) for words in [*numbers][::-1]]
    found = [{doc.text.strip() for doc in fold} for fold in divide(docs, numbers)]
    assert found == [{"a", "b"}, {"c", "e"}, {"d"}]


def test_folds_without_documents_are_consecutive():
    docs = [Doc(VOCAB, ["a"]) for _ in range(6)]
    assert divide(docs, {}) == [docs[:2], docs[2:4], docs[4:]]


def score(shift: float, n: int):
    """Return scores whose log-odds are too high by a shift, and which are correct."""
    rng = np.random.default_rng(n)
    odds = rng.normal(1, 1.5, size=n)
    is_right = rng.random(n) < 1 / (1 + np.exp(shift - odds))
    return 1 / (1 + np.exp(-odds)), is_right


def test_scores_are_calibrated_by_each_source():
    test = [score(2.0, 200 + i) for i in range(5)] + [(np.array([]), np.array([]))]
    found = compare(test, {"like": score(2.0, 400), "unlike": score(0.0, 400)})
    errors = {name: of["error"] for name, of in found.items()}
    assert errors["like"] < errors["unlike"] / 3
    low, high = found["like"]["interval"]
    assert low < errors["like"] < high
