from collections.abc import Callable
from typing import Any, cast

from thinc.api import Model
from thinc.types import Floats2d, Ragged

from ..kernels.distinct import find_distinct
from ..kernels.ngrams import (
    MAX_NGRAM_SIZE,
    MAX_SNIPPET,
    Ngrams,
    cut_snippets,
    hash_ngrams,
)
from ..kernels.sums import NUMPY_OPS
from .checks import check_integer
from .mixing.column import find_column
from .params import check_once
from .symboltaker import get_symbols, look_up
from .with_distinct import run_distinct

InT = Ragged
OutT = Floats2d


def sum_ngrams(
    embed: Model[Any, Floats2d],
    *,
    ngram_size: int,
    shortest: int = 1,
    longest: int | None = None,
) -> Model[InT, OutT]:
    """Embed the word n-grams of each text, and add them up.

    Each distinct n-gram of a batch, of 1 to `ngram_size` words (see `hash_ngrams`), is
    embedded once, by its key, `(m,)`, uint64. If `embed` takes symbols, n-grams that
    are not among them are left out. In training, a random snippet of each text has
    `shortest` to `longest` n-grams; with None, texts are whole.

    *Input:* the words of `n` texts, uint64, in the processor's memory.
    *Output shape:* `(n, nO)`, float32; zeros for texts without n-grams.

    Source: Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §5.1.
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
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    ops, embed = cast(Any, model.ops), model.layers[0]
    ngrams = find_ngrams(model, words, is_train)
    if len(ngrams.keys) == 0:
        return ops.alloc2f(len(ngrams.lengths), model.get_dim("nO")), lambda dY: words
    texts = ops.asarray1i(ngrams.find_texts())
    distinct = find_distinct(ngrams.keys)
    keys = ops.asarray(distinct.values)
    vectors, backprop_vectors = run_distinct(embed, keys, distinct, is_train)

    def backprop(dY: OutT) -> InT:
        backprop_vectors(dY[texts])
        return words

    return ops.reduce_sum(vectors, ops.asarray1i(ngrams.lengths)), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    model.layers[0].initialize()


def check_sizes(model: Model) -> None:
    check_integer(model, "ngram_size", 1, MAX_NGRAM_SIZE)
    check_integer(model, "shortest", 1, MAX_SNIPPET)
    if model.attrs["longest"] is not None:
        check_integer(model, "longest", model.attrs["shortest"], MAX_SNIPPET)


def find_ngrams(model: Model[InT, OutT], words: InT, is_train: bool) -> Ngrams:
    """Find the n-grams to embed: of a random snippet, or of the whole text."""
    check_once(model, check_sizes)
    attrs, embed = model.attrs, model.layers[0]
    # where no n-gram is among the symbols, the layer is not called to check them
    if (column := find_column(embed)) is not None:
        column.check()
    ngrams = hash_ngrams(words.dataXd, words.lengths, attrs["ngram_size"])
    if "symbol_taker" in embed.attrs:
        rows = look_up(NUMPY_OPS, ngrams.keys, get_symbols(embed), unk=0)
        ngrams = ngrams.select(rows[:, 0] > 0)
    if is_train and attrs["longest"] is not None:
        ngrams = cut_snippets(ngrams, attrs["shortest"], attrs["longest"])
    return ngrams
