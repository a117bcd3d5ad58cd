"""Loss of token classifiers."""

import numpy as np
from numpy.typing import NDArray
from thinc.api import Ops
from thinc.types import Floats2d


def get_cross_entropy(
    ops: Ops, probs: Floats2d, truth: NDArray
) -> tuple[float, Floats2d]:
    """Return the summed cross-entropy in nats, and the gradient of the softmax input.

    `probs` and the gradient are of shape `(n, classes)`. Tokens with a negative class
    in `truth`, `(n,)`, are ignored: their loss and gradient are 0.
    """
    xp = ops.xp
    is_known = truth >= 0
    rows, classes = xp.asarray(is_known.nonzero()[0]), xp.asarray(truth[is_known])
    gradient = ops.alloc2f(*probs.shape)
    gradient[rows] = probs[rows]
    gradient[rows, classes] -= 1
    right = xp.maximum(probs[rows, classes], np.finfo("float32").tiny)
    return -float(xp.log(right).sum()), gradient
