from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray
from thinc.api import Model

from ..hashing import lsh
from .checks import check_foreign, check_integer
from .hasher import check_form, normalize
from .params import check_once
from .symboltaker import are_sorted_symbols

InT = Sequence[str]
OutT = NDArray

#: The most characters of an n-gram, and the most bits of a code. Far beyond what is of
#: use.
MAX_NGRAM_SIZE = 100
MAX_BITS = 4096

#: The most rows: that of a word is the nearest of as many vectors, one after the other.
MAX_ROWS = 2**20


@dataclass(frozen=True)
class NgramTaker:
    """Says how many n-grams of a corpus a hasher takes at most. Not saved."""

    max_ngrams: int


def LSHHasher(
    *,
    num_bits: int = 128,
    ngram_size: int = 4,
    max_ngrams: int | None = 50_000,
    seed: int = 0,
    form: str | None = None,
) -> Model[InT, OutT]:
    """Turn words into bits that those of similar spelling have in common.

    Bits and rows: see `hashing/lsh.py`. Arguments: those of the architecture, which
    also checks them (`hashers.py`). With `max_ngrams`, `set_ngrams` sets the n-grams
    that count, in the attribute "ngrams", before the layer is initialised.

    *Input:* `n` words. *Output:* see `hasher.py`.
    """
    model: Model[InT, OutT] = Model(
        "lshhasher",
        forward,
        dims={"nO": num_bits, "nV": None},
        # names of its own: see `check_foreign`
        attrs={"lsh_seed": seed, "ngram_size": ngram_size, "form": form},
    )
    if max_ngrams is None:
        model.attrs["any_ngram"] = True  # for who would load its weights: see below
    else:
        model.attrs.update(ngrams=None, ngram_taker=NgramTaker(max_ngrams))
    return model


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[Any], Any]]:
    check_once(model, _check_attributes)
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
    ngrams = numpy.array(ngrams)
    ngrams.flags.writeable = False  # they are checked only once
    model.attrs["ngrams"] = ngrams


def _are_among(keys: NDArray, counted: NDArray) -> NDArray:
    if len(counted) == 0:
        return numpy.zeros(len(keys), dtype=bool)
    places = lsh.find_in_order(counted, keys)
    return counted[numpy.minimum(places, len(counted) - 1)] == keys


def _check_attributes(model: Model[InT, OutT]) -> None:
    check_foreign(model, "hashes by LSH", "md5_key")
    check_form(model)
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
