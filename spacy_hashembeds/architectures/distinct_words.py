"""Layers that run once per distinct word of a batch."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS, ORTH, intify_attr
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..kernels.distinct import Distinct, find_distinct
from ..kernels.rows import split
from ..layers.checks import check_attr_choice, check_once
from ..layers.with_distinct import run_distinct
from .features import read_keys
from .static_vectors import get_key_attr


class Words(NamedTuple):
    """Distinct words.

    vocabs (Sequence[Vocab]): The vocabs of the batch. As in spaCy, the first supplies
        the vectors.
    keys (NDArray): Text hashes in the first column, vector keys in the last, which may
        be the same column. *Shape:* `(m, 1)` or `(m, 2)`, uint64.
    """

    vocabs: Sequence[Vocab]
    keys: NDArray

    def read_texts(self) -> list[str]:
        """Return the texts of the words."""
        keys = self.keys[:, 0].tolist()
        try:
            if len(self.vocabs) == 1:
                strings = self.vocabs[0].strings
                return [strings[key] for key in keys]
            stores = [vocab.strings for vocab in self.vocabs]
            return [next(s for s in stores if key in s)[key] for key in keys]
        except (KeyError, StopIteration) as e:
            raise ValueError(
                "A token can't be embedded by its characters: the text of an attribute "
                "is missing from the vocab's StringStore. Use the vocab with which the "
                "Docs were made, or call `doc.vocab.strings.add(text)`."
            ) from e


InT = list[Doc]
OutT = list[Floats2d]

#: Token attributes that are text.
TEXT_ATTRIBUTES = (
    *("ORTH", "LOWER", "NORM", "PREFIX", "SUFFIX", "SHAPE", "LEMMA", "POS", "TAG"),
    *("DEP", "MORPH", "ENT_TYPE", "ENT_ID", "ENT_KB_ID", "LANG"),
)


def with_distinct_words(
    layer: Model[Words, Floats2d], *, attr: str | None = None
) -> Model[InT, OutT]:
    """Run a layer once per distinct word of a batch, and scatter its output to tokens.

    The layer maps `m` words to vectors, `(m, nO)`. It may be initialized with no words.

    attr (str, optional): The attribute that identifies a word, one of
        `TEXT_ATTRIBUTES`. Default: the text and the vector key.
    """
    return Model(
        f"with_distinct_words({layer.name})",
        forward,
        init=init,
        layers=[layer],
        dims={"nO": layer.maybe_get_dim("nO")},
        attrs={} if attr is None else {"attr": attr},
    )


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    layer, ops = model.layers[0], model.ops
    lengths = list(map(len, docs))
    if not any(lengths):
        return [ops.alloc2f(0, model.get_dim("nO")) for _ in docs], lambda dYs: []
    distinct = _find_distinct(model, docs)
    words = Words(find_vocabs(docs), distinct.values)
    Y, backprop_words = run_distinct(layer, words, distinct, is_train)

    def backprop(dYs: OutT) -> InT:
        backprop_words(ops.xp.concatenate(dYs))
        return []

    return split(Y, lengths), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    layer = model.layers[0]
    words = Words(find_vocabs(X or []), np.zeros((0, 1), dtype="uint64"))
    if X and any(map(len, X)):
        words = words._replace(keys=_find_distinct(model, X).values)
    layer.initialize(X=words)
    model.set_dim("nO", layer.get_dim("nO"))


def find_vocabs(docs: Sequence[Doc]) -> list[Vocab]:
    return list({id(doc.vocab): doc.vocab for doc in docs}.values())


def _find_distinct(model: Model[InT, OutT], docs: Sequence[Doc]) -> Distinct:
    attrs: list[int | str] = [ORTH]
    if "attr" in model.attrs:
        attrs = [get_attribute(model)]
    elif (key_attr := intify_attr(get_key_attr(docs[0].vocab))) != ORTH:
        attrs.append(key_attr)
    return find_distinct(read_keys(docs, attrs))


def get_attribute(model: Model[InT, OutT]) -> int:
    """Validate the attribute that identifies a word, and return its ID."""
    check_once(model, partial(check_attr_choice, name="attr", known=TEXT_ATTRIBUTES))
    return IDS[model.attrs["attr"]]
