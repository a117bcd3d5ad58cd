from collections.abc import Callable, Sequence
from typing import Any, cast

from thinc.api import Model
from thinc.types import Floats2d

from ..kernels.characters import N_CAPITALISATIONS, find_capitalisations

InT = Sequence[str]
OutT = Floats2d


def capitalisation() -> Model[InT, OutT]:
    """Say whether words are upper case, upper-initial, lower case, or mixed.

    By their cased letters alone, see `find_capitalisations`. A word without any, such
    as "12", "!" or one of a script that has no cases, is zeros.

    *Input:* `n` words. *Output shape:* `(n, 4)`, float32, one-hot.

    Source: Li, Fu and Ma (2020), §3.1, after Collobert et al. (2011).
    """
    return Model("capitalisation", forward, dims={"nO": N_CAPITALISATIONS})


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    Y = model.ops.asarray2f(cast(Any, find_capitalisations(words)))
    return Y, lambda dY: []
