from collections.abc import Callable
from typing import Any, cast

import numpy as np
from spacy.ml.models.tok2vec import MaxoutWindowEncoder as SpacyMaxoutWindowEncoder
from thinc.api import Model, NumpyOps
from thinc.types import Floats2d

from ..arguments import MAX_DEPTH, MAX_WIDTH, check_choice, check_integers
from ..kernels.convolution import PRECISIONS
from ..kernels.rows import split
from ..layers.checks import check_gradient, check_integer
from ..layers.plan import UnexpectedNodeError, expect, expect_maxout
from ..layers.windowencoder import (
    Convolution,
    Convolutions,
    EncoderPlan,
    begin_update,
    lay_rows,
    predict,
)
from ..thinc_internals import (
    chain_forward,
    expand_window_forward,
    get_forward,
    residual_forward,
    with_array_forward,
)
from ..threads import one_thread

InT = list[Floats2d]
OutT = list[Floats2d]


def MaxoutWindowEncoder(
    *,
    width: int,
    window_size: int,
    maxout_pieces: int,
    depth: int,
    precision: str = "float32",
) -> Model[InT, OutT]:
    """Encode context with convolutions, a block of tokens at a time.

    A faster `spacy.MaxoutWindowEncoder.v2` on the CPU, with the additional argument
    `precision`. Outputs are equal up to rounding, and weights are interchangeable.
    With the same seed, dropout masks differ from spaCy's.

    width (int): The width of input and output, usually 64 to 300. Run time grows
        quadratically.
    window_size (int): Neighbors on each side seen by a convolution. Usually 1. With 0,
        each token is encoded without context.
    maxout_pieces (int): Linear pieces of each Maxout layer. Usually 2 or 3.
    depth (int): The number of convolutions. Usually 4; the report uses 8. The receptive
        field is `depth * window_size` tokens on each side.
    precision (str): The data type of matrix products in prediction: "float32",
        "bfloat16" or "int8". The latter two are faster if the processor supports them
        (see `spacy hashembeds doctor`), but change predictions, more in parsers than in
        NER: `spacy hashembeds accelerate` counts the changes. Without processor
        support, on GPUs, in training and in saved weights, float32 is used.

    *Input and output:* a float32 array of shape `(tokens, width)` for each Doc.
    """
    check_integers(1, MAX_WIDTH, width=width, maxout_pieces=maxout_pieces)
    check_integers(0, MAX_WIDTH, window_size=window_size)
    check_integers(1, MAX_DEPTH, depth=depth)
    check_choice(PRECISIONS, precision=precision)
    model = SpacyMaxoutWindowEncoder(
        width=width, window_size=window_size, maxout_pieces=maxout_pieces, depth=depth
    )
    model.replace_callbacks(forward, init=model.init)
    model.attrs["weights"] = EncoderPlan(precision)
    return model


def forward(
    model: Model[InT, OutT], Xs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    if isinstance(Xs, list | tuple) and not any(map(len, Xs)):
        # Thinc's layers disagree about the shape of empty output.
        return Xs, lambda dYs: dYs
    convolutions = _find_fast_path(model, Xs)
    if convolutions is None:
        return with_array_forward(model, Xs, is_train)
    plan, pad = model.attrs["weights"], model.attrs["pad"]
    sizes = list(map(len, Xs))
    lengths = np.array(sizes)
    X = np.ascontiguousarray(model.ops.flatten(Xs, dtype="float32", pad=pad))
    width = convolutions[0].maxout.get_dim("nO")
    if X.shape[1:] != (width,):
        raise ValueError(
            f"The input of MaxoutWindowEncoder should be {width} wide, but its shape "
            f"is {X.shape}, including padding. Set the embedder's 'width' to {width}."
        )
    rows = lay_rows(convolutions, lengths[lengths > 0], pad)
    if not is_train:
        weights = plan.get(convolutions)
        with one_thread():
            X = predict(weights, X, rows)
        Ys = split(X, sizes)
        return Ys, lambda dYs: with_array_forward(model, Xs, False)[1](dYs)
    convolutions.check()
    backprops = []
    with one_thread():
        for layers, computed in zip(convolutions, rows, strict=True):
            X, backprop_layer = begin_update(layers, X, computed)
            backprops.append(backprop_layer)
    shape = X.shape

    def backprop(dYs: OutT) -> InT:
        dX: Any = model.ops.flatten(dYs, dtype="float32")
        check_gradient(dX, shape)
        with one_thread():
            for backprop_layer in reversed(backprops):
                dX = backprop_layer(dX)
        return cast(InT, model.ops.unflatten(dX, cast(Any, lengths), pad=pad))

    return split(X, sizes), backprop


def _find_fast_path(model: Model[InT, OutT], Xs: InT) -> Convolutions | None:
    """Return the layers if the fast path supports the input and device, else None."""
    if isinstance(Xs, list | tuple) and isinstance(model.ops, NumpyOps):
        plan, pad = model.attrs["weights"], model.attrs["pad"]
        return plan.find_layers(model, find_convolutions, pad)
    return None  # array, Ragged, or GPU


def find_convolutions(model: Model) -> Convolutions:
    """Find the layers. Raise UnexpectedNodeError if a node was wrapped or replaced."""
    (stack,) = model.layers
    # with depth 1, there is no chain
    is_single = get_forward(stack) is residual_forward
    layers = [stack] if is_single else expect(stack, chain_forward)
    convolutions = Convolutions(map(_expect_convolution, layers))
    convolutions.check()
    # zero rows between Docs must cover the receptive field
    needed = sum(convolution.window_size for convolution in convolutions)
    check_integer(model, "pad", needed, 2**16)
    return convolutions


def _expect_convolution(model: Model) -> Convolution:
    (convolution,) = expect(model, residual_forward, 1)
    window, mixer = expect(convolution, chain_forward, 2)
    expect(window, expand_window_forward, 0)
    maxout, layernorm, dropout = expect_maxout(mixer)
    if dropout is None:
        raise UnexpectedNodeError(mixer.name)
    check_integer(window, "window_size", 0, 2**31)
    return Convolution(window.attrs["window_size"], maxout, layernorm, dropout)
