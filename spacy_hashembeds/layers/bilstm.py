from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from thinc.api import Model, NumpyOps, Ops
from thinc.types import Floats2d
from thinc.util import get_width

from ..kernels.packing import Packing, pack, split
from .checks import check_choice, check_integer, check_number, check_param
from .torchlayer import run_torch, to_torch
from .watch import check_once

if TYPE_CHECKING:
    from torch import Tensor

InT = list[Floats2d]
OutT = list[Floats2d]

#: What reads the sequence from its beginning, and what from its end.
DIRECTIONS = ("forward", "backward")

# Docs of similar length that are padded to the longest of them, on a CPU. With fewer,
# each time step costs more than it computes; with more, there is more padding.
_BLOCK_SIZE = 64

#: Input, forget, cell and output gate, in the order of PyTorch.
N_GATES = 4


def BiLSTM(
    nO: int,
    nI: int | None = None,
    *,
    depth: int,
    is_crossed: bool,
    dropout: float,
) -> Model[InT, OutT]:
    """Encode context with LSTMs that read from either end.

    Each direction has `depth` cells on top of each other. If they are crossed, each
    cell above the first reads what both directions below have found (§3.5 of the
    paper); if not, what its own direction has found, so that no product is of both
    (§3.2).

    nO (int): The width of the output, an even number: half of it is of each direction.
    nI (int, optional): The width of the input, else that of the first one.
    depth (int): The cells of each direction.
    is_crossed (bool): Whether directions read each other's findings.
    dropout (float): The share of dimensions that are dropped in training, 0 to 1, from
        the input of each cell and from the output, the same ones for all tokens of a
        Doc ("variational").

    Weights of the input are drawn as by Glorot and Bengio (2010), those of the hidden
    state are orthogonal (Saxe et al. 2014), gate by gate. Biases are 0, and 1 for the
    forget gate, so that a cell begins with remembering (Jozefowicz et al. 2015).

    *Input and output:* for each Doc a float32 array of shape `(tokens, nI)` and
    `(tokens, nO)`.

    Source: Li, Fu and Ma, "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in
    the Case of NER" (2020), §3.2 and §3.5. Dropout: Gal and Ghahramani, "A
    Theoretically Grounded Application of Dropout in Recurrent Neural Networks" (2016),
    without that of hidden states, which PyTorch's LSTM has not.
    """
    return Model(
        "crossbilstm" if is_crossed else "bilstm",
        forward,
        init=init,
        dims={"nO": nO, "nI": nI},
        params=dict.fromkeys(name_params(depth)),
        attrs={"depth": depth, "is_crossed": is_crossed, "dropout": dropout},
    )


