"""The words and n-grams that classifiers read, and dictionaries of these.

N-grams are counted when a classifier is initialised.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS, IS_PUNCT, IS_SPACE
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Ints1d, Ragged
from thinc.util import partial

from ...kernels.ngrams import hash_ngrams, sum_by_text
from ...layers.checks import REMEDY, check_choice
from ...layers.params import check_once
from ...layers.symboltaker import Symbols, find_symbol_takers, give_symbols

InT = list[Doc]
OutT = Ragged


class NgramKind(NamedTuple):
    """What n-grams a classifier reads: those of the same kind are counted once.

    attr (str): The token attribute that stands for a word.
    include_punctuation (bool): Whether tokens of punctuation and of white space count
        as words too.
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


def extract_words(attr: str, *, include_punctuation: bool) -> Model[InT, OutT]:
    """Read the words of Docs: see `NgramKind`.

    *Output:* a ragged array of shape `(words,)`, uint64, in the processor's memory.
    """
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
    """Check which words are read, once that arrives.

    RAISES (ValueError): If it can't be the layer's.
    """
    attrs = model.attrs
    check_once(model, _check_words, attrs["attr"], attrs["include_punctuation"])


def _check_words(model: Model) -> None:
    attr = model.attrs["attr"]
    # of no name, spaCy has an ID too
    if not isinstance(attr, str) or not IDS.get(attr):
        raise ValueError(
            f"The attribute 'attr' of layer '{model.name}' should be a token "
            f"attribute, such as LOWER, but is {attr!r:.80}. {REMEDY}"
        )
    check_choice(model, "include_punctuation", (False, True))


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
    """Hand out the dictionary, then initialise as ever, by `init_rest`."""
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
