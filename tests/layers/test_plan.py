"""Layers and values of plans are cached until nodes or parameters change."""

import copy
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread
from unittest.mock import Mock

import numpy as np
import pytest
from thinc.api import (
    SGD,
    Dropout,
    Linear,
    Maxout,
    Model,
    NumpyOps,
    chain,
    set_dropout_rate,
)

from spacy_hashembeds.acceleration.blas import NUMPY_BLAS_OPS
from spacy_hashembeds.layers.checks import peek
from spacy_hashembeds.layers.plan import Plan, UnexpectedNodeError, expect_maxout

from .plans import get_cached

ONES = np.ones((3, 2), dtype="f")


class Sums(Plan[list[Model], float]):
    """Plan that sums W of all layers. `n` counts computations."""

    n = 0

    def compute(self, models: list[Model]) -> float:
        self.n += 1
        return sum(float(peek(model, "W").sum()) for model in models)

    def get(self, *models: Model, key: object = None) -> float | None:
        return self.get_or_compute([*models], lambda: self.compute([*models]), key)


@pytest.fixture
def sums() -> Sums:
    return Sums()


def make(value: float = 1.0) -> Model:
    model = Linear(3, 2).initialize()
    model.set_param("W", ONES * value)
    return model


@pytest.fixture
def model() -> Model:
    return make()


def write(model):
    model.get_param("W")[0, 0] = 7


def set_modified(model):
    W = peek(model, "W")  # as if obtained before
    W[0, 0] = 7
    model.set_param("W", W)


def train(model):
    model.set_grad("W", ONES.copy())
    model.finish_update(SGD(0.1))


CHANGES = {
    "written": write,
    "set after writing": set_modified,
    "trained": train,
    "replaced": lambda model: model.set_param("W", ONES * 2),
    "loaded": lambda model: model.from_bytes(make(2).to_bytes()),
    "another dtype": lambda model: model.set_param("W", ONES.astype("f8")),
    "one more": lambda model: model.set_param("E", ONES),
}

READS = {
    "got": lambda model: model.get_param("W"),
    "saved": lambda model: model.to_bytes(),
    "copied": lambda model: model.copy(),
    "loaded again": lambda model: model.from_bytes(model.to_bytes()),
    "set to the same": lambda model: model.set_param("W", ONES.copy()),
}


@pytest.mark.parametrize("access", [*CHANGES, *READS])
def test_value_is_recomputed_after_changes(sums, model, access):
    other = make()
    assert [sums.get(model, other) for _ in range(2)] == [12, 12]
    (CHANGES | READS)[access](model)
    assert get_cached(sums) is None
    expected = float(peek(model, "W").sum()) + 6
    assert [sums.get(model, other) for _ in range(2)] == [expected] * 2
    assert sums.n == (2 if access in CHANGES else 1)


def test_gradients_keep_the_seal(sums, model):
    sums.get(model)
    model.set_grad("W", ONES.copy())
    model.inc_grad("W", ONES)
    assert (model.get_grad("W") == 2).all()
    assert get_cached(sums) == 6


@pytest.fixture
def root() -> Model:
    hasher = Model("hasher", lambda *args: args, dims={"nV": 9}, attrs={"seed": [1]})
    return chain(Linear(3, 2), hasher, chain(Linear(2, 3), Dropout(0.1)))


@pytest.fixture
def find() -> Mock:
    """Plan that finds the nodes below a root."""
    return Mock(side_effect=lambda root: [*root.walk()][1:])


def rename(root: Model) -> None:
    attrs = root.layers[1].attrs
    attrs["other"] = attrs.pop("seed")


DIFFERENT = {
    "another function": lambda root: root.layers[2].replace_callbacks(lambda *a: a),
    "another layer": lambda root: root.layers.__setitem__(0, Linear(3, 2)),
    "one fewer below": lambda root: root.layers[2].layers.pop(),
    "one attribute more": lambda root: root.layers[1].attrs.update(key=1),
    "an attribute renamed": rename,
    "another, though equal": lambda root: root.layers[1].attrs.update(seed=[1]),
    "other operations": lambda root: setattr(root, "ops", NumpyOps()),
    "another dimension": lambda root: root.layers[1]._dims.update(nV=10),
}

EQUAL = {
    "name": lambda root: setattr(root.layers[0], "name", "another"),
    "parameter": lambda root: root.layers[0].set_param("W", ONES),
    "rate of dropout": lambda root: set_dropout_rate(root, 0.7),
    "attribute of the root": lambda root: root.attrs.update(seed=1),
}


@pytest.mark.parametrize("change", [*DIFFERENT, *EQUAL])
def test_layers_are_found_again_after_changes(root, find, change):
    plan = Sums()
    assert plan.find_layers(root, find) == plan.find_layers(root, find)
    (DIFFERENT | EQUAL)[change](root)
    assert plan.find_layers(root, find) == [*root.walk()][1:]
    assert find.call_count == (2 if change in DIFFERENT else 1)


