"""Every way to get a hand on a parameter is noticed."""

import copy
import gc
import pickle
import sys
from multiprocessing.shared_memory import SharedMemory
from types import SimpleNamespace

import numpy as np
import pytest
from thinc.api import Adam, Linear, Model
from thinc.backends import ParamServer

from spacy_hashembeds.layers import watch as watch_module
from spacy_hashembeds.layers.watch import (
    check_once,
    get_state,
    identify,
    is_shared,
    peek,
    watch,
)


@pytest.fixture
def model() -> Model:
    model = Linear(3, 2).initialize()
    model.set_param("W", np.ones((3, 2), dtype="f"))
    return model


def test_peeking_leaves_no_trace(model):
    state = get_state([model])
    assert peek(model, "W").shape == (3, 2)
    assert get_state([model]) == state
    assert not is_shared([model])


@pytest.mark.parametrize(
    "access",
    [
        lambda model: model.get_param("W"),
        lambda model: model.set_param("W", np.zeros((3, 2), dtype="f")),
        lambda model: model.to_bytes(),
        lambda model: model.from_bytes(model.to_bytes()),
        lambda model: model.copy(),
    ],
)
def test_accesses_are_counted(model, access):
    state = get_state([model])
    access(model)
    assert get_state([model]) != state


def test_a_training_step_is_counted(model):
    get_state([model])
    Y, backprop = model.begin_update(np.ones((1, 2), dtype="f"))
    backprop(Y)
    state = get_state([model])
    model.finish_update(Adam(0.1))
    assert get_state([model]) != state
    del Y, backprop
    assert not is_shared([model])


def test_averages_are_counted(model):
    state = get_state([model])
    with model.use_params({(model.id, "W"): np.zeros((3, 2), dtype="f")}):
        inside = get_state([model])
        assert inside != state
    assert get_state([model]) != inside


@pytest.mark.parametrize(
    "hold",
    [
        lambda W: W,
        lambda W: W[1:],
        lambda W: W.reshape(-1)[2:4],
        lambda W: W.T,
        lambda W: memoryview(W),
        lambda W: {"nested": [W]},
        lambda W: lambda: W,
    ],
)
def test_who_holds_a_parameter_is_seen(model, hold):
    held = hold(model.get_param("W"))
    assert is_shared([model])
    del held
    gc.collect()
    assert not is_shared([model])


def test_a_part_of_an_array_in_other_hands_is_shared(model):
    whole = np.ones((5, 2), dtype="f")
    model.set_param("W", whole[:3])
    assert is_shared([model])
    del whole
    assert not is_shared([model])


def test_read_only_does_not_help_if_the_whole_is_writeable(model):
    whole = np.ones((3, 2), dtype="f")
    part = whole[:]
    part.flags.writeable = False
    model.set_param("W", part)
    del part
    assert is_shared([model])


@pytest.mark.parametrize(("mode", "shared"), [("r", False), ("r+", True)])
def test_memory_maps(model, tmp_path, mode, shared):
    np.ones((3, 2), dtype="f").tofile(tmp_path / "W")
    W = np.memmap(tmp_path / "W", dtype="f", mode=mode, shape=(3, 2))
    model.set_param("W", W)
    del W
    assert is_shared([model]) == shared


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_unpickled_parameters_are_nobody_elses(model, protocol):
    """Their memory is a bytes object's, or a buffer's."""
    model.set_param("W", np.ones((60, 50), dtype="f"))  # numpy copies small ones
    loaded = pickle.loads(pickle.dumps(model, protocol))
    assert not is_shared([loaded])
    held = loaded.get_param("W")
    assert is_shared([loaded])
    del held
    assert not is_shared([loaded])


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.frombuffer])
def test_who_holds_the_memory_of_a_parameter_is_seen(model, kind):
    shape = (60, 50)  # numpy copies small ones
    memory = bytearray(np.ones(shape, dtype="f").tobytes())
    held = memory if kind in (bytearray, np.frombuffer) else kind(memory)
    if kind is bytes:
        # as numpy unpickles arrays of older protocols
        W = np.empty(0, dtype="f")
        W.__setstate__((1, shape, np.dtype("f"), False, held))
    elif kind is np.frombuffer:
        W = np.frombuffer(held, dtype="f").reshape(shape)
    else:
        W = np.ndarray(shape, dtype="f", buffer=held)
    model.set_param("W", W)
    del W, memory
    assert model._params.get_param(model.id, "W").flags.writeable
    assert is_shared([model])
    del held
    assert not is_shared([model])


def test_references_are_counted_on_this_python():
    """Or it is known that they can't be, and nothing is kept."""
    assert watch_module.measure_references() == watch_module.ALONE
    if sys.implementation.name == "cpython" and not is_free_threaded():
        assert watch_module.ALONE is not None
    else:
        assert watch_module.ALONE is None


def is_free_threaded() -> bool:
    return not getattr(sys, "_is_gil_enabled", lambda: True)()


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (lambda n_held: 3 + n_held, 3),
        (lambda n_held: 2 + n_held, 2),  # Python 3.14
        (lambda n_held: 3, None),  # others' references don't show
        (lambda n_held: 2**32, None),
    ],
)
def test_what_a_reference_costs_is_measured(monkeypatch, count, expected):
    calls = iter(range(2))
    monkeypatch.setattr(
        watch_module, "count_references", lambda items: [count(next(calls))]
    )
    assert watch_module.measure_references() == expected


