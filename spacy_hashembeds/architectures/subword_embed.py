from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from thinc.api import Model, uniform_init
from thinc.types import Floats2d

from ..arguments import (
    MAX_ROWS,
    MAX_WIDTH,
    check_choice,
    check_dropout,
    check_integers,
    check_types,
)
from ..hashing.murmur import MAX_HASHES
from ..kernels.distinct import find_distinct
from ..kernels.rows import is_on_gpu
from ..layers.checks import check_integer, check_once, peek
from ..layers.column import Array, Backprop, Column
from ..layers.tableembed import apply_dropout, check_table, inc_table_grad
from ..layers.with_distinct import run_distinct
from ..thinc_internals import partial
from .distinct_words import TEXT_ATTRIBUTES, Words, find_vocabs, with_distinct_words
from .floret import MAX_CHARACTERS, Ngrams, read_table
from .static_vectors import DOCS

InT = Words
OutT = Floats2d

NAME = "subwordembed"

# Number of words processed at a time in prediction, to bound memory.
_BLOCK = 2**12


def SubwordEmbed(
    *,
    attr: str = "LOWER",
    rows: int = 5000,
    width: int = 24,
    minn: int = 3,
    maxn: int = 5,
    num_hashes: int = 1,
    dropout: float | None = 0.0,
    init: str | Path | None = None,
) -> Model[list, list[Floats2d]]:
    """Embed words by their character n-grams, which share the rows of one table.

    Use it as the argument `subwords` of other embedders: n-grams tell much about words
    that training has not seen. A mark is added before and after each word: `<word>`.
    The marked word and each of its n-grams have rows, chosen by hashing; their sum is
    divided by the square root of their number. Marks and hashes are those of floret as
    spaCy reads it: with `minn` 1, single marks are n-grams too. Of words with more than
    128 characters, the first and last 64 are read. Combining characters are composed
    (NFC) before.

    attr (str): The attribute that stands for a word: `ORTH` (as written), `LOWER` or
        `NORM`, or another attribute that is text.
    rows (int): The number of rows.
    width (int): The width of a row, and of the vectors that are mixed with those of the
        other tables.
    minn, maxn (int): The lengths of n-grams in characters, including marks.
    num_hashes (int): The number of rows of each n-gram, 1 to 4.
    dropout (float, optional): The rate at which dimensions are dropped, until a trainer
        sets its own, as `spacy train` does. With None there is no dropout.
    init (Path, optional): A table that floret trained on raw text, with the same rows,
        width, lengths and hashes. Training starts from its rows, scaled to the spread
        of random ones; the file is not needed afterwards. The raw text should have the
        form of `attr`: lower-cased for `LOWER`.

    *Output:* for each Doc an array `(tokens, width)`, float32.

    Source: Bojanowski et al., "Enriching Word Vectors with Subword Information" (2017),
    §3.2; Miranda et al., "Multi hash embeddings in spaCy", §2, of floret.
    """
    check_choice(TEXT_ATTRIBUTES, attr=attr)
    check_integers(1, MAX_ROWS, rows=rows)
    check_integers(1, MAX_WIDTH, width=width)
    check_integers(1, MAX_CHARACTERS, minn=minn)
    check_integers(minn, MAX_CHARACTERS, maxn=maxn)
    check_integers(1, MAX_HASHES, num_hashes=num_hashes)
    check_dropout(dropout)
    check_types(str | Path | None, "a path or null", init=init)
    model: Model[InT, OutT] = Model(
        NAME,
        forward,
        init=partial(initialize, init),
        params={"E": None},
        dims={"nO": width, "nV": rows},
        attrs={"minn": minn, "maxn": maxn, "num_hashes": num_hashes},
    )
    if dropout is not None:
        model.attrs["dropout_rate"] = dropout
    return with_distinct_words(model, attr=attr)


def forward(
    model: Model[InT, OutT], words: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], Any]]:
    check_once(model, check_weights)
    ops: Any = model.ops
    if len(words.keys) == 0:
        return ops.alloc2f(0, model.get_dim("nO")), lambda dY: []
    if not is_train and len(words.keys) > _BLOCK:
        starts = range(0, len(words.keys), _BLOCK)
        blocks = [words.keys[start : start + _BLOCK] for start in starts]
        outputs = [model.predict(words._replace(keys=block)) for block in blocks]
        return ops.xp.concatenate(outputs), lambda dY: []
    found, counts = _get_ngrams(model).find_rows(words.read_texts())
    rows, lengths = ops.asarray(found), ops.asarray1i(counts)
    scale = ops.asarray((1 / np.sqrt(counts)).astype("f"))[:, None]
    summed = ops.reduce_sum(peek(model, "E")[rows], lengths) * scale
    output, backprop_dropout = apply_dropout(model, summed, is_train)

    def backprop(d_output: OutT) -> list:
        d_summed = ops.as_contig(backprop_dropout(d_output) * scale)
        d_rows = ops.backprop_reduce_sum(d_summed, lengths)
        inc_table_grad(model, "E", rows.reshape(-1, 1), d_rows)
        return []

    return output, backprop


def initialize(
    path: str | Path | None, model: Model[InT, OutT], X: Any = None, Y: Any = None
) -> None:
    width = model.get_dim("nO")
    E: Any = uniform_init(model.ops, (model.get_dim("nV"), width))
    if path is not None:
        table = read_table(Path(path), _get_ngrams(model), width)
        E = model.ops.asarray(table) * E.std()
    model.set_param("E", E)


def check_weights(model: Model) -> None:
    check_integer(model, "minn", 1, MAX_CHARACTERS)
    check_integer(model, "maxn", model.attrs["minn"], MAX_CHARACTERS)
    check_integer(model, "num_hashes", 1, MAX_HASHES)
    check_table(model)


def _get_ngrams(model: Model) -> Ngrams:
    attrs = model.attrs
    return Ngrams(
        attrs["minn"], attrs["maxn"], attrs["num_hashes"], model.get_dim("nV")
    )


class SubwordColumn(Column):
    """Column of the keys of words in `DOCS`."""

    is_kept = True

    def check(self) -> None:
        """Check weights and attributes when they are set or loaded."""
        check_once(self.model, check_weights)

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed words by their keys. On a GPU, the keys are not distinct."""
        model = self.model
        vocabs = find_vocabs(DOCS.get())
        if not is_on_gpu(model.ops):
            return model(Words(vocabs, keys.reshape(-1, 1)), is_train)
        distinct = find_distinct(model.ops.to_numpy(keys).reshape(-1, 1))
        words = Words(vocabs, distinct.values)
        return run_distinct(model, words, distinct, is_train)
