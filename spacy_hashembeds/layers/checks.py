"""Checks of what Thinc loads as it comes: all raise a ValueError."""

from collections.abc import Mapping, Sequence
from typing import Any

from thinc.api import Model

from .plan import peek

#: No training gives larger weights, and with these nothing overflows.
LARGEST = 1e7

REMEDY = "Were the weights saved by a pipeline with another config, or damaged?"


def check_param(
    model: Model, name: str, shape: tuple[int, ...], largest: float = LARGEST
) -> None:
    """Check that a parameter is there, with its shape, float32 and finite."""
    where = f"The parameter '{name}' of layer '{model.name}'"
    if not model.has_param(name):
        raise ValueError(
            f"{where} should be float32 of shape {shape}, but is not there. Was the "
            "pipeline never initialised (nlp.initialize), or were the weights damaged?"
        )
    array = peek(model, name)
    if array.shape != shape or array.dtype != "float32":
        raise ValueError(
            f"{where} should be float32 of shape {shape}, but is {array.dtype} of "
            f"shape {array.shape}. {REMEDY}"
        )
    n_wrong = array.size - int((abs(array) <= largest).sum())
    if n_wrong:
        raise ValueError(
            f"{where} should be finite numbers up to {largest:.0e}, but {n_wrong} of "
            f"{array.size} are larger or no numbers. Did the training diverge, or were "
            "the weights damaged?"
        )


def check_params(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check that a layer has its parameters and no others.

    Those of another layer that are loaded beside them would go unused unnoticed.
    """
    # a damaged file may have names that are no text
    others = sorted(map(str, set(model.param_names) - shapes.keys()))
    if others:
        raise ValueError(
            f"Layer '{model.name}' has parameters that are not of the "
            f"{len(shapes)} that it needs: {', '.join(others):.80}. {REMEDY}"
        )
    for name, shape in shapes.items():
        check_param(model, name, shape)


def check_attr(model: Model, name: str, is_right: bool, expected: str) -> None:
    if not is_right:
        raise ValueError(
            f"The attribute '{name}' of layer '{model.name}' should be {expected}, but "
            f"is {model.attrs[name]!r:.80}. {REMEDY}"
        )


def check_integer(model: Model, name: str, minimum: int, maximum: int) -> None:
    value = model.attrs[name]
    is_right = type(value) is int and minimum <= value <= maximum
    check_attr(model, name, is_right, f"{minimum} to {maximum}")


def check_number(model: Model, name: str, minimum: float, maximum: float) -> None:
    value = model.attrs[name]
    is_right = type(value) in (int, float) and minimum <= value <= maximum
    check_attr(model, name, is_right, f"a number from {minimum:g} to {maximum:g}")


def check_attr_choice(
    model: Model, name: str, known: Sequence[str | bool | None]
) -> None:
    value = model.attrs[name]
    is_right = any(value is k or (isinstance(value, str) and value == k) for k in known)
    check_attr(model, name, is_right, " or ".join(map(str, known)))


def check_foreign(model: Model, kind: str, foreign: str) -> None:
    """Check that what was loaded has no attribute that only another kind saves."""
    if foreign in model.attrs:
        raise ValueError(
            f"A layer that {kind} can't load the weights of one that does not, but "
            f"layer '{model.name}' has the attribute '{foreign}' of such a layer. Load "
            "the weights into a pipeline with the config they were trained with."
        )


def check_gradient(gradient: Any, shape: tuple[int, ...]) -> None:
    if gradient.shape != shape:
        raise ValueError(
            f"The gradient of {shape[0]} tokens should be of shape {shape}, but is of "
            f"shape {gradient.shape}."
        )
