"""Sequence layers with Thinc's parameters and PyTorch's arithmetic. Extra: torch.

Thinc's PyTorch wrapper hides parameters in a module, so that optimizers do not average
them, and saves them as a pickle. Here parameters are arrays of a Thinc layer, which
PyTorch reads without a copy.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, NumpyOps, Ops
from thinc.types import Floats2d

from ..kernels.rows import split
from ..threads import at_fork

if TYPE_CHECKING:
    from torch import Tensor

InT = list[Floats2d]
OutT = list[Floats2d]

Params = Mapping[str, "Tensor"]

#: Maximum number of rows per group, unless a single span has more. A GPU needs more
#: rows to be fully used.
MAX_GROUP_ROWS = 2**12
MAX_GROUP_ROWS_ON_GPU = 2**15

#: Maximum share of padding in a group of spans.
MAX_PADDING = 1 / 8


class Spans(NamedTuple):
    """Spans of tokens, which may overlap. Each output is taken from one span.

    `starts` are offsets into the concatenated sequences. Output is kept for tokens
    `kept_from` to `kept_to` (exclusive) of a span. *Shapes:* `(n,)`.
    """

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    kept_from: NDArray[np.int64]
    kept_to: NDArray[np.int64]


class Group:
    """Spans of similar length, padded to the longest with copies of their last token.

    numbers, lengths (NDArray): Indices and lengths of spans. *Shape:* `(m,)`.
    is_token (Tensor): True for tokens, False for padding. *Shape:* `(m, longest)`.
    """

    def __init__(self, ops: Any, numbers: NDArray, spans: Spans) -> None:
        starts, lengths, kept_from, kept_to = (c[numbers][:, None] for c in spans)
        steps = np.arange(lengths.max())
        rows = starts + np.minimum(steps, lengths - 1)
        is_kept = (steps >= kept_from) & (steps < kept_to)
        self.numbers, self.lengths = numbers, lengths[:, 0]
        self.is_padded = bool((lengths < len(steps)).any())
        self.is_token = to_torch(ops, ops.asarray(steps < lengths))
        self.rows = to_torch(ops, ops.asarray(rows))
        self.kept = to_torch(ops, ops.asarray(np.flatnonzero(is_kept)))
        self.tokens: NDArray[np.int64] = rows[is_kept]


def require_torch(name: str) -> None:
    """Import PyTorch, or raise an ImportError that names the extra to install."""
    if find_spec("torch") is None:
        raise ImportError(
            f"'{name}' needs PyTorch: pip install 'spacy-hashembeds[torch]'."
        )
    _import_torch()


@cache
def _import_torch() -> Any:
    """Import PyTorch. Forked processes lack its threads, and are limited to one."""
    import torch

    at_fork(after_in_child=partial(torch.set_num_threads, 1))
    return torch


def run_sequences(
    model: Model[InT, OutT],
    Xs: InT,
    is_train: bool,
    read: Callable[[Params, "Tensor", Group], "Tensor"],
    *,
    spans: Spans | None = None,
    min_rows: int = 128,
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Compute the output of a layer for sequences, in padded groups of similar length.

    read (Callable): Computes the output for a group, `(m, longest, nO)`, from the
        layer's parameters and the padded input, `(m, longest, nI)`.
    spans (Spans, optional): The spans to read. Default: whole sequences.
    min_rows (int): See `group_by_length`.
    """
    torch, ops = _import_torch(), cast(Any, model.ops)
    xp, lengths = ops.xp, [len(X) for X in Xs]
    if not any(lengths):
        Ys = [ops.alloc2f(0, model.get_dim("nO")) for _ in Xs]
        return Ys, lambda _: [ops.alloc2f(0, model.get_dim("nI")) for _ in Xs]
    if spans is None:
        sizes = np.array(lengths)
        spans = Spans(sizes.cumsum() - sizes, sizes, 0 * sizes, sizes)
        spans = Spans(*(column[sizes > 0] for column in spans))
    max_rows = MAX_GROUP_ROWS if isinstance(ops, NumpyOps) else MAX_GROUP_ROWS_ON_GPU
    groups = [
        Group(ops, numbers, spans)
        for numbers in group_by_length(spans.lengths, max_rows, min_rows)
    ]
    order = np.argsort(np.concatenate([group.tokens for group in groups]))
    inputs = to_torch(ops, xp.concatenate(Xs))
    params = {name: to_torch(ops, model.get_param(name)) for name in model.param_names}
    for tensor in (inputs, *params.values()):
        tensor.requires_grad_(is_train)
    with torch.set_grad_enabled(is_train):
        found = [
            read(params, inputs[group.rows], group).flatten(0, 1)[group.kept]
            for group in groups
        ]
        outputs = torch.cat(found)[to_torch(ops, ops.asarray(order))]

    def backprop(dYs: OutT) -> InT:
        dY = to_torch(ops, xp.concatenate(dYs))
        # retained, as listeners of a frozen tok2vec call this repeatedly
        dX, *grads = torch.autograd.grad(
            outputs, [inputs, *params.values()], dY, retain_graph=True
        )
        for name, grad in zip(params, grads, strict=True):
            model.inc_grad(name, to_array(ops, grad))
        return split(to_array(ops, dX), lengths)

    return split(to_array(ops, outputs), lengths), backprop


def group_by_length(
    lengths: Sequence[int] | NDArray, max_rows: int, min_rows: int
) -> list[NDArray[np.int64]]:
    """Group spans of similar length for padding. Return their indices, longest first.

    A group has at most `max_rows` rows with its padding, unless a single span has more.
    Its share of padding is at most `MAX_PADDING`, unless it has less than
    `min_rows`, for which overhead outweighs computation.
    """
    sizes = np.asarray(lengths, dtype="int64")
    order = np.argsort(-sizes, kind="stable")
    cuts, start, n_padding = [], 0, 0
    for i, number in enumerate(order.tolist()):
        longest = int(sizes[order[start]])
        n_rows = (i + 1 - start) * longest
        n_padding += longest - int(sizes[number])
        is_wasteful = n_padding > MAX_PADDING * n_rows
        is_large = n_rows - longest >= min_rows
        if i > start and (n_rows > max_rows or (is_wasteful and is_large)):
            cuts.append(i)
            start, n_padding = i, 0
    return np.split(order, cuts) if len(order) else []


def to_torch(ops: Ops, array: Any) -> "Tensor":
    """View an array as a tensor, without a copy if possible."""
    torch = _import_torch()
    if isinstance(array, np.ndarray):
        # PyTorch warns about read-only arrays, such as arrays from bytes
        return torch.from_numpy(np.require(array, requirements=["C", "W"]))
    return torch.from_dlpack(ops.xp.ascontiguousarray(array))


def to_array(ops: Ops, tensor: "Tensor") -> Any:
    """View a tensor as an array of these ops, without a copy."""
    tensor = tensor.detach()
    if tensor.device.type == "cpu":
        return tensor.numpy()
    return ops.xp.from_dlpack(tensor)
