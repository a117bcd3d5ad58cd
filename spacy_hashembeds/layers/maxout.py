"""The weights of Thinc's `Maxout(..., normalize=True)`, for fast paths in its place."""

from numpy.typing import NDArray
from thinc.api import Model

from ..kernels.mixing import Norm, pieces_first
from .checks import REMEDY, check_param
from .params import check_once, inc_grad, peek


def check_maxout(maxout: Model, layernorm: Model, *, nI: int) -> None:
    nO = maxout.get_dim("nO")
    if maxout.get_dim("nI") != nI or layernorm.get_dim("nO") != nO:
        raise ValueError(
            f"The layers '{maxout.name}' and '{layernorm.name}' should have {nI} "
            "inputs, and as many outputs as each other, but have "
            f"{maxout.get_dim('nI')} inputs, and {nO} and {layernorm.get_dim('nO')} "
            f"outputs. {REMEDY}"
        )
    check_once(maxout, _check_maxout)
    check_once(layernorm, _check_layernorm)


def _check_maxout(maxout: Model) -> None:
    nO, nP = maxout.get_dim("nO"), maxout.get_dim("nP")
    check_param(maxout, "W", (nO, nP, maxout.get_dim("nI")))
    check_param(maxout, "b", (nO, nP))


def _check_layernorm(layernorm: Model) -> None:
    for name in ("G", "b"):
        check_param(layernorm, name, (layernorm.get_dim("nO"),))


def lay_out(maxout: Model, layernorm: Model) -> tuple[NDArray, Norm]:
    """Copy the weights, which are checked, laid out as kernels want them.

    Maxout's are of shape `(nP * nO, nI)`; its bias goes with the layer normalisation.
    """
    W, b = pieces_first(peek(maxout, "W"), peek(maxout, "b"))
    G, shift = (peek(layernorm, name).copy() for name in ("G", "b"))
    return W, Norm(b, G, shift)


def inc_maxout_grads(
    maxout: Model, layernorm: Model, dW: NDArray, d_norm: Norm
) -> None:
    """Add to the gradients what is laid out as by `lay_out`."""
    nO, nP = maxout.get_dim("nO"), maxout.get_dim("nP")
    inc_grad(maxout, "W", dW.reshape(nP, nO, -1).transpose(1, 0, 2))
    inc_grad(maxout, "b", d_norm.bias.reshape(nP, nO).T)
    inc_grad(layernorm, "G", d_norm.scale)
    inc_grad(layernorm, "b", d_norm.shift)
