"""LSTMs from both ends, beside PyTorch's modules, and by finite differences."""

import numpy as np
import pytest
from thinc.api import NumpyOps, fix_random_seed
from thinc.compat import torch

from spacy_hashembeds.layers import bilstm
from spacy_hashembeds.layers.bilstm import DIRECTIONS, BiLSTM

from .lstms import assert_gradients_are_right, concatenate, make_batch, run

pytestmark = pytest.mark.torch

LENGTHS = [3, 0, 7, 1, 7]


def build(depth=2, *, is_crossed=False, dropout=0.0, nO=8, seed=0):
    fix_random_seed(seed)
    model = BiLSTM(nO, depth=depth, is_crossed=is_crossed, dropout=dropout)
    model.initialize(X=make_batch(LENGTHS))
    for name in model.param_names:
        if name.startswith("b_"):  # so that a bias left out is seen
            b = model.get_param(name)
            model.set_param(name, b + np.linspace(-1, 1, len(b), dtype="f"))
    return model


def get_weights(model, directions, layers) -> dict:
    """The weights of some cells, under the names of PyTorch's LSTM."""
    names = {"W": "weight_ih", "U": "weight_hh", "b": "bias_ih"}
    weights = {}
    for n, layer in enumerate(layers):
        for direction, suffix in zip(directions, ("", "_reverse"), strict=False):
            for ours, theirs in names.items():
                param = model.get_param(f"{ours}_{direction}_{layer}")
                weights[f"{theirs}_l{n}{suffix}"] = torch.tensor(param)
            weights[f"bias_hh_l{n}{suffix}"] = torch.zeros(len(param))
    return weights


def read_one_way(model, direction, X):
    """What the cells of one direction find, by PyTorch's LSTM of one direction."""
    depth = model.attrs["depth"]
    twin = torch.nn.LSTM(X.shape[1], model.get_dim("nO") // 2, depth, batch_first=True)
    twin.load_state_dict(get_weights(model, [direction], range(1, depth + 1)))
    ordered = X if direction == "forward" else X[::-1].copy()
    Y = twin(torch.tensor(ordered[None]))[0][0].detach().numpy()
    return Y if direction == "forward" else Y[::-1]


@pytest.mark.parametrize("depth", [1, 3])
def test_the_baseline_is_two_stacks_that_never_meet(depth):
    model, Xs = build(depth), make_batch(LENGTHS)
    for X, Y in zip(Xs, model.predict(Xs), strict=True):
        if not len(X):
            assert Y.shape == (0, 8)
            continue
        expected = np.hstack([read_one_way(model, d, X) for d in DIRECTIONS])
        np.testing.assert_allclose(Y, expected, atol=1e-6)


@pytest.mark.parametrize("depth", [1, 3])
def test_crossed_ones_are_pytorch_s_bidirectional_lstm(depth):
    model, Xs = build(depth, is_crossed=True), make_batch(LENGTHS)
    twin = torch.nn.LSTM(5, 4, depth, bidirectional=True, batch_first=True)
    twin.load_state_dict(get_weights(model, DIRECTIONS, range(1, depth + 1)))
    for X, Y in zip(Xs, model.predict(Xs), strict=True):
        if len(X):
            expected = twin(torch.tensor(X[None]))[0][0].detach().numpy()
            np.testing.assert_allclose(Y, expected, atol=1e-6)


@pytest.mark.parametrize("is_crossed", [False, True])
def test_gradients_equal_finite_differences(is_crossed):
    model = build(2, is_crossed=is_crossed, nO=4)
    assert_gradients_are_right(model, make_batch([3, 0, 2, 1]))


@pytest.mark.parametrize(("is_crossed", "dropout"), [(False, 0.0), (True, 0.35)])
def test_packed_and_padded_blocks_give_equal_numbers(is_crossed, dropout, monkeypatch):
    """Packed ones are for GPUs, padded ones for CPUs."""
    model = build(is_crossed=is_crossed, dropout=dropout)
    Xs = make_batch([9, 2, 0, 30, 5, 5, 1] * 5)
    outcomes, blocks = [], []

    def pack(lengths, *, is_padded):
        packing = packing_of(lengths, is_padded=is_padded and not outcomes)
        blocks.append(len(packing.blocks))
        return packing

    packing_of = bilstm.pack
    monkeypatch.setattr(bilstm, "pack", pack)
    for read in (bilstm.read_padded, bilstm.read_packed):
        monkeypatch.setattr(bilstm, "read_padded", read)
        fix_random_seed(2)  # of the masks
        outcomes.append(concatenate(run(model, Xs)))
    assert blocks == [3, 1]
    np.testing.assert_allclose(outcomes[1], outcomes[0], rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("is_crossed", [False, True])
def test_dropout_is_the_same_for_all_tokens_of_a_doc(is_crossed):
    """Equal tokens, so that all there is to differ are the masks."""
    model = build(1, is_crossed=is_crossed, dropout=0.5, nO=64)
    for name in model.param_names:
        if name.startswith("U_"):  # no memory: equal tokens give equal outputs
            model.set_param(name, model.get_param(name) * 0)
    for direction in DIRECTIONS:  # nor does the cell remember
        b = model.get_param(f"b_{direction}_1")
        b[32:64] = -100
    Xs = [np.ones((4, 5), dtype="f")] * 2
    (first, second), _ = model.begin_update(Xs)
    for Y in (first, second):
        np.testing.assert_allclose(Y, Y[:1].repeat(4, axis=0), atol=1e-6)
    assert 0.2 < (first[0] == 0).mean() < 0.8
    assert (first[0] != second[0]).any()
    Y = model.predict(Xs)[0]
    assert (Y != 0).all()


def test_each_place_direction_and_doc_has_a_mask_of_its_own():
    model = build(2, dropout=0.5, nO=64)
    masks = bilstm.draw_masks(model, 2)
    cells = [f"{direction}_{layer}" for layer in (1, 2) for direction in DIRECTIONS]
    assert list(masks) == ["input", *cells]
    assert masks["input"].shape == (2, 5)
    drawn = [tuple(mask) for cell in cells for mask in masks[cell]]
    assert all(len(mask) == 32 and {*mask} == {0, 2} for mask in drawn)
    assert len(set(drawn)) == len(drawn)


def test_weights_begin_as_is_said():
    fix_random_seed(0)
    model = BiLSTM(64, depth=2, is_crossed=True, dropout=0.0)
    model.initialize(X=make_batch([3]))
    for direction in DIRECTIONS:
        for layer, below in ((1, 5), (2, 64)):
            W, U, b = (model.get_param(f"{n}_{direction}_{layer}") for n in "WUb")
            assert W.shape == (128, below)
            bound = (6 / (32 + below)) ** 0.5
            assert 0.9 * bound < abs(W).max() <= bound
            for gate in np.split(U, 4):
                np.testing.assert_allclose(gate @ gate.T, np.eye(32), atol=1e-5)
            for weights in (W, U):
                assert len({gate.tobytes() for gate in np.split(weights, 4)}) == 4
            expected = np.repeat([0, 1, 0, 0], 32)
            np.testing.assert_array_equal(b, expected)


def test_all_orthogonal_matrices_are_as_likely():
    """A QR decomposition by itself prefers signs."""
    fix_random_seed(0)
    drawn = [bilstm.draw_orthogonal(NumpyOps(), (2, 2)) for _ in range(200)]
    for place in ((0, 0), (0, 1), (1, 1)):
        assert 70 < sum(Q[place] > 0 for Q in drawn) < 130
    assert 70 < sum(np.linalg.det(Q) > 0 for Q in drawn) < 130
