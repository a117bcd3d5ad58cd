"""Speeds of pipelines, measured side by side."""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import quantiles
from time import perf_counter, process_time
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import _pipe

from ..training.annotation import copy_words

#: Seconds in which rounds may begin, and the fewest rounds, if so many are asked for.
_SECONDS, _LEAST_ROUNDS = 60.0, 3

#: Takes "texts" to compare or "rounds" to time, and which of them, and hands them on.
Progress = Callable[[Iterable[Any], str], Iterable[Any]]
#: Titles of progress bars.
TITLES = {"texts": "Comparing", "rounds": "Timing"}


class Spread(NamedTuple):
    """A median and the quartiles around it, in whatever unit."""

    median: float
    quartiles: tuple[float, float]


def find_spread(rounds: Sequence[float]) -> Spread:
    """Find the median and the quartiles of what was measured in rounds."""
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
    """Time `nlp.pipe` on the words of docs, in tokens a second, in turns, after a
    warm-up on a tenth. Each is loaded anew for its turn: where weights come to lie in
    memory changes the speed of Thinc's matrix product by up to a third. Of pipelines
    that are long in loading there are fewer rounds: after a minute none begins, but for
    three.
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
    """Annotate a tenth of docs, and collect what loading left: else Python would in the
    midst of what is timed, where lemmas' tables have a million objects for a second.
    Return copies of all to annotate.
    """
    for _ in nlp.pipe(
        copy_words(doc, nlp.vocab) for doc in docs[: len(docs) // 10 + 1]
    ):
        pass
    gc.collect()
    return [copy_words(doc, nlp.vocab) for doc in docs]


def measure_components(nlp: Language, docs: Sequence[Doc]) -> dict[str, float]:
    """Time each component once, on the words of docs, after a warm-up on a tenth, in
    microseconds a word.
    """
    current: Iterable[Doc] = _warm_up(nlp, docs)
    n_words = sum(map(len, docs))
    found = {}
    for name, pipe in nlp.pipeline:
        config = {"batch_size": nlp.batch_size}
        start = process_time()  # what else runs counts for less
        current = list(_pipe(current, pipe, name, nlp.default_error_handler, config))
        found[name] = 1e6 * (process_time() - start) / n_words
    return found
