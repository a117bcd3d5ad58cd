from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from thinc.api import Model, uniform_init
from thinc.types import Floats2d

from ..arguments import MAX_ROWS, MAX_WIDTH, check_choice, check_dropout, check_integers
from ..hashing.murmur import MAX_HASHES
from ..kernels.distinct import find_distinct
from ..kernels.rows import is_on_gpu
from ..layers.checks import check_integer, check_once, peek
from ..layers.column import Array, Backprop, Column
from ..layers.tables import apply_dropout, check_table, inc_table_grad
from ..layers.with_distinct import run_distinct
from ..thinc_internals import partial
from .distinct_words import TEXT_ATTRIBUTES, Words, find_vocabs, with_distinct_words
from .floret import MAX_CHARACTERS, SubwordHashing, read_table
from .static_vectors import DOCS

InT = Words
OutT = Floats2d

NAME = "subwordembed"

# Words per block in prediction, to bound memory.
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

    Pass it as `subwords` to other embedders, to improve the vectors of unseen words.
    Each word is NFC-normalized and marked: `<word>`. The marked word and its n-grams
    are hashed to rows, whose sum is divided by the square root of their number. Marks
    and hashes equal those of floret in spaCy; with `minn` 1, single marks are n-grams
    too. Words of more than 128 characters are truncated to the first and last 64.

    attr (str): The attribute that identifies a word: `ORTH`, `LOWER`, `NORM`, or
        another text attribute.
    rows (int): The number of rows.
    width (int): The width of a row and of the output.
    minn, maxn (int): The lengths of n-grams in characters, including marks.
    num_hashes (int): The number of rows per n-gram, 1 to 4.
    dropout (float, optional): The rate, until overridden by the trainer, as in `spacy
        train`. None: no dropout.
    init (Path, optional): A table trained by floret on raw text, with the same rows,
        width, lengths and hashes. Training starts from its rows, rescaled to the
        standard deviation of random ones. Used only at initialization. Preprocess the
        raw text like `attr`: lower-case it for `LOWER`.

    *Output:* a float32 array of shape `(tokens, width)` for each Doc.

    Source: Bojanowski et al., "Enriching Word Vectors with Subword Information" (2017),
    §3.2. For floret: Miranda et al., "Multi hash embeddings in spaCy", §2.
    """
    check_choice(TEXT_ATTRIBUTES, attr=attr)
    check_integers(1, MAX_ROWS, rows=rows)
    check_integers(1, MAX_WIDTH, width=width)
    check_integers(1, MAX_CHARACTERS, minn=minn)
    check_integers(minn, MAX_CHARACTERS, maxn=maxn)
    check_integers(1, MAX_HASHES, num_hashes=num_hashes)
    check_dropout(dropout)
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
    found, counts = _get_hashing(model).find_rows(words.read_texts())
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
        table = read_table(Path(path), _get_hashing(model), width)
        E = model.ops.asarray(table) * E.std()
    model.set_param("E", E)


def check_weights(model: Model) -> None:
    check_integer(model, "minn", 1, MAX_CHARACTERS)
    check_integer(model, "maxn", model.attrs["minn"], MAX_CHARACTERS)
    check_integer(model, "num_hashes", 1, MAX_HASHES)
    check_table(model)


def _get_hashing(model: Model) -> SubwordHashing:
    attrs = model.attrs
    return SubwordHashing(
        attrs["minn"], attrs["maxn"], attrs["num_hashes"], model.get_dim("nV")
    )


class SubwordColumn(Column):
    """Column of the subwords of words in `DOCS`."""

    is_cached = True

    def check(self) -> None:
        """Validate weights and attributes after they are set or loaded."""
        check_once(self.model, check_weights)

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed words by their keys, which may repeat on a GPU."""
        model = self.model
        vocabs = find_vocabs(DOCS.get())
        if not is_on_gpu(model.ops):
            return model(Words(vocabs, keys.reshape(-1, 1)), is_train)
        distinct = find_distinct(model.ops.to_numpy(keys).reshape(-1, 1))
        words = Words(vocabs, distinct.values)
        return run_distinct(model, words, distinct, is_train)
