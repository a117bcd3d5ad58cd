"""What words are embedded by: their texts, and the vectors of the vocab."""

from collections.abc import Callable
from typing import Any

from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from .distinct_words import Words
from .static_vectors import get_vectors, get_vectors_width


def read_texts() -> Model[Words, list[str]]:
    """Read the texts of words."""
    return Model("read_texts", _read)


def _read(
    model: Model[Words, list[str]], words: Words, is_train: bool
) -> tuple[list[str], Callable[[Any], Any]]:
    return words.read_texts(), _go_back


def word_vectors() -> Model[Words, Floats2d]:
    """Give words the vectors of the vocab as they are, which are never trained.

    *Output shape:* `(m, nO)`, float32, where `nO` is the width of the vectors; zeros
    for words without one.
    """
    return Model("word_vectors", _look_up, init=_init_vectors, dims={"nO": None})


def _look_up(
    model: Model[Words, Floats2d], words: Words, is_train: bool
) -> tuple[Floats2d, Callable[[Any], Any]]:
    nO = model.get_dim("nO")
    if len(words.keys) == 0:
        return model.ops.alloc2f(0, nO), _go_back
    vocab: Any = words.vocab
    vectors, is_missing = get_vectors(model.ops, vocab, words.keys[:, -1])
    if vectors.shape[1] != nO:
        raise ValueError(
            f"The pipeline's word vectors should be of width {nO}, as when it was "
            f"initialised, but are of width {vectors.shape[1]}. Load the vectors that "
            "it was trained with, or train it anew."
        )
    vectors = model.ops.asarray2f(vectors)
    vectors[is_missing] = 0
    return vectors, _go_back


def _init_vectors(
    model: Model[Words, Floats2d], X: Words | None = None, Y: Floats2d | None = None
) -> None:
    model.set_dim("nO", _get_width(X.vocab if X else None))


def _get_width(vocab: Vocab | None) -> int:
    if vocab is None:
        raise ValueError(
            "'include_static_vectors' is true, but there are no Docs to know the width "
            "of the vectors by. Initialise with some, as `nlp.initialize` does, or set "
            "include_static_vectors = false."
        )
    return get_vectors_width(vocab)


def _go_back(dY: Any) -> Any:
    """Go back: nothing before has a gradient."""
    return []
