"""Memory of a layer and of a vocab after many distinct words."""

from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path

import spacy
from spacy.tokens import Doc

from .data import BATCH_WORDS, Sizes
from .layers import OUR_EMBED, ROWS, build_embedder
from .timing import Results, Schedule, read_memory_mib

#: Variants of embedding distinct words. spaCy's vocab grows with each word.
VARIANTS = (
    "ours, one vocab",
    "no layer, one vocab",
    "ours, memory zones",
    "ours, new vocab at times",
)
#: Batches before the first measurement, which make caches such as folded tables.
_FIRST = 5
#: The number of batches for which a vocab is used.
_VOCAB_BATCHES = 10


def measure_memory(corpus: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure the growth of memory with random words."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        # use new processes, since memory is not always released
        grown = {w: pool.apply(watch_rss, (w, sizes.distinct_words)) for w in VARIANTS}
    yield {"rows": ROWS, "rss_mib": grown}


def watch_rss(variant: str, n_words: int) -> dict[str, float]:
    """Return resident MiB by number of words, after `_FIRST` and after all batches."""
    points, starts = {}, range(0, n_words, BATCH_WORDS)
    model = build_embedder(OUR_EMBED, rows=ROWS)
    model.initialize()
    nlp = spacy.blank("en")
    for number, start in enumerate(starts):
        if variant.endswith("new vocab at times") and number % _VOCAB_BATCHES == 0:
            nlp = spacy.blank("en")
        with nlp.memory_zone() if variant.endswith("zones") else nullcontext():
            words = [_make_word(start + i) for i in range(BATCH_WORDS)]
            docs = [Doc(nlp.vocab, words=words)]
            if not variant.startswith("no layer"):
                model.predict(docs)
            docs.clear()  # before the memory zone ends
        if number + 1 in (_FIRST, len(starts)):
            points[f"{(number + 1) * BATCH_WORDS:,}"] = read_memory_mib("VmRSS")
    return points


def _make_word(number: int) -> str:
    return "".join(chr(ord("a") + number // 26**i % 26) for i in range(6))
