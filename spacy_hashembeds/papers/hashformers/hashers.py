"""Hashers of `HashFormerEmbed`: layers without parameters.

They map words to codes of `nO` bits, *shape* `(n, ceil(nO / 8))`, uint8, the most
significant bit first. If `nV`, the number of rows of a table, is set, they map words to
rows instead, *shape* `(n, 1)`, uint32.
"""

import hashlib
import hmac
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ...architectures.distinct_words import Words
from ...arguments import check_integers
from ...kernels.rows import NUMPY_OPS
from ...layers import checks
from ...layers.codecache import CodeCache
from ...layers.vocabulary import are_sorted_symbols, look_up
from . import lsh

InT = Sequence[str]
OutT = NDArray

#: Unicode normalization forms.
Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
#: Maximum characters of an n-gram, and bits of a code.
MAX_NGRAM_SIZE = 100
MAX_BITS = 4096
#: Maximum rows: each word is compared with one vector per row.
MAX_LSH_ROWS = 2**20
# Block size for normalization, which sorts combining marks in quadratic time.
_LONGEST = 1000


def MD5Hasher(*, key: str | None = None, form: Form | None = None) -> Model[InT, OutT]:
    """Hash words by MD5, to 128 bits: similar words have unrelated codes.

    With `EmbCompressor`, the row is the digest modulo the number of rows.

    key (str, optional): Hash by HMAC-MD5 with this key (UTF-8): only who knows it can
        construct words that share a row. Saved with config and weights. The authors'
        code uses "en", the paper no key.
    form (str, optional): Unicode form to normalize to: "NFC", which composes letters
        and accents, "NFD", "NFKC" or "NFKD".

    Source: Xue and Aletras, "HashFormers" (2022), §3.2, except for the printed digests,
    which belong to other words.
    """
    return Model(
        "md5hasher",
        md5_forward,
        dims={"nO": 128, "nV": None},
        # unique names: see `check_foreign`
        attrs={"md5_key": key, "form": form},
    )


def md5_forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[Any], Any]]:
    checks.check_once(model, _check_md5)
    key, nV = model.attrs["md5_key"], model.maybe_get_dim("nV")
    encoded = None if key is None else key.encode("utf8")
    digests = hash_by_md5(normalize(words, model.attrs["form"]), encoded)
    if nV is None:
        codes = np.frombuffer(b"".join(digests), dtype="uint8").reshape(-1, 16)
    else:
        rows = [int.from_bytes(digest, "big") % nV for digest in digests]
        codes = np.array(rows, dtype="uint32").reshape(-1, 1)
    return codes, lambda dY: []


def hash_by_md5(words: Sequence[str], key: bytes | None = None) -> list[bytes]:
    """Hash words by MD5, or with a key by HMAC-MD5.

    Lone surrogates, which JSON may contain, are encoded like characters.
    """
    # works where MD5 is disabled for security
    md5 = partial(hashlib.md5, usedforsecurity=False)
    start = md5() if key is None else hmac.new(key, digestmod=md5)
    digests = []
    for word in words:
        state = start.copy()
        state.update(word.encode("utf8", "surrogatepass"))
        digests.append(state.digest())
    return digests


def _check_md5(model: Model[InT, OutT]) -> None:
    checks.check_foreign(model, "hashes by MD5", "lsh_seed")
    checks.check_attr_choice(model, "form", (None, *get_args(Form)))
    is_right = isinstance(model.attrs["md5_key"], str | None)
    checks.check_attr(model, "md5_key", is_right, "text")


def LSHHasher(
    *,
    num_bits: int = 128,
    ngram_size: int = 4,
    max_ngrams: int | None = 50_000,
    seed: int = 0,
    form: Form | None = None,
) -> Model[InT, OutT]:
    """Hash words by their character n-grams: similar words have most bits in common.

    Each bit is the word's side of a random hyperplane in the space of all n-grams. With
    `EmbCompressor`, each row has a random vector, and a word gets the row of the
    nearest one; the search is slow, and similar words share rows. Words without known
    n-grams have all bits set. The first 4,000 / `ngram_size` characters count.

    num_bits (int): Number of bits, 1 to 4096; the paper uses 128. Unused with
        `EmbCompressor`.
    ngram_size (int): Maximum characters of an n-gram, 1 to 100. Shorter ones are used
        too. The paper uses 4.
    max_ngrams (int, optional): Number of n-grams to use, the most frequent in the
        training corpus, counted by `spacy-hashembeds.count_character_ngrams.v1` and
        saved with the weights. If null, all n-grams are used.
    seed (int): Seed of the hyperplanes, saved with the weights.
    form (str, optional): See `MD5Hasher`.

    Source: Xue and Aletras (2022), §3.3 and §3.5. The authors' code uses RoBERTa's
    subwords, weighted by word length, instead of n-grams.
    """
    check_integers(1, MAX_BITS, num_bits=num_bits)
    check_integers(1, MAX_NGRAM_SIZE, ngram_size=ngram_size)
    check_integers(0, 2**64 - 1, seed=seed)
    if max_ngrams is not None:
        check_integers(1, max_ngrams=max_ngrams)
    attrs = {"lsh_seed": seed, "ngram_size": ngram_size, "form": form}
    attrs |= {"max_ngrams": max_ngrams, "ngrams": None}
    return Model(
        "lshhasher", lsh_forward, dims={"nO": num_bits, "nV": None}, attrs=attrs
    )


