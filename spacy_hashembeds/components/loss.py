"""The loss of tags."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from thinc.api import Ops
from thinc.types import Floats2d

from .tags import MISSING


def get_cross_entropy(
    ops: Ops, probs: Floats2d, truth: NDArray
) -> tuple[float, Floats2d]:
    """Sum up the cross-entropy of tokens, and find its gradient.

    ops (Ops): Those of the device that the probabilities are on.
    probs (Floats2d): What a softmax gives. *Shape:* `(n, 4P + 1)`.
    truth (NDArray): The numbers of the tags, `MISSING` where nothing is known: there,
        the gradient is zero. *Shape:* `(n,)`.
    RETURNS (tuple[float, Floats2d]): The sum in nats, and the gradient with respect to
        the scores before the softmax. *Shape:* `(n, 4P + 1)`.
    """
    xp: Any = ops.xp
    is_known = truth != MISSING
    rows, tags = xp.asarray(is_known.nonzero()[0]), xp.asarray(truth[is_known])
    gradient: Any = ops.alloc2f(*probs.shape)
    gradient[rows] = probs[rows]
    gradient[rows, tags] -= 1
    right = xp.maximum(probs[rows, tags], np.finfo("float32").tiny)
    return -float(xp.log(right).sum()), gradient
