"""Hashers of a `HashFormerEmbed`: layers without parameters.

Each word has a code of its own, which depends on nothing but attributes and dimensions:

- bits, eight to a byte, as many as the dimension `nO`: *shape* `(n, ceil(nO / 8))`,
  uint8, the first bit the highest of the first byte;
- or, once the dimension `nV` says how many rows a table has, one of these: *shape*
  `(n, 1)`, uint32.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from thinc.api import Model

from ..checks import check_choice, check_integers
from ..hashing import lsh, md5
from .checks import check_attr, check_attr_choice, check_foreign, check_integer
from .params import check_once
from .symboltaker import are_sorted_symbols

InT = Sequence[str]
OutT = NDArray

#: Unicode's normal forms.
FORMS = ("NFC", "NFD", "NFKC", "NFKD")

#: The most characters of a key: nobody needs as many.
MAX_KEY = 1000

#: The most characters of an n-gram, and the most bits of a code. Far beyond what is of
#: use.
MAX_NGRAM_SIZE = 100
MAX_BITS = 4096

#: The most rows: that of a word is the nearest of as many vectors, one after the other.
MAX_ROWS = 2**20

# To bring combining marks into their order takes the square of their number. Longer
# words are cut.
_LONGEST = 1000


def MD5Hasher(*, key: str | None = None, form: str | None = None) -> Model[InT, OutT]:
    """Hash words by MD5, to 128 bits: similar ones have nothing in common.

    With `EmbCompressor` the digest modulo the number of rows is the word's row.

    key (str, optional): Hash by HMAC-MD5 with this key, as UTF-8, 1 to 1,000
        characters. Who does not know it can't make up words that share a row. It
        stands in the config, and is saved with the weights. The authors' code has "en".
    form (str, optional): The Unicode form that words are hashed in: "NFC", "NFD",
        "NFKC" or "NFKD". The text of Docs stays what it is. Take "NFC" where the same
        letter may come in one character or in two. Words of more than 1,000 characters
        are brought into it in parts of so many.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §3.2, whose printed digests are of other words.
    The key is the authors' code's: the paper speaks of one, and has none in its
    example.
    """
    _check_form(form)
    if key is not None and not _is_key(key):
        raise ValueError(
            f"'key' should be text of 1 to {MAX_KEY} characters, or null, but is "
            f"{key!r:.80}."
        )
    return Model(
        "md5hasher",
        md5_forward,
        dims={"nO": 8 * md5.N_BYTES, "nV": None},
        # names of its own: see `check_foreign`
        attrs={"md5_key": key, "form": form},
    )


def md5_forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[Any], Any]]:
    check_once(model, _check_md5)
    key, nV = model.attrs["md5_key"], model.maybe_get_dim("nV")
    encoded = None if key is None else key.encode("utf8")
    codes = md5.hash_words(normalize(words, model.attrs["form"]), encoded)
    if nV is not None:
        codes = md5.find_rows(codes, nV).reshape(-1, 1)
    return codes, lambda dY: []


def _check_md5(model: Model[InT, OutT]) -> None:
    check_foreign(model, "hashes by MD5", "lsh_seed")
    _check_form_of(model)
    key = model.attrs["md5_key"]
    is_right = key is None or _is_key(key)
    check_attr(model, "md5_key", is_right, f"text of 1 to {MAX_KEY} characters")


def _is_key(key: Any) -> bool:
    """Tell whether something can be a key: text, that there is UTF-8 for."""
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY:
        return False
    return not any("\ud800" <= char <= "\udfff" for char in key)


def LSHHasher(
    *,
    num_bits: int = 128,
    ngram_size: int = 4,
    max_ngrams: int | None = 50_000,
    seed: int = 0,
    form: str | None = None,
) -> Model[InT, OutT]:
    """Hash words by their character n-grams: similar ones have most bits in common.

    A misspelt word is mostly embedded near the right one, and an inflected one near its
    lemma. Each bit says on which side of a random hyperplane the word lies, in a space
    of all n-grams. With `EmbCompressor`, a word's row is the nearest of as many random
    vectors: a slow search, and one row for words that differ in little. A word of which
    no n-gram counts has all bits set. Of a word, 4,000 / `ngram_size` characters count.

    num_bits (int): How many bits there are, 1 to 4096. The paper has 128, as MD5.
        Parameters of `AddCompressor` and `ProjCompressor` grow with it. `EmbCompressor`
        has no use for it.
    ngram_size (int): How many characters an n-gram has at most, 1 to 100: shorter ones
        are read too, each as often as it is in the word. The paper has 4.
    max_ngrams (int, optional): How many n-grams count, as in the paper: the most
        frequent ones of the training corpus. A callback counts them
        (`[initialize.before_init]` with `@callbacks =
        "spacy-hashembeds.count_character_ngrams.v1"`), and they are saved with the
        weights, 8 bytes each. If null, any n-gram counts.
    seed (int): Other seeds are other hyperplanes. It is saved with the weights.
    form (str, optional): As for `MD5Hasher`.

    Source: Xue and Aletras (2022), §3.3 and §3.5. N-grams are the paper's; the authors'
    code has pieces of RoBERTa's vocabulary instead, weighted by the lengths of words.
    """
    _check_form(form)
    check_integers(1, MAX_BITS, num_bits=num_bits)
    check_integers(1, MAX_NGRAM_SIZE, ngram_size=ngram_size)
    check_integers(0, 2**64 - 1, seed=seed)
    model: Model[InT, OutT] = Model(
        "lshhasher",
        lsh_forward,
        dims={"nO": num_bits, "nV": None},
        # names of its own: see `check_foreign`
        attrs={"lsh_seed": seed, "ngram_size": ngram_size, "form": form},
    )
    if max_ngrams is None:
        model.attrs["any_ngram"] = True  # for who would load its weights: see below
    else:
        check_integers(1, max_ngrams=max_ngrams)
        model.attrs.update(ngrams=None, ngram_taker=NgramTaker(max_ngrams))
    return model


@dataclass(frozen=True)
class NgramTaker:
    """Says how many n-grams of a corpus a hasher takes at most. Not saved."""

    max_ngrams: int


def lsh_forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[Any], Any]]:
    check_once(model, _check_lsh)
    attrs, nV = model.attrs, model.maybe_get_dim("nV")
    counted, seed = attrs.get("ngrams"), attrs["lsh_seed"]
    ngrams = lsh.find_ngrams(normalize(words, attrs["form"]), attrs["ngram_size"])
    if counted is not None:
        ngrams = ngrams.select(_are_among(ngrams.keys, counted))
    if nV is None:
        codes = lsh.find_bits(ngrams, model.get_dim("nO"), seed)
    else:
        codes = lsh.find_rows(ngrams, nV, seed, counted).reshape(-1, 1)
    return codes, lambda dY: []


def takes_ngrams(model: Model) -> bool:
    """Tell whether a layer, even a wrapped one, has n-grams of a corpus counted."""
    return isinstance(model.attrs.get("ngram_taker"), NgramTaker)


def set_ngrams(model: Model[InT, OutT], ngrams: NDArray) -> None:
    """Give a hasher the n-grams that count: sorted keys from `lsh.find_ngrams`."""
    ngrams = np.array(ngrams)
    ngrams.flags.writeable = False  # they are checked only once
    model.attrs["ngrams"] = ngrams


def _are_among(keys: NDArray, counted: NDArray) -> NDArray:
    if len(counted) == 0:
        return np.zeros(len(keys), dtype=bool)
    places = lsh.find_in_order(counted, keys)
    return counted[np.minimum(places, len(counted) - 1)] == keys


def _check_lsh(model: Model[InT, OutT]) -> None:
    check_foreign(model, "hashes by LSH", "md5_key")
    _check_form_of(model)
    check_integer(model, "lsh_seed", 0, 2**64 - 1)
    check_integer(model, "ngram_size", 1, MAX_NGRAM_SIZE)
    if not takes_ngrams(model):
        check_foreign(model, "takes any n-gram", "ngrams")
        return
    check_foreign(model, "counts n-grams", "any_ngram")
    if model.attrs["ngrams"] is None:
        raise ValueError(
            "LSHHasher has no n-grams yet. Count those of the training corpus, with a "
            "section [initialize.before_init] that says `@callbacks = "
            '"spacy-hashembeds.count_character_ngrams.v1"`; or let any n-gram count: '
            "set max_ngrams = null."
        )
    if not are_sorted_symbols(model.attrs["ngrams"]):
        raise ValueError(
            "The n-grams of LSHHasher should be distinct numbers in ascending order, "
            "but are not: the saved pipeline is damaged."
        )


def get_settings(model: Model) -> tuple:
    """Say what the codes of a hasher depend on beside words."""
    # their number, since an attribute that was loaded may be one more
    return (len(model.attrs), model.maybe_get_dim("nV"), *model.attrs.values())


def normalize(words: Sequence[str], form: str | None) -> Sequence[str]:
    """Bring words into the Unicode form that they are hashed in, if there is one."""
    if form is None:
        return words
    to_form = partial(unicodedata.normalize, cast(Any, form))
    return [
        "".join(to_form(word[i : i + _LONGEST]) for i in range(0, len(word), _LONGEST))
        for word in words
    ]


def _check_form(form: str | None) -> None:
    if form is not None:
        check_choice(FORMS, form=form)


def _check_form_of(model: Model) -> None:
    if model.attrs["form"] is not None:
        check_attr_choice(model, "form", FORMS)
