"""128 bits for words, by MD5: those of similar words have nothing in common."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The bytes of a digest.
N_BYTES = 16

_BLOCK_BYTES = 64


def hash_words(words: Sequence[str], key: bytes | None = None) -> NDArray:
    """Hash words by MD5, or with a key by HMAC-MD5 (RFC 2104).

    words (Sequence[str]): Hashed as UTF-8. Halves of surrogate pairs, which JSON may
        hold, as if they were characters.
    key (bytes, optional): The key.
    RETURNS (NDArray): The digests, in which the first bit of the first byte is the
        first. *Shape:* `(n, 16)`, uint8.
    """
    digest = _digest if key is None else _make_hmac(key)
    digests = [digest(word.encode("utf8", "surrogatepass")) for word in words]
    return np.frombuffer(b"".join(digests), dtype="uint8").reshape(-1, N_BYTES)


def find_rows(digests: NDArray, n_rows: int) -> NDArray:
    """Take digests for integers, the first byte the highest, modulo a number of rows.

    digests (NDArray): *Shape:* `(n, 16)`, uint8.
    n_rows (int): 1 to 2³¹.
    RETURNS (NDArray): *Shape:* `(n,)`, uint32.
    """
    high, low = np.ascontiguousarray(digests).view(">u8").astype("uint64").T
    n, unit = np.uint64(n_rows), np.uint64(2**64 % n_rows)
    # no product or sum exceeds 64 bits
    return ((high % n * unit + low % n) % n).astype("uint32")


def _md5(message: bytes) -> Any:
    # not for security: this works too where MD5 is switched off for that
    return hashlib.md5(message, usedforsecurity=False)


def _digest(message: bytes) -> bytes:
    return _md5(message).digest()


def _make_hmac(key: bytes) -> Callable[[bytes], bytes]:
    """Make the function that hashes by a key.

    `hmac` of the standard library does not work where MD5 is switched off, and hashes
    the key anew for each word.
    """
    if len(key) > _BLOCK_BYTES:
        key = _digest(key)
    padded = key.ljust(_BLOCK_BYTES, b"\0")
    inner = _md5(bytes(byte ^ 0x36 for byte in padded))
    outer = _md5(bytes(byte ^ 0x5C for byte in padded))

    def digest(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    return digest
