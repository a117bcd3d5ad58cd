"""`MaxoutWindowEncoder.v1` against `spacy.MaxoutWindowEncoder.v2`, its reference."""

import copy
import pickle

import numpy as np
import pytest
from spacy.ml.models.tok2vec import MaxoutWindowEncoder as SpacyMaxoutWindowEncoder
from thinc.api import Model, NumpyOps, Ragged, fix_random_seed, set_dropout_rate

from spacy_hashembeds.architectures import maxout_window_encoder as encoder_module
from spacy_hashembeds.architectures.maxout_window_encoder import MaxoutWindowEncoder
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.layers import windowencoder
from tests.masks import thincs_masks

from ..kernels.paths import KERNELS, Noted, both_paths, needs_kernels
from ..layers.plans import get_cached
from ..papers.definitions import make_batch, run
from ..toy_embedders import CHANGES, assert_close, get_gradients, get_nodes, note_calls

SETTINGS = {
    "usual": {"width": 48, "window_size": 1, "maxout_pieces": 3, "depth": 2},
    "wide": {"width": 32, "window_size": 2, "maxout_pieces": 2, "depth": 3},
    "one layer": {"width": 24, "window_size": 1, "maxout_pieces": 1, "depth": 1},
    "no window": {"width": 16, "window_size": 0, "maxout_pieces": 2, "depth": 2},
}


def make(build=MaxoutWindowEncoder, *, kind="usual", **options) -> Model:
    fix_random_seed(0)
    return build(**SETTINGS[kind], **options).initialize()


@pytest.fixture(params=SETTINGS)
def both(request):
    """Our encoder and spaCy's, with equal weights."""
    models = [
        make(build, kind=request.param)
        for build in (MaxoutWindowEncoder, SpacyMaxoutWindowEncoder)
    ]
    assert models[0].to_bytes() == models[1].to_bytes()
    return models


def make_input(model, lengths):
    return make_batch(lengths, model.get_dim("nO"))


