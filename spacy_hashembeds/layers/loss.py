"""The loss of layers that assign one of several classes to each token."""

import numpy as np
from numpy.typing import NDArray
from thinc.api import Ops
from thinc.types import Floats2d


def get_cross_entropy(
    ops: Ops, probs: Floats2d, truth: NDArray
) -> tuple[float, Floats2d]:
    """Return the summed cross-entropy of tokens in nats, and the scores' gradient.

    `probs` is the output of a softmax, `(n, classes)`; the gradient, of the same shape,
    is that of its input. Tokens whose class in `truth`, `(n,)`, is negative are
    unknown: they have no loss and a zero gradient.
    """
    xp = ops.xp
    is_known = truth >= 0
    rows, classes = xp.asarray(is_known.nonzero()[0]), xp.asarray(truth[is_known])
    gradient = ops.alloc2f(*probs.shape)
    gradient[rows] = probs[rows]
    gradient[rows, classes] -= 1
    right = xp.maximum(probs[rows, classes], np.finfo("float32").tiny)
    return -float(xp.log(right).sum()), gradient
