"""Optimizers that compute the same as Thinc's, faster."""

from typing import Any

import numpy as np
from thinc.api import NumpyOps, Optimizer

from ..kernels import compiled
from ..thinc_internals import ADAM_DEFAULTS, FloatOrSeq, KeyT

_DEFAULTS: Any = ADAM_DEFAULTS  # whose types are of all of them together


class OnePassAdam(Optimizer):
    """Thinc's optimizer with an Adam that reads each parameter on the CPU once, not a
    dozen times. Results are equal bit for bit if Thinc was compiled to round each
    intermediate result, as in its wheels for x86-64.
    """

    __slots__ = ()

    def __call__(
        self, key: KeyT, weights: Any, gradient: Any, *, lr_scale: float = 1.0
    ) -> tuple[Any, Any]:
        """Update weights by a gradient, as `thinc.api.Optimizer`."""
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
        # see `_adam`, `__call__`, `Ops.update_averages` and `Ops.clip_gradient`
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
        """Return True if the kernel computes the same as Thinc for these arguments."""
        if compiled.kernels is None or self.use_radam or min(self.b1, self.b2) <= 0:
            return False
        if self.L2 != 0 and not self.L2_is_weight_decay:
            return False
        rates = [self.learn_rate, self.b1, self.b2, self.eps, self.L2, self.grad_clip]
        kept = (self.mom1, self.mom2, self.averages or {})
        arrays = [weights, gradient, *(of[key] for of in kept if key in of)]
        # numpy's scalar types are rounded differently
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
    """Optimise by Adam: Thinc's `Adam.v1`, with the same arguments and numbers.

    With compiled kernels, it reads each parameter on the CPU once, and takes about a
    third of the time.

    learn_rate, L2, beta1, beta2, eps, grad_clip (FloatOrSeq): Numbers or schedules. The
        gradient of each parameter is clipped to the norm `grad_clip`, unless it is 0.
    L2_is_weight_decay (bool): Whether to decay weights, as in AdamW, or to add `L2`
        times the weights to the gradient, which is computed by Thinc.
    use_averages (bool): Whether to average weights over steps. spaCy evaluates and
        saves the averages.

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
