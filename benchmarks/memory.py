"""Memory while distinct words go through a layer, and through a vocab."""

from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path

import spacy
from spacy.tokens import Doc

from .data import BATCH_WORDS, Sizes
from .layers import OUR_EMBED, ROWS, build_embedder
from .timing import Results, Schedule, read_memory_mib

#: The ways to meet distinct words: spaCy's vocab grows, whatever the layer does.
WAYS = (
    "ours, one vocab",
    "no layer, one vocab",
    "ours, memory zones",
    "ours, new vocab at times",
)
#: What is made once, such as folded tables, is made in the first batches.
_FIRST = 5
#: After how many batches a vocab is thrown away, where it is at times.
_VOCAB_BATCHES = 10


def measure_memory(corpus: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure whether memory grows with words, which are made up."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        # each in a process of its own: memory once used is not always given back
        grown = {w: pool.apply(watch_rss, (w, sizes.distinct_words)) for w in WAYS}
    yield {"rows": ROWS, "rss_mib": grown}


def watch_rss(way: str, n_words: int) -> dict[str, float]:
    """Embed distinct words in one of the ways, and return resident MiB by words seen:
    after five batches, and after all.
    """
    points, starts = {}, range(0, n_words, BATCH_WORDS)
    model = build_embedder(OUR_EMBED, rows=ROWS)
    model.initialize()
    nlp = spacy.blank("en")
    for number, start in enumerate(starts):
        if way.endswith("new vocab at times") and number % _VOCAB_BATCHES == 0:
            nlp = spacy.blank("en")
        with nlp.memory_zone() if way.endswith("zones") else nullcontext():
            words = [_spell(start + i) for i in range(BATCH_WORDS)]
            docs = [Doc(nlp.vocab, words=words)]
            if not way.startswith("no layer"):
                model.predict(docs)
            docs.clear()  # before its strings and lexemes go
        if number + 1 in (_FIRST, len(starts)):
            points[f"{(number + 1) * BATCH_WORDS:,}"] = read_memory_mib("VmRSS")
    return points


def _spell(number: int) -> str:
    return "".join(chr(ord("a") + number // 26**i % 26) for i in range(6))
