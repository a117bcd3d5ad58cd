"""How fast pipelines annotate, side by side."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import quantiles
from time import perf_counter
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc


class Speed(NamedTuple):
    """How many tokens a second a pipeline annotates: over all rounds."""

    median: float
    quartiles: tuple[float, float]


def measure_words_per_second(
    loaders: Mapping[str, Callable[[], Language]],
    docs: Sequence[Doc],
    *,
    rounds: int = 7,
    progress: Callable[[Sequence[int]], Iterable[int]] = lambda rounds: rounds,
) -> dict[str, float]:
    """Measure how many tokens a second pipelines annotate: see `measure_speeds`.

    RETURNS (dict[str, float]): Tokens per second of each pipeline, in the median round.
    """
    speeds = measure_speeds(loaders, docs, rounds=rounds, progress=progress)
    return {name: speed.median for name, speed in speeds.items()}


def measure_speeds(
    loaders: Mapping[str, Callable[[], Language]],
    docs: Sequence[Doc],
    *,
    rounds: int = 7,
    progress: Callable[[Sequence[int]], Iterable[int]] = lambda rounds: rounds,
) -> dict[str, Speed]:
    """Measure how fast pipelines annotate, side by side.

    The pipelines take turns, so that a busy moment of the machine falls on all of
    them, and the median round counts. Each is loaded anew for its turn: where the
    weights come to lie in memory changes the speed of Thinc's matrix product by up to
    a third, for as long as they lie there. Only `nlp.pipe` is timed, after a warm-up on
    a tenth of the docs: no loading, no tokenizer, no reading of files.

    loaders (Mapping[str, Callable[[], Language]]): For each name a function that loads
        the pipeline.
    docs (Sequence[Doc]): The docs to annotate; only their words and spaces are taken.
    rounds (int): How often to time each pipeline. More rounds steady the median.
    progress (Callable[[Sequence[int]], Iterable[int]]): Hands the rounds on, and shows
        how far we are.
    RAISES (ValueError): If there is no token to annotate, or no round.
    RETURNS (dict[str, Speed]): The speed of each pipeline.
    """
    n_words = sum(len(doc) for doc in docs)
    if n_words == 0:
        raise ValueError(f"'docs' should have tokens, but are {len(docs)} empty ones.")
    if rounds < 1:
        raise ValueError(f"'rounds' should be 1 or more, but is {rounds}.")
    texts = [
        ([token.text for token in doc], [bool(token.whitespace_) for token in doc])
        for doc in docs
    ]
    seconds: dict[str, list[float]] = {name: [] for name in loaders}
    for _ in progress(range(rounds)):
        for name, load in loaders.items():
            nlp = load()
            _time_pipe(nlp, texts[: len(texts) // 10 + 1])
            seconds[name].append(_time_pipe(nlp, texts))
    return {name: _summarize(n_words, times) for name, times in seconds.items()}


def _summarize(n_words: int, seconds: Sequence[float]) -> Speed:
    is_one = len(seconds) == 1
    lower, middle, upper = [*seconds] * 3 if is_one else quantiles(seconds, n=4)
    return Speed(n_words / middle, (n_words / upper, n_words / lower))


def _time_pipe(nlp: Language, texts: list[tuple[list[str], list[bool]]]) -> float:
    docs = [Doc(nlp.vocab, words=words, spaces=spaces) for words, spaces in texts]
    start = perf_counter()
    for _ in nlp.pipe(docs):
        pass
    return perf_counter() - start
