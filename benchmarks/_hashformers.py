"""The contenders of the benchmark of HashFormers, and a watch on their hashing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import product
from time import thread_time
from typing import Any
from unittest import mock

from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Model, fix_random_seed

from spacy_hashembeds.architectures.embedders import hash_words
from spacy_hashembeds.architectures.embedders.character_ngrams import (
    CHARACTER_NGRAM_SOURCE,
    CharacterNgrams,
)
from spacy_hashembeds.dictionaries import NgramCounter
from spacy_hashembeds.layers.source import Source

from ._embedders import ATTRS, ROWS, Embedders, build

HASHERS = ("MD5", "LSH")
COMPRESSORS = ("Emb", "Pool", "Add", "Proj")

#: Rows of `EmbCompressor`: nearly as many parameters as `PoolCompressor` has.
EMB_ROWS = 1037

#: For each name the hashes, or the hasher and the compressor of all attributes.
FEWER = {"MultiFewerHashEmbed, 4 hashes": 4, "MultiFewerHashEmbed, 1 hash": 1}
PAIRS = {", ".join(pair): pair for pair in product(HASHERS, COMPRESSORS)}
BASELINE = next(iter(FEWER))

#: Two passes over a text, the first by an embedder that has met no word.
PASSES = ("new words", "words met before")

_PREFIX = "spacy-hashembeds"


def make_hashformers(docs: Sequence[Doc]) -> Embedders:
    """Make the contenders, for the n-grams of some docs."""
    fix_random_seed(0)
    models = {
        name: build(f"{_PREFIX}.MultiFewerHashEmbed.v1", rows=ROWS, num_hashes=k)
        for name, k in FEWER.items()
    }
    get_ngrams = _make_counter(docs)
    for name, (hasher, compressor) in PAIRS.items():
        models[name] = _build_pair(hasher, compressor)
        models[name].attrs[CHARACTER_NGRAM_SOURCE] = Source(get_ngrams)
    for model in models.values():
        model.initialize(X=list(docs[:10]))
    return Embedders(models, torch={})


@contextmanager
def timing_hashing() -> Iterator[list[float]]:
    """Time what makes codes of words, wherever it is called meanwhile.

    That is to look up the codes that are kept, to read the texts of the other words,
    to hash them and keep their codes, and to lay all out for the compressor.

    YIELDS (list[float]): The seconds of each call are added to it.
    """
    seconds: list[float] = []
    encode = hash_words.encode_words

    def timed(*args: Any) -> Any:
        start = thread_time()
        encoded = encode(*args)
        seconds.append(thread_time() - start)
        return encoded

    with mock.patch.object(hash_words, "encode_words", timed):
        yield seconds


def _build_pair(hasher: str, compressor: str) -> Model:
    """Build an embedder with a hasher and a compressor of each attribute's own."""
    make_hasher = _get(f"{hasher}Hasher")
    make_compressor = _get(f"{compressor}Compressor")
    settings = {"rows": EMB_ROWS} if compressor == "Emb" else {}
    return build(
        f"{_PREFIX}.HashFormerEmbed.v1",
        hashers={attr: make_hasher() for attr in ATTRS},
        compressors={attr: make_compressor(**settings) for attr in ATTRS},
    )


def _get(name: str) -> Callable[..., Model]:
    return registry.get("architectures", f"{_PREFIX}.{name}.v1")


def _make_counter(docs: Sequence[Doc]) -> Callable[[CharacterNgrams], NDArray]:
    """Make what counts n-grams, as `count_character_ngrams.v1` has a corpus counted."""

    @cache
    def count(kind: CharacterNgrams) -> NDArray:
        counter = NgramCounter(kind.max_ngrams)
        counter.add(kind.read(docs))
        return counter.get_most_frequent()

    return count
