"""Layers with parameters of Thinc's and arithmetic of PyTorch's (extra: torch).

Thinc's wrapper hides the parameters in a module of PyTorch's: there an optimizer's
averages are lost, and weights are saved as a pickle. Here they are arrays like any
others: PyTorch reads them where they lie, computes, and gives gradients back.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from thinc.api import Model, Ops
from thinc.types import Floats2d, FloatsXd

from ..systems import at_fork

if TYPE_CHECKING:
    import torch

    Compute = Callable[[Mapping[str, torch.Tensor], torch.Tensor], torch.Tensor]


def require_torch(name: str) -> None:
    """Import PyTorch for what has this name, or say what to install (ImportError)."""
    if find_spec("torch") is None:
        raise ImportError(
            f"'{name}' needs PyTorch: pip install 'spacy-hashembeds[torch]'."
        )
    _import_torch()


def run_torch(
    model: Model, compute: "Compute", X: FloatsXd, is_train: bool
) -> tuple[FloatsXd, Callable[[FloatsXd], FloatsXd]]:
    """Compute the output of a layer, and where it is trained what leads back.

    `compute` makes it of the layer's parameters, by name, and the input, which it may
    not change.
    """
    torch = _import_torch()
    ops = model.ops
    tensors = {name: to_torch(ops, model.get_param(name)) for name in model.param_names}
    inputs = to_torch(ops, X)
    for tensor in (inputs, *tensors.values()):
        tensor.requires_grad_(is_train)
    with torch.set_grad_enabled(is_train):
        outputs = compute(tensors, inputs)

    def backprop(dY: FloatsXd) -> FloatsXd:
        # may be called again, as that of any layer: listeners of a frozen tok2vec do so
        dX, *grads = torch.autograd.grad(
            outputs, [inputs, *tensors.values()], to_torch(ops, dY), retain_graph=True
        )
        for name, grad in zip(tensors, grads, strict=True):
            model.inc_grad(name, to_array(ops, grad))
        return to_array(ops, dX)

    return to_array(ops, outputs), backprop


@cache
def _import_torch() -> Any:
    """Import PyTorch, such that processes forked later can compute with it.

    Its threads don't live on in those, which would wait for them without end. With one
    thread they need none, as the workers of PyTorch's own loader.
    """
    import torch

    at_fork(after_in_child=partial(torch.set_num_threads, 1))
    return torch


def run_empty(
    model: Model, Xs: list[Floats2d]
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Floats2d]]]:
    """Give the output of a layer for Docs without tokens, and what leads back."""
    ops, nO, nI = model.ops, model.get_dim("nO"), model.get_dim("nI")
    empty = [ops.alloc2f(0, nO) for _ in Xs]
    return empty, lambda dYs: [ops.alloc2f(0, nI) for _ in dYs]


def to_torch(ops: Ops, array: Any) -> "torch.Tensor":
    """Show an array to PyTorch, without a copy where that can be."""
    import torch

    if isinstance(array, np.ndarray):
        # PyTorch warns of arrays that it may not write to, such as those from bytes
        return torch.from_numpy(np.require(array, requirements=["C", "W"]))
    return torch.from_dlpack(ops.xp.ascontiguousarray(array))


def to_array(ops: Ops, tensor: "torch.Tensor") -> Any:
    """Show a tensor as an array of these operations, without a copy."""
    tensor = tensor.detach()
    if tensor.device.type == "cpu":
        return tensor.numpy()
    return ops.xp.from_dlpack(tensor)
