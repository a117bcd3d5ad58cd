"""Optimizers that give the numbers of Thinc's, faster."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import NumpyOps
from thinc.optimizers import (
    ADAM_DEFAULTS,
    FloatOrSeq,
    KeyT,
    Optimizer,
)
from thinc.types import FloatsXd

from .kernels import compiled

_DEFAULTS: Any = ADAM_DEFAULTS  # whose types are of all of them together

#: What `Ops.update_averages` lets an average keep of itself, at most.
_MOST_KEPT = 0.9999


class OnePassAdam(Optimizer):
    """Thinc's optimizer, whose Adam goes over each parameter on the CPU once.

    Thinc goes over it a dozen times: to clip the gradient, for Adam itself, for the
    decay of weights, and for the averages. The numbers are the same, bit for bit, where
    Thinc was compiled to round each of them, as its wheels for x86-64 are. Where
    settings or arrays are others than those of the compiled kernel, or where there is
    none, it is Thinc's that runs.
    """

    __slots__ = ()

    def __call__(
        self,
        key: KeyT,
        weights: FloatsXd,
        gradient: FloatsXd,
        *,
        lr_scale: float = 1.0,
    ) -> tuple[FloatsXd, FloatsXd]:
        """Change weights by a gradient, as `thinc.api.Optimizer`."""
        w: Any = weights
        dw: Any = gradient
        if not self._is_covered(key, w, dw, lr_scale):
            return super().__call__(key, weights, gradient, lr_scale=lr_scale)
        self.nr_update[key] += 1
        clip = self._clip(dw)
        for moments in (self.mom1, self.mom2):
            if key not in moments:
                moments[key] = NumpyOps().alloc1f(w.size)
        averages: Any = None
        if self.averages is not None:
            if key not in self.averages:
                self.averages[key] = NumpyOps().alloc(w.shape, dtype="float32")
            averages = self.averages[key]
        compiled.kernels.step_adam(
            _flatten(w),
            _flatten(dw),
            self.mom1[key],
            self.mom2[key],
            None if averages is None else _flatten(averages),
            {**self._get_rates(key, lr_scale), "clip": clip},
        )
        return w[...], gradient  # another view, as Thinc gives one

    def _is_covered(
        self, key: KeyT, weights: Any, gradient: Any, lr_scale: float
    ) -> bool:
        """Tell whether the kernel does what Thinc would do."""
        if compiled.kernels is None or self.use_radam or not self.b1 > 0 < self.b2:
            return False
        if self.L2 != 0 and not self.L2_is_weight_decay:
            return False
        # numpy's own kinds of numbers are rounded otherwise
        rates = [self.learn_rate, self.b1, self.b2, self.eps, self.L2, self.grad_clip]
        rates.append(lr_scale)
        if any(type(rate) not in (float, int) for rate in rates):
            return False
        averages = {} if self.averages is None else self.averages
        arrays = [weights, gradient]
        arrays += [
            kept[key] for kept in (self.mom1, self.mom2, averages) if key in kept
        ]
        return weights.size > 0 and all(
            _is_plain(array, weights.size) for array in arrays
        )

    def _clip(self, gradient: NDArray) -> float:
        """Say what the gradient is to be multiplied with: see `Ops.clip_gradient`."""
        threshold: Any = self.grad_clip
        if not threshold:
            return 1.0
        norm = np.linalg.norm(gradient)
        return float(threshold / norm) if norm >= threshold else 1.0

    def _get_rates(self, key: KeyT, lr_scale: float) -> dict[str, float]:
        """Compute what Thinc computes in `_adam`, `__call__` and `update_averages`."""
        n: Any = self.nr_update[key]
        b1, b2, learn_rate, L2 = map(
            float, (self.b1, self.b2, self.learn_rate, self.L2)
        )
        fixed = learn_rate * (1.0 - b2**n) ** 0.5 / (1.0 - b1**n)
        kept = min((1.0 + n) / (10.0 + n), _MOST_KEPT)
        return {
            "beta1": b1,
            "beta2": b2,
            "eps": float(self.eps),
            "learn_rate": fixed * lr_scale,
            "decay": lr_scale * learn_rate * L2,
            "average": 1 - kept,
        }


def _is_plain(array: Any, size: int) -> bool:
    """Tell whether an array is one of numpy's that the kernel takes."""
    is_numpys = type(array) is np.ndarray and array.dtype.char == "f"
    return is_numpys and array.size == size and array.flags.carray


def _flatten(array: NDArray) -> NDArray:
    return array.reshape(-1)


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

    Where there are compiled kernels, it goes over each parameter on the CPU once, and
    takes about a third of the time.

    learn_rate (FloatOrSeq): The learning rate, or a schedule of it.
    L2 (FloatOrSeq): The L2 regularisation, or the decay of weights.
    beta1 (FloatOrSeq): How much of the mean of gradients stays at each step.
    beta2 (FloatOrSeq): How much of the mean of their squares stays.
    eps (FloatOrSeq): Added to the root of the latter.
    grad_clip (FloatOrSeq): The largest norm of a parameter's gradient; 0 for any.
    L2_is_weight_decay (bool): Whether weights decay, as in AdamW, or the gradient has
        the weights added. The second runs in Thinc.
    use_averages (bool): Whether to average weights over steps, as spaCy evaluates and
        saves them.

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
