"""`MaxoutWindowEncoder.v1` against `spacy.MaxoutWindowEncoder.v2`, its reference."""

import copy
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from spacy.ml.models.tok2vec import MaxoutWindowEncoder as SpacyMaxoutWindowEncoder
from thinc.api import Ragged, fix_random_seed, set_dropout_rate

from spacy_hashembeds.architectures import maxout_window_encoder as encoder_module
from spacy_hashembeds.architectures.maxout_window_encoder import MaxoutWindowEncoder
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.layers import windowencoder
from tests.masks import thincs_masks

from ..kernels.paths import KERNELS, Noted, both_paths, needs_kernels
from ..layers.plans import get_kept
from ..toy_embedders import CHANGES, get_gradients, get_nodes, note_calls

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


def assert_close(actual, expected):
    scale = max(1, abs(expected).max(initial=0))
    np.testing.assert_allclose(actual / scale, expected / scale, atol=5e-5)


def run(model, Xs, dYs, drop):
    set_dropout_rate(model, drop)
    for node in model.walk():
        for name in node.grad_names:
            node.set_grad(name, node.get_grad(name) * 0)
    fix_random_seed(1)
    Ys, backprop = model.begin_update([X.copy() for X in Xs])
    dXs = backprop([dY.copy() for dY in dYs])
    return [*Ys, *dXs, *get_gradients(model)]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=10,
)
@given(
    lengths=st.lists(
        st.one_of(st.integers(0, 12), st.just(400)), min_size=1, max_size=4
    ),
    drop=st.sampled_from([0.0, 0.5]),
    seed=st.integers(0, 99),
)
@example(lengths=[256], drop=0.5, seed=0)  # rows at the edges of blocks
@example(lengths=[257], drop=0.5, seed=0)
@example(lengths=[512], drop=0.0, seed=0)
@example(lengths=[513], drop=0.0, seed=0)
def test_equals_spacy(both, lengths, drop, seed):
    """Outputs, gradients of inputs and parameters, and dropout."""
    ours, theirs = both
    Xs, dYs = (make_input(ours, [*lengths, 1], s) for s in (seed, seed + 1))
    for actual, expected in zip(ours.predict(Xs), theirs.predict(Xs), strict=True):
        assert_close(actual, expected)
    with thincs_masks():
        actuals, expecteds = (run(model, Xs, dYs, drop) for model in both)
    assert len(actuals) == len(expecteds)
    for actual, expected in zip(actuals, expecteds, strict=True):
        assert_close(actual, expected)


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
        for Y, expected_Y in zip(copied.predict(Xs), expected, strict=True):
            np.testing.assert_array_equal(Y, expected_Y)
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
    for Y, expected in zip(predicted, theirs.predict(Xs), strict=True):
        assert_close(Y, expected)
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
    vocabulary, n = make_input(ours, [40])[0], 1100
    if kind == "alike":
        vocabulary[:, :4] = 1
    if kind == "few":
        n = windowencoder.FEW_ROWS // 2
    tokens = np.random.default_rng(1).integers(0, 40, n)
    X = make_input(ours, [n])[0] if kind == "distinct" else vocabulary[tokens]
    shared = note_sharing(monkeypatch)
    Xs = [X[:500], X[500:501], X[501:]]
    for Y, expected in zip(ours.predict(Xs), theirs.predict(Xs), strict=True):
        assert_close(Y, expected)
    assert max(n for n, _ in shared) <= 600
    assert any(is_shared for _, is_shared in shared) == (kind == "shared")


def note_sharing(monkeypatch) -> list[tuple[int, bool]]:
    """Note for how many rows products are asked for, and whether they are shared."""
    shared, share = [], windowencoder.share_products

    def share_noted(weights, X, n_computed):
        multiply = share(weights, X, n_computed)
        shared.append((n_computed, multiply is not None))
        return multiply

    monkeypatch.setattr(windowencoder, "share_products", share_noted)
    return shared


def is_kept(model):
    return get_kept(model.attrs["weights"]) is not None


@pytest.mark.parametrize("change", CHANGES)
def test_weights_that_were_laid_out_are_never_stale(both, change):
    ours, theirs = both
    Xs = make_input(ours, [30, 4])
    before = ours.predict(Xs)[0]
    assert is_kept(ours)
    change(ours, Xs)
    theirs.from_bytes(ours.to_bytes())
    expected = theirs.predict(Xs)[0]
    assert not np.allclose(expected, before, atol=1e-3), "the change changes nothing"
    for _ in range(2):
        assert_close(ours.predict(Xs)[0], expected)
    assert is_kept(ours)


@pytest.mark.parametrize("is_train", [False, True])
def test_other_kinds_of_sequences(both, is_train):
    """An array and a Ragged, as spaCy's takes them."""
    arrays = make_input(both[0], [4, 1, 3])
    ops = both[0].ops
    lengths = ops.asarray1i([4, 1, 3])
    for X, get in [
        (np.concatenate(arrays), np.asarray),
        (Ragged(np.concatenate(arrays), lengths), lambda ragged: ragged.data),
    ]:
        results = []
        for model in both:
            fix_random_seed(0)
            Y, backprop = model(copy.deepcopy(X), is_train)
            results.append((get(Y).copy(), get(backprop(copy.deepcopy(Y)))))
        for actual, expected in zip(*results, strict=True):
            assert_close(actual, expected)


@pytest.mark.parametrize("is_train", [True, False])
@pytest.mark.parametrize("shape", [(3, 47), (3, 49), (3,)])
def test_inputs_of_another_width_are_refused(shape, is_train):
    encoder = MaxoutWindowEncoder(**SETTINGS[0]).initialize()
    with pytest.raises(ValueError, match="should be 48 wide, but its shape is"):
        encoder([np.zeros(shape, dtype="f")], is_train)


def test_gradients_without_dropout_are_those_of_spacy(both):
    found = []
    for model in both:
        set_dropout_rate(model, 0.5)  # not in prediction
        Xs = make_input(model, [4, 1, 3])
        Ys, backprop = model(Xs, is_train=False)
        dXs = backprop(Ys)
        grads = [n.get_grad(g) for n in model.walk() for g in sorted(n.grad_names)]
        found.append([*dXs, *grads])
    assert len(found[0]) == len(found[1]) > 3
    for actual, expected in zip(*found, strict=True):
        assert_close(actual, expected)


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
def test_damaged_attributes_are_refused(damage, message):
    model = MaxoutWindowEncoder(**SETTINGS[0]).initialize()
    Xs = make_input(model, [3])
    model.predict(Xs)
    damage(model)
    for is_train in (False, True, False):
        with pytest.raises(ValueError, match=message):
            model(Xs, is_train)
