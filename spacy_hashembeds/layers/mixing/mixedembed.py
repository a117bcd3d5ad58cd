"""Embed tokens by their columns of keys, by the fastest way there is for it."""

from collections.abc import Callable
from typing import Any

from thinc.api import NumpyOps

from ...kernels.cuda import is_used_by
from ...kernels.distinct import MAX_COLUMNS
from ...threads import one_thread
from . import cpumixedembed, foldedembed, gpumixedembed
from .column import Array, Mixer
from .folding import Fold


def can_embed(mixer: Mixer) -> bool:
    """Tell whether there is a fast path for these layers where they are."""
    if len(mixer.columns) > MAX_COLUMNS:
        return False
    ops = mixer.maxout.ops
    if is_used_by(ops):
        return gpumixedembed.can_embed(mixer)
    return isinstance(ops, NumpyOps)


def forward(
    mixer: Mixer, fold: Fold, keys: Any, is_train: bool
) -> tuple[Array, Callable[[Array], None]]:
    """Embed tokens by their keys, with layers for which `can_embed` is true.

    Keys are in memory of the processor or of the GPU, a column for each of the mixer's.
    *Shapes:* `(n, columns)`, uint64, n > 0, to `(n, nO)`, float32.
    """
    if is_used_by(mixer.maxout.ops):
        return gpumixedembed.forward(mixer, keys, is_train)
    if not is_train:
        folded = fold.get(mixer)
        if folded is not None:
            return foldedembed.predict(mixer, folded, keys), lambda dY: None
        with one_thread():
            return cpumixedembed.predict(mixer, keys), lambda dY: None
    fold.expect_update(mixer)
    with one_thread():
        Y, backprop_tokens = cpumixedembed.begin_update(mixer, keys)

    def backprop(dY: Array) -> None:
        with one_thread():
            backprop_tokens(dY)

    return Y, backprop
