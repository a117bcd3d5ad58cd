"""The character CNN: beside its definition, and by finite differences."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.papers.why_attention.charcnn import (
    N_ROWS,
    CharCNN,
    find_character_rows,
    find_types,
)

from ...layers.differences import differentiate

WORDS = ["Hello", "a", "U.S.", "żółw", "aaa", "", "中文字", "ab-ab12", "a", "a\ud800"]
TEXT = st.text("abC.中", max_size=7) | st.text(max_size=5)


def build(nM=3, **options) -> Model:
    fix_random_seed(0)
    options = {"num_kernels": 2, "ngram_size": 3, "max_chars": 5, **options}
    model = CharCNN(nM, **options).initialize()
    b = model.get_param("b")
    model.set_param("b", np.random.normal(size=b.shape).astype("f"))
    return model


def get_params(model) -> dict[str, np.ndarray]:
    return {n: model.get_param(n).astype("float64") for n in model.param_names}


def encode(word) -> np.ndarray:
    return np.array([ord(char) for char in word], dtype="uint32")


def embed_plainly(words, params, max_chars=5) -> np.ndarray:
    """A word, a kernel and a window at a time."""
    E, b = params["E"], params["b"]
    Y = np.zeros((len(words), len(b)))
    for i, word in enumerate(words):
        codes = encode(word[:max_chars])
        X = np.hstack([E[find_character_rows(codes)].sum(axis=1), find_types(codes)])
        found = []
        for name in sorted(n for n in params if n.startswith("W")):
            W = params[name]
            beyond = np.zeros((W.shape[1], X.shape[1]))
            padded = np.vstack([X, beyond])
            windows = [padded[start : start + W.shape[1]] for start in range(len(X))]
            found += [[(w * kernel).sum() for w in windows] for kernel in W]
        if word:
            Y[i] = np.max(found, axis=1) + b
    return Y


@given(
    words=st.lists(TEXT, max_size=8),
    nM=st.integers(1, 4),
    num_kernels=st.integers(1, 3),
    ngram_size=st.integers(1, 4),
    max_chars=st.integers(1, 6),
)
@settings(max_examples=30)
def test_it_is_its_definition(words, nM, num_kernels, ngram_size, max_chars):
    options = {"num_kernels": num_kernels, "ngram_size": ngram_size}
    model = build(nM, max_chars=max_chars, **options)
    Y = model.predict(words)
    assert (Y.shape, Y.dtype) == ((len(words), num_kernels * ngram_size), "float32")
    expected = embed_plainly(words, get_params(model), max_chars)
    np.testing.assert_allclose(Y, expected, atol=1e-5)


def test_gradients_equal_finite_differences():
    model, params = build(), get_params(build())
    Y, backprop = model.begin_update(WORDS)
    dY = np.random.default_rng(1).normal(size=Y.shape).astype("f")
    assert backprop(dY) == []
    rows = find_character_rows(encode("".join(word[:5] for word in WORDS)))

    def get_loss():
        return (embed_plainly(WORDS, params) * dY).sum()

    for name, param in params.items():
        is_used = np.full(param.shape, name != "E")
        is_used[rows if name == "E" else ...] = True
        expected = differentiate(get_loss, param, step=1e-6, places=is_used)
        np.testing.assert_allclose(model.get_grad(name), expected, atol=1e-4)


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
