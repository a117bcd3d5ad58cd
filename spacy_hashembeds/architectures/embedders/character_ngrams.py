"""Embedders whose character n-grams are counted when they are initialised."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ...hashing.lsh import find_ngrams
from ...kernels.distinct import find_distinct
from ...layers.hashers import normalize
from .distinct_words import Words, find_vocabs, read_keys

#: The attribute with the `Source`, which gives those of a kind, in ascending order.
CHARACTER_NGRAM_SOURCE = "character_ngram_source"


class CharacterNgrams(NamedTuple):
    """Kind of n-grams that `LSHHasher` reads of an attribute: each is counted once."""

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
