"""Parameters are checked when they arrive, and read where they are sealed."""

import numpy as np
import pytest
from thinc.api import Adam, Linear, Model

from spacy_hashembeds.layers.plan import Plan, check_once, peek

from .plans import get_kept


@pytest.fixture
def model() -> Model:
    return Linear(3, 2).initialize()


def seal(model: Model) -> Plan[Model, str]:
    derived: Plan[Model, str] = Plan()
    assert derived.get_or_compute([model], lambda: "computed") == get_kept(derived)
    return derived


def test_peeking_breaks_no_seal(model):
    W = model.get_param("W")
    derived = seal(model)
    assert peek(model, "W") is W
    assert get_kept(derived) == "computed"
    with pytest.raises(KeyError, match="E"):
        peek(model, "E")


def test_remote_parameters_are_asked_for(model):
    class Proxy:
        def get_param(self, model_id, name):
            return np.full((3, 2), 7.0, dtype="f")

    model._params.proxy = Proxy()
    assert (peek(model, "W") == 7).all()
    checked = []
    for _ in range(3):
        check_once(model, checked.append)
    assert len(checked) == 3, "each time they may be others"


def test_what_arrives_is_checked_once(model):
    checked = []

    def check() -> int:
        check_once(model, checked.append, model.attrs.get("seed"))
        return len(checked)

    assert [check(), check()] == [1, 1]
    optimizer = Adam(0.1)
    for _ in range(2):
        Y, backprop = model.begin_update(np.ones((1, 2), dtype="f"))
        backprop(Y)
        model.finish_update(optimizer)  # which sets another view of the same memory
        assert check() == 1
    model.set_param("W", model.get_param("W").copy())
    assert [check(), check()] == [2, 2]
    model.attrs["seed"] = object()
    assert [check(), check()] == [3, 3]
    model._dims["nO"] = 4
    assert [check(), check()] == [4, 4]
    with model.use_params({(model.id, "b"): np.zeros(3, dtype="f")}):
        assert check() == 5
    seal(model)
    assert [check(), check()] == [6, 6]


def test_what_fails_is_checked_again(model):
    def refuse(model):
        raise ValueError("wrong")

    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"):
            check_once(model, refuse)


def test_copies_are_checked_themselves(model):
    checked = []
    check_once(model, checked.append)
    check_once(model.copy(), checked.append)
    assert len(checked) == 2
