"""128 bits for words, by MD5: those of similar words have nothing in common."""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The bytes of a digest.
N_BYTES = 16


def hash_words(words: Sequence[str], key: bytes | None = None) -> NDArray:
    """Hash words, as UTF-8, by MD5, or with a key by HMAC-MD5 (RFC 2104).

    Halves of surrogate pairs, which JSON may hold, count as if they were characters.
    *Shape:* `(n, 16)`, uint8, the first byte of a digest first.
    """
    start = _md5() if key is None else hmac.new(key, digestmod=_md5)
    digests = []
    for word in words:
        state = start.copy()
        state.update(word.encode("utf8", "surrogatepass"))
        digests.append(state.digest())
    return np.frombuffer(b"".join(digests), dtype="uint8").reshape(-1, N_BYTES)


def find_rows(digests: NDArray, n_rows: int) -> NDArray:
    """Take digests for integers, the first byte the highest, modulo up to 2³¹ rows.

    *Shapes:* `(n, 16)`, uint8, to `(n,)`, uint32.
    """
    high, low = np.ascontiguousarray(digests).view(">u8").astype("uint64").T
    n, unit = np.uint64(n_rows), np.uint64(2**64 % n_rows)
    # no product or sum exceeds 64 bits
    return ((high % n * unit + low % n) % n).astype("uint32")


def _md5(message: bytes = b"") -> Any:
    # not for security: this works too where MD5 is switched off for that
    return hashlib.md5(message, usedforsecurity=False)
