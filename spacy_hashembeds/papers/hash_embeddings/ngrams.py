"""Layers of n-gram classifiers: words of Docs, and sums of embedded n-grams."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS, IS_PUNCT, IS_SPACE
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Ints1d, Ragged

from ...kernels.distinct import find_distinct
from ...kernels.rows import NUMPY_OPS
from ...layers.checks import check_attr, check_attr_choice, check_integer, check_once
from ...layers.column import find_column
from ...layers.vocabulary import get_symbols, look_up
from ...layers.with_distinct import run_distinct

#: Maximum words of an n-gram, and n-grams of a snippet.
MAX_NGRAM_SIZE = 100
MAX_SNIPPET = 2**31 - 2


def extract_words(attr: str, *, include_punctuation: bool) -> Model[list[Doc], Ragged]:
    """Read the words of Docs. *Output:* `(words,)`, uint64, on the CPU."""
    attrs = {"attr": attr, "include_punctuation": include_punctuation}
    return Model("extract_words", _read_words, attrs=attrs)


def _read_words(
    model: Model[list[Doc], Ragged], docs: list[Doc], is_train: bool
) -> tuple[Ragged, Callable[[Ragged], list[Doc]]]:
    # spaCy also has an ID without a name
    attr = model.attrs["attr"]
    is_right = isinstance(attr, str) and bool(IDS.get(attr))
    check_attr(model, "attr", is_right, "a token attribute, such as LOWER")
    check_attr_choice(model, "include_punctuation", (False, True))
    lengths = np.array([len(doc) for doc in docs], dtype="int32")
    attrs = [IDS[attr]]
    if not model.attrs["include_punctuation"]:
        attrs += [IS_PUNCT, IS_SPACE]
    arrays = [doc.to_array(attrs).reshape(-1, len(attrs)) for doc in docs]
    columns = np.concatenate(arrays or [np.zeros((0, len(attrs)), dtype="uint64")])
    is_word: Any = ~columns[:, 1:].any(axis=1)
    words, lengths = columns[is_word, 0], sum_by_text(is_word, lengths)
    return Ragged(cast(Ints1d, words), cast(Ints1d, lengths)), lambda d_words: []


def sum_ngrams(
    embed: Model[Any, Floats2d],
    *,
    ngram_size: int,
    shortest: int = 1,
    longest: int | None = None,
) -> Model[Ragged, Floats2d]:
    """Sum the embeddings of the word n-grams of each text.

    If `embed` has symbols, other n-grams are ignored. Training reads a random snippet
    of `shortest` to `longest` n-grams per text, or whole texts if `longest` is None.

    *Input:* the words of `n` texts, uint64, on the CPU.
    *Output shape:* `(n, nO)`, float32; zeros for texts without n-grams.
    Source: Svenstrup et al. (2017), §5.1.
    """
    return Model(
        f"sum_ngrams({embed.name})",
        forward,
        init=init,
        layers=[embed],
        dims={"nO": embed.get_dim("nO")},
        attrs={"ngram_size": ngram_size, "shortest": shortest, "longest": longest},
    )


def forward(
    model: Model[Ragged, Floats2d], words: Ragged, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ragged]]:
    check_once(model, _check_sizes)
    ops, attrs, embed = cast(Any, model.ops), model.attrs, model.layers[0]
    # here, since the layer is not called without known n-grams
    if (column := find_column(embed)) is not None:
        column.check()
    ngrams = hash_ngrams(words.dataXd, words.lengths, attrs["ngram_size"])
    if "symbol_setter" in embed.attrs:
        rows = look_up(NUMPY_OPS, ngrams.keys, get_symbols(embed), unk=0)
        is_known = rows[:, 0] > 0
        lengths = sum_by_text(is_known, ngrams.lengths)
        ngrams = TextNgrams(ngrams.keys[is_known], lengths)
    if is_train and attrs["longest"] is not None:
        ngrams = cut_snippets(ngrams, attrs["shortest"], attrs["longest"])
    keys, lengths = ngrams.keys, ops.asarray1i(ngrams.lengths)
    if len(keys) == 0:
        return ops.alloc2f(len(lengths), model.get_dim("nO")), lambda dY: words
    texts = ops.asarray1i(np.repeat(np.arange(len(lengths)), ngrams.lengths))
    distinct = find_distinct(keys)
    X = ops.asarray(distinct.values)
    vectors, backprop_vectors = run_distinct(embed, X, distinct, is_train)

    def backprop(dY: Floats2d) -> Ragged:
        backprop_vectors(dY[texts])
        return words

    return ops.reduce_sum(vectors, lengths), backprop


def init(model: Model[Ragged, Floats2d], X: Any = None, Y: Any = None) -> None:
    model.layers[0].initialize()


class TextNgrams(NamedTuple):
    """N-grams, `(n,)`, uint64, and their number per text, `(texts,)`."""

    keys: NDArray
    lengths: NDArray


def _check_sizes(model: Model) -> None:
    check_integer(model, "ngram_size", 1, MAX_NGRAM_SIZE)
    check_integer(model, "shortest", 1, MAX_SNIPPET)
    if model.attrs["longest"] is not None:
        check_integer(model, "longest", model.attrs["shortest"], MAX_SNIPPET)


def hash_ngrams(words: Any, lengths: Any, ngram_size: int) -> TextNgrams:
    """Find all sequences of 1 to `ngram_size` words within each text.

    Order: by first word, then length, such as a, a b, b, b c, c. A word is its own key;
    longer sequences are hashed as in `spacy.TextCatBOW.v3`. *Shapes:* `(words,)`,
    uint64, and `(texts,)`.
    """
    # no n-gram is longer than the longest text
    ngram_size = min(ngram_size, int(lengths.max(initial=1)))
    left = np.repeat(lengths.cumsum(), lengths) - np.arange(len(words))
    fits = np.arange(ngram_size) < left[:, np.newaxis]
    keys = np.zeros(fits.shape, dtype="uint64")
    keys[:, 0] = words
    for size in range(2, ngram_size + 1):
        # removed below: n-grams across the end of a text
        keys[: 1 - size, size - 1] = NUMPY_OPS.ngrams(size, words)
    return TextNgrams(keys[fits], sum_by_text(np.minimum(left, ngram_size), lengths))


def cut_snippets(ngrams: TextNgrams, shortest: int, longest: int) -> TextNgrams:
    """Cut a random snippet of consecutive n-grams out of each text, uniformly."""
    lengths = ngrams.lengths
    drawn = np.random.randint(shortest, longest + 1, size=len(lengths))
    kept = np.minimum(drawn, lengths).astype("int32")
    starts = np.random.randint(0, lengths - kept + 1) + lengths.cumsum() - lengths
    shifts = starts - (kept.cumsum() - kept)
    indices = np.arange(kept.sum()) + np.repeat(shifts, kept)
    return TextNgrams(ngrams.keys[indices], kept)


def sum_by_text(values: NDArray, lengths: NDArray) -> NDArray:
    """Sum the values of each text. *Shape:* `(items,)` to `(texts,)`, int32."""
    # `reduceat` can't sum empty texts
    sums = np.append(0, values.cumsum())[np.append(0, lengths.cumsum())]
    return np.diff(sums).astype("int32")
