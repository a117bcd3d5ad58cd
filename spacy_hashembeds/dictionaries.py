"""The n-grams that classifiers and hashers know: counted in bounded memory."""

from collections.abc import Callable
from functools import cache, partial

from numpy.typing import NDArray
from spacy.language import Language
from spacy.util import logger, minibatch

from .annotation import Annotation, annotate
from .architectures.classifiers.dictionary import NGRAM_SOURCE, NgramKind
from .architectures.embedders.character_ngrams import (
    CHARACTER_NGRAM_SOURCE,
    CharacterNgrams,
)
from .callbacks import find_waiting, read_corpus
from .checks import check_integers
from .counting import KeyCounter
from .layers.source import Source

#: How many Docs are read at a time.
_BATCH = 256

#: How many distinct n-grams are counted at a time, as a multiple of those wanted.
_SPARE = 8


def create_count_ngrams(
    *, corpus: str = "corpora.train", max_ngrams: int = 1_000_000, limit: int = 0
) -> Callable[[Language], None]:
    """Have the most frequent n-grams of a corpus make up the classifiers' dictionary.

    For `[initialize.before_init]`, where a `HashNgramTextCat` has a dictionary. They
    are counted when the classifier is initialised, once for all that read the same
    n-grams, such as the members of an ensemble. `corpus`, `limit` and the rest are as
    for `spacy-hashembeds.count_symbols.v1`; it is read once for each kind of n-grams.

    max_ngrams (int): How many n-grams the dictionary has at most, the most frequent
        ones. The paper has a million, and with a row of its own for each 10,000 to a
        million. While counting, up to eight times as many are in memory, about 35
        bytes each (0.3 GB for a million); of a corpus that has still more, the rarest
        are forgotten on the way.

    Source: Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §5.4.
    """
    check_integers(1, max_ngrams=max_ngrams)
    check_integers(0, limit=limit)
    return partial(
        _let_wait,
        source=NGRAM_SOURCE,
        corpus=corpus,
        limit=limit,
        max_ngrams=max_ngrams,
    )


def create_count_character_ngrams(
    *, corpus: str = "corpora.train", limit: int = 0
) -> Callable[[Language], None]:
    """Have the most frequent character n-grams of a corpus count in `LSHHasher` layers.

    For `[initialize.before_init]`. They are counted when the first embedder with such a
    layer is initialised, once for all that read the same n-grams, and each word as
    often as it is there. All else is as for `spacy-hashembeds.count_symbols.v1`.

    Source: Xue and Aletras, "HashFormers" (2022), §3.3, footnote 2.
    """
    check_integers(0, limit=limit)
    return partial(_let_wait, source=CHARACTER_NGRAM_SOURCE, corpus=corpus, limit=limit)


def _let_wait(
    nlp: Language, *, source: str, corpus: str, limit: int, max_ngrams: int = 0
) -> None:
    """Have models get n-grams, `max_ngrams` unless the kind says how many."""

    @cache
    def count_ngrams(
        annotation: Annotation, kind: NgramKind | CharacterNgrams
    ) -> NDArray:
        most = kind.max_ngrams if isinstance(kind, CharacterNgrams) else max_ngrams
        counter = KeyCounter(_SPARE * most)
        docs = annotate(nlp, read_corpus(nlp, corpus, limit), annotation)
        for batch in minibatch(docs, _BATCH):
            counter.add(kind.read(batch))
        ngrams = counter.get_most_frequent(most)
        if len(ngrams) == 0:
            attr = f" with a {kind.attr}" if isinstance(kind, CharacterNgrams) else ""
            raise ValueError(
                f"There is not a word in the corpus '{corpus}'{attr}, so there are no "
                "n-grams to count. Does its path point to the training data? What a "
                "component sets is there if [training] annotating_components has it."
            )
        logger.info("Counted n-grams: %d are known from now on", len(ngrams))
        return ngrams

    for model, annotation in find_waiting(nlp, source):
        # once for all whose n-grams nothing, or the same, sets apart
        model.attrs[source] = Source(
            lambda kind, a=annotation: count_ngrams(a.restrict([kind.attr]), kind)
        )