def test_additional_objects_are_compared(root, find):
    plan, pads = Sums(), [1, 2]
    for i, more in enumerate([(), pads[:1], pads, pads[1:], ()], start=1):
        for _ in range(2):
            plan.find_layers(root, find, *more)
        assert find.call_count == i


METHODS = ["gemm", "maxout", "backprop_maxout", "seq2col", "backprop_seq2col"]


@pytest.mark.parametrize("method", ["get_dropout_mask", *METHODS])
def test_maxout_with_custom_methods_is_unexpected(method):
    layer = Maxout(2, 3, normalize=True)
    methods = {method: lambda *args, **kwargs: None}
    for ops in (NumpyOps(), NUMPY_BLAS_OPS, type("OtherOps", (NumpyOps,), methods)()):
        layer.layers[0].ops = ops
        if method in METHODS and type(ops).__name__ == "OtherOps":
            with pytest.raises(UnexpectedNodeError):
                expect_maxout(layer)
        else:
            assert expect_maxout(layer).maxout is layer.layers[0]


def test_unexpected_nodes_are_cached(root):
    plan, find = Sums(), Mock(side_effect=UnexpectedNodeError)
    assert [plan.find_layers(root, find) for _ in range(2)] == [None, None]
    find.assert_called_once()


def test_other_layers_and_another_key(sums, model):
    other = make(2)
    assert sums.get(model, other) == 18
    assert sums.find([model]) is None
    assert sums.find([other, model]) is None
    assert sums.find([model, other], "key") is None
    assert [sums.get(layer) for layer in (model, other)] == [6, 12]
    assert sums.get(other, key="key") == 12
    assert sums.n == 4


def test_array_shared_by_two_layers(sums, model):
    other, others = make(), Sums()
    other.set_param("W", model.get_param("W"))
    assert (sums.get(model), others.get(other)) == (6, 6)
    W = model.get_param("W")
    W[...] = 2
    for layer in (model, other):
        layer.set_param("W", W)
    assert (sums.get(model), others.get(other)) == (12, 12)


def test_remote_parameters_are_not_cached(sums, model):
    """Parameters that are not numpy arrays are not cached either."""
    sums.get(model)
    model._params.proxy = proxy = Mock()
    assert sums.get(model) is None
    assert model._params.proxy is proxy
    model._params.proxy = None
    model._params._params[model.id, "W"] = [[1.0]]
    assert sums.get(model) is None


def test_copies_have_neither_seal_nor_cache(sums, model):
    saved = model.to_bytes()
    sums.get(model)
    pickled = pickle.loads(pickle.dumps((model, sums)))
    for copied in (pickled, copy.deepcopy((model, sums)), (model.copy(), Sums())):
        assert (copied[0]._params.proxy, get_cached(copied[1])) == (None, None)
        write(copied[0])
        assert copied[1].get(copied[0]) == 12
    assert model.to_bytes() == saved
    assert sums.get(model) == 6


@pytest.mark.parametrize("is_set_meanwhile", [False, True])
def test_value_computed_during_a_write_is_not_cached(sums, model, is_set_meanwhile):
    W = model.get_param("W")

    def put_back():
        W[...] = 1
        model.set_param("W", W)

    def compute_meanwhile():
        W[...] = 2
        found = sums.compute([model])
        if is_set_meanwhile:
            put_back()
        return found

    assert sums.get_or_compute([model], compute_meanwhile) == 12
    put_back()
    assert sums.get(model) == 6


def test_threads_wait_for_the_value(sums, model):
    start = Barrier(3)

    def compute_slowly():
        time.sleep(0.2)  # while the others start
        return sums.compute([model])

    def get(_: int) -> float:
        start.wait(60)
        return sums.get_or_compute([model], compute_slowly)

    with ThreadPoolExecutor(3) as pool:
        assert [*pool.map(get, range(3))] == [6, 6, 6]
    assert sums.n == 1


def test_failed_computation_is_repeated(sums, model):
    with pytest.raises(IndexError):
        sums.get_or_compute([model], lambda: [][0])
    assert get_cached(sums) is None
    assert sums.get(model) == 6


def test_concurrent_set_is_not_lost(sums, model):
    """Thinc sets the value that it reads from a proxy."""
    done, averages = Event(), {(model.id, "W"): ONES * 2}

    def read() -> None:
        while not done.is_set():
            sums.get(model)
            model.get_param("W")

    thread = Thread(target=read)
    thread.start()
    try:
        for _ in range(2000):
            with model.use_params(averages):
                assert (peek(model, "W") == 2).all()
            assert (peek(model, "W") == 1).all()
    finally:
        done.set()
        thread.join()
    assert sums.get(model) == 6
