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
    docs = [Doc(VOCAB, [word]) for word in "edcbafg"]
    found = divide((docs, np.array([1, 2, 1, 0, 0, 3, 5])))
    assert found == [[docs[i] for i in of] for of in ([0, 2, 3, 4], [1, 5], [6])]


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
