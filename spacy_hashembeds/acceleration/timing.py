"""Time pipelines and their components."""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import _pipe

from ..training.prediction import copy_words, find_inputs

#: Time limit in seconds for starting another round after the first ones.
_SECONDS, _LEAST_ROUNDS = 60.0, 3

#: Function that yields items and shows progress, given their kind: "texts" or "rounds".
Progress = Callable[[Iterable[Any], str], Iterable[Any]]
#: Titles of progress bars.
TITLES = {"texts": "Comparing", "rounds": "Timing"}


class Spread(NamedTuple):
    """Median and quartiles, in the unit of the measurements."""

    median: float
    quartiles: tuple[float, float]


def find_spread(rounds: Sequence[float]) -> Spread:
    """Compute the median and quartiles of the measurements of rounds."""
    lower, middle, upper = np.quantile(rounds, [0.25, 0.5, 0.75]).tolist()
    return Spread(middle, (lower, upper))


def measure_speeds(
    loaders: Mapping[str, Callable[[], Language]],
    docs: Sequence[Doc],
    *,
    rounds: int = 7,
    progress: Callable[[Sequence[int]], Iterable[int]] = lambda rounds: rounds,
) -> dict[str, Spread]:
    """Time `nlp.pipe` on the words and features of docs, in tokens per second.
    Pipelines alternate, each after a warm-up on a tenth of the docs. Each is loaded
    again in each round: the addresses of weights change the speed of Thinc's matrix
    product by up to a third. After a minute, only the first three rounds start.
    """
    n_words = sum(map(len, docs))
    speeds: dict[str, list[float]] = {name: [] for name in loaders}
    start = perf_counter()
    for n_done in progress(range(rounds)):
        if n_done >= _LEAST_ROUNDS and perf_counter() - start > _SECONDS:
            break
        for name, load in loaders.items():
            speeds[name].append(n_words / _time_pipe(load(), docs))
    return {name: find_spread(of_rounds) for name, of_rounds in speeds.items()}


def _time_pipe(nlp: Language, docs: Sequence[Doc]) -> float:
    copies = _warm_up(nlp, docs)
    start = perf_counter()
    for _ in nlp.pipe(copies):
        pass
    return perf_counter() - start


def _warm_up(nlp: Language, docs: Sequence[Doc]) -> list[Doc]:
    """Annotate a tenth of docs, and return copies of all. Collect garbage, which would
    take a second of the timing if lemma tables have a million objects.
    """
    copy = partial(copy_words, vocab=nlp.vocab, features=find_inputs(nlp))
    for _ in nlp.pipe(map(copy, docs[: len(docs) // 10 + 1])):
        pass
    gc.collect()
    return [*map(copy, docs)]


def measure_components(nlp: Language, docs: Sequence[Doc]) -> dict[str, float]:
    """Measure components' CPU time in µs per word, in one run after a warm-up."""
    current: Iterable[Doc] = _warm_up(nlp, docs)
    n_words = sum(map(len, docs))
    found = {}
    for name, pipe in nlp.pipeline:
        config = {"batch_size": nlp.batch_size}
        start = process_time()  # not affected by other processes
        current = list(_pipe(current, pipe, name, nlp.default_error_handler, config))
        found[name] = 1e6 * (process_time() - start) / n_words
    return found
