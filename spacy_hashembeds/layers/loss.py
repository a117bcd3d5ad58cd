"""The loss of what gives each token one of several classes."""

import numpy as np
from numpy.typing import NDArray
from thinc.api import Ops
from thinc.types import Floats2d


def get_cross_entropy(
    ops: Ops, probs: Floats2d, truth: NDArray
) -> tuple[float, Floats2d]:
    """Sum up the cross-entropy of tokens in nats; find the gradient of their scores.

    Of a softmax's `probs`, `(n, classes)`, as the gradient. Where `truth`, `(n,)`, is
    below 0 nothing is known, and the gradient is zero.
    """
    xp = ops.xp
    is_known = truth >= 0
    rows, classes = xp.asarray(is_known.nonzero()[0]), xp.asarray(truth[is_known])
    gradient = ops.alloc2f(*probs.shape)
    gradient[rows] = probs[rows]
    gradient[rows, classes] -= 1
    right = xp.maximum(probs[rows, classes], np.finfo("float32").tiny)
    return -float(xp.log(right).sum()), gradient
