"""The character CNN: beside its definition, and by finite differences."""

import numpy as np
import pytest
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.papers.why_attention.charcnn import (
    N_ROWS,
    CharCNN,
    find_character_rows,
    find_types,
)

from ..definitions import assert_is_defined_by

WORDS = ["Hello", "a", "U.S.", "żółw", "aaa", "", "中文字", "ab-ab12", "a", "a\ud800"]


def build(nM=3, **options) -> Model:
    fix_random_seed(0)
    options = {"num_kernels": 2, "ngram_size": 3, "max_chars": 5, **options}
    model = CharCNN(nM, **options).initialize()
    b = model.get_param("b")
    model.set_param("b", np.random.normal(size=b.shape).astype("f"))
    return model


def encode(word) -> np.ndarray:
    return np.array([ord(char) for char in word], dtype="uint32")


def embed_plainly(words, *, E, b, **kernels) -> np.ndarray:
    """A word, a kernel and a window at a time, of five characters."""
    Y = np.zeros((len(words), len(b)))
    for i, word in enumerate(words):
        codes = encode(word[:5])
        X = np.hstack([E[find_character_rows(codes)].sum(axis=1), find_types(codes)])
        found = []
        for W in kernels.values():
            padded = np.vstack([X, np.zeros((W.shape[1], X.shape[1]))])
            windows = [padded[start : start + W.shape[1]] for start in range(len(X))]
            found += [[(w * kernel).sum() for w in windows] for kernel in W]
        if word:
            Y[i] = np.max(found, axis=1) + b
    return Y


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        ([], {}),
        (["", ""], {}),
        (WORDS, {}),
        (WORDS, {"nM": 1, "num_kernels": 1, "ngram_size": 1}),
        (WORDS[::-1], {"nM": 2, "num_kernels": 3, "ngram_size": 4}),
    ],
)
def test_it_and_its_gradients_are_its_definition(words, sizes):
    model = build(**sizes)
    is_used = np.zeros(model.get_param("E").shape, dtype=bool)
    is_used[find_character_rows(encode("".join(word[:5] for word in words)))] = True
    assert_is_defined_by(embed_plainly, model, words, E=is_used)


def test_no_two_characters_have_the_same_rows():
    rows = find_character_rows(np.arange(0x110000, dtype="uint32"))
    assert rows.dtype == "uint32"
    pairs = rows[:, 0].astype("uint64") * N_ROWS + rows[:, 1]
    assert len(np.unique(pairs)) == len(pairs)
    assert rows[:, 0].max() < rows[:, 1].min() <= rows.max() == N_ROWS - 1
    # saved weights depend on them
    expected = [[97, 1153], [1046, 2102], [1005, 2043], [736, 1671]]
    assert rows[encode("aЖ中😀")].tolist() == expected


def test_types():
    kinds = [
        "AZÄЖΩ",
        "azßжω",
        "09٣३",
        ".,-\"'()#@_“”¿。«$+<=>^`|~",
        " \n中あ²½€😀\u0301\0",
    ]
    for column, chars in enumerate(kinds):
        types = find_types(encode(chars))
        assert (types == np.eye(5, 4)[column]).all()
        assert (types.shape, types.dtype) == ((len(chars), 4), "float32")
