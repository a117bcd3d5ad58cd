"""Measure the speeds of pipelines in turns."""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from statistics import quantiles
from time import perf_counter, process_time
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import _pipe

from ..training.prediction import copy_words, find_inputs

#: Seconds after which no round begins, and the number of rounds that always run, if as
#: many are asked for.
_SECONDS, _LEAST_ROUNDS = 60.0, 3

#: Function of items and their kind, "texts" to compare or "rounds" to time, that yields
#: the items and shows progress.
Progress = Callable[[Iterable[Any], str], Iterable[Any]]
#: Titles of progress bars.
TITLES = {"texts": "Comparing", "rounds": "Timing"}


class Spread(NamedTuple):
    """A median and the quartiles around it, in the unit of the measurements."""

    median: float
    quartiles: tuple[float, float]


def find_spread(rounds: Sequence[float]) -> Spread:
    """Find the median and the quartiles of the measurements of rounds."""
    repeated = [*rounds] * (3 if len(rounds) == 1 else 1)
    lower, middle, upper = quantiles(repeated, n=4, method="inclusive")
    return Spread(middle, (lower, upper))


def measure_speeds(
    loaders: Mapping[str, Callable[[], Language]],
    docs: Sequence[Doc],
    *,
    rounds: int = 7,
    progress: Callable[[Sequence[int]], Iterable[int]] = lambda rounds: rounds,
) -> dict[str, Spread]:
    """Time `nlp.pipe` on the words and features of docs, in tokens a second. Pipelines
    take turns, each after a warm-up on a tenth of the docs. Each is loaded again for
    its turn, since the addresses of weights change the speed of Thinc's matrix product
    by up to a third. Pipelines that load slowly have fewer rounds: after a minute no
    round begins, except the first three.
    """
    n_words = sum(map(len, docs))
    if n_words == 0:
        raise ValueError("'docs' should have tokens to time pipelines on.")
    speeds: dict[str, list[float]] = {name: [] for name in loaders}
    start = perf_counter()
    for done in progress(range(rounds)):
        if done >= _LEAST_ROUNDS and perf_counter() - start > _SECONDS:
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
    """Annotate a tenth of docs, and collect garbage: otherwise Python would do so
    during the timing, for a second if lemma tables have a million objects. Return
    copies of all docs, to annotate.
    """
    copy = partial(copy_words, vocab=nlp.vocab, features=find_inputs(nlp))
    for _ in nlp.pipe(map(copy, docs[: len(docs) // 10 + 1])):
        pass
    gc.collect()
    return [*map(copy, docs)]


def measure_components(nlp: Language, docs: Sequence[Doc]) -> dict[str, float]:
    """Time each component once on the words of docs, in microseconds a word, after a
    warm-up on a tenth of the docs.
    """
    current: Iterable[Doc] = _warm_up(nlp, docs)
    n_words = sum(map(len, docs))
    found = {}
    for name, pipe in nlp.pipeline:
        config = {"batch_size": nlp.batch_size}
        start = process_time()  # less affected by other processes
        current = list(_pipe(current, pipe, name, nlp.default_error_handler, config))
        found[name] = 1e6 * (process_time() - start) / n_words
    return found