@pytest.mark.parametrize(
    "make", [copy.deepcopy, lambda store: pickle.loads(pickle.dumps(store))]
)
def test_copies_are_plain_stores(model, make):
    """As somebody's pickles of single layers should need nothing of ours."""
    store = watch(model)
    copied = make(store)
    assert type(copied) is ParamServer
    W = copied.get_param(model.id, "W")
    np.testing.assert_array_equal(W, peek(model, "W"))
    assert W is not peek(model, "W")


def test_arrivals_are_told_from_what_an_optimizer_does(model):
    store = watch(model)
    Y, backprop = model.begin_update(np.ones((1, 2), dtype="f"))
    backprop(Y)
    before = store.arrivals
    model.finish_update(Adam(0.1))
    model.finish_update(Adam(0.1))
    assert store.arrivals == before
    model.from_bytes(model.to_bytes())
    assert store.arrivals > before


def test_checks_are_made_once_until_something_arrives(model):
    made = []
    symbols = np.arange(3)
    for _ in range(3):
        check_once(model, lambda model: made.append(1), symbols, 2)
    assert made == [1]
    check_once(model, lambda model: made.append(1), symbols.copy(), 2)
    model.set_param("W", model.get_param("W").copy())
    check_once(model, lambda model: made.append(1), symbols, 2)
    assert made == [1, 1, 1]


def test_a_check_that_fails_is_made_again(model):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            check_once(model, lambda model: 1 / 0)


def test_remote_parameters_count_as_shared(model):
    model._params.proxy = object()
    assert is_shared([model])


def test_without_exact_reference_counts_all_are_shared(model, monkeypatch):
    assert not is_shared([model])
    monkeypatch.setattr(watch_module, "ALONE", None)
    assert is_shared([model])


class Memory:
    """CuPy's memory: another library's if it has an owner."""

    def __init__(self, owner):
        self._owner = owner


class DLPackMemory:
    """CuPy's name for memory that came by DLPack."""


def make_gpu_array(memory) -> SimpleNamespace:
    return SimpleNamespace(base=None, data=SimpleNamespace(mem=memory))


@pytest.mark.parametrize("is_held", [True, False])
def test_memory_of_another_library_on_a_gpu(model, is_held):
    """Such as a tensor of torch's: shared while somebody else has it in hand too."""
    owner = Memory(None)
    model._params._params[(model.id, "W")] = make_gpu_array(Memory(owner))
    if not is_held:
        del owner
    assert is_shared([model]) == is_held
    model._params._params[(model.id, "W")] = make_gpu_array(DLPackMemory())
    assert is_shared([model])


class Server(ParamServer):
    """Somebody's own kind of store."""


def test_strange_stores_are_left_in_place(model):
    model._params = server = Server(model._params._params)
    assert is_shared([model])
    assert get_state([model]) is None
    assert peek(model, "W").shape == (3, 2)
    assert model._params is server
    made = []
    for _ in range(2):
        check_once(model, lambda model: made.append(1))
    assert made == [1, 1], "who can't be watched is checked each time"


def test_a_store_that_is_replaced_while_it_is_used_loses_nothing(model):
    """Another thread may be in the middle of a call of the plain store."""
    plain = model._params
    state = get_state([model])
    identities = identify(state)
    W = np.zeros((3, 2), dtype="f")
    plain.set_param(model.id, "W", W)
    plain.set_grad(model.id, "W", W)
    assert model.get_param("W") is W
    assert model.get_grad("W") is W
    assert identify(state) != identities


@pytest.mark.parametrize("name", ["get_param", "set_param"])
def test_accesses_are_counted_before_and_after(model, name, monkeypatch):
    """So that nobody takes for a state what is about to change."""
    states = [get_state([model])]
    call = getattr(ParamServer, name)

    def call_and_note(self, *args):
        states.append(get_state([model]))
        result = call(self, *args)
        states.append(get_state([model]))
        return result

    monkeypatch.setattr(ParamServer, name, call_and_note)
    value = [np.zeros((3, 2), dtype="f")] if name == "set_param" else []
    getattr(model, name)("W", *value)
    states.append(get_state([model]))
    accesses = [state[0][1] for state in states]
    assert accesses[0] < accesses[1] <= accesses[2] < accesses[3]


def test_read_only_does_not_help_if_the_memory_is_writeable(model):
    memory = bytearray(np.ones((3, 2), dtype="f").tobytes())
    W = np.frombuffer(memory, dtype="f").reshape(3, 2)
    W.flags.writeable = False
    model.set_param("W", W)
    del W
    assert is_shared([model])
    del memory
    assert not is_shared([model])


def test_shared_memory_of_processes_is_shared(model):
    memory = SharedMemory(create=True, size=24)
    try:
        W = np.ndarray((3, 2), dtype="f", buffer=memory.buf)
        W.flags.writeable = False
        model.set_param("W", W)
        del W
        assert is_shared([model])
    finally:
        model.set_param("W", np.ones((3, 2), dtype="f"))
        memory.close()
        memory.unlink()


def test_another_part_of_one_array_is_an_arrival(model):
    both = np.ones((2, 3, 2), dtype="f")
    model.set_param("W", both[0])
    before = watch(model).arrivals
    model.set_param("W", both[0].reshape(-1).reshape(3, 2))
    assert watch(model).arrivals == before
    model.set_param("W", both[1])
    assert watch(model).arrivals == before + 1
