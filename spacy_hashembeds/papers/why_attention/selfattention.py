from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from thinc.api import Model, get_width, uniform_init
from thinc.types import Floats2d

from ...layers.checks import check_attr, check_integer, check_once, check_params
from ...layers.torchlayer import Group, Params, run_sequences

if TYPE_CHECKING:
    from torch import Tensor

InT = list[Floats2d]
OutT = list[Floats2d]

#: Projections.
NAMES = ("query", "key", "value")


def SelfAttention(
    nO: int | None = None, nI: int | None = None, *, num_heads: int
) -> Model[InT, OutT]:
    """Append the output of multi-head attention over its Doc to each token's vector.

    Without biases, output projection, residual connection and normalization, as in the
    paper. *Output:* for each Doc `(tokens, 2 * nI)`, float32.

    Source: Li, Fu and Ma, "Why Attention?" (2020), §3.6.
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
    read = partial(attend, model.attrs["num_heads"])
    return run_sequences(model, Xs, is_train, read)


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X:
        model.set_dim("nI", get_width(X[0]))
    nI = model.get_dim("nI")
    model.set_dim("nO", 2 * nI)
    # Glorot and Bengio (2010), per head
    bound = (6.0 / (nI + nI // model.attrs["num_heads"])) ** 0.5
    for name in NAMES:
        W = uniform_init(model.ops, (nI, nI), lo=-bound, hi=bound)
        model.set_param(name, W)


def attend(num_heads: int, params: Params, H: "Tensor", group: Group) -> "Tensor":
    """Append the output of all heads to padded vectors, `(m, longest, nI)`."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    # shape of each: (m, num_heads, longest, nI / num_heads)
    Q, K, V = (
        (H @ params[name]).unflatten(2, (num_heads, -1)).transpose(1, 2)
        for name in NAMES
    )
    is_token = group.is_token[:, None, None]  # for all heads and queries
    C = scaled_dot_product_attention(Q, K, V, attn_mask=is_token)
    return torch.cat([H, C.transpose(1, 2).flatten(2)], dim=2)


def _check_weights(model: Model) -> None:
    nI = model.get_dim("nI")
    check_integer(model, "num_heads", 1, nI)
    is_right = nI % model.attrs["num_heads"] == 0
    check_attr(model, "num_heads", is_right, f"a divisor of its width, {nI}")
    check_params(model, dict.fromkeys(NAMES, (nI, nI)))
