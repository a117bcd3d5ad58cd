from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from thinc.api import Model, Ops, get_width, glorot_uniform_init
from thinc.types import Floats2d

from ...layers.checks import check_number, check_once, check_params
from ...layers.torchlayer import Group, Params, run_sequences, to_torch

if TYPE_CHECKING:
    from torch import Tensor

InT = list[Floats2d]
OutT = list[Floats2d]

#: Directions of cells.
DIRECTIONS = ("forward", "backward")
#: Input, forget, cell and output gate, in the order of PyTorch.
N_GATES = 4


def BiLSTM(
    nO: int, *, depth: int, is_crossed: bool, dropout: float
) -> Model[InT, OutT]:
    """Encode context with LSTMs in both directions.

    is_crossed (bool): Cells above the first read both directions below (§3.5 of the
        paper), instead of only their own (§3.2).

    Initial weights, gate by gate: Glorot and Bengio (2010) for the input, orthogonal
    for the hidden state (Saxe et al. 2014). Biases are 0, and 1 for the forget gate
    (Jozefowicz et al. 2015). Dropout follows Gal and Ghahramani (2016), except that
    hidden states are not dropped. Others: See `BiLSTMEncoder`.
    """
    return Model(
        "crossbilstm" if is_crossed else "bilstm",
        forward,
        init=init,
        # n_below: Thinc refuses weights with another input width of upper cells
        dims={"nO": nO, "nI": None, "n_below": nO if is_crossed else nO // 2},
        params={
            f"{name}_{direction}_{layer}": None
            for layer in range(1, depth + 1)
            for direction in DIRECTIONS
            for name in "WUb"
        },
        attrs={"dropout": dropout},
    )


def forward(
    model: Model[InT, OutT], Xs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_weights)
    masks = draw_masks(model, Xs) if is_train else {}
    read = partial(encode, model, masks)
    return run_sequences(model, Xs, is_train, read, min_rows=1024)


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X:
        model.set_dim("nI", get_width(X[0]))
    for name, (n, *width) in _find_shapes(model).items():
        if name.startswith("b_"):
            bias = cast(Any, model.ops.alloc1f(n))
            bias[n // N_GATES : n // 2] = 1  # of the forget gate
            model.set_param(name, bias)
            continue
        draw = draw_orthogonal if name.startswith("U_") else glorot_uniform_init
        gates = [draw(model.ops, (n // N_GATES, *width)) for _ in range(N_GATES)]
        model.set_param(name, model.ops.xp.concatenate(gates))


def encode(
    model: Model, masks: Mapping[str, Any], params: Params, X: "Tensor", group: Group
) -> "Tensor":
    """Run all cells on padded sequences: `(m, longest, nI)` to `(m, longest, nO)`."""
    import torch

    ops: Any = model.ops
    steps = torch.arange(X.shape[1])
    last = torch.from_numpy(group.lengths)[:, None] - 1
    # reverse tokens but not padding (self-inverse)
    turned = torch.where(steps <= last, last - steps, steps)[:, :, None].to(X.device)

    def turn(X: "Tensor") -> "Tensor":
        return X.gather(1, turned.expand_as(X))

    def drop(X: "Tensor", name: str) -> "Tensor":
        if name not in masks:
            return X
        return X * to_torch(ops, masks[name][ops.asarray(group.numbers)])[:, None]

    def read(X: "Tensor", cell: str) -> "Tensor":
        W, U, b = (params[f"{name}_{cell}"] for name in "WUb")
        start = X.new_zeros(1, len(X), U.shape[1])
        weights = [W, U, b, torch.zeros_like(b)]  # PyTorch has two biases
        # one layer, one direction, no dropout, batch first
        settings = (True, 1, 0.0, X.requires_grad, False, True)
        return drop(torch.lstm(X, (start, start), weights, *settings)[0], cell)

    past = drop(X, "input")
    future = turn(past)
    for layer in range(1, _get_depth(model) + 1):
        if layer > 1 and model.get_dim("n_below") == model.get_dim("nO"):
            past = torch.cat([past, turn(future)], dim=2)
            future = turn(past)
        past = read(past, f"forward_{layer}")
        future = read(future, f"backward_{layer}")
    return torch.cat([past, turn(future)], dim=2)


def draw_masks(model: Model, Xs: InT) -> dict[str, Any]:
    """Draw masks of the input and of each cell, `(n, width)`, for non-empty Docs."""
    rate = model.attrs["dropout"]
    if not rate:
        return {}
    nO, nI, n_docs = model.get_dim("nO"), model.get_dim("nI"), len(Xs)
    masks: dict[str, Any] = {"input": model.ops.get_dropout_mask((n_docs, nI), rate)}
    for layer in range(1, _get_depth(model) + 1):
        mask: Any = model.ops.get_dropout_mask((n_docs, nO), rate)
        masks[f"forward_{layer}"] = mask[:, : nO // 2]
        masks[f"backward_{layer}"] = mask[:, nO // 2 :]
    has_tokens = [i for i, X in enumerate(Xs) if len(X)]
    return {name: mask[has_tokens] for name, mask in masks.items()}


def draw_orthogonal(ops: Ops, shape: tuple[int, ...]) -> Any:
    """Draw a uniformly distributed orthogonal matrix, `(n, n)`."""
    Q, R = ops.xp.linalg.qr(ops.xp.random.normal(size=shape))
    return (Q * ops.xp.sign(ops.xp.diag(R))).astype("float32")


def _get_depth(model: Model) -> int:
    return len(model.param_names) // 6


def _find_shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Find the shapes of input weights `W`, state weights `U` and biases `b`."""
    hidden, nI, n_below = (model.get_dim(name) for name in ("nO", "nI", "n_below"))
    hidden //= 2
    shapes: dict[str, tuple[int, ...]] = {}
    for name in model.param_names:
        below = nI if name.endswith("ward_1") else n_below
        width = {"W": (below,), "U": (hidden,), "b": ()}[name[0]]
        shapes[name] = (N_GATES * hidden, *width)
    return shapes


def _check_weights(model: Model) -> None:
    check_number(model, "dropout", 0, 1)
    check_params(model, _find_shapes(model))
