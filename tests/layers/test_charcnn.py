"""The character CNN: beside its definition, finite differences and PyTorch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import Adam, Model, fix_random_seed

from spacy_hashembeds.kernels.characters import find_rows, find_types
from spacy_hashembeds.layers.capitalisation import capitalisation
from spacy_hashembeds.layers.charcnn import CharCNN

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


def make_gradient(Y, seed=1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=Y.shape).astype("f")


def encode(word) -> np.ndarray:
    return np.array([ord(char) for char in word], dtype="uint32")


def embed_plainly(words, params, max_chars=5) -> np.ndarray:
    """A word, a kernel and a window at a time."""
    E, b = params["E"], params["b"]
    Y = np.zeros((len(words), len(b)))
    for i, word in enumerate(words):
        codes = encode(word[:max_chars])
        X = np.hstack([E[find_rows(codes)].sum(axis=1), find_types(codes)])
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
    dY = make_gradient(Y)
    before = dY.copy()
    assert backprop(dY) == []
    np.testing.assert_array_equal(dY, before)  # left as it was
    actual = model.get_grad(name)
    is_used = np.ones(actual.shape, dtype=bool)
    if name == "E":
        is_used[...] = False
        is_used[find_rows(encode("".join(word[:5] for word in WORDS)))] = True
    expected = np.zeros(actual.shape)
    for index in zip(*is_used.nonzero(), strict=True):
        values = []
        for step in (1e-6, -1e-6):
            changed = params[name].copy()
            changed[index] += step
            output = embed_plainly(WORDS, {**params, name: changed})
            values.append((output * dY).sum())
        expected[index] = (values[0] - values[1]) / 2e-6
    np.testing.assert_allclose(actual, expected, atol=1e-4)
    assert actual.any()
    backprop(dY)  # gradients add up
    np.testing.assert_allclose(model.get_grad(name), 2 * expected, atol=1e-4)


@pytest.mark.torch
@settings(max_examples=30)
@given(words=st.lists(TEXT, min_size=1, max_size=8), padding=st.integers(0, 9))
def test_it_is_pytorch_s(words, padding):
    """However many zeros are behind the words."""
    import torch

    model = build()
    params = {
        name: torch.tensor(model.get_param(name), requires_grad=True)
        for name in model.param_names
    }
    cut = [word[:5] for word in words]
    longest = max([1, *map(len, cut)]) + padding + 2
    inputs = []
    for word in cut:
        rows = torch.tensor(find_rows(encode(word)).astype("int64"))
        types = torch.tensor(find_types(encode(word)))
        X = torch.cat([params["E"][rows].sum(dim=1), types], dim=1)
        inputs.append(torch.nn.functional.pad(X, (0, 0, 0, longest - len(X))))
    lengths = torch.tensor([len(word) for word in cut])
    found = []
    for size in (1, 2, 3):
        convolution = torch.nn.Conv1d(7, 2, size, bias=False)
        del convolution.weight
        convolution.weight = params[f"W{size}"].transpose(1, 2)
        found_of_size = convolution(torch.stack(inputs).transpose(1, 2))
        places = torch.arange(found_of_size.shape[2])
        is_beyond = places >= lengths.clamp(min=1)[:, None, None]
        found.append(found_of_size.masked_fill(is_beyond, -torch.inf).max(dim=2)[0])
    expected = (torch.cat(found, dim=1) + params["b"]) * (lengths > 0)[:, None]
    Y, backprop = model.begin_update(words)
    np.testing.assert_allclose(Y, expected.detach().numpy(), atol=1e-5)
    dY = make_gradient(Y)
    backprop(dY)
    expected.backward(torch.tensor(dY))
    for name, param in params.items():
        if any(cut):
            grad = model.get_grad(name)
            np.testing.assert_allclose(grad, param.grad.numpy(), atol=1e-4)


def test_its_neighbours_make_no_difference():
    model = build()
    together = model.predict(WORDS)
    for i, word in enumerate(WORDS):
        np.testing.assert_allclose(model.predict([word])[0], together[i], atol=1e-6)
    many = model.predict(WORDS * 3000)
    np.testing.assert_allclose(many, np.tile(together, (3000, 1)), atol=1e-6)


def test_what_is_beyond_the_end_never_wins():
    """Where all that kernels find is below zero, which is what they find in zeros."""
    model = build()
    for name in ("W1", "W2", "W3"):
        model.set_param(name, -abs(model.get_param(name)))
    model.set_param("E", abs(model.get_param("E")))
    model.set_param("b", np.zeros(6, dtype="f"))
    assert (model.predict(["a", "ab", "abcde"]) < 0).all()


def test_only_the_first_characters_count():
    model = build(max_chars=3)
    Y = model.predict(["abc", "abcd", "abcxyz", "abd"])
    np.testing.assert_array_equal(Y[1:3], Y[[0, 0]])
    assert not np.allclose(Y[3], Y[0])


@pytest.mark.parametrize("words", [[], [""], ["", ""]])
def test_no_characters(words):
    model = build()
    for is_train in (False, True):
        Y, backprop = model(words, is_train)
        assert (Y.shape, Y.dtype, Y.any()) == ((len(words), 6), "float32", False)
        assert backprop(Y) == []
    assert not any(model.has_grad(name) for name in model.param_names)


def test_a_word_without_characters_has_no_gradient():
    model = build()
    Y, backprop = model.begin_update(["", "b", ""])
    backprop(np.ones_like(Y))
    np.testing.assert_array_equal(model.get_grad("b"), np.ones(6))
    assert not Y[[0, 2]].any()


def test_characters_that_were_never_seen_differ():
    Y = build().predict(["ж", "з", "中", "국", "😀", "\U0010ffff"])
    assert len(np.unique(Y, axis=0)) == 6


def test_the_defaults_are_the_papers():
    model = CharCNN().initialize()
    assert model.get_dim("nO") == 60
    kernels = [name for name in model.param_names if name != "E"]
    assert sum(model.get_param(name).size for name in kernels) == 3540
    assert model.get_param("E").shape == (2113, 25)


def test_characters_begin_as_long_as_their_types():
    E = CharCNN().initialize().get_param("E")
    lengths = (E[find_rows(np.arange(32, 1000, dtype="uint32"))].sum(axis=1) ** 2).sum(
        1
    )
    assert lengths.mean() == pytest.approx(1, abs=0.1)


def test_kernels_begin_by_what_they_see_of_a_word():
    """Each is as one unit of a dense layer (Glorot and Bengio 2010)."""
    model = CharCNN(25, num_kernels=20, ngram_size=3).initialize()
    for length in (1, 2, 3):
        W = model.get_param(f"W{length}")
        bound = (6 / (length * (25 + 4) + 20)) ** 0.5
        assert 0.95 * bound < abs(W).max() <= bound
    assert not model.get_param("b").any()


def test_it_learns():
    """To tell words that end in "ed" from words that have it elsewhere."""
    words = ["walked", "edited", "used", "edge", "reds", "media", "sped", "cede"]
    targets = np.array([[word.endswith("ed")] for word in words], dtype="f")
    model, optimizer = build(num_kernels=1, max_chars=9), Adam(0.02)
    for _ in range(200):
        Y, backprop = model.begin_update(words)
        dY = np.zeros_like(Y)
        dY[:, 2:] = Y[:, 2:] - targets  # by the kernel that sees three characters
        backprop(dY)
        model.finish_update(optimizer)
    np.testing.assert_allclose(model.predict(words)[:, 2:], targets, atol=0.2)


def test_weights_of_another_size_are_refused():
    for options in ({"num_kernels": 3}, {"ngram_size": 2}, {"nM": 4}):
        with pytest.raises(ValueError, match=r"charcnn"):
            build(**options).from_bytes(build().to_bytes()).predict(WORDS)


def test_capitalisation_has_no_weights_and_no_gradient():
    model = capitalisation().initialize()
    Y, backprop = model.begin_update(["Ab", "12", "ab"])
    assert Y.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert backprop(Y) == []
    assert model.predict([]).shape == (0, model.get_dim("nO")) == (0, 4)
