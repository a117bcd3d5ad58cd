"""Memory while distinct words go through a layer, and through a vocab."""

from collections.abc import Sequence
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc

from .data import BATCH_WORDS, Sizes
from .layers import OUR_EMBED, ROWS, STOCK_EMBED, build_embedder
from .timing import Results, Schedule, read_memory_mib

#: The ways to meet distinct words. Only in the first two does nothing but a layer grow.
WAYS = (
    "ours, ids alone",
    "spaCy, ids alone",
    "ours, one vocab",
    "no layer, one vocab",
    "ours, memory zones",
    "ours, new vocab at times",
)
#: What is made once, such as folded tables, is made in the first batches.
_FIRST = 5
#: After how many batches a vocab is thrown away, where it is at times.
_VOCAB_BATCHES = 10


class ArrayDoc:
    """Attributes that an embedder sees of a Doc, by which a layer can be
    measured alone, as a vocab grows with every distinct word, whatever the layer.

    values (numpy.ndarray): *Shape:* `(tokens, attributes)`, uint64.
    """

    #: Of which the embedder wants no more than that it is the same in all Docs.
    vocab = None

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def to_array(self, attrs: Sequence[Any]) -> np.ndarray:
        """Get the values, whatever the attributes are."""
        return self.values


def make_values(start: int) -> np.ndarray:
    """Make the values of four attributes of a thousand words. Words of other numbers
    are others.

    RETURNS (numpy.ndarray): *Shape:* `(tokens, attributes)`, uint64.
    """
    numbers = np.arange(start, start + BATCH_WORDS, dtype="uint64")
    norms = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    # about as many prefixes, suffixes and shapes as English has
    sizes = np.array([100, 5000, 200], dtype="uint64")
    shifts = np.array([40, 39, 38], dtype="uint64")
    return np.column_stack([norms, (norms[:, None] >> shifts) % sizes])


def measure_memory(corpus: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure whether memory grows with words, which are made up."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        # each in a process of its own: memory once used is not always given back
        grown = {w: pool.apply(watch_rss, (w, sizes.distinct_words)) for w in WAYS}
    yield {"rows": ROWS, "rss_mib": grown}


def watch_rss(way: str, n_words: int) -> dict[str, float]:
    """Embed distinct words in one of the ways, in this process.

    RAISES (ValueError): If there are too few words to see memory grow.
    RETURNS (dict[str, float]): Resident MiB by distinct words seen: after five
        batches, when all is there that is made once, and after all.
    """
    if n_words <= _FIRST * BATCH_WORDS:
        raise ValueError(
            f"'words' should be more than {_FIRST * BATCH_WORDS}, but is {n_words}."
        )
    points, starts = {}, range(0, n_words, BATCH_WORDS)
    name = STOCK_EMBED if way.startswith("spaCy") else OUR_EMBED
    model = build_embedder(name, rows=ROWS)
    model.initialize()
    nlp = spacy.blank("en")
    for number, start in enumerate(starts):
        if way.endswith("new vocab at times") and number % _VOCAB_BATCHES == 0:
            nlp = spacy.blank("en")
        if way.endswith("ids alone"):
            model.predict([ArrayDoc(make_values(start))])
        else:
            with nlp.memory_zone() if way.endswith("zones") else nullcontext():
                words = [_spell(start + i) for i in range(BATCH_WORDS)]
                real = [Doc(nlp.vocab, words=words)]
                if not way.startswith("no layer"):
                    model.predict(real)
                real.clear()  # before its strings and lexemes go
        if number + 1 in (_FIRST, len(starts)):
            seen = f"{(number + 1) * BATCH_WORDS:,}"
            points[seen] = read_memory_mib("VmRSS", "status")
    return points


def _spell(number: int) -> str:
    return "".join(chr(ord("a") + number // 26**i % 26) for i in range(6))
