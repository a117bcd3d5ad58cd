"""The distinct words of a batch, and layers that are run once for each of them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS, ORTH, intify_attr
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ...kernels.distinct import Distinct, find_distinct, find_distinct_rows
from ...layers.checks import check_choice
from ...layers.params import check_once
from ...layers.table import scatter_rows
from .static_vectors import get_key_attr


class Words(NamedTuple):
    """Distinct words.

    vocabs (Sequence[Vocab]): Those of the Docs: one, but for batches of several
        pipelines'.
    keys (NDArray): In the first column what their texts are found by, and in the last,
        which may be the same, what their vectors are found by. *Shape:* `(m, 1)` or
        `(m, 2)`, uint64.
    """

    vocabs: Sequence[Vocab]
    keys: NDArray

    @property
    def vocab(self) -> Vocab | None:
        """The vocab whose vectors count: the first, as in spaCy, if there is one."""
        return next(iter(self.vocabs), None)

    def read_texts(self) -> list[str]:
        """Read the texts of the words.

        RAISES (ValueError): If no vocab has the text of one.
        """
        keys = self.keys[:, 0].tolist()
        try:
            if len(self.vocabs) == 1:
                strings = self.vocabs[0].strings
                return [strings[key] for key in keys]
            stores = [vocab.strings for vocab in self.vocabs]
            return [next(s for s in stores if key in s)[key] for key in keys]
        except (KeyError, StopIteration) as e:
            raise ValueError(
                "A token has an attribute by a number of which the vocab does not know "
                "the text, so that it can't be embedded by its characters. Give Docs "
                "the vocab that they were made with, or add the text to its strings: "
                "`doc.vocab.strings.add(text)`."
            ) from e


InT = list[Doc]
OutT = list[Floats2d]

#: The attributes of tokens that are text.
TEXT_ATTRIBUTES = (
    *("ORTH", "LOWER", "NORM", "PREFIX", "SUFFIX", "SHAPE", "LEMMA", "POS", "TAG"),
    *("DEP", "MORPH", "ENT_TYPE", "ENT_ID", "ENT_KB_ID", "LANG"),
)


def with_distinct_words(
    layer: Model[Words, Floats2d], *, attr: str | None = None
) -> Model[InT, OutT]:
    """Run a layer once for each distinct word of a batch, and share out what it gives.

    layer (Model): Maps words to vectors of shape `(m, nO)`, and has the dimension `nO`
        once it is initialised, for which it may be given no words.
    attr (str, optional): What stands for a word, one of `TEXT_ATTRIBUTES`, e.g. "NORM".
        By default its text, and with it what its vector is found by.

    *Input:* `n` Docs. *Output:* for each a float32 array of shape `(tokens, nO)`.
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
    layer, ops = model.layers[0], cast(Any, model.ops)
    if not any(len(doc) for doc in docs):
        return [ops.alloc2f(0, model.get_dim("nO")) for _ in docs], lambda dYs: []
    distinct = _find_distinct(model, docs)
    Y, backprop_layer = layer(Words(find_vocabs(docs), distinct.values), is_train)
    copies = ops.asarray1i(distinct.copies)

    def backprop(dYs: OutT) -> InT:
        dY = ops.as_contig(ops.xp.concatenate(dYs), dtype="float32")
        d_distinct = ops.alloc2f(*Y.shape)
        scatter_rows(ops, copies.reshape(-1, 1), dY, d_distinct)
        backprop_layer(d_distinct)
        return []

    ends = np.cumsum([len(doc) for doc in docs]).tolist()
    return ops.xp.split(Y[copies], ends[:-1]), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    layer = model.layers[0]
    words = Words(find_vocabs(X or []), np.zeros((0, 1), dtype="uint64"))
    if X and any(len(doc) for doc in X):
        words = words._replace(keys=_find_distinct(model, X).values)
    layer.initialize(X=words)
    model.set_dim("nO", layer.get_dim("nO"))


def find_vocabs(docs: Sequence[Doc]) -> list[Vocab]:
    """Find the vocabs of Docs: see `Words`."""
    return list({id(doc.vocab): doc.vocab for doc in docs}.values())


def _find_distinct(model: Model[InT, OutT], docs: Sequence[Doc]) -> Distinct:
    """Find the keys of the distinct words: see `Words`."""
    attrs = _find_attributes(model, docs[0].vocab)
    keys = np.concatenate([doc.to_array(attrs).reshape(-1) for doc in docs])
    if len(attrs) > 1:
        return find_distinct_rows(keys.reshape(-1, len(attrs)))
    distinct = find_distinct(keys)
    return Distinct(distinct.values.reshape(-1, 1), distinct.copies)


def _find_attributes(model: Model[InT, OutT], vocab: Vocab) -> list[int | str]:
    if "attr" in model.attrs:
        return [get_attribute(model)]
    vectors_attr = intify_attr(get_key_attr(vocab))
    return [ORTH] if vectors_attr == ORTH else [ORTH, vectors_attr]


def get_attribute(model: Model[InT, OutT]) -> int:
    """Get the ID of the attribute that stands for a word.

    RAISES (ValueError): If it is none that is text.
    """
    check_once(model, _check_attribute, model.attrs["attr"])
    return IDS[model.attrs["attr"]]


def _check_attribute(model: Model[InT, OutT]) -> None:
    check_choice(model, "attr", TEXT_ATTRIBUTES)
