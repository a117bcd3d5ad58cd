"""Time and memory as a stream of text grows, and tables that processes share."""

import gc
import tracemalloc
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import accumulate, takewhile
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc
from thinc.api import SGD, Model, fix_random_seed

from .data import BATCH_WORDS, Sizes
from .layers import (
    OUR_EMBED,
    OURS,
    ROWS,
    SPACY,
    STOCK_EMBED,
    build_embedder,
    list_weights,
    prepare_predict,
)
from .timing import Json, Results, Schedule, read_memory_mib, time_in_turns

NAMES = {SPACY: STOCK_EMBED, OURS: OUR_EMBED}

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
_PATIENCE_SECONDS = 120

#: Where workers wait for each other.
_barrier: Any = None


class ArrayDoc:
    """What an embedder sees of a Doc, the values of its attributes: a layer can then be
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


class Stream(Sequence[Any]):
    """Samples of one call with one Doc of 1000 words, made when they are asked for.

    distinct (bool): Whether no word comes twice. Else words are frequent and rare as in
        text, drawn from Zipf's law (exponent 1.2) over 2^40 words.
    """

    def __init__(self, start: int, stop: int, *, distinct: bool = False) -> None:
        self.starts = range(start, stop, BATCH_WORDS)
        self.distinct = distinct

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, number: Any) -> list[list[ArrayDoc]]:
        """Make a sample."""
        start = self.starts[number]
        if self.distinct:
            numbers = np.arange(start, start + BATCH_WORDS, dtype="uint64")
        else:
            drawn = np.random.default_rng(start).zipf(1.2, BATCH_WORDS)
            numbers = drawn.astype("uint64") % np.uint64(2**40)
        norms = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        # about as many prefixes, suffixes and shapes as English has
        sizes = np.array([100, 5000, 200], dtype="uint64")
        shifts = np.array([40, 39, 38], dtype="uint64")
        columns = (norms[:, None] >> shifts) % sizes
        return [[ArrayDoc(np.column_stack([norms, columns]))]]


def measure_growth(corpus: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure whether time and memory of our layer stay as they are, of made-up words
    in a stream that is timed once.
    """
    words = sizes.distinct_words
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        # each in a process of its own: memory once used is not always given back
        grown = {way: pool.apply(watch_rss, (way, words)) for way in WAYS}
    shared = sizes.shared_rows, sizes.workers
    yield {
        "rows": ROWS,
        "timings": {"words seen": time_stream(sizes.tokens)},
        "rss_mib": grown,
        "kept_mib": {name: measure_tables(name) for name in NAMES},
        "sharing": dict(zip(("rows", "workers"), shared, strict=True)),
        "sharing_mib": measure_sharing(*shared, min(words, 200_000)),
    }


def build_plain(name: str, rows: Sequence[int] = ROWS) -> Model:
    """Build our hash embedder or spaCy's, initialised."""
    model = build_embedder(NAMES[name], rows=[*rows])
    model.initialize()
    return model


def time_stream(tokens: int) -> Json:
    """Time a stream of tokens: what was measured at 1000 tokens, 10,000 and so on, each
    since the last such point.
    """
    fix_random_seed(0)
    models = {name: build_plain(name) for name in NAMES}
    makes = {name: lambda m=model: m for name, model in models.items()}
    decades = accumulate([BATCH_WORDS] + [10] * 20, lambda a, b: a * b)
    ends = [*takewhile(lambda end: end < tokens, decades), tokens]
    points = {}
    for start, end in zip([0, *ends], ends, strict=False):
        calls = Stream(start, end)
        schedule = Schedule(1, len(calls))
        points[f"{end:,}"] = time_in_turns(makes, prepare_predict, calls, schedule)
    return points


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
    points, calls = {}, Stream(0, n_words, distinct=True)
    model = build_plain(SPACY if way.startswith("spaCy") else OURS)
    nlp = spacy.blank("en")
    for number, (docs,) in enumerate(calls):
        if way.endswith("new vocab at times") and number % _VOCAB_BATCHES == 0:
            nlp = spacy.blank("en")
        if way.endswith("ids alone"):
            model.predict(docs)
        else:
            with nlp.memory_zone() if way.endswith("zones") else nullcontext():
                words = [_spell(calls.starts[number] + i) for i in range(BATCH_WORDS)]
                real = [Doc(nlp.vocab, words=words)]
                if not way.startswith("no layer"):
                    model.predict(real)
                real.clear()  # before its strings and lexemes go
        if number + 1 in (_FIRST, len(calls)):
            seen = f"{(number + 1) * BATCH_WORDS:,}"
            points[seen] = read_memory_mib("VmRSS", "status")
    return points


