"""Memory of the embedding layer over ever more distinct words, and of its tables."""

import gc
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import SGD, Model

from ._embedders import OURS, SPACY, build

BATCH_WORDS = 1000

#: How many points of each curve are measured.
_POINTS = 10

#: What is made once, such as folded tables, is made in the first batches.
_FIRST = 5

#: After how many batches a vocab is thrown away, where it is at times.
_VOCAB_BATCHES = 10

#: The ways to meet distinct words. Only in the first does nothing but a layer grow.
WAYS = (
    "ours, ids alone",
    "spaCy, ids alone",
    "ours, one vocab",
    "no layer, one vocab",
    "ours, memory zones",
    "ours, new vocab at times",
)


class ArrayDoc:
    """What an embedder sees of a Doc: the values of its attributes.

    Stands where a Doc does so that a layer can be measured alone: a vocab grows with
    every distinct word, whatever the layer.

    values (numpy.ndarray): *Shape:* `(tokens, attributes)`, uint64.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def to_array(self, attrs: Sequence[Any]) -> np.ndarray:
        """Get the values, whatever the attributes are."""
        return self.values


def make_id_docs(n_words: int, *, distinct: bool) -> Iterator[ArrayDoc]:
    """Make batches of ids as of 1000 words each, in bounded memory.

    n_words (int): The words of all batches together.
    distinct (bool): Whether no word comes twice. Else words are frequent and rare as
        in text, drawn from Zipf's law (exponent 1.2) over 2^40 words.
    """
    rng = np.random.default_rng(0)
    for start in range(0, n_words, BATCH_WORDS):
        size = min(BATCH_WORDS, n_words - start)
        if distinct:
            numbers = np.arange(start, start + size, dtype="uint64")
        else:
            numbers = rng.zipf(1.2, size).astype("uint64") % np.uint64(2**40)
        norms = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        # about as many prefixes, suffixes and shapes as English has
        parts = [norms >> np.uint64(40 - i) for i in range(3)]
        sizes = (100, 5000, 200)
        columns = [part % np.uint64(n) for part, n in zip(parts, sizes, strict=True)]
        yield ArrayDoc(np.stack([norms, *columns], axis=1))


def make_distinct_words(n_words: int) -> Iterator[list[str]]:
    """Make batches of 1000 words of letters, none of them twice."""
    for start in range(0, n_words, BATCH_WORDS):
        numbers = range(start, min(start + BATCH_WORDS, n_words))
        yield [_spell(number) for number in numbers]


def build_plain(name: str, rows: Sequence[int]) -> Model:
    """Build our hash embedder or spaCy's, initialised."""
    names = {
        SPACY: "spacy.MultiHashEmbed.v2",
        OURS[4]: "spacy-hashembeds.MultiFewerHashEmbed.v1",
    }
    model = build(names[name], rows=list(rows))
    model.initialize()
    return model


def measure_rss(n_words: int, rows: Sequence[int]) -> dict[str, list[list[float]]]:
    """Measure resident memory while distinct words are embedded.

    The first point is after five batches, when all is there that is made once. Each way
    runs in a process of its own, since memory that was once used is not
    always given back.

    RETURNS (dict[str, list[list[float]]]): For each way, distinct words seen and MiB.
    """
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return {way: _run_alone(pool, way, n_words, rows) for way in WAYS}


def measure_tables(rows: Sequence[int]) -> dict[str, dict[str, float]]:
    """Measure what layers keep in memory beside their parameters.

    RETURNS (dict[str, dict[str, float]]): For each layer, in MiB: its parameters, what
        it keeps besides after it has predicted and after it was trained, and the
        highest that memory rose while it predicted 1000 words.
    """
    return {name: _measure_tables(name, rows) for name in (SPACY, OURS[4])}


def read_memory_mib(field: str, file: str = "smaps_rollup") -> float:
    """Read a field of what Linux says about this process's memory, in MiB.

    RAISES (RuntimeError): If the system does not say.
    """
    path = Path("/proc/self") / file
    for line in path.read_text().splitlines() if path.is_file() else ():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(
        f"'{path}' should say how much '{field}' is, but does not: memory can only be "
        "measured on Linux."
    )


def _run_alone(
    pool: Pool, way: str, n_words: int, rows: Sequence[int]
) -> list[list[float]]:
    return pool.apply(watch_rss, (way, n_words, list(rows)))


def watch_rss(way: str, n_words: int, rows: Sequence[int]) -> list[list[float]]:
    """Embed distinct words in one of the ways, in this process.

    RAISES (ValueError): If there are too few words to see memory grow.
    RETURNS (list[list[float]]): Distinct words seen, and MiB.
    """
    if n_words <= _FIRST * BATCH_WORDS:
        raise ValueError(
            f"'words' should be more than {_FIRST * BATCH_WORDS}, but is {n_words}."
        )
    points = []
    every = max(1, n_words // BATCH_WORDS // _POINTS)
    seen = 0
    for number, size in enumerate(_embed_in_way(way, n_words, rows), start=1):
        seen += size
        if number == _FIRST or (number > _FIRST and number % every == 0):
            points.append([float(seen), read_memory_mib("VmRSS", "status")])
    return points


def _embed_in_way(way: str, n_words: int, rows: Sequence[int]) -> Iterator[int]:
    name = SPACY if way.startswith("spaCy") else OURS[4]
    predict: Callable[[list[Any]], object] = build_plain(name, rows).predict
    if way.endswith("ids alone"):
        for doc in make_id_docs(n_words, distinct=True):
            predict([doc])
            yield len(doc)
        return
    nlp = spacy.blank("en")
    for number, words in enumerate(make_distinct_words(n_words)):
        if way.endswith("new vocab at times") and number % _VOCAB_BATCHES == 0:
            nlp = spacy.blank("en")
        with _enter_zone(nlp, way):
            docs = [Doc(nlp.vocab, words=words)]
            if not way.startswith("no layer"):
                predict(docs)
            docs.clear()  # before its strings and lexemes go
        yield len(words)


def _enter_zone(nlp: Language, way: str) -> AbstractContextManager[Any]:
    return nlp.memory_zone() if way.endswith("memory zones") else nullcontext()


def _measure_tables(name: str, rows: Sequence[int]) -> dict[str, float]:
    docs: list[Any] = list(make_id_docs(BATCH_WORDS, distinct=False))
    tracemalloc.start()
    try:
        model = build_plain(name, rows)
        empty = _get_traced()
        for _ in range(3):
            model.predict(docs)
        predicted = _get_traced()
        tracemalloc.reset_peak()
        model.predict(docs)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        _train(model, docs)
        return {
            "parameters_mib": _count_bytes(model) / 2**20,
            "kept_after_predicting_mib": predicted - empty,
            "kept_after_training_mib": _get_traced() - empty,
            "peak_while_predicting_mib": peak - predicted,
        }
    finally:
        tracemalloc.stop()


def _train(model: Model, docs: list[Any]) -> None:
    Y, backprop = model.begin_update(docs)
    backprop([np.ones_like(y) for y in Y])
    model.finish_update(SGD(0.001))


def _count_bytes(model: Model) -> int:
    return sum(
        node.get_param(param).nbytes
        for node in model.walk()
        for param in node.param_names
        if node.has_param(param)
    )


def _get_traced() -> float:
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 2**20


def _spell(number: int) -> str:
    letters: Iterable[int] = (number // 26**i % 26 for i in range(6))
    return "".join(chr(ord("a") + letter) for letter in letters)
