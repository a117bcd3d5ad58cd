"""Dictionaries of `HashNgramTextCat`, counted at initialization."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from ...arguments import check_integers
from ...layers.vocabulary import (
    Symbols,
    assign_symbols,
    call_before_init,
    find_vocabulary_layers,
)
from ...thinc_internals import partial as thinc_partial
from ...training.counting import count_ngrams_at_init
from .ngrams import extract_words, hash_ngrams

#: Attribute with the `SymbolSource` of dictionaries: a function of an `NgramKind`.
NGRAM_SOURCE = "ngram_source"


class NgramKind(NamedTuple):
    """Kind of n-grams, counted once for all classifiers that read it."""

    attr: str
    include_punctuation: bool
    ngram_size: int

    def read(self, docs: list[Doc]) -> NDArray:
        """Read the n-grams of Docs. *Shape:* `(n,)`, uint64."""
        reader = extract_words(self.attr, include_punctuation=self.include_punctuation)
        words = reader.predict(docs)
        return hash_ngrams(words.dataXd, words.lengths, self.ngram_size).keys


def set_ngrams_at_init(model: Model, kind: NgramKind) -> None:
    """Set the dictionary of a classifier's layers before they are initialized."""
    call_before_init(NGRAM_SOURCE, model, thinc_partial(_set_ngrams, kind))


def _set_ngrams(
    kind: NgramKind,
    model: Model,
    get_ngrams: Callable[[NgramKind], NDArray] | None,
    X: list[Doc] | None,
) -> None:
    for layer in find_vocabulary_layers(model):
        if get_ngrams is not None:
            assign_symbols(layer, Symbols(get_ngrams(kind)))
        elif layer.attrs["symbols"] is None:
            raise ValueError(
                "HashNgramTextCat has no dictionary. Count n-grams of the training "
                "corpus: set [initialize.before_init] @callbacks = "
                '"spacy-hashembeds.count_ngrams.v1". Or use no dictionary: set '
                "`rows` and `importance_rows` to numbers."
            )


def create_count_ngrams(
    *, corpus: str = "corpora.train", max_ngrams: int = 1_000_000, limit: int = 0
) -> Callable[[Language], None]:
    """Count the n-grams of a corpus that make up the classifiers' dictionary.

    For `[initialize.before_init]`. N-grams are counted when a classifier is
    initialized, once per kind of n-grams. `corpus` and `limit`: See
    `spacy-hashembeds.count_symbols.v1`.

    max_ngrams (int): Maximum size of the dictionary: the most frequent n-grams.
        Counting keeps up to eight times as many in memory, at about 35 bytes each, and
        drops rare ones.

    Source: Svenstrup et al., "Hash Embeddings" (2017), §5.4.
    """
    check_integers(1, max_ngrams=max_ngrams)
    check_integers(0, limit=limit)
    return partial(
        count_ngrams_at_init,
        source=NGRAM_SOURCE,
        find_limit=lambda kind: max_ngrams,
        corpus=corpus,
        limit=limit,
    )
