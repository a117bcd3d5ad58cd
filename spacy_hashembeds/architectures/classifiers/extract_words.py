from collections.abc import Callable
from typing import Any, cast

import numpy as np
from spacy.attrs import IDS, IS_PUNCT, IS_SPACE
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Ints1d, Ragged

from ...kernels.ngrams import sum_by_text
from ...layers.checks import REMEDY, check_choice
from ...layers.params import check_once

InT = list[Doc]
OutT = Ragged


def extract_words(attr: str, *, include_punctuation: bool) -> Model[InT, OutT]:
    """Read the words of Docs.

    attr (str): The token attribute that stands for a word, e.g. "LOWER".
    include_punctuation (bool): Whether tokens of punctuation and of white space count
        as words too.

    *Output:* a ragged array of shape `(words,)`, uint64, in the processor's memory.
    """
    return Model(
        "extract_words",
        forward,
        attrs={"attr": attr, "include_punctuation": include_punctuation},
    )


def forward(
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
    """Check what words are read, once it arrives.

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
