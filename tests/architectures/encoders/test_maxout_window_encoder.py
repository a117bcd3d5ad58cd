"""`MaxoutWindowEncoder.v1` against `spacy.MaxoutWindowEncoder.v2`, its reference."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.ml.models.tok2vec import MaxoutWindowEncoder as SpacyMaxoutWindowEncoder
from thinc.api import fix_random_seed, set_dropout_rate, with_nvtx_range

from spacy_hashembeds.architectures.encoders.maxout_window_encoder import (
    MaxoutWindowEncoder,
)

SETTINGS = [
    {"width": 48, "window_size": 1, "maxout_pieces": 3, "depth": 2},
    {"width": 32, "window_size": 2, "maxout_pieces": 2, "depth": 3},
    {"width": 24, "window_size": 1, "maxout_pieces": 1, "depth": 1},
]


@pytest.fixture(params=SETTINGS, ids=["usual", "wide", "one layer"])
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
    grads = [
        node.get_grad(name)
        for node in model.walk()
        for name in node.param_names
        if node.has_grad(name)
    ]
    return [*Ys, *dXs, *grads]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=25,
)
@given(
    lengths=st.lists(
        st.one_of(st.integers(0, 12), st.just(400)), min_size=1, max_size=4
    ),
    drop=st.sampled_from([0.0, 0.5]),
    seed=st.integers(0, 99),
)
def test_equals_spacy(both, lengths, drop, seed):
    """Outputs, gradients of inputs and parameters, and dropout."""
    ours, theirs = both
    Xs, dYs = (make_input(ours, [*lengths, 1], s) for s in (seed, seed + 1))
    for actual, expected in zip(ours.predict(Xs), theirs.predict(Xs), strict=True):
        assert_close(actual, expected)
    actuals, expecteds = (run(model, Xs, dYs, drop) for model in both)
    assert len(actuals) == len(expecteds)
    for actual, expected in zip(actuals, expecteds, strict=True):
        assert_close(actual, expected)


def test_no_tokens(both):
    ours, _ = both
    for lengths in ([], [0], [0, 0]):
        Xs = make_input(ours, lengths)
        for is_train in (False, True):
            Ys, backprop = ours(Xs, is_train)
            assert [Y.shape for Y in Ys] == [X.shape for X in Xs]
            assert [dX.shape for dX in backprop(Ys)] == [X.shape for X in Xs]


def test_inputs_and_gradients_are_left_alone(both):
    ours, _ = both
    Xs, dYs = make_input(ours, [4, 2]), make_input(ours, [4, 2], 1)
    before = copy.deepcopy([Xs, dYs])
    _, backprop = set_dropout_rate(ours, 0.5).begin_update(Xs)
    backprop(dYs)
    for actual, expected in zip([*Xs, *dYs], [*before[0], *before[1]], strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_weights_load_into_spacy_and_back(both):
    Xs = make_input(both[0], [7])
    for source, target in (both, both[::-1]):
        for node in source.walk():
            for name in node.param_names:
                node.set_param(name, node.get_param(name) + 0.1)
        target.from_bytes(source.to_bytes())
        assert_close(target.predict(Xs)[0], source.predict(Xs)[0])


def test_copies_work(both):
    ours, _ = both
    Xs = make_input(ours, [7])
    expected = ours.predict(Xs)[0]
    for copied in (ours.copy(), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        np.testing.assert_array_equal(copied.predict(Xs)[0], expected)


@pytest.mark.parametrize("name", ["maxout", "layernorm", "dropout", "expand_window"])
def test_layers_with_other_functions_take_thinc(both, name):
    ours, theirs = both
    Xs = make_input(ours, [300, 5])
    for node in ours.walk():
        if node.name == name:
            with_nvtx_range(node)
    np.testing.assert_array_equal(ours.predict(Xs)[0], theirs.predict(Xs)[0])


@pytest.mark.parametrize("name", ["width", "window_size", "maxout_pieces", "depth"])
@pytest.mark.parametrize("value", [0, 1.5, True])
def test_bad_arguments_are_refused_when_built(name, value):
    with pytest.raises(ValueError, match=rf"'{name}' should be 1 or more, but is "):
        MaxoutWindowEncoder(**{**SETTINGS[0], name: value})