def forward(
    model: Model[InT, OutT], Xs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    _check(model)
    ops: Any = model.ops
    lengths = [len(X) for X in Xs]
    if not sum(lengths):
        nO, nI = model.get_dim("nO"), model.get_dim("nI")
        empty = [ops.alloc2f(0, nO) for _ in Xs]
        return empty, lambda dYs: [ops.alloc2f(0, nI) for _ in dYs]
    packing = pack(lengths, _BLOCK_SIZE if isinstance(ops, NumpyOps) else None)
    masks = draw_masks(model, len(Xs)) if is_train else None
    compute = partial(encode, Batch(model, packing, masks))
    Y, backprop_torch = run_torch(model, compute, ops.xp.concatenate(Xs), is_train)

    def backprop(dYs: OutT) -> InT:
        dX = backprop_torch(ops.xp.concatenate(dYs))
        return split(dX, lengths)

    return split(Y, lengths), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X:
        model.set_dim("nI", get_width(X[0]))
    for name, (n, m) in find_shapes(model).items():
        is_hidden = name.startswith("U_")
        draw = draw_orthogonal if is_hidden else draw_uniform
        gates = [draw(model.ops, n // N_GATES, m) for _ in range(N_GATES)]
        model.set_param(name, model.ops.xp.concatenate(gates))
        if is_hidden:
            bias = cast(Any, model.ops.alloc1f(n))
            bias[n // N_GATES : n // 2] = 1  # the forget gate's
            model.set_param(name.replace("U_", "b_"), bias)


class Batch:
    """A batch on its way through the cells, packed.

    model (Model): The layer.
    packing (Packing): How the batch is packed.
    masks (list, optional): For the input of each cell of a direction, and for the
        output, what each dimension of each Doc is multiplied by.

    *rows*, *places*, *backwards* and *sequences* are those of the packing, as tensors.
    """

    def __init__(self, model: Model, packing: Packing, masks: list[Any] | None) -> None:
        import torch

        ops: Any = model.ops
        self.hidden = model.get_dim("nO") // 2
        self.depth = model.attrs["depth"]
        self.is_crossed = model.attrs["is_crossed"]
        # PyTorch wants these in main memory
        self.sizes = [torch.from_numpy(sizes) for sizes in packing.batch_sizes]
        self.rows, self.places, self.backwards, self.sequences = (
            to_torch(ops, ops.asarray(index)) for index in packing[:4]
        )
        self._masks = [to_torch(ops, mask) for mask in masks or []]

    def drop(self, X: "Tensor", number: int) -> "Tensor":
        """Drop dimensions of packed rows, at one of the places where that is done."""
        return X * self._masks[number][self.sequences] if self._masks else X


def encode(batch: Batch, params: Mapping[str, "Tensor"], X: "Tensor") -> "Tensor":
    """Let all cells read a batch.

    X (Tensor): All tokens, shape `(n, nI)`.
    RETURNS (Tensor): Shape `(n, nO)`.
    """
    import torch

    H = batch.drop(X.index_select(0, batch.rows), 0)
    past = future = H
    for layer in range(1, batch.depth + 1):
        past = read(batch, params, f"forward_{layer}", past)
        future = future.index_select(0, batch.backwards)
        future = read(batch, params, f"backward_{layer}", future)
        future = future.index_select(0, batch.backwards)
        H = batch.drop(torch.cat([past, future], dim=1), layer)
        if batch.is_crossed:
            past = future = H
        else:
            past, future = H[:, : batch.hidden], H[:, batch.hidden :]
    return H.index_select(0, batch.places)


def read(
    batch: Batch, params: Mapping[str, "Tensor"], cell: str, X: "Tensor"
) -> "Tensor":
    """Let a cell read packed rows, shape `(n, hidden)`."""
    import torch

    W, U, b = (params[f"{name}_{cell}"] for name in "WUb")
    weights = [W, U, b, torch.zeros_like(b)]  # PyTorch has two biases
    read_block = read_packed if X.is_cuda else read_padded
    parts = X.split([int(sizes.sum()) for sizes in batch.sizes])
    found = [
        read_block(part, sizes, weights, X.new_zeros(1, int(sizes[0]), batch.hidden))
        for part, sizes in zip(parts, batch.sizes, strict=True)
    ]
    return torch.cat(found)


def read_packed(
    X: "Tensor", sizes: "Tensor", weights: list["Tensor"], start: "Tensor"
) -> "Tensor":
    """Let a cell read a block: the faster way on a GPU, and the plain one."""
    import torch

    settings = (True, 1, 0.0, X.requires_grad, False)
    return torch.lstm(X, sizes, (start, start), weights, *settings)[0]


def read_padded(
    X: "Tensor", sizes: "Tensor", weights: list["Tensor"], start: "Tensor"
) -> "Tensor":
    """Let a cell read a block: the faster way on a CPU.

    What stands behind the end of a sequence changes nothing before it.
    """
    import torch

    is_token = torch.arange(int(sizes[0])) < sizes[:, None]
    (rows,) = is_token.flatten().nonzero(as_tuple=True)
    padded = X.new_zeros(is_token.numel(), X.shape[1]).index_copy(0, rows, X)
    settings = (True, 1, 0.0, X.requires_grad, False, False)
    padded = padded.unflatten(0, is_token.shape)
    H = torch.lstm(padded, (start, start), weights, *settings)[0]
    return H.flatten(0, 1).index_select(0, rows)


def draw_masks(model: Model, n_docs: int) -> list[Any] | None:
    """Draw what each dimension of each Doc is multiplied by, for each place of dropout.

    RETURNS (list[ndarray], optional): None if nothing is dropped.
    """
    rate = model.attrs["dropout"]
    if not rate:
        return None
    nO, depth = model.get_dim("nO"), model.attrs["depth"]
    widths = [model.get_dim("nI"), *[nO] * depth]
    return [model.ops.get_dropout_mask((n_docs, width), rate) for width in widths]


def draw_uniform(ops: Ops, n: int, m: int) -> Any:
    """Draw weights of the input as Glorot and Bengio (2010), shape `(n, m)`."""
    bound = (6.0 / (n + m)) ** 0.5
    return ops.xp.random.uniform(-bound, bound, (n, m)).astype("float32")


def draw_orthogonal(ops: Ops, n: int, m: int) -> Any:
    """Draw an orthogonal matrix, shape `(n, n)`, all of them being as likely."""
    Q, R = ops.xp.linalg.qr(ops.xp.random.normal(size=(n, m)))
    return (Q * ops.xp.sign(ops.xp.diag(R))).astype("float32")


def name_params(depth: int) -> list[str]:
    """Name the weights of input and hidden state, and the biases, of all cells."""
    return [
        f"{name}_{direction}_{layer}"
        for layer in range(1, depth + 1)
        for direction in DIRECTIONS
        for name in "WUb"
    ]


def find_shapes(model: Model) -> dict[str, tuple[int, int]]:
    """Find the shapes of the weights, without those of the biases."""
    nO, hidden = model.get_dim("nO"), model.get_dim("nO") // 2
    above = nO if model.attrs["is_crossed"] else hidden
    widths = [model.get_dim("nI"), *[above] * (model.attrs["depth"] - 1)]
    return {
        f"{name}_{direction}_{layer}": (N_GATES * hidden, width)
        for layer, below in enumerate(widths, 1)
        for direction in DIRECTIONS
        for name, width in (("W", below), ("U", hidden))
    }


def _check(model: Model) -> None:
    """Check weights and attributes once they arrive.

    RAISES (ValueError): If they can't be the layer's.
    """
    settings = (model.attrs[name] for name in ("depth", "is_crossed", "dropout"))
    check_once(model, _check_weights, *settings, model.get_dim("nI"))


def _check_weights(model: Model) -> None:
    check_number(model, "dropout", 0, 1)
    check_choice(model, "is_crossed", (True, False))
    depth = len(model.param_names) // 6
    check_integer(model, "depth", depth, depth)
    for name, shape in find_shapes(model).items():
        check_param(model, name, shape)
        if name.startswith("U_"):
            check_param(model, name.replace("U_", "b_"), shape[:1])
