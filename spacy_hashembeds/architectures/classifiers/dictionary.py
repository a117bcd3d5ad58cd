"""Classifiers whose n-grams are counted when they are initialised."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from thinc.util import partial

from ...kernels.ngrams import hash_ngrams
from ...layers.symboltaker import Symbols, find_symbol_takers, give_symbols
from .extract_words import extract_words


class NgramKind(NamedTuple):
    """What n-grams a classifier reads: those of the same kind are counted once.

    attr (str): The token attribute that stands for a word.
    include_punctuation (bool): Whether punctuation counts as words.
    ngram_size (int): How many words an n-gram has at most.
    """

    attr: str
    include_punctuation: bool
    ngram_size: int

    def read(self, docs: list[Doc]) -> NDArray:
        """Read the n-grams of Docs. *Shape:* `(n,)`, uint64."""
        reader = extract_words(self.attr, include_punctuation=self.include_punctuation)
        words = reader.predict(docs)
        return hash_ngrams(words.dataXd, words.lengths, self.ngram_size).keys


@dataclass
class NgramSource:
    """Where a classifier gets its dictionary from when it is initialised.

    kind (NgramKind): The n-grams that it reads.
    get_ngrams (Callable[[NgramKind], NDArray], optional): Gets those of the dictionary.
        It is forgotten then: a trained model shall not hold on to a corpus.
    """

    kind: NgramKind
    get_ngrams: Callable[[NgramKind], NDArray] | None = None

    def __deepcopy__(self, memo: Any) -> "NgramSource":
        return replace(self)

    def __reduce__(self) -> tuple:
        # a classifier that waits can be pickled, but waits in vain
        return NgramSource, (self.kind,)


def wait_for_ngrams(model: Model, kind: NgramKind) -> None:
    """Have a classifier hand a dictionary to its layers before it is initialised."""
    model.attrs["ngram_source"] = NgramSource(kind)
    model.init = partial(init, model.init)


def find_ngram_waiters(model: Model) -> list[Model]:
    """Find the classifiers anywhere inside a model that have a dictionary."""
    nodes = model.walk()
    return [n for n in nodes if isinstance(n.attrs.get("ngram_source"), NgramSource)]


def init(
    init_rest: Callable,
    model: Model[list[Doc], Floats2d],
    X: list[Doc] | None = None,
    Y: Floats2d | None = None,
) -> None:
    """Hand out the dictionary, then initialise as ever.

    init_rest (Callable): Initialises the classifier and its layers.
    RAISES (ValueError): If there is no dictionary yet.
    """
    source: NgramSource = model.attrs["ngram_source"]
    takers = find_symbol_takers(model)
    if source.get_ngrams is not None:
        for layer in takers:
            give_symbols(layer, Symbols(source.get_ngrams(source.kind)))
        model.attrs["ngram_source"] = NgramSource(source.kind)
    elif any(layer.attrs["symbols"] is None for layer in takers):
        raise ValueError(
            "HashNgramTextCat has no dictionary yet. Count the n-grams of the training "
            "corpus, with a section [initialize.before_init] that says `@callbacks = "
            '"spacy-hashembeds.count_ngrams.v1"`; or do without a dictionary: set '
            "`rows` and `importance_rows` to numbers."
        )
    init_rest(model, X, Y)
