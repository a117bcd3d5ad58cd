"""Embedders whose character n-grams are counted when they are initialised."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model

from ...hashing.lsh import find_ngrams
from ...kernels.distinct import find_distinct
from ...layers.hasher import normalize
from ...layers.lshhasher import set_ngrams, takes_ngrams
from .distinct_words import Words, find_vocabs, read_keys


class CharacterNgrams(NamedTuple):
    """What n-grams a hasher reads: those of the same kind are counted once.

    attr (str): The attribute of tokens that stands for a word.
    ngram_size (int): How many characters an n-gram has at most.
    form (str, optional): The Unicode form of the words.
    max_ngrams (int): How many n-grams count: the most frequent ones.
    """

    attr: str
    ngram_size: int
    form: str | None
    max_ngrams: int

    def read(self, docs: Sequence[Doc]) -> NDArray:
        """Read the n-grams of all tokens of Docs. *Shape:* `(n,)`, uint64."""
        if not any(len(doc) for doc in docs):
            return np.zeros(0, dtype="uint64")
        words = find_distinct(read_keys(docs, [self.attr]))
        texts = Words(find_vocabs(docs), words.values).read_texts()
        ngrams = find_ngrams(normalize(texts, self.form), self.ngram_size)
        n_copies = np.bincount(words.copies)
        return np.repeat(ngrams.keys, np.repeat(n_copies, ngrams.lengths))


@dataclass
class NgramSource:
    """Where an embedder gets the n-grams of its hashers from when it is initialised.

    get_ngrams (Callable[[CharacterNgrams], NDArray], optional): Gets those of a kind,
        in ascending order. It is forgotten then: a trained model shall not hold on to a
        corpus.
    """

    get_ngrams: Callable[[CharacterNgrams], NDArray] | None = None

    def __deepcopy__(self, memo: Any) -> "NgramSource":
        return replace(self)

    def __reduce__(self) -> tuple:
        # an embedder that waits can be pickled, but waits in vain
        return NgramSource, ()


def find_ngram_waiters(model: Model) -> list[Model]:
    """Find the embedders anywhere inside a model with hashers that take n-grams."""
    nodes = model.walk()
    return [n for n in nodes if isinstance(n.attrs.get("ngram_source"), NgramSource)]


def give_ngrams(model: Model, hashers: Sequence[tuple[str, Model]]) -> None:
    """Give the hashers of an embedder, one for each attribute, their n-grams."""
    get_ngrams = model.attrs["ngram_source"].get_ngrams
    if get_ngrams is None:
        return
    for attr, hasher in hashers:
        if takes_ngrams(hasher):
            attrs, most = hasher.attrs, hasher.attrs["ngram_taker"].max_ngrams
            kind = CharacterNgrams(attr, attrs["ngram_size"], attrs["form"], most)
            set_ngrams(hasher, get_ngrams(kind))
    model.attrs["ngram_source"] = NgramSource()
