"""What layers ask of weights and of attributes."""

import numpy as np
import pytest
from thinc.api import LayerNorm, Maxout, Model

from spacy_hashembeds.layers.checks import (
    check_attr_choice,
    check_integer,
    check_number,
    check_param,
    check_params,
)
from spacy_hashembeds.layers.maxout import check_maxout


def make_model(**attrs) -> Model:
    return Model("layer", lambda *args: None, params={"W": None}, attrs=attrs)


@pytest.mark.parametrize("largest", [1e7, -1e7])
def test_the_largest_weights(largest):
    model = make_model()
    model.set_param("W", np.array([0, largest], dtype="f"))
    check_param(model, "W", (2,))
    for value in (largest * 1.001, np.nan, np.inf, -np.inf):
        model.set_param("W", np.array([0, value], dtype="f"))
        with pytest.raises(ValueError, match=r"numbers up to 1e\+07, but 1 of 2 are"):
            check_param(model, "W", (2,))


def test_names_of_parameters_that_are_no_text():
    """As a damaged file may have them."""
    model = Model("layer", lambda *args: None, params={"W": None, 7: None})
    with pytest.raises(ValueError, match="not of the 1 that it needs: 7"):
        check_params(model, {"W": (2,)})


@pytest.mark.parametrize("value", [True, "1", None, 1.0, 0, 4])
def test_other_integers_are_refused(value):
    check_integer(make_model(n=1), "n", 1, 1)
    with pytest.raises(ValueError, match=r"'n' of layer 'layer' should be 1 to 3, but"):
        check_integer(make_model(n=value), "n", 1, 3)


@pytest.mark.parametrize("value", [True, "1", None, 0.9, 3.1, float("nan")])
def test_other_numbers_are_refused(value):
    check_number(make_model(n=1), "n", 1, 1)
    with pytest.raises(ValueError, match=r"'n' of layer 'layer' .* number from 1 to 3"):
        check_number(make_model(n=value), "n", 1, 3)


@pytest.mark.parametrize("value", [0, 1, 1.0, None, "c", "True", np.array([1, 2])])
def test_other_choices_are_refused(value):
    """0 and 1 are equal to false and true, and no less something else."""
    with pytest.raises(ValueError, match=r"'n' of layer .* should be True or False or"):
        check_attr_choice(make_model(n=value), "n", [True, False, "a", "b"])


@pytest.mark.parametrize(("nI", "normalized"), [(4, 6), (5, 7)])
def test_layers_that_do_not_go_with_each_other_are_refused(nI, normalized):
    maxout = Maxout(6, 5, nP=2).initialize()
    check_maxout(maxout, LayerNorm(6).initialize(), nI=5)
    with pytest.raises(ValueError, match=rf"should have {nI} inputs, .* and 6 and"):
        check_maxout(maxout, LayerNorm(normalized).initialize(), nI=nI)
