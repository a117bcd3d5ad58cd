"""Faster equivalents of Thinc's optimizers."""

from typing import Any

import numpy as np
from thinc.api import NumpyOps, Optimizer

from ..kernels import compiled
from ..thinc_internals import ADAM_DEFAULTS, FloatOrSeq, KeyT

_DEFAULTS: Any = ADAM_DEFAULTS  # typed as a union of all defaults


class OnePassAdam(Optimizer):
    """Thinc's Adam in one pass over each parameter on the CPU instead of a dozen.

    Bitwise equal if Thinc was compiled to round each intermediate result, as in its
    x86-64 wheels.
    """

    __slots__ = ()

    def __call__(
        self, key: KeyT, weights: Any, gradient: Any, *, lr_scale: float = 1.0
    ) -> tuple[Any, Any]:
        """Update weights: see `thinc.api.Optimizer`."""
        if not self._is_covered(key, weights, gradient, lr_scale):
            return super().__call__(key, weights, gradient, lr_scale=lr_scale)
        self.nr_update[key] += 1
        n, learn_rate = self.nr_update[key], self.learn_rate
        for kept in (self.mom1, self.mom2):
            if key not in kept:
                kept[key] = NumpyOps().alloc1f(weights.size)
        averages = None
        if self.averages is not None:
            if key not in self.averages:
                self.averages[key] = NumpyOps().alloc(weights.shape, dtype="float32")
            averages = self.averages[key].reshape((-1,))
        # as in Thinc's `_adam`, `Ops.update_averages` and `Ops.clip_gradient`
        corrected = learn_rate * (1.0 - self.b2**n) ** 0.5 / (1.0 - self.b1**n)
        norm = np.linalg.norm(gradient) if self.grad_clip else 0.0
        is_clipped = self.grad_clip and norm >= self.grad_clip
        rates = {
            "beta1": self.b1,
            "beta2": self.b2,
            "eps": self.eps,
            "learn_rate": corrected * lr_scale,
            "clip": self.grad_clip / norm if is_clipped else 1.0,
            "decay": lr_scale * learn_rate * self.L2,
            "average": 1 - min((1.0 + n) / (10.0 + n), 0.9999),
        }
        moments = (self.mom1[key], self.mom2[key])
        compiled.kernels.step_adam(
            weights.reshape(-1), gradient.reshape(-1), *moments, averages, rates
        )
        return weights[...], gradient  # a new view, as in Thinc

    def _is_covered(
        self, key: KeyT, weights: Any, gradient: Any, lr_scale: float
    ) -> bool:
        """True if the kernel supports these arguments, with the same results."""
        if compiled.kernels is None or self.use_radam or min(self.b1, self.b2) <= 0:
            return False
        if self.L2 != 0 and not self.L2_is_weight_decay:
            return False
        rates = [self.learn_rate, self.b1, self.b2, self.eps, self.L2, self.grad_clip]
        kept = (self.mom1, self.mom2, self.averages or {})
        arrays = [weights, gradient, *(state[key] for state in kept if key in state)]
        # numpy scalars round differently
        return all(type(rate) in (float, int) for rate in [*rates, lr_scale]) and all(
            type(array) is np.ndarray
            and array.dtype.char == "f"
            and array.size == weights.size > 0
            and array.flags.carray
            for array in arrays
        )


def Adam(
    learn_rate: FloatOrSeq = _DEFAULTS["learn_rate"],
    *,
    L2: FloatOrSeq = _DEFAULTS["L2"],
    beta1: FloatOrSeq = _DEFAULTS["beta1"],
    beta2: FloatOrSeq = _DEFAULTS["beta2"],
    eps: FloatOrSeq = _DEFAULTS["eps"],
    grad_clip: FloatOrSeq = _DEFAULTS["grad_clip"],
    L2_is_weight_decay: bool = _DEFAULTS["L2_is_weight_decay"],
    use_averages: bool = True,
) -> Optimizer:
    """Optimize by Adam: Thinc's `Adam.v1`, with the same arguments and numbers.

    With compiled kernels, faster on the CPU.

    learn_rate, L2, beta1, beta2, eps, grad_clip (FloatOrSeq): Numbers or schedules.
        `grad_clip` is the maximum gradient norm per parameter; 0 disables clipping.
    L2_is_weight_decay (bool): Decay weights, as in AdamW. If False, `L2` times the
        weights is added to the gradient, without the kernel.
    use_averages (bool): Average weights over steps. spaCy evaluates and saves averages.

    Source: Diederik P. Kingma and Jimmy Ba (2015), "Adam: A Method for Stochastic
    Optimization"; Ilya Loshchilov and Frank Hutter (2019), "Decoupled Weight Decay
    Regularization".
    """
    return OnePassAdam(
        learn_rate,
        L2=L2,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        grad_clip=grad_clip,
        L2_is_weight_decay=L2_is_weight_decay,
        use_averages=use_averages,
    )