def lsh_forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[Any], Any]]:
    checks.check_once(model, _check_lsh)
    attrs, nV = model.attrs, model.maybe_get_dim("nV")
    counted, seed = attrs["ngrams"], attrs["lsh_seed"]
    ngrams = lsh.find_ngrams(normalize(words, attrs["form"]), attrs["ngram_size"])
    if counted is not None:
        rows = look_up(NUMPY_OPS, ngrams.keys, counted, unk=0)
        ngrams = ngrams.select(rows[:, 0] > 0)
    if nV is None:
        codes = lsh.find_bits(ngrams, model.get_dim("nO"), seed)
    else:
        codes = lsh.find_rows(ngrams, nV, seed, counted).reshape(-1, 1)
    return codes, lambda dY: []


def needs_ngrams(model: Model) -> bool:
    """True if a layer needs n-grams counted in a corpus."""
    return model.attrs.get("max_ngrams") is not None


def set_ngrams(model: Model[InT, OutT], ngrams: NDArray) -> None:
    """Set the known n-grams: sorted keys from `lsh.find_ngrams`."""
    ngrams = np.array(ngrams)
    ngrams.flags.writeable = False  # checked only once
    model.attrs["ngrams"] = ngrams


def _check_lsh(model: Model[InT, OutT]) -> None:
    checks.check_foreign(model, "hashes by LSH", "md5_key")
    checks.check_attr_choice(model, "form", (None, *get_args(Form)))
    checks.check_integer(model, "lsh_seed", 0, 2**64 - 1)
    checks.check_integer(model, "ngram_size", 1, MAX_NGRAM_SIZE)
    if model.attrs["ngrams"] is not None:
        expected = "distinct numbers in ascending order"
        is_right = are_sorted_symbols(model.attrs["ngrams"])
        checks.check_attr(model, "ngrams", is_right, expected)
    elif needs_ngrams(model):
        raise ValueError(
            "LSHHasher has no n-grams. Count n-grams of the training corpus: set "
            "[initialize.before_init] @callbacks = "
            '"spacy-hashembeds.count_character_ngrams.v1". Or use all n-grams: set '
            "max_ngrams = null."
        )


def hash_words(hasher: Model[InT, OutT]) -> Model[Words, Any]:
    """Hash distinct words, with a cache, to bits as float32 or to rows."""
    nV = hasher.maybe_get_dim("nV")
    return Model(
        "hash_words",
        hash_forward,
        layers=[hasher],
        dims={"nO": hasher.get_dim("nO")} if nV is None else {"nV": nV},
        attrs={"codes": CodeCache()},
    )


def hash_forward(
    model: Model[Words, Any], words: Words, is_train: bool
) -> tuple[Any, Callable[[Any], Any]]:
    hasher, cache, ops = model.layers[0], model.attrs["codes"], cast(Any, model.ops)

    def compute(keys: NDArray) -> NDArray:
        missing = words._replace(keys=keys.reshape(-1, 1))
        return hasher.predict(missing.read_texts())

    # including the number of attributes: loading may add some
    attrs = hasher.attrs
    settings = (len(attrs), hasher.maybe_get_dim("nV"), *attrs.values())
    codes = cache.get(words.keys[:, 0], settings, compute)
    if hasher.has_dim("nV") is None:
        bits = np.unpackbits(codes, axis=1, count=model.get_dim("nO"))
        codes = bits.astype("float32")
    return ops.asarray(codes), lambda dY: []


def normalize(words: Sequence[str], form: str | None) -> Sequence[str]:
    """Convert words to a Unicode form, if given."""
    if form is None:
        return words
    to_form = partial(unicodedata.normalize, cast(Any, form))
    return [
        "".join(to_form(word[i : i + _LONGEST]) for i in range(0, len(word), _LONGEST))
        for word in words
    ]
