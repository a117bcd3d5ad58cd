"""The codes of words, by a hasher that sees each of them once."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model
from thinc.types import Floats2d, Ints2d

from ...layers.checks import REMEDY
from ...layers.codecache import CodeCache
from ...layers.hashers import get_settings
from .distinct_words import Words

InT = Words
OutT = Floats2d | Ints2d


def hash_words(hasher: Model[Sequence[str], NDArray]) -> Model[InT, OutT]:
    """Hash distinct words, but for those whose codes are kept from before.

    *Output:* bits, `(m, bits)`, float32; or, where the hasher knows by now how many
    rows there are, rows, `(m, 1)`, uint32: see `layers/hashers.py`.
    """
    nV = hasher.maybe_get_dim("nV")
    return Model(
        "hash_words",
        forward,
        layers=[hasher],
        # the hasher's would take any rows that are loaded, where it has none
        dims={"nO": hasher.get_dim("nO")} if nV is None else {"nV": nV},
        attrs={"codes": CodeCache()},
    )


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[Any], Any]]:
    return encode_words(model, words), lambda dY: []


def encode_words(model: Model[InT, OutT], words: InT) -> OutT:
    """Make of words what compressors read: all that there is to hashing."""
    hasher, cache, ops = model.layers[0], model.attrs["codes"], cast(Any, model.ops)
    expected, nV = model.maybe_get_dim("nV"), hasher.maybe_get_dim("nV")
    if nV != expected:
        raise ValueError(
            f"The dimension 'nV' of layer '{hasher.name}' should be {expected}, but is "
            f"{nV!r:.80}. {REMEDY}"
        )

    def compute(keys: NDArray) -> NDArray:
        missing = words._replace(keys=keys.reshape(-1, 1))
        return hasher.predict(missing.read_texts())

    if len(words.keys) == 0:
        codes = hasher.predict([])
    else:
        codes = cache.get(words.keys[:, 0], get_settings(hasher), compute)
    if nV is not None:
        return ops.asarray(codes)
    bits = np.unpackbits(codes, axis=1, count=model.get_dim("nO"))
    return ops.asarray2f(bits, dtype="float32")
