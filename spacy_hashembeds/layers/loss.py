"""The loss of what gives each token one of several classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Ops
from thinc.types import Floats2d


def get_cross_entropy(
    ops: Ops, probs: Floats2d, truth: NDArray
) -> tuple[float, Floats2d]:
    """Sum up the cross-entropy of tokens in nats; find the gradient of their scores.

    probs (Floats2d): What a softmax gives. *Shape:* `(n, classes)`, as the gradient's.
    truth (NDArray): The numbers of the classes, below 0 where nothing is known: there,
        the gradient is zero. *Shape:* `(n,)`.
    """
    xp: Any = ops.xp
    is_known = truth >= 0
    rows, classes = xp.asarray(is_known.nonzero()[0]), xp.asarray(truth[is_known])
    gradient: Any = ops.alloc2f(*probs.shape)
    gradient[rows] = probs[rows]
    gradient[rows, classes] -= 1
    right = xp.maximum(probs[rows, classes], np.finfo("float32").tiny)
    return -float(xp.log(right).sum()), gradient
