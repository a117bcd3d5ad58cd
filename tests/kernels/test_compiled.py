"""Compiled kernels against numpy, and arrays that kernels do not support."""

import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pytest

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.mixing import Norm, finish, finish_in_training
from spacy_hashembeds.kernels.rows import gather_add, get_kernels_for, scatter_add

from .paths import KERNELS, Noted, both_paths, needs_kernels

pytestmark = needs_kernels


def make_norm(state, nO, nP):
    return Norm(*(state.normal(size=n).astype("f") for n in (nO * nP, nO, nO)))


@pytest.mark.parametrize(
    ("nP", "names"),
    [(257, ["finish_rows"]), (256, ["begin_rows", "finish_rows", "backprop_rows"])],
)
def test_numpy_trains_more_than_256_pieces(nP, names):
    state = np.random.default_rng(0)
    norm = make_norm(state, 2, nP)
    mixed = state.normal(size=(3, 2 * nP)).astype("f")
    with compiled.using(noted := Noted(KERNELS)):
        Y, backprop = finish_in_training(mixed.copy(), norm)
        finished = finish(mixed.copy(), norm)
        assert backprop(Y, norm.make_zeros()).shape == mixed.shape
    assert noted.names == names
    np.testing.assert_allclose(finished, Y, atol=1e-5)


def test_kernels_require_contiguous_float32():
    plain = np.ones((4, 2), dtype="f")
    with compiled.using(KERNELS):
        assert get_kernels_for(plain, plain[:2]) is KERNELS
        for other in (plain.astype("d"), plain[::2], plain.T):
            assert get_kernels_for(plain, other) is get_kernels_for(other) is None


@pytest.mark.parametrize("row", [3, -1])
def test_rows_out_of_bounds_raise(row):
    table, rows = np.ones((3, 2), dtype="f"), np.array([[0], [row]], dtype="int32")
    with compiled.using(KERNELS):
        with pytest.raises(IndexError, match="are not among the 3"):
            gather_add(table, rows)
        with pytest.raises(IndexError, match="are not among the 3"):
            scatter_add(table, rows, np.ones((2, 2), dtype="f"))


@both_paths
def test_read_only_arrays(kernels):
    """Worker processes may share memory maps, for example."""
    table = np.arange(12, dtype="f").reshape(4, 3)
    table.flags.writeable = False
    rows = np.array([[0, 3], [2, 2]], dtype="uint32")
    with compiled.using(kernels):
        sums = gather_add(table, rows)
        with pytest.raises(ValueError, match="read-only"):
            scatter_add(table, rows, sums)
    np.testing.assert_array_equal(sums, [[9, 11, 13], [12, 14, 16]])


F, U, N, B = "float32", "uint32", "int64", "uint8"
RATES = ("beta1", "beta2", "eps", "learn_rate", "clip", "decay", "average")
ADAM = dict.fromkeys(RATES, 0.5)
BACKPROP: list = [(F, 2, 3), (B, 2, 3), (F, 2, 3), (F, 2), [6, 3, 3], [6, 3, 3]]