def _spell(number: int) -> str:
    return "".join(chr(ord("a") + number // 26**i % 26) for i in range(6))


def measure_tables(name: str) -> dict[str, float]:
    """Measure what a layer has in memory, in MiB: its parameters, what it keeps besides
    after it has predicted and after it was trained, and the highest that memory rose
    while it predicted 1000 words.
    """
    docs: Any = Stream(0, BATCH_WORDS)[0][0]
    tracemalloc.start()
    try:
        model = build_plain(name)
        empty = _get_traced()
        for _ in range(3):
            model.predict(docs)
        predicted = _get_traced()
        tracemalloc.reset_peak()
        model.predict(docs)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        Y, backprop = model.begin_update(docs)
        backprop([np.ones_like(y) for y in Y])
        model.finish_update(SGD(0.001))
        return {
            "parameters": sum(W.nbytes for W in list_weights(model)) / 2**20,
            "kept after predicting": predicted - empty,
            "kept after training": _get_traced() - empty,
            "peak while predicting": peak - predicted,
        }
    finally:
        tracemalloc.stop()


def _get_traced() -> float:
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 2**20


def measure_sharing(
    rows: Sequence[int], workers: int, n_words: int
) -> dict[str, dict[str, Any]]:
    """Have worker processes predict with the same tables, mapped or each its own.

    n_words (int): How many words each embeds, so that it reads all over the tables.
    RETURNS (dict[str, dict[str, Any]]): For each way, MiB of a worker with its share of
        what is shared and its own alone, or the error. Both count Python and libraries,
        which "no tables" has without the tables.
    """
    with TemporaryDirectory() as folder:
        paths = []
        for number, table in enumerate(find_tables(build_plain(SPACY, rows))):
            paths.append(Path(folder) / f"{number}.npy")
            np.save(paths[-1], np.asarray(table.get_param("E")))
        return {
            "no tables": _share(OURS, [], [1] * len(rows), workers, n_words),
            "spaCy, mapped": _share(SPACY, paths, rows, workers, n_words),
            "ours, mapped": _share(OURS, paths, rows, workers, n_words),
            "spaCy, copied": _share(SPACY, [], rows, workers, n_words),
            "ours, copied": _share(OURS, [], rows, workers, n_words),
        }


def find_tables(model: Model) -> list[Model]:
    """Find the layers that have a table, in order."""
    return [node for node in model.walk() if node.name == "hashembed"]


def _share(
    name: str, paths: Sequence[Path], rows: Sequence[int], workers: int, n_words: int
) -> dict[str, Any]:
    context = get_context("spawn")
    barrier = context.Barrier(workers)
    with context.Pool(workers, _keep, (barrier,)) as pool:
        work = [(name, paths, [*rows], n_words)] * workers
        try:
            measured = pool.starmap(_work, work, chunksize=1)
        except Exception as error:  # of whichever kind: it is what is to be reported
            return {"error": f"{type(error).__name__}: {error}"}
    kinds = ("with its share (PSS)", "its own (USS)")
    return dict(zip(kinds, map(mean, zip(*measured, strict=True)), strict=True))


def _keep(barrier: Any) -> None:
    global _barrier
    _barrier = barrier


def _work(
    name: str, paths: Sequence[Path], rows: list[int], n_words: int
) -> tuple[float, float]:
    model = build_plain(name, rows)
    for table, path in zip(find_tables(model), paths, strict=False):
        table.set_param("E", np.load(path, mmap_mode="r"))
    for (docs,) in Stream(0, n_words, distinct=True):
        model.predict(docs)
    # all have their tables now, and none lets go of them before all are measured
    _barrier.wait(_PATIENCE_SECONDS)
    private = sum(map(read_memory_mib, ("Private_Clean", "Private_Dirty")))
    memory = read_memory_mib("Pss"), private
    _barrier.wait(_PATIENCE_SECONDS)
    return memory
