from collections.abc import Callable
from typing import Any, cast

from thinc.api import Model
from thinc.types import Floats2d, Ints1d, Ints2d

from ..kernels.distinct import Distinct, find_distinct
from .tables import add_row_gradients

InT = Ints1d | Ints2d
OutT = Floats2d


def with_distinct(layer: Model[InT, OutT]) -> Model[InT, OutT]:
    """Run a layer once for each distinct key of a batch, and copy its output.

    The layer must map keys to vectors independently of each other, like an embedding
    table or a network over characters. The output is the same as without this wrapper,
    except that dropout inside the layer is the same for all copies of a key. For
    independent dropout, apply dropout to the output.

    layer (Model): Maps keys of shape `(m,)` or `(m, columns)`, m > 0, to vectors of
        shape `(m, nO)`, and has the dimension `nO`.

    *Input:* integers of shape `(n,)`, or `(n, columns)` with at most 64 columns, where
        each row is a key.
    *Output:* of shape `(n, nO)`, float32. The gradient of each key is summed over its
        copies; the gradient of the integers is zero.

    Registered for configs as `spacy-hashembeds.with_distinct.v1` (`@layers`).
    """
    return Model(
        f"with_distinct({layer.name})",
        forward,
        init=init,
        layers=[layer],
        dims={name: layer.maybe_get_dim(name) for name in layer.dim_names},
    )


def forward(
    model: Model[InT, OutT], keys: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    layer, ops = model.layers[0], cast(Any, model.ops)
    if len(keys) == 0:
        return ops.alloc2f(0, layer.get_dim("nO")), lambda dY: keys
    distinct = find_distinct(ops.to_numpy(keys))
    values = ops.asarray(distinct.values)
    Y, backprop_copies = run_distinct(layer, values, distinct, is_train)

    def backprop(dY: OutT) -> InT:
        backprop_copies(dY)
        return ops.xp.zeros_like(keys)

    return Y, backprop


def run_distinct(
    layer: Model[Any, OutT], X: Any, distinct: Distinct, is_train: bool
) -> tuple[OutT, Callable[[OutT], None]]:
    """Run a layer on X, the input of distinct keys, and copy its output for all keys.

    The output and its gradient are of shape `(n, nO)`, for `n` keys.
    """
    ops: Any = layer.ops
    Y, backprop_layer = layer(X, is_train)
    copies = ops.asarray1i(distinct.copies)

    def backprop(dY: OutT) -> None:
        d_distinct = ops.alloc2f(*Y.shape)
        dY = ops.as_contig(dY, dtype="float32")
        add_row_gradients(ops, copies.reshape(-1, 1), dY, d_distinct)
        backprop_layer(d_distinct)

    return Y[copies], backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    layer = model.layers[0]
    if X is not None and len(X):
        X = cast(Any, find_distinct(model.ops.to_numpy(X)).values)
    layer.initialize(X=X, Y=Y)
    for name in layer.dim_names:
        if layer.has_dim(name):
            model.set_dim(name, layer.get_dim(name))
