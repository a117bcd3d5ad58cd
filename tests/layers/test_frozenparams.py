"""Whoever gets at frozen parameters through a layer ends it, and nobody else can."""

import copy
import gc
import pickle
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest
from thinc.api import SGD, Adam, Linear, Model, NumpyOps, chain
from thinc.backends import ParamServer

from spacy_hashembeds.layers import frozenparams
from spacy_hashembeds.layers.frozenparams import (
    FrozenParams,
    can_freeze,
    make_writeable,
)

X = np.ones((1, 2), dtype="f")


@pytest.fixture
def model() -> Model:
    model = Linear(3, 2).initialize()
    model.set_param("W", np.ones((3, 2), dtype="f"))
    return model


def is_frozen(model: Model) -> bool:
    arrays = [model._params._params[model.id, name] for name in ("W", "b")]
    frozen = {not array.flags.writeable for array in arrays}
    assert frozen == {model._params.proxy is not None}
    return frozen == {True}


def freeze(*models: Model) -> FrozenParams:
    params = FrozenParams(models)
    params.value = "computed"
    assert params.are_current(models)
    assert all(map(is_frozen, models))
    return params


def inc_grad(model):
    model.inc_grad("W", np.full((3, 2), 5.0, dtype="f"))
    assert (model.get_grad("W") == 5).all()


def set_grad(model):
    model.set_grad("W", np.full((3, 2), 5.0, dtype="f"))
    assert (model.get_grad("W") == 5).all()


def replace(model):
    W = np.zeros((3, 2), dtype="f")
    model.set_param("W", W)
    assert model.get_param("W") is W


def train(model, optimizer=None):
    before = model._params._params[model.id, "W"].copy()
    model.set_grad("W", np.ones((3, 2), dtype="f"))
    freeze(model)
    model.finish_update(optimizer or SGD(0.1))
    assert (model.get_param("W") < before).all()


ACCESSES = [
    lambda model: model.get_param("W"),
    replace,
    lambda model: model.to_bytes(),
    lambda model: model.from_bytes(model.to_bytes()),
    lambda model: model.copy(),
    lambda model: model.get_gradients() or model.get_param("b"),
    inc_grad,
    set_grad,
    train,
    lambda model: train(model, Adam(0.1, L2=0.0)),  # writes to memory unasked
    lambda model: model.to_cpu(),
    lambda model: model.initialize(),
]


@pytest.mark.parametrize("access", ACCESSES)
def test_whoever_gets_at_parameters_releases_all(model, access):
    other = Linear(3, 2).initialize()
    params = freeze(model, other)
    access(model)
    assert not is_frozen(model)
    assert not is_frozen(other)
    assert not params.are_current([model, other])
    assert params.value is None


def test_what_was_held_is_read_only_and_then_itself_again(model):
    W = model.get_param("W")
    params = freeze(model)
    for view in (W, W[1:], W.reshape(-1)):
        with pytest.raises(ValueError, match="read-only"):
            view += 1
    assert params.are_current([model])
    assert model.get_param("W") is W
    W += 1
    assert (model.get_param("W") == 2).all()


def test_what_a_parameter_is_a_view_of_is_read_only_too(model):
    whole = np.ones((5, 2), dtype="f")
    model.set_param("W", whole[:3][::-1])
    freeze(model)
    with pytest.raises(ValueError, match="read-only"):
        whole[0] = 7
    model.get_param("b")
    whole[0] = 7
    assert (model.get_param("W")[-1] == 7).all()


def test_averages_can_be_averaged_on(model):
    """By an optimizer that has them, once they are no longer in use."""
    average = np.zeros((3, 2), dtype="f")
    own = freeze(model)
    with model.use_params({(model.id, "W"): average}):
        params = freeze(model)
        with pytest.raises(ValueError, match="read-only"):
            average += 1
    assert not params.are_current([model])
    assert not own.are_current([model])
    average += 1


def test_a_parameter_set_behind_the_proxy_is_seen(model):
    """As by a thread that was on its way through the store when it was frozen."""
    params = freeze(model)
    model._params._params[model.id, "W"] = np.zeros((3, 2), dtype="f")
    assert not params.are_current([model])


def test_frozen_again_by_somebody_else(model):
    """Layers that are in two trees."""
    other = Linear(3, 2).initialize()
    first, second = freeze(model, other), freeze(model)
    assert not first.are_current([model, other])
    assert not is_frozen(other)
    first.release()
    assert second.are_current([model])
    assert is_frozen(model)


def test_layers_that_have_the_same_array(model):
    other = Linear(3, 2).initialize()
    other.set_param("W", model.get_param("W"))
    first = freeze(model)
    second = freeze(other)
    assert first.are_current([model])
    model.get_param("W")[...] = 0
    assert not second.are_current([other])
    assert (other.get_param("W") == 0).all()


def test_layers_of_one_id(model):
    """As copies and pickles have them: each gets its own back."""
    other = copy.deepcopy(model)
    other.set_param("W", np.full((3, 2), 7.0, dtype="f"))
    assert other.id == model.id
    freeze(model, other)
    chain(model, other).to_bytes()
    assert (other.get_param("W") == 7).all()
    assert (model.get_param("W") == 1).all()
    assert not is_frozen(model)
    assert not is_frozen(other)


