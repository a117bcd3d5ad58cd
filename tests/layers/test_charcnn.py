"""The character CNN: beside its definition, and by finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.kernels.characters import find_character_rows, find_types
from spacy_hashembeds.layers.charcnn import CharCNN

from .differences import differentiate

WORDS = ["Hello", "a", "U.S.", "żółw", "aaa", "", "中文字", "ab-ab12", "a"]
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
    trained, _ = model.begin_update(words)
    np.testing.assert_array_equal(trained, Y)


@pytest.mark.parametrize("name", ["E", "W1", "W2", "W3", "b"])
def test_gradients_equal_finite_differences(name):
    model, params = build(), get_params(build())
    Y, backprop = model.begin_update(WORDS)
    dY = np.random.default_rng(1).normal(size=Y.shape).astype("f")
    assert backprop(dY) == []
    actual = model.get_grad(name)
    is_used = np.ones(actual.shape, dtype=bool)
    if name == "E":
        is_used[...] = False
        is_used[find_character_rows(encode("".join(word[:5] for word in WORDS)))] = True

    def get_loss():
        return (embed_plainly(WORDS, params) * dY).sum()

    expected = differentiate(get_loss, params[name], step=1e-6, places=is_used)
    np.testing.assert_allclose(actual, expected, atol=1e-4)
    assert actual.any()


def test_the_defaults_are_the_papers():
    model = CharCNN().initialize()
    assert model.get_dim("nO") == 60
    kernels = [name for name in model.param_names if name != "E"]
    assert sum(model.get_param(name).size for name in kernels) == 3540
    assert model.get_param("E").shape == (2113, 25)


def test_characters_begin_as_long_as_their_types():
    E = CharCNN().initialize().get_param("E")
    lengths = (
        E[find_character_rows(np.arange(32, 1000, dtype="uint32"))].sum(axis=1) ** 2
    ).sum(1)
    assert lengths.mean() == pytest.approx(1, abs=0.1)


def test_kernels_begin_by_what_they_see_of_a_word():
    """Each is as one unit of a dense layer (Glorot and Bengio 2010)."""
    model = CharCNN(25, num_kernels=20, ngram_size=3).initialize()
    for length in (1, 2, 3):
        W = model.get_param(f"W{length}")
        bound = (6 / (length * (25 + 4) + 20)) ** 0.5
        assert 0.95 * bound < abs(W).max() <= bound
    assert not model.get_param("b").any()
