from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from thinc.api import Model, NumpyOps, Ops, get_width, glorot_uniform_init
from thinc.types import Floats2d

from ..kernels.packing import Block, pack, split
from ..thinc_internals import get_forward
from .checks import check_integer, check_number, check_params
from .params import check_once
from .torchlayer import run_empty, run_torch, to_torch

if TYPE_CHECKING:
    from torch import Tensor

InT = list[Floats2d]
OutT = list[Floats2d]

#: What reads the sequence from its beginning, and what from its end.
DIRECTIONS = ("forward", "backward")

#: Input, forget, cell and output gate, in the order of PyTorch.
N_GATES = 4


def BiLSTM(
    nO: int, *, depth: int, is_crossed: bool, dropout: float
) -> Model[InT, OutT]:
    """Encode context with LSTMs that read from either end.

    Other arguments: as for `BiLSTMEncoder`, whose width is `nO`.

    is_crossed (bool): Whether each cell above the first reads what both directions
        below have found (§3.5 of the paper), and not only its own (§3.2).

    Weights of the input are drawn as by Glorot and Bengio (2010), those of the hidden
    state are orthogonal (Saxe et al. 2014), gate by gate. Biases are 0, and 1 for the
    forget gate (Jozefowicz et al. 2015).

    *Input and output:* for each Doc a float32 array of shape `(tokens, nI)` and
        `(tokens, nO)`.

    Source: as for the encoder. Dropout: Gal and Ghahramani, "A Theoretically Grounded
    Application of Dropout in Recurrent Neural Networks" (2016), but for hidden states.
    """
    return Model(
        "crossbilstm" if is_crossed else "bilstm",
        forward_crossed if is_crossed else forward,
        init=init,
        dims={"nO": nO, "nI": None},
        params=dict.fromkeys(find_shapes(nO, 0, depth, is_crossed)),
        attrs={"depth": depth, "dropout": dropout},
    )


def forward(
    model: Model[InT, OutT], Xs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_weights)
    ops: Any = model.ops
    lengths = [len(X) for X in Xs]
    if not sum(lengths):
        return run_empty(model, Xs)
    packing = pack(lengths, is_padded=isinstance(ops, NumpyOps))
    rows, places = ops.asarray(packing.rows), ops.asarray(packing.places)
    masks = draw_masks(model, len(Xs)) if is_train else {}
    readings = [Reading(model, block, masks) for block in packing.blocks]
    X = ops.xp.concatenate(Xs)[rows]
    Y, backprop_torch = run_torch(model, partial(encode, model, readings), X, is_train)

    def backprop(dYs: OutT) -> InT:
        dY = ops.xp.zeros_like(Y)  # nothing comes of padding
        dY[places] = ops.xp.concatenate(dYs)
        return split(backprop_torch(dY)[places], lengths)

    return split(Y[places], lengths), backprop


