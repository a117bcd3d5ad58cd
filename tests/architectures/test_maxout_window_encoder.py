"""`MaxoutWindowEncoder.v1` against `spacy.MaxoutWindowEncoder.v2`, its reference."""

import copy
from collections import Counter

import numpy as np
import pytest
from spacy.ml.models.tok2vec import MaxoutWindowEncoder as SpacyMaxoutWindowEncoder
from thinc.api import Ragged, fix_random_seed, set_dropout_rate

from spacy_hashembeds.architectures import maxout_window_encoder as encoder_module
from spacy_hashembeds.architectures.maxout_window_encoder import MaxoutWindowEncoder
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.layers import windowencoder
from tests.masks import thincs_masks

from ..kernels.paths import KERNELS, Noted, both_paths, needs_kernels
from ..layers.plans import get_kept
from ..toy_embedders import CHANGES, assert_close, get_gradients, get_nodes, note_calls

SETTINGS = [
    {"width": 48, "window_size": 1, "maxout_pieces": 3, "depth": 2},
    {"width": 32, "window_size": 2, "maxout_pieces": 2, "depth": 3},
    {"width": 24, "window_size": 1, "maxout_pieces": 1, "depth": 1},
    {"width": 16, "window_size": 0, "maxout_pieces": 2, "depth": 2},
]


@pytest.fixture(params=SETTINGS, ids=["usual", "wide", "one layer", "no window"])
def both(request):
    """Ours and spaCy's, with equal weights."""
    models = []
    for build in (MaxoutWindowEncoder, SpacyMaxoutWindowEncoder):
        fix_random_seed(0)
        models.append(build(**request.param).initialize())
    assert models[0].to_bytes() == models[1].to_bytes()
    return models


def make_input(model, lengths, seed=0):
    state = np.random.default_rng(seed)
    width = model.get_dim("nO")
    return [state.normal(size=(n, width)).astype("f") for n in lengths]


def run(model, Xs, dYs, drop):
    set_dropout_rate(model, drop)
    for node in model.walk():
        for name in node.grad_names:
            node.set_grad(name, node.get_grad(name) * 0)
    fix_random_seed(1)
    Ys, backprop = model.begin_update([X.copy() for X in Xs])
    dXs = backprop([dY.copy() for dY in dYs])
    return [*Ys, *dXs, *get_gradients(model)]


def assert_all_close(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        assert_close(one, other)


@pytest.mark.parametrize("drop", [0.0, 0.5])
@pytest.mark.parametrize(
    "lengths",
    # of which some have rows at the edges of blocks
    [[1], [0, 7, 3, 1], [400, 0, 12, 400], [256, 1], [257, 1], [512, 1], [513, 1]],
)
def test_equals_spacy(both, lengths, drop):
    """Outputs, gradients of inputs and parameters, and dropout."""
    ours, theirs = both
    Xs, dYs = (make_input(ours, lengths, seed) for seed in (0, 1))
    assert_all_close(ours.predict(Xs), theirs.predict(Xs))
    with thincs_masks():
        assert_all_close(*(run(model, Xs, dYs, drop) for model in both))


def test_other_types_are_computed_in_float32(both):
    ours, _ = both
    Xs = [(10 * X).astype("float16") for X in make_input(ours, [5, 3])]
    expected = run(ours, [X.astype("f") for X in Xs], make_input(ours, [5, 3]), 0.5)
    actual = run(ours, Xs, [dY.astype("d") for dY in make_input(ours, [5, 3])], 0.5)
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == "float32"
        np.testing.assert_array_equal(one, other)


def test_a_node_that_is_not_as_it_was_made_is_never_bypassed(both):
    """Each node in turn is wrapped: then Thinc's layers run."""
    ours, theirs = both
    Xs = make_input(ours, [300, 5])
    expected = theirs.predict(Xs)
    for i in range(1, len(list(ours.walk()))):
        copied = ours.copy()
        copied.predict(Xs)
        node = list(copied.walk())[i]
        calls = note_calls(node)
        np.testing.assert_array_equal(copied.predict(Xs)[0], expected[0])
        assert calls, node.name


def test_the_fast_path_is_taken(both, monkeypatch):
    """Else spaCy's would be compared with itself. Weights are laid out once."""
    ours, _ = both
    calls = []
    for module, name in (
        (encoder_module, "predict"),
        (encoder_module, "begin_update"),
        (windowencoder, "lay_out_convolution"),
    ):
        function = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda *a, n=name, f=function: calls.append(n) or f(*a)
        )
    for n in (3, 700, 3):
        ours.predict(make_input(ours, [n, 0, 2]))
    ours.begin_update(tuple(make_input(ours, [3])))
    depth = len(encoder_module.find_convolutions(ours))
    counts = {"predict": 3, "begin_update": depth, "lay_out_convolution": depth}
    assert Counter(calls) == counts


