"""Dictionaries of `HashNgramTextCat`, which are counted when it is initialised."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from ...arguments import check_integers
from ...layers.symboltaker import Symbols, find_symbol_takers, give_symbols, wait_for
from ...thinc_internals import partial as thinc_partial
from ...training.counting import count_ngrams_later
from .ngrams import extract_words, hash_ngrams

#: Attribute with the `Source` of dictionaries, a function of the kind of n-grams.
NGRAM_SOURCE = "ngram_source"


class NgramKind(NamedTuple):
    """Kind of n-grams that a classifier reads. Each kind is counted once."""

    attr: str
    include_punctuation: bool
    ngram_size: int

    def read(self, docs: list[Doc]) -> NDArray:
        """Read the n-grams of Docs. *Shape:* `(n,)`, uint64."""
        reader = extract_words(self.attr, include_punctuation=self.include_punctuation)
        words = reader.predict(docs)
        return hash_ngrams(words.dataXd, words.lengths, self.ngram_size).keys


def wait_for_ngrams(model: Model, kind: NgramKind) -> None:
    """Make a classifier give a dictionary to its layers before it is initialised."""
    wait_for(NGRAM_SOURCE, model, thinc_partial(_give_ngrams, kind))


def _give_ngrams(
    kind: NgramKind,
    model: Model,
    get_ngrams: Callable[[NgramKind], NDArray] | None,
    X: list[Doc] | None,
) -> None:
    for layer in find_symbol_takers(model):
        if get_ngrams is not None:
            give_symbols(layer, Symbols(get_ngrams(kind)))
        elif layer.attrs["symbols"] is None:
            raise ValueError(
                "HashNgramTextCat has no dictionary yet. Count the n-grams of the "
                "training corpus, with a section [initialize.before_init] that says "
                '`@callbacks = "spacy-hashembeds.count_ngrams.v1"`; or do without a '
                "dictionary: set `rows` and `importance_rows` to numbers."
            )


def create_count_ngrams(
    *, corpus: str = "corpora.train", max_ngrams: int = 1_000_000, limit: int = 0
) -> Callable[[Language], None]:
    """Count the n-grams of a corpus that make up the classifiers' dictionary.

    Use it in `[initialize.before_init]`. N-grams are counted when a classifier is
    initialised, once for all classifiers that read the same n-grams. `corpus` and
    `limit` are the same as for `spacy-hashembeds.count_symbols.v1`.

    max_ngrams (int): The number of most frequent n-grams in the dictionary. While
        counting, up to eight times as many are in memory, about 35 bytes each; beyond
        that, the rarest are dropped.

    Source: Svenstrup et al., "Hash Embeddings" (2017), §5.4.
    """
    check_integers(1, max_ngrams=max_ngrams)
    check_integers(0, limit=limit)
    return partial(
        count_ngrams_later,
        source=NGRAM_SOURCE,
        find_limit=lambda kind: max_ngrams,
        corpus=corpus,
        limit=limit,
    )
