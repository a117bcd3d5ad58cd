from collections.abc import Callable
from typing import Any, TypeVar

from thinc.api import Model
from thinc.types import Floats2d

InT = TypeVar("InT")
OutT = Floats2d


def soft_voting(*members: Model[InT, OutT]) -> Model[InT, OutT]:
    """Average the scores of several classifiers, each of which learns for itself.

    In place of the difference of the mean score and the truth, which spaCy's text
    categorizers give back, each member gets that of its own score. Where the difference
    is zero, the label is missing (or all members are right), and members get zero as
    well.

    *Output shape:* `(n, labels)`, float32.

    Source: Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §5.5.
    """
    return Model(
        "soft_voting",
        forward,
        init=init,
        layers=members,
        dims={"nO": members[0].maybe_get_dim("nO")},
    )


def forward(
    model: Model[InT, OutT], X: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    Ys, backprops = zip(*(member(X, is_train) for member in model.layers), strict=True)
    mean: Any = sum(Ys) / len(Ys)

    def backprop(d_mean: OutT) -> InT:
        is_there = d_mean != 0
        for Y, backprop_member in zip(Ys, backprops, strict=True):
            backprop_member(d_mean + (Y - mean) * is_there)
        return X

    return mean, backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    for member in model.layers:
        member.initialize(X, Y)
    model.set_dim("nO", model.layers[0].get_dim("nO"), force=True)