@needs_kernels
@pytest.mark.parametrize(
    ("fixture", "taken", "left"),
    [
        ("instructions", "add_convolved", "copy_windows"),
        ("no_instructions", "copy_windows", "add_convolved"),
    ],
)
def test_products_are_of_packed_weights_where_there_are_instructions(
    both, fixture, taken, left, request
):
    request.getfixturevalue(fixture)
    ours, theirs = both
    Xs = make_input(ours, [1, 300, 0, 5])
    with compiled.using(noted := Noted(KERNELS)):
        predicted = ours.predict(Xs)
    assert_all_close(predicted, theirs.predict(Xs))
    assert taken in noted.names
    assert left not in noted.names


@both_paths
@pytest.mark.parametrize("kind", ["shared", "few", "distinct", "alike"])
def test_products_of_equal_rows_are_shared(both, kind, kernels, monkeypatch):
    """By the first convolution alone, where there are enough of them, their first
    numbers tell rows apart, and as many at a time as stay in the cache.
    """
    monkeypatch.setattr(compiled, "kernels", kernels)
    monkeypatch.setattr(windowencoder, "SHARING", 600)
    ours, theirs = both
    n = windowencoder.FEW_ROWS // 2 if kind == "few" else 1100
    (X,) = make_input(ours, [n])
    if kind == "alike":
        X[:40, :4] = 1
    if kind != "distinct":
        X = X[np.random.default_rng(1).integers(0, 40, n)]
    shared, share = [], windowencoder.share_products

    def share_noted(weights, X, n_computed):
        multiply = share(weights, X, n_computed)
        shared.append((n_computed, multiply is not None))
        return multiply

    monkeypatch.setattr(windowencoder, "share_products", share_noted)
    Xs = [X[:500], X[500:501], X[501:]]
    assert_all_close(ours.predict(Xs), theirs.predict(Xs))
    assert max(n for n, _ in shared) <= 600
    assert any(is_shared for _, is_shared in shared) == (kind == "shared")


@pytest.mark.parametrize("change", CHANGES)
def test_weights_that_were_laid_out_are_never_stale(both, change):
    ours, theirs = both
    Xs = make_input(ours, [30, 4])
    before = ours.predict(Xs)[0]
    change(ours, Xs)
    theirs.from_bytes(ours.to_bytes())
    expected = theirs.predict(Xs)[0]
    assert not np.allclose(expected, before, atol=1e-3), "the change changes nothing"
    for _ in range(2):
        assert_close(ours.predict(Xs)[0], expected)
    assert get_kept(ours.attrs["weights"]) is not None


@pytest.mark.parametrize("is_train", [False, True])
@pytest.mark.parametrize("kind", ["arrays", "array", "ragged"])
def test_all_kinds_of_sequences(both, kind, is_train):
    """As spaCy's takes them, and what goes back after a prediction too."""
    Xs = make_input(both[0], [4, 1, 3])
    X = {
        "arrays": Xs,
        "array": np.concatenate(Xs),
        "ragged": Ragged(np.concatenate(Xs), both[0].ops.asarray1i([4, 1, 3])),
    }[kind]
    results = []
    for model in both:
        set_dropout_rate(model, 0.0 if is_train else 0.5)  # not in prediction
        Y, backprop = model(copy.deepcopy(X), is_train)
        arrays = [
            y.data if kind == "ragged" else np.vstack(y) for y in (Y, backprop(Y))
        ]
        results.append([*arrays, *get_gradients(model)])
    assert len(results[0]) > 3
    assert_all_close(*results)


def set_windows(model, size, n):
    for node in get_nodes(model, "expand_window")[:n]:
        node.attrs["window_size"] = size


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda m: m.attrs.update(pad=m.attrs["pad"] - 1), "'pad' of layer"),
        (lambda m: m.attrs.update(pad=float("inf")), "'pad' of layer .* is inf"),
        (lambda m: set_windows(m, 7, n=1), "should have 720 inputs, .* but have 144"),
        (lambda m: set_windows(m, 0, n=2), "should have 48 inputs, .* but have 144"),
    ],
)
def test_damaged_attributes_and_inputs_of_another_width_are_refused(damage, message):
    model = MaxoutWindowEncoder(**SETTINGS[0]).initialize()
    Xs = make_input(model, [3])
    model.predict(Xs)
    for is_train in (False, True):
        for shape in ((3, 47), (3, 49), (3,)):
            with pytest.raises(ValueError, match="should be 48 wide, but its shape is"):
                model([np.zeros(shape, dtype="f")], is_train)
    damage(model)
    for is_train in (False, True, False):
        with pytest.raises(ValueError, match=message):
            model(Xs, is_train)
