"""Checks of weights and attributes, made once."""

import numpy as np
import pytest
from thinc.api import Adam, LayerNorm, Linear, Maxout, Model

from spacy_hashembeds.layers.checks import (
    check_attr_choice,
    check_integer,
    check_number,
    check_once,
    check_param,
    check_params,
    peek,
)
from spacy_hashembeds.layers.maxout import check_maxout
from spacy_hashembeds.layers.plan import Plan

from .plans import get_cached


def make_model(**attrs) -> Model:
    return Model("layer", lambda *args: None, params={"W": None}, attrs=attrs)


@pytest.mark.parametrize("largest", [1e7, -1e7])
def test_largest_weights(largest):
    model = make_model()
    model.set_param("W", np.array([0, largest], dtype="f"))
    check_param(model, "W", (2,))
    for value in (largest * 1.001, np.nan, np.inf, -np.inf):
        model.set_param("W", np.array([0, value], dtype="f"))
        with pytest.raises(ValueError, match=r"'W' of layer 'layer'.*1 of 2"):
            check_param(model, "W", (2,))


def test_parameter_names_that_are_not_strings():
    """Damaged files may have such names."""
    model = Model("layer", lambda *args: None, params={"W": None, 7: None})
    with pytest.raises(ValueError, match=r"'layer' has .*: 7"):
        check_params(model, {"W": (2,)})


INTEGERS = (check_integer, 1, 3), [1, 3], [1.0, 2.5]
NUMBERS = (check_number, 1, 3), [1, 2.5, 3], []
CHOICES = (check_attr_choice, [True, "a"]), [True, "a"], [1.0, "c", np.array([1, 2])]


@pytest.mark.parametrize(("check", "right", "wrong"), [INTEGERS, NUMBERS, CHOICES])
def test_numbers_and_choices(check, right, wrong):
    """0 and 1 equal false and true, but are not accepted for them."""
    function, *bounds = check
    for value in right:
        function(make_model(n=value), "n", *bounds)
    is_choice = function is check_attr_choice
    for value in [*wrong, "1", None, 0, 4, 3.1, float("nan"), 1 if is_choice else True]:
        with pytest.raises(ValueError, match="'n' of layer 'layer'"):
            function(make_model(n=value), "n", *bounds)


@pytest.mark.parametrize(("nI", "normalized"), [(4, 6), (5, 7)])
def test_mismatched_layers_raise(nI, normalized):
    maxout = Maxout(6, 5, nP=2).initialize()
    check_maxout(maxout, LayerNorm(6).initialize(), nI=5)
    with pytest.raises(ValueError, match=rf"should have {nI} inputs"):
        check_maxout(maxout, LayerNorm(normalized).initialize(), nI=nI)


@pytest.fixture
def model() -> Model:
    return Linear(3, 2).initialize()


def seal(model: Model) -> Plan[Model, str]:
    derived: Plan[Model, str] = Plan()
    assert derived.get_or_compute([model], lambda: "computed") == get_cached(derived)
    return derived


def test_peek_keeps_the_seal(model):
    W = model.get_param("W")
    derived = seal(model)
    assert peek(model, "W") is W
    assert get_cached(derived) == "computed"
    with pytest.raises(KeyError, match="E"):
        peek(model, "E")


def test_remote_parameters_are_checked_each_time(model):
    class Proxy:
        def get_param(self, model_id, name):
            return np.full((3, 2), 7.0, dtype="f")

    model._params.proxy = Proxy()
    assert (peek(model, "W") == 7).all()
    checked = []
    for _ in range(3):
        check_once(model, checked.append)
    assert len(checked) == 3


def test_check_once(model):
    checked = []

    def check() -> int:
        check_once(model, checked.append, model.attrs.get("seed"))
        return len(checked)

    assert [check(), check()] == [1, 1]
    optimizer = Adam(0.1)
    for _ in range(2):
        Y, backprop = model.begin_update(np.ones((1, 2), dtype="f"))
        backprop(Y)
        model.finish_update(optimizer)  # sets another view of the same memory
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
    check_once(model.copy(), checked.append)
    assert len(checked) == 7


def test_failed_check_is_repeated(model):
    def refuse(model):
        raise ValueError("wrong")

    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"):
            check_once(model, refuse)
