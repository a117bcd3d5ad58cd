"""What a step of an optimizer takes over all parameters of a component."""

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
from spacy.language import Language
from thinc.api import Optimizer

from ._timing import Schedule, time_on_host

#: The gradient of a first step, and how many steps without any come after it. From the
#: second, Adam's running means are denormal: smaller than floats usually are.
_STARTS = {"normal": (1e-3, 2), "denormal": (1e-36, 100)}


def time_optimizer(
    nlp: Language, component: str, schedule: Schedule
) -> dict[str, float]:
    """Time a step of a pipeline's optimizer without new gradients, in milliseconds.

    Parameters that had none for some 700 steps, as those of rare n-grams have in long
    training, have means so small that processors are slow with them. It does not take
    as many steps to get there: a gradient may begin small.

    component (str): The component whose parameters are optimized: copies of them.
    RETURNS (dict[str, float]): Medians, with "normal" and with "denormal" means.
    """
    model = nlp.get_pipe(component).model  # type: ignore[attr-defined]
    weights = [
        np.array(node.get_param(name))
        for node in model.walk()
        for name in node.param_names
    ]
    return {
        kind: _time_step(nlp.create_optimizer(), weights, gradient, steps, schedule)
        for kind, (gradient, steps) in _STARTS.items()
    }


def _time_step(
    optimizer: Optimizer,
    weights: Sequence[Any],
    gradient: float,
    steps: int,
    schedule: Schedule,
) -> float:
    gradients: list[Any] = [np.full_like(W, gradient) for W in weights]

    def step() -> None:
        for number, (W, dW) in enumerate(zip(weights, gradients, strict=True)):
            optimizer((number, "W"), W, dW)  # which leaves zeros

    for _ in range(1 + steps):
        step()
    times = schedule.blocks * schedule.rounds
    return 1e3 * median(time_on_host(step) for _ in range(times))
