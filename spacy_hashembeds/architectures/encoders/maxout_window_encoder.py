from collections.abc import Callable
from typing import Any, cast

from spacy.ml.models.tok2vec import MaxoutWindowEncoder as SpacyMaxoutWindowEncoder
from thinc.api import Model, NumpyOps
from thinc.layers.dropout import forward as dropout_forward
from thinc.layers.expand_window import forward as expand_window_forward
from thinc.layers.layernorm import forward as layernorm_forward
from thinc.layers.maxout import forward as maxout_forward
from thinc.layers.residual import forward as residual_forward
from thinc.layers.with_array import forward as with_array_forward
from thinc.types import Floats2d

from ...checks import check_integers
from ...kernels.threads import one_thread
from ...layers.windowencoder import Convolution, begin_update, predict

InT = list[Floats2d]
OutT = list[Floats2d]

_FORWARDS = [expand_window_forward, maxout_forward, layernorm_forward, dropout_forward]


def MaxoutWindowEncoder(
    *, width: int, window_size: int, maxout_pieces: int, depth: int
) -> Model[InT, OutT]:
    """Encode context with convolutions, a block of tokens at a time.

    `spacy.MaxoutWindowEncoder.v2`, faster on the CPU: the same arguments, numbers (in
    float rounding), dropout and tree of nodes, so that weights saved by one load into
    the other.

    width (int): The width of input and output. Usual values are 64 to 300; time grows
        with its square.
    window_size (int): Neighbours on either side that each convolution sees. Usually 1.
    maxout_pieces (int): Linear pieces of each Maxout layer. Usually 2 or 3.
    depth (int): The number of convolutions. Usually 4; the report has 8. A token sees
        `depth * window_size` tokens on either side.

    *Input and output:* for each Doc a float32 array of shape `(tokens, width)`.
    RAISES (ValueError): If an argument is not an integer of at least 1.
    """
    check_integers(
        1,
        width=width,
        window_size=window_size,
        maxout_pieces=maxout_pieces,
        depth=depth,
    )
    model = SpacyMaxoutWindowEncoder(
        width=width, window_size=window_size, maxout_pieces=maxout_pieces, depth=depth
    )
    model.replace_callbacks(forward, init=model.init)
    return model


def forward(
    model: Model[InT, OutT], Xs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    if not any(len(X) for X in Xs):
        # Thinc's layers don't agree on the shape of nothing.
        return Xs, lambda dYs: dYs
    convolutions = _find_convolutions(model)
    if convolutions is None:
        return cast(Any, with_array_forward(model, cast(Any, Xs), is_train))
    pad, lengths = model.attrs["pad"], model.ops.asarray1i([len(X) for X in Xs])
    X: Any = model.ops.flatten(cast(Any, Xs), pad=pad)
    backprops = []
    with one_thread():
        for layers in convolutions:
            if is_train:
                X, backprop_layer = begin_update(layers, X)
                backprops.append(backprop_layer)
            else:
                X = predict(layers, X)

    def backprop(dYs: OutT) -> InT:
        dX: Any = model.ops.flatten(cast(Any, dYs), pad=pad)
        with one_thread():
            for backprop_layer in reversed(backprops):
                dX = backprop_layer(dX)
        return cast(InT, model.ops.unflatten(dX, lengths, pad=pad))

    return cast(OutT, model.ops.unflatten(X, lengths, pad=pad)), backprop


def _find_convolutions(model: Model) -> list[Convolution] | None:
    """Find the layers in the tree, or None if they are not as spaCy makes them."""
    if not isinstance(model.ops, NumpyOps):
        return None
    stack = model.layers[0]
    # Thinc clones nothing where the depth is 1
    residuals = [stack] if stack._func is residual_forward else stack.layers
    convolutions = []
    for residual in residuals:
        window, mixer = residual.layers[0].layers
        norm, dropout = mixer.layers
        layers = [window, *norm.layers, dropout]
        if [layer._func for layer in layers] != _FORWARDS:
            return None
        size = window.attrs["window_size"]
        convolutions.append(Convolution(size, *layers[1:]))
    return convolutions