def forward_crossed(
    model: Model[InT, OutT], Xs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    return forward(model, Xs, is_train)


def is_crossed(model: Model[InT, OutT]) -> bool:
    """Tell whether directions read each other's findings.

    No attribute, since those are loaded with the weights: weights of the other kind are
    refused by their shapes.
    """
    return get_forward(model) is forward_crossed


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X:
        model.set_dim("nI", get_width(X[0]))
    for name, (n, *width) in _find_shapes(model).items():
        if name.startswith("b_"):
            bias = cast(Any, model.ops.alloc1f(n))
            bias[n // N_GATES : n // 2] = 1  # the forget gate's
            model.set_param(name, bias)
            continue
        draw = draw_orthogonal if name.startswith("U_") else glorot_uniform_init
        gates = [draw(model.ops, (n // N_GATES, *width)) for _ in range(N_GATES)]
        model.set_param(name, model.ops.xp.concatenate(gates))


class Reading:
    """Inputs of the cells of a block, with masks as from `draw_masks`."""

    def __init__(self, model: Model, block: Block, masks: Mapping[str, Any]) -> None:
        import torch

        ops: Any = model.ops
        sequences = ops.asarray(block.sequences)
        self.n_rows, self.n_sequences = len(block.backwards), len(sequences)
        # PyTorch wants these in main memory
        self.sizes = torch.from_numpy(block.batch_sizes)
        self._backwards = to_torch(ops, ops.asarray(block.backwards))
        self._masks = {
            name: to_torch(ops, mask[sequences]) for name, mask in masks.items()
        }

    def turn(self, X: "Tensor") -> "Tensor":
        """Turn each sequence around, shape `(n_rows, width)`."""
        return X.index_select(0, self._backwards)

    def drop(self, X: "Tensor", name: str) -> "Tensor":
        """Drop dimensions, at one of the places where that is done."""
        if name not in self._masks:
            return X
        steps = X.unflatten(0, (-1, self.n_sequences))
        return (steps * self._masks[name]).flatten(0, 1)


def encode(
    model: Model,
    readings: Sequence[Reading],
    params: Mapping[str, "Tensor"],
    X: "Tensor",
) -> "Tensor":
    """Let all cells read a batch, block by block: shape `(n, nI)` to `(n, nO)`."""
    import torch

    found = []
    parts = X.split([reading.n_rows for reading in readings])
    for reading, part in zip(readings, parts, strict=True):
        past = reading.drop(part, "input")
        future = reading.turn(past)
        for layer in range(1, model.attrs["depth"] + 1):
            if is_crossed(model) and layer > 1:
                past = torch.cat([past, reading.turn(future)], dim=1)
                future = reading.turn(past)
            past = read(reading, params, f"forward_{layer}", past)
            future = read(reading, params, f"backward_{layer}", future)
        found.append(torch.cat([past, reading.turn(future)], dim=1))
    return torch.cat(found)


def read(
    reading: Reading, params: Mapping[str, "Tensor"], cell: str, X: "Tensor"
) -> "Tensor":
    """Let a cell read a block, and drop some of what it finds, `(n_rows, hidden)`."""
    import torch

    W, U, b = (params[f"{name}_{cell}"] for name in "WUb")
    weights = [W, U, b, torch.zeros_like(b)]  # PyTorch has two biases
    start = X.new_zeros(1, int(reading.sizes[0]), U.shape[1])
    read_block = read_packed if X.is_cuda else read_padded
    return reading.drop(read_block(X, reading.sizes, weights, start), cell)


def read_packed(
    X: "Tensor", sizes: "Tensor", weights: list["Tensor"], start: "Tensor"
) -> "Tensor":
    """Let a cell read a block that is not padded: the faster way on a GPU."""
    import torch

    settings = (True, 1, 0.0, X.requires_grad, False)
    return torch.lstm(X, sizes, (start, start), weights, *settings)[0]


def read_padded(
    X: "Tensor", sizes: "Tensor", weights: list["Tensor"], start: "Tensor"
) -> "Tensor":
    """Let a cell read a block that is padded, at the ends: the faster way on a CPU."""
    import torch

    settings = (True, 1, 0.0, X.requires_grad, False, False)
    steps = X.unflatten(0, (len(sizes), -1))
    return torch.lstm(steps, (start, start), weights, *settings)[0].flatten(0, 1)


def draw_masks(model: Model, n_docs: int) -> dict[str, Any]:
    """Draw what dimensions of each Doc are multiplied by, for the input and each cell.

    *Shape* of each: `(n_docs, width)`. Nothing if nothing is dropped.
    """
    rate = model.attrs["dropout"]
    if not rate:
        return {}
    nO, nI = model.get_dim("nO"), model.get_dim("nI")
    masks = {"input": model.ops.get_dropout_mask((n_docs, nI), rate)}
    for layer in range(1, model.attrs["depth"] + 1):
        mask: Any = model.ops.get_dropout_mask((n_docs, nO), rate)
        masks[f"forward_{layer}"] = mask[:, : nO // 2]
        masks[f"backward_{layer}"] = mask[:, nO // 2 :]
    return masks


def draw_orthogonal(ops: Ops, shape: tuple[int, ...]) -> Any:
    """Draw an orthogonal matrix, shape `(n, n)`, all of them being as likely."""
    Q, R = ops.xp.linalg.qr(ops.xp.random.normal(size=shape))
    return (Q * ops.xp.sign(ops.xp.diag(R))).astype("float32")


def find_shapes(
    nO: int, nI: int, depth: int, is_crossed: bool
) -> dict[str, tuple[int, ...]]:
    """Find the shapes of cells' weights of input `W`, of state `U`, and biases `b`."""
    hidden = nO // 2
    widths = [nI, *[nO if is_crossed else hidden] * (depth - 1)]
    return {
        f"{name}_{direction}_{layer}": (N_GATES * hidden, *width)
        for layer, below in enumerate(widths, 1)
        for direction in DIRECTIONS
        for name, width in (("W", (below,)), ("U", (hidden,)), ("b", ()))
    }


def _find_shapes(model: Model) -> dict[str, tuple[int, ...]]:
    nO, nI = model.get_dim("nO"), model.get_dim("nI")
    return find_shapes(nO, nI, model.attrs["depth"], is_crossed(model))


def _check_weights(model: Model) -> None:
    check_number(model, "dropout", 0, 1)
    depth = len(model.param_names) // 6
    check_integer(model, "depth", depth, depth)
    check_params(model, _find_shapes(model))