def make_argument(described):
    """Make an array from dtype and shape, or a norm from sizes, or return the value."""
    if isinstance(described, list):
        return Norm(*(np.zeros(n, F) for n in described))
    if isinstance(described, tuple):
        return np.zeros(described[1:], described[0])
    return described


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("finish_rows", [(F, 2, 3), (F, 1, 6), [6, 3, 3], True]),
        ("finish_rows", [(F, 2, 3), (F, 2, 6), [6, 3, 2], True]),
        ("finish_rows", [(F, 2, 3), (F, 2, 7), [7, 3, 3], True]),
        ("begin_rows", [(F, 1, 3), (F, 2, 6), [6, 3, 3]]),
        ("begin_rows", [(F, 2, 2), (F, 2, 6), [6, 3, 3]]),
        ("begin_rows", [(F, 1, 1), (F, 1, 300), [300, 1, 1]]),
        *(
            ("backprop_rows", [*BACKPROP[:i], wrong, *BACKPROP[i + 1 :]])
            for i, wrong in [
                *((0, (F, 2, 2)), (1, (B, 1, 3)), (1, (B, 2, 2)), (2, (F, 1, 3))),
                *((2, (F, 2, 2)), (3, (F, 1)), (5, [6, 2, 3]), (5, [6, 3, 2])),
            ]
        ),
        ("copy_windows", [(F, 5, 2), (N, 3), 2**62]),
        ("add_windows", [(F, 5, 2), (N, 3), 0, (F, 2, 2)]),
        ("add_windows", [(F, 5, 2), (N, 3), 0, (F, 3, 1)]),
        ("gather_sums", [(F, 5, 2), (U, 3, 0)]),
        ("scatter_sums", [(F, 5, 2), (U, 3, 1), (F, 2, 2)]),
        ("scatter_sums", [(F, 5, 2), (U, 3, 1), (F, 3, 1)]),
        ("find_distinct", [("uint64", 0, 2)]),
        ("find_equal_rows", [(F, 0, 2), 1]),
        ("find_equal_rows", [(F, 2, 1), 1]),
        *(
            ("step_adam", [(F, 3)] * i + [(F, 2)] + [(F, 3)] * (4 - i) + [ADAM])
            for i in range(5)
        ),
    ],
)
def test_mismatched_shapes_raise(name, arguments):
    arrays = list(map(make_argument, arguments))
    with pytest.raises(ValueError, match="don't fit each other"):
        getattr(KERNELS, name)(*arrays)


@pytest.mark.parametrize("rows", [[0, 1], [3, 4], [3, 9, 3], [2, -1], [2**40]])
def test_windows_out_of_bounds_raise(rows):
    X, d_windows = np.zeros((5, 2), dtype="f"), np.ones((len(rows), 6), dtype="f")
    with pytest.raises(IndexError, match="are not among the 5"):
        KERNELS.copy_windows(X, np.array(rows), 1)
    with pytest.raises(IndexError, match="are not among the 5"):
        KERNELS.add_windows(X, np.array(rows), 1, d_windows)


def test_float_rows_raise():
    with compiled.using(KERNELS), pytest.raises(TypeError, match="Cannot cast"):
        gather_add(np.ones((3, 2), dtype="f"), np.ones((1, 1), dtype="f"))


@both_paths
def test_nan_spreads_over_its_row(kernels):
    """Otherwise, a diverging training would not be noticed."""
    state = np.random.default_rng(0)
    for piece in range(3):
        norm = make_norm(state, 4, 3)
        mixed = state.normal(size=(2, 12)).astype("f")
        mixed[0, 4 * piece] = np.nan
        with compiled.using(kernels):
            Y, _ = finish_in_training(mixed.copy(), norm)
            finished = finish(mixed.copy(), norm)
        for found in (Y, finished):
            assert np.isnan(found[0]).all()
            assert not np.isnan(found[1]).any()


def test_environment_variable(monkeypatch):
    monkeypatch.delenv(compiled.SWITCH, raising=False)
    assert compiled.read_switch(compiled.SWITCH, "for them")
    for value, is_set in {"1": True, "": True, "0": False}.items():
        monkeypatch.setenv(compiled.SWITCH, value)
        assert compiled.read_switch(compiled.SWITCH, "for them") is is_set
    code = "from spacy_hashembeds.kernels import compiled; print(compiled.kernels)"
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert printed.strip() == "None"
    monkeypatch.setenv(compiled.SWITCH, "no")
    with pytest.raises(ValueError, match=compiled.SWITCH):
        compiled.read_switch(compiled.SWITCH, "for them")


@pytest.mark.parametrize(
    ("error", "reported"),
    [(ImportError, ImportError), (ModuleNotFoundError, type(None))],
)
def test_import_errors(error, reported, monkeypatch):
    """A missing module is not an error; a broken or outdated one is reported."""
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "import_module", Mock(side_effect=error("broken")))
        found, why = compiled.find()
    assert found is None
    assert type(why) is reported
    monkeypatch.setattr(compiled, "INTERFACE", compiled.INTERFACE + 1)
    found, why = compiled.find()
    assert found is None
    assert "compiled from other sources" in str(why)
