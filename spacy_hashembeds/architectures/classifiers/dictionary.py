"""The words and n-grams that classifiers read, and dictionaries of these."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS, IS_PUNCT, IS_SPACE
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Ints1d, Ragged

from ...kernels.ngrams import hash_ngrams, sum_by_text
from ...layers.checks import check_attr, check_attr_choice
from ...layers.params import check_once
from ...layers.source import wait_for
from ...layers.symboltaker import Symbols, find_symbol_takers, give_symbols
from ...thinc_internals import partial

InT = list[Doc]
OutT = Ragged

#: The attribute with the `Source`, which gives the dictionary for a kind of n-grams.
NGRAM_SOURCE = "ngram_source"


class NgramKind(NamedTuple):
    """Kind of n-grams of words that a classifier reads: each is counted once."""

    attr: str
    include_punctuation: bool
    ngram_size: int

    def read(self, docs: list[Doc]) -> NDArray:
        """Read the n-grams of Docs. *Shape:* `(n,)`, uint64."""
        reader = extract_words(self.attr, include_punctuation=self.include_punctuation)
        words = reader.predict(docs)
        return hash_ngrams(words.dataXd, words.lengths, self.ngram_size).keys


def extract_words(attr: str, *, include_punctuation: bool) -> Model[InT, OutT]:
    """Read the words of Docs. *Output:* `(words,)`, uint64, on the CPU."""
    return Model(
        "extract_words",
        read_words,
        attrs={"attr": attr, "include_punctuation": include_punctuation},
    )


def read_words(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    check_words(model)
    lengths = np.array([len(doc) for doc in docs], dtype="int32")
    attrs = [IDS[model.attrs["attr"]]]
    if not model.attrs["include_punctuation"]:
        attrs += [IS_PUNCT, IS_SPACE]
    arrays = [doc.to_array(attrs).reshape(-1, len(attrs)) for doc in docs]
    columns = np.concatenate(arrays or [np.zeros((0, len(attrs)), dtype="uint64")])
    is_word: Any = ~columns[:, 1:].any(axis=1)
    words, lengths = columns[is_word, 0], sum_by_text(is_word, lengths)
    return Ragged(cast(Ints1d, words), cast(Ints1d, lengths)), lambda d_words: []


def check_words(model: Model[InT, OutT]) -> None:
    """Check which words are read, once that arrives."""
    check_once(model, _check_words)


def _check_words(model: Model) -> None:
    attr = model.attrs["attr"]
    # of no name, spaCy has an ID too
    is_right = isinstance(attr, str) and bool(IDS.get(attr))
    check_attr(model, "attr", is_right, "a token attribute, such as LOWER")
    check_attr_choice(model, "include_punctuation", (False, True))


def wait_for_ngrams(model: Model, kind: NgramKind) -> None:
    """Have a classifier hand a dictionary to its layers before it is initialised."""
    wait_for(NGRAM_SOURCE, model, partial(_give_ngrams, kind))


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