def assert_all_close(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        assert_close(one, other)


def assert_all_equal(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == "float32"
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("drop", [0.0, 0.5])
@pytest.mark.parametrize(
    "lengths",
    # including rows at block boundaries
    [[1], [0, 7, 3, 1], [400, 0, 12, 400], [256, 1], [257, 1], [512, 1], [513, 1]],
)
def test_equals_spacy(both, lengths, drop, monkeypatch):
    """Outputs, gradients and dropout of the fast path equal spaCy's."""
    monkeypatch.setattr(encoder_module, "with_array_forward", None)
    ours, theirs = both
    Xs = make_input(ours, lengths)
    assert_all_close(ours.predict(Xs), theirs.predict(Xs))
    with thincs_masks():
        assert_all_close(*(run(model, Xs, drop=drop) for model in both))


def test_other_types_are_computed_in_float32(both):
    ours, _ = both
    Xs = [(10 * X).astype("float16") for X in make_input(ours, [5, 3])]
    expected = copy.deepcopy(run(ours, [X.astype("f") for X in Xs], drop=0.5))
    assert_all_equal(run(ours, Xs, drop=0.5, dtype="d"), expected)


def test_wrapped_nodes_are_never_bypassed(both):
    """If any node is wrapped, Thinc's layers run."""
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


def test_custom_ops_are_never_bypassed(both):
    class OtherOps(NumpyOps):
        def gemm(self, *args, **kwargs):
            return -super().gemm(*args, **kwargs)

    Xs = make_input(both[0], [300, 5])
    both[0].predict(Xs)
    for node in [*both[0].walk(), *both[1].walk()]:
        node.ops = OtherOps()
    assert_all_equal(*(model.predict(Xs) for model in both))
    assert_all_equal(*(run(model, Xs) for model in both))


@both_paths
@pytest.mark.parametrize("kind", ["shared", "few", "distinct", "alike"])
def test_products_of_equal_rows_are_shared(both, kind, kernels, monkeypatch):
    """Only the first convolution shares products, for enough rows with distinct first
    values, in blocks that fit into the CPU cache.
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
def test_weights_are_laid_out_once_and_never_stale(both, change):
    ours, theirs = both
    Xs = make_input(ours, [30, 4])
    before = ours.predict(Xs)[0]
    change(ours, Xs)
    theirs.from_bytes(ours.to_bytes())
    expected, kept = theirs.predict(Xs)[0], []
    assert not np.allclose(expected, before, atol=1e-3), "the change has no effect"
    for _ in range(2):
        assert_close(ours.predict(Xs)[0], expected)
        kept.append(get_cached(ours.attrs["weights"]))
    assert kept[0] is kept[1] is not None


@pytest.mark.parametrize("is_train", [False, True])
@pytest.mark.parametrize("kind", ["arrays", "array", "ragged"])
def test_all_kinds_of_sequences(both, kind, is_train):
    """All results equal spaCy's, even backpropagation after prediction."""
    Xs = make_input(both[0], [4, 1, 3])
    X = {
        "arrays": Xs,
        "array": np.concatenate(Xs),
        "ragged": Ragged(np.concatenate(Xs), both[0].ops.asarray1i([4, 1, 3])),
    }[kind]
    results = []
    for model in both:
        set_dropout_rate(model, 0.0 if is_train else 0.5)  # ignored in prediction
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
    model = make()
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


# Low-precision products against float32

ERRORS = {"bfloat16": 0.01, "int8": 0.03}
of_fewer_bits = pytest.mark.parametrize("precision", ERRORS)


def get_precisions(model) -> set[str]:
    """Return the data type of products in each convolution."""
    sets = compiled.kernels.INSTRUCTION_SETS
    kept = [getattr(w, "packed", w) for w in get_cached(model.attrs["weights"])]
    return {sets[packed.instructions][1] for packed in kept}


@needs_kernels
@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("precision", ["float32", *ERRORS])
@pytest.mark.parametrize("fixture", ["instructions", "no_instructions"])
def test_weights_are_packed_if_the_processor_has_instructions(
    kind, precision, fixture, request
):
    """Predictions are close to float32; training uses float32."""
    request.getfixturevalue(fixture)
    model = make(kind=kind, precision=precision)
    exact = make(SpacyMaxoutWindowEncoder, kind=kind)
    is_packed = fixture == "instructions"
    for lengths in ([1], [7, 0, 30], [700]):
        Xs = make_input(model, lengths)
        with compiled.using(noted := Noted(KERNELS)):
            Ys = model.predict(Xs)
        assert ("add_convolved" in noted.names) == is_packed
        assert ("copy_windows" in noted.names) != is_packed
        pairs = zip(Ys, exact.predict(Xs), strict=True)
        difference = max(abs(Y - expected).max(initial=0) for Y, expected in pairs)
        if is_packed and precision in ERRORS:
            assert 1e-5 < difference < 8 * ERRORS[precision]
        else:
            assert difference < 1e-5
        if is_packed:
            assert get_precisions(model) == {precision}
    Xs, exact = make_input(model, [9, 4]), make(kind=kind)
    assert_all_equal(*(run(each, Xs, drop=0.5) for each in (model, exact)))


@of_fewer_bits
@pytest.mark.usefixtures("instructions")
def test_changed_precision_and_kernels_invalidate(precision):
    model, exact = make(precision=precision), make()
    Xs = make_input(model, [30])
    packed, expected = model.predict(Xs)[0], exact.predict(Xs)[0]
    weights = model.attrs["weights"]
    for each, Y in (("float32", expected), (precision, packed)):
        weights.precision = each
        np.testing.assert_array_equal(model.predict(Xs)[0], Y)
    with compiled.using(noted := Noted(compiled.kernels)):
        np.testing.assert_array_equal(model.predict(Xs)[0], packed)
    assert "add_convolved" in noted.names
    with compiled.using(None):
        assert abs(model.predict(Xs)[0] - expected).max() < 1e-5
    with pytest.raises(ValueError, match="'precision'"):
        make(precision="int4")


@of_fewer_bits
@pytest.mark.parametrize(
    "duplicate", [Model.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
@pytest.mark.usefixtures("instructions")
def test_precision_is_copied_but_not_saved(precision, duplicate):
    model, exact = make(precision=precision), make()
    Xs = make_input(model, [7])
    expected = model.predict(Xs)
    copied = duplicate(model)
    assert_all_equal(copied.predict(Xs), expected)
    assert get_precisions(copied) == {precision}
    assert model.to_bytes() == exact.to_bytes()
    assert_all_equal(copied.from_bytes(exact.to_bytes()).predict(Xs), expected)
