"""Layers over the distinct words of a batch: texts, capitalization, and vectors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from spacy.errors import Errors
from thinc.api import Model
from thinc.types import Floats2d

from ...architectures.distinct_words import Words
from ...architectures.static_vectors import get_vectors, get_vectors_width

#: Kinds of capitalization: upper case, upper-initial, lower case, mixed.
N_CAPITALIZATIONS = 4


def extract_texts() -> Model[Words, list[str]]:
    """Read the texts of words."""
    return Model("read_texts", _read)


def _read(
    model: Model[Words, list[str]], words: Words, is_train: bool
) -> tuple[list[str], Callable[[Any], Any]]:
    return words.read_texts(), lambda dY: []


def encode_capitalization() -> Model[Sequence[str], Floats2d]:
    """Encode the capitalization of words. *Output shape:* `(n, 4)`, float32.

    Zeros for words without cased letters. Source: §3.1, after Collobert et al. (2011).
    """
    return Model("capitalisation", _make_one_hot, dims={"nO": N_CAPITALIZATIONS})


def _make_one_hot(
    model: Model[Sequence[str], Floats2d], words: Sequence[str], is_train: bool
) -> tuple[Floats2d, Callable[[Any], Any]]:
    kinds = np.array([find_capitalization(word) for word in words], dtype="intp")
    one_hot: Any = np.eye(N_CAPITALIZATIONS + 1, N_CAPITALIZATIONS)[kinds]
    return model.ops.asarray2f(one_hot, dtype="float32"), lambda dY: []


def find_capitalization(word: str) -> int:
    """Find the capitalization of a word by its cased letters (4: none).

    "U.S." and "A" are upper case, "n't" lower case.
    """
    if word.isupper():
        return 0
    if word[:1].istitle():
        return 1
    if word.islower():
        return 2
    return N_CAPITALIZATIONS if word.swapcase() == word else 3


def look_up_vectors() -> Model[Words, Floats2d]:
    """Look up vectors in the first Doc's vocab, or zeros. They are not trained."""
    return Model("word_vectors", _look_up, init=_init_vectors, dims={"nO": None})


def _look_up(
    model: Model[Words, Floats2d], words: Words, is_train: bool
) -> tuple[Floats2d, Callable[[Any], Any]]:
    nO = model.get_dim("nO")
    if len(words.keys) == 0:
        return model.ops.alloc2f(0, nO), lambda dY: []
    found, is_missing = get_vectors(model.ops, words.vocabs[0], words.keys[:, -1])
    if found.shape[1] != nO:
        raise RuntimeError(Errors.E896)
    vectors = model.ops.asarray2f(found)
    vectors[is_missing] = 0
    return vectors, lambda dY: []


def _init_vectors(
    model: Model[Words, Floats2d], X: Words | None = None, Y: Floats2d | None = None
) -> None:
    if X is not None and X.vocabs:
        model.set_dim("nO", get_vectors_width(X.vocabs[0]))