def test_more_or_fewer_layers_are_others(model):
    other = Linear(3, 2).initialize()
    params = freeze(model, other)
    assert not params.are_current([model])
    assert not params.are_current([model, other, other])
    assert not params.are_current([other, model])


def test_arrays_that_somebody_makes_writeable_are_seen(model):
    W = model.get_param("W")
    params = freeze(model)
    W.setflags(write=True)
    assert not params.are_current([model])


def test_holders_that_are_gone_are_forgotten():
    for _ in range(3):
        freeze(Linear(3, 2).initialize())
        gc.collect()
    assert len(frozenparams._holders) <= 2 + len(list(live_holders()))


def live_holders():
    return (holders for holders in frozenparams._holders.values() if holders)


def test_an_array_whose_holder_is_gone_can_be_trained(model):
    other = Linear(3, 2).initialize()
    other.set_param("W", model.get_param("W"))
    freeze(other)
    del other
    gc.collect()
    make_writeable(model)
    model.get_param("W")[...] = 0


@pytest.mark.parametrize("protocol", [2, 4])
def test_tied_arrays_stay_tied_when_unpickled(protocol):
    model = chain(Linear(500, 30), Linear(500, 30)).initialize()
    first, second = model.layers
    second.set_param("W", first.get_param("W"))
    first, second = pickle.loads(pickle.dumps(model, protocol)).layers
    freeze(first, second)
    assert first.get_param("W") is second.get_param("W")


class Interrupted(list):
    """What an interrupt comes before the end of."""

    def __iter__(self):
        yield from list(super().__iter__())[:1]
        raise KeyboardInterrupt


@pytest.mark.parametrize("part", ["_parts", "_made_read_only", "_stores"])
def test_a_release_that_is_interrupted_goes_on_with_the_next_access(model, part):
    other = Linear(3, 2).initialize()
    params = freeze(model, other)
    whole = getattr(params, part)
    setattr(params, part, Interrupted(whole))
    with pytest.raises(KeyboardInterrupt):
        params.release()
    assert params.value is None
    setattr(params, part, whole)
    for layer in (model, other):
        for name in ("W", "b"):
            layer.get_param(name)[...] += 1
        layer.get_param("W")[...] = 3
        assert not is_frozen(layer)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("size", [3, 500])  # numpy copies small ones
def test_pickles_and_copies_are_not_frozen(protocol, size):
    model = chain(Linear(size, 30), Linear(2, size)).initialize()
    params = freeze(*model.layers)
    copied = pickle.loads(pickle.dumps(model, protocol))
    deep = copy.deepcopy(model)
    assert params.are_current(model.layers)
    for layer in (*copied.layers, *deep.layers):
        assert layer._params.proxy is None
        W = layer.get_param("W")
        freeze(layer)
        with pytest.raises(ValueError, match="read-only"):
            W += 1
        layer.get_param("W")
        make_writeable(layer)
        layer.get_param("W")[...] = 0
    assert all(layer.get_param("W").any() for layer in model.layers)


def test_memory_that_others_can_write_to_is_not_frozen(model, tmp_path):
    assert can_freeze([model])
    np.ones((3, 2), dtype="f").tofile(tmp_path / "W")
    for mode, expected in (("r", True), ("c", False), ("r+", False)):
        W = np.memmap(tmp_path / "W", dtype="f", mode=mode, shape=(3, 2))
        model.set_param("W", W)
        assert can_freeze([model]) == expected
    memory = SharedMemory(create=True, size=24)
    try:
        for W in (
            np.ndarray((3, 2), dtype="f", buffer=memory.buf),
            np.ndarray((3, 2), dtype="f", buffer=memory.buf.toreadonly()),
        ):
            model.set_param("W", W)
            assert not can_freeze([model])
        del W
    finally:
        model.set_param("W", np.ones((3, 2), dtype="f"))
        memory.close()
        memory.unlink()


def test_arrays_in_a_bytearray_that_somebody_has_are_replaced(model):
    memory = bytearray(np.ones((3, 2), dtype="f").tobytes())
    for is_writeable in (True, False):
        W = np.frombuffer(memory, dtype="f").reshape(3, 2)
        W.flags.writeable = is_writeable
        model.set_param("W", W)
        params = freeze(model)
        memory[:] = bytes(24)
        assert params.are_current([model])
        assert (model.get_param("W") == 1).all()
        memory[:] = np.ones((3, 2), dtype="f").tobytes()


def test_other_kinds_of_arrays_and_stores_are_not_frozen(model):
    model._params.proxy = object()
    assert not can_freeze([model])
    model._params.proxy = None

    class Store(ParamServer):
        pass

    model._params = Store(model._params._params)
    assert not can_freeze([model])
    other = Linear(3, 2).initialize()
    other._params._params[other.id, "W"] = [[1.0]]  # as CuPy's, it is none of numpy's
    assert not can_freeze([other])


def test_nothing_is_made_of_what_is_writeable_or_remote(model):
    W = model.get_param("W")
    make_writeable(model)
    assert model.get_param("W") is W
    params = freeze(model)
    make_writeable(model)
    assert params.are_current([model])
    assert isinstance(model.ops, NumpyOps)
