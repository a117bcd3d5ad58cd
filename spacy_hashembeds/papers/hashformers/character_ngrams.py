"""Count character n-grams when embedders are initialized."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc

from ...architectures.distinct_words import Words, find_vocabs
from ...architectures.features import read_keys
from ...arguments import check_integers
from ...kernels.distinct import find_distinct
from ...training.counting import count_ngrams_at_init
from .hashers import normalize
from .lsh import find_ngrams

#: Attribute with the `SymbolSource` of sorted n-grams, a function of `CharacterNgrams`.
CHARACTER_NGRAM_SOURCE = "character_ngram_source"


class CharacterNgrams(NamedTuple):
    """Kind of n-grams of an attribute for `LSHHasher`, counted once."""

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


def create_count_character_ngrams(
    *, corpus: str = "corpora.train", limit: int = 0
) -> Callable[[Language], None]:
    """Count the character n-grams of a corpus that `LSHHasher` layers take.

    For `[initialize.before_init]`. N-grams of all tokens are counted when the first
    embedder with such a layer is initialized, once per kind of n-grams. Other details:
    See `spacy-hashembeds.count_symbols.v1`.

    Source: Xue and Aletras, "HashFormers" (2022), §3.3, footnote 2.
    """
    check_integers(0, limit=limit)
    return partial(
        count_ngrams_at_init,
        source=CHARACTER_NGRAM_SOURCE,
        find_limit=attrgetter("max_ngrams"),
        corpus=corpus,
        limit=limit,
    )
