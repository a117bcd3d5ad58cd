from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray
from thinc.api import Model

from ..hashing import md5
from .checks import check_attr, check_foreign
from .hasher import check_form, normalize
from .params import check_once

InT = Sequence[str]
OutT = NDArray

#: The most characters of a key: nobody needs as many.
MAX_KEY = 1000


def MD5Hasher(*, key: str | None = None, form: str | None = None) -> Model[InT, OutT]:
    """Turn words into 128 bits by MD5, or into rows by these.

    Arguments: those of the architecture, which also checks them (`hashers.py`). The key
    is the authors' code's: the paper speaks of one, and has none in its example.

    *Input:* `n` words. *Output:* see `hasher.py`.
    """
    return Model(
        "md5hasher",
        forward,
        dims={"nO": 8 * md5.N_BYTES, "nV": None},
        # names of its own: see `check_foreign`
        attrs={"md5_key": key, "form": form},
    )


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[Any], Any]]:
    check_once(model, _check_attributes)
    key, nV = model.attrs["md5_key"], model.maybe_get_dim("nV")
    encoded = None if key is None else key.encode("utf8")
    codes = md5.hash_words(normalize(words, model.attrs["form"]), encoded)
    if nV is not None:
        codes = md5.find_rows(codes, nV).reshape(-1, 1)
    return codes, lambda dY: []


def _check_attributes(model: Model[InT, OutT]) -> None:
    check_foreign(model, "hashes by MD5", "lsh_seed")
    check_form(model)
    key = model.attrs["md5_key"]
    is_right = key is None or is_key(key)
    check_attr(model, "md5_key", is_right, f"text of 1 to {MAX_KEY} characters")


def is_key(key: Any) -> bool:
    """Tell whether something can be a key: text, that there is UTF-8 for."""
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY:
        return False
    return not any("\ud800" <= char <= "\udfff" for char in key)
