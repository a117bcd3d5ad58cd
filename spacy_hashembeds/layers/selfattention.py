from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model, get_width, uniform_init
from thinc.types import Floats2d, Floats3d

from ..kernels.packing import cut, split
from .checks import check_attr, check_integer, check_params
from .params import check_once
from .torchlayer import run_empty, run_torch, to_torch

if TYPE_CHECKING:
    from torch import Tensor

InT = list[Floats2d]
OutT = list[Floats2d]

#: What a token asks for, what it answers to, and what it then says.
NAMES = ("query", "key", "value")

#: How many attention weights are held at once, unless a single Doc has more.
_MAX_WEIGHTS = 2**22


def SelfAttention(
    nO: int | None = None, nI: int | None = None, *, num_heads: int
) -> Model[InT, OutT]:
    """Put beside each token's vector what it finds in all tokens of its Doc.

    Each head compares the tokens by scaled dot products, and takes a weighted mean of
    what they say, `nI / num_heads` numbers, which follow the vector itself. There are
    no biases, no projection of the output, no residual connection and no normalisation,
    as in the paper, which has 5 heads.

    *Input and output:* for each Doc a float32 array of shape `(tokens, nI)` and
        `(tokens, 2 * nI)`.

    Source: Li, Fu and Ma, "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in
    the Case of NER" (2020), §3.6.
    """
    return Model(
        "selfattention",
        forward,
        init=init,
        dims={"nO": nO, "nI": nI},
        params=dict.fromkeys(NAMES),
        attrs={"num_heads": num_heads},
    )


def forward(
    model: Model[InT, OutT], Xs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_once(model, _check_weights)
    xp, lengths = model.ops.xp, [len(X) for X in Xs]
    nI = model.get_dim("nI")
    if not sum(lengths):
        return run_empty(model, Xs)
    compute = partial(attend, model, list(group_docs(model, lengths)))
    X = xp.concatenate(Xs)
    C, backprop_torch = run_torch(model, compute, X, is_train)

    def backprop(dYs: OutT) -> InT:
        dY = xp.concatenate(dYs)
        return split(dY[:, :nI] + backprop_torch(dY[:, nI:]), lengths)

    return split(xp.hstack([X, C]), lengths), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X:
        model.set_dim("nI", get_width(X[0]))
    nI = model.get_dim("nI")
    model.set_dim("nO", 2 * nI)
    # Glorot and Bengio (2010), for each head
    bound = (6.0 / (nI + nI // model.attrs["num_heads"])) ** 0.5
    for name in NAMES:
        W = uniform_init(model.ops, (nI, nI), lo=-bound, hi=bound)
        model.set_param(name, W)


class Block:
    """Docs of similar length, padded to the longest.

    Says where there is a token, and its row among all tokens, 0 where there is none.
    *Shape:* `(n_docs, longest)`.
    """

    def __init__(self, model: Model, starts: NDArray, lengths: NDArray) -> None:
        ops: Any = model.ops
        steps = np.arange(lengths.max())
        rows = to_torch(ops, ops.asarray(starts[:, None] + steps))
        ends = to_torch(ops, ops.asarray(starts + lengths))
        self.is_token = rows < ends[:, None]
        self.rows = rows * self.is_token


def group_docs(model: Model, lengths: list[int]) -> Iterator[Block]:
    """Group Docs by length, so that little is padded and memory is bounded."""
    sizes = np.asarray(lengths)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    for part in np.split(order, cut(sizes[order].tolist())):
        while len(part):
            weights = model.attrs["num_heads"] * int(sizes[part[0]]) ** 2
            n = max(1, _MAX_WEIGHTS // weights)
            yield Block(model, starts[part[:n]], sizes[part[:n]])
            part = part[n:]


def attend(
    model: Model, blocks: list[Block], params: Mapping[str, "Tensor"], H: "Tensor"
) -> "Tensor":
    """Find what each head of each token finds, shape `(n, nI)`."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    projected = [H @ params[name] for name in NAMES]
    places, found = [], []
    for block in blocks:
        # each (n_docs, num_heads, longest, width)
        Q, K, V = (
            P[block.rows].unflatten(2, (model.attrs["num_heads"], -1)).transpose(1, 2)
            for P in projected
        )
        is_token = block.is_token[:, None, None]  # for all heads, for all queries
        C = scaled_dot_product_attention(Q, K, V, attn_mask=is_token)
        found.append(C.transpose(1, 2).flatten(2)[block.is_token])
        places.append(block.rows[block.is_token])
    return torch.cat(found)[torch.cat(places).argsort()]


def find_weights(model: Model[InT, OutT], X: Floats2d) -> Floats3d:
    """Find how much each head of each token of a Doc takes of each token.

    *Shape:* `(tokens, nI)` to `(num_heads, tokens, tokens)`; the last sums up to 1.
    """
    check_once(model, _check_weights)
    ops, n = model.ops, model.attrs["num_heads"]
    width = model.get_dim("nI") // n
    queries, keys = (
        (X @ model.get_param(name)).reshape(len(X), n, width).transpose(1, 0, 2)
        for name in NAMES[:2]
    )
    scores = queries @ keys.transpose(0, 2, 1) / width**0.5
    return ops.softmax(scores) if len(X) else scores


def _check_weights(model: Model) -> None:
    nI = model.get_dim("nI")
    check_integer(model, "num_heads", 1, nI)
    is_right = nI % model.attrs["num_heads"] == 0
    check_attr(model, "num_heads", is_right, f"a divisor of its width, {nI}")
    check_params(model, dict.fromkeys(NAMES, (nI, nI)))
