"""Convolutions with packed weights, by each instruction set, against numpy."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.convolution import add_convolved, find_instructions, pack
from spacy_hashembeds.kernels.mixing import Norm, finish
from spacy_hashembeds.kernels.windows import copy_windows

from .paths import KERNELS, needs_kernels

pytestmark = needs_kernels

SETS = dict(enumerate(KERNELS.INSTRUCTION_SETS)) if KERNELS is not None else {}
INT8 = [number for number, (_, precision, _) in SETS.items() if precision == "int8"]

shapes = given(
    n=st.integers(1, 140),
    width=st.integers(1, 70),
    n_pieces=st.integers(1, 4),
    window_size=st.integers(0, 2),
    seed=st.integers(0, 99),
)
USUAL = {"n": 140, "width": 96, "n_pieces": 3, "window_size": 1, "seed": 0}


@pytest.fixture(autouse=True)
def kernels():
    with compiled.using(KERNELS):
        yield


def make(n, width, n_pieces, window_size, seed):
    """Make inputs, row indices, weights, the norm, and outputs to add to."""
    state = np.random.default_rng(seed)

    def draw(*shape):
        return (state.normal(size=shape) * state.choice([0.01, 1, 30])).astype("f")

    X, rows = draw(n + 2 * window_size, width), np.arange(n) + window_size
    W = draw(n_pieces * width, (2 * window_size + 1) * width)
    norm = Norm(draw(n_pieces * width), draw(width), draw(width))
    return X, state.permutation(rows), W, norm, draw(n, width)


def convolve(made, number):
    X, rows, W, norm, Y = made
    Y = Y.copy()
    add_convolved(pack(W, norm, number), X, rows, Y)
    return Y


def quantize_in_numpy(X):
    """Codes and scales, bitwise equal to the kernels'."""
    largest = abs(X).max(axis=1)
    factors = np.where(largest < 1e-30, 0, np.float32(127) / np.maximum(largest, 1e-30))
    codes = np.rint(X * factors[:, None].astype("f")).astype("int32")
    return codes, np.where(largest < 1e-30, 0, largest / np.float32(127)).astype("f")


def multiply_int8_in_numpy(X, rows, W, width):
    """Sum the exact products of neighbors as floats, in order."""
    codes, scales = quantize_in_numpy(X)
    weights, weight_scales = quantize_in_numpy(W)
    window_size = W.shape[1] // width // 2
    mixed = np.zeros((len(rows), len(W)), dtype="f")
    for i in range(2 * window_size + 1):
        neighbors = rows + (i - window_size)
        part = weights[:, i * width : (i + 1) * width].astype("int32")
        mixed += (codes[neighbors] @ part.T).astype("f") * scales[neighbors, None]
    return mixed * weight_scales


def round_to_bfloat16(X):
    bits = np.ascontiguousarray(X).view("uint32")
    rounded = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    return (rounded & np.uint32(0xFFFF0000)).view("f")


@pytest.mark.parametrize("number", SETS)
@shapes
@example(**USUAL)
def test_equals_numpy(number, width, window_size, **sizes):
    """Results in int8 are bitwise equal for all instruction sets."""
    X, rows, W, norm, Y = made = make(width=width, window_size=window_size, **sizes)
    found = convolve(made, number)
    if number in INT8:
        expected = Y + finish(multiply_int8_in_numpy(X, rows, W, width), norm)
        assert_allclose(found, expected, rtol=2e-5, atol=2e-4)
        assert_array_equal(found, convolve(made, INT8[0]))
        return
    if SETS[number][1] == "bfloat16":
        X, W = round_to_bfloat16(X), round_to_bfloat16(W)
    expected = Y + finish(copy_windows(X, rows, window_size) @ W.T, norm)
    assert_allclose(found, expected, rtol=1e-4, atol=3e-3)


@given(st.lists(st.floats(width=32), min_size=3, max_size=3).map(np.float32))
# NaN of different bits
@example(np.array([0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF], dtype="uint32").view("f"))
def test_rounding_to_bfloat16(numbers):
    X = numbers[None]
    words, scales = KERNELS.encode_rows(X, False)
    halves = words.view("uint16").astype("uint32") << np.uint32(16)
    expected = np.where(np.isnan(X), X, round_to_bfloat16(X))
    assert_array_equal(halves[:, :3].view("f"), expected)
    assert halves[0, 3] == 0
    assert scales == [1]


@pytest.mark.parametrize("number", SETS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_propagates(number, bad):
    X, rows, *_ = made = make(**{**USUAL, "n": 9})
    X[5, 7] = bad
    is_nan = np.isnan(convolve(made, number)).all(axis=1)
    assert_array_equal(is_nan, abs(rows - 5) <= 1)


@pytest.mark.parametrize("number", SETS)
def test_tiny_numbers_and_no_rows(number):
    X, rows, W, norm, Y = made = make(**{**USUAL, "n": 5})
    X[:], W[:] = 1e-40, 0
    nothing = np.zeros((len(Y), len(W)), dtype="f")
    assert_allclose(convolve(made, number), Y + finish(nothing, norm), rtol=1e-5)
    assert convolve((X, rows[:0], W, norm, Y[:0]), number).shape == (0, 96)


@pytest.mark.parametrize("row", [-1, 0, 141, 2**62, -(2**63)])
def test_windows_out_of_bounds_raise(row):
    X, rows, W, norm, Y = make(**USUAL)
    rows[3] = row
    with pytest.raises(IndexError, match="are not among the 142"):
        convolve((X, rows, W, norm, Y), 0)


def test_mismatched_shapes_raise():
    X, rows, W, norm, Y = make(**USUAL)
    packed = pack(W, norm, 0)
    n_words = packed.words.shape[1] // 3
    fitting = {"packed": packed, "X": X, "rows": rows, "Y": Y}
    wrong_weights = [
        {"words": packed.words[1:]},
        {"words": packed.words[:, 1:].copy()},
        {"begin": packed.begin[1:]},
        {"begin": packed.begin[:, 1:].copy()},
        # an even number of neighbors
        {"begin": packed.begin[:2], "words": packed.words[:, : 2 * n_words].copy()},
        {"scales": packed.scales[:-16]},
        {"instructions": len(SETS)},
    ]
    for other in (
        *({"packed": packed._replace(**changes)} for changes in wrong_weights),
        *({"X": X[:, :95].copy()}, {"rows": rows[1:]}, {"Y": Y[:, :95].copy()}),
    ):
        with pytest.raises(ValueError, match="don't fit each other"):
            add_convolved(*(fitting | other).values())


def test_slow_instruction_sets_are_ignored():
    sets = [("plain", "int8", False), ("fast", "bfloat16", True)]
    with compiled.using(SimpleNamespace(INSTRUCTION_SETS=sets)):
        assert find_instructions("int8") is None
        assert find_instructions("bfloat16") == 1
