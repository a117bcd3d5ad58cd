"""How fast pipelines annotate, side by side."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import quantiles
from time import perf_counter
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..checks import check_integers


class Speed(NamedTuple):
    """Tokens a second in `nlp.pipe`, over all rounds."""

    median: float
    quartiles: tuple[float, float]


def measure_speeds(
    loaders: Mapping[str, Callable[[], Language]],
    docs: Sequence[Doc],
    *,
    rounds: int = 7,
    progress: Callable[[Sequence[int]], Iterable[int]] = lambda rounds: rounds,
) -> dict[str, Speed]:
    """Time `nlp.pipe` of pipelines on the words of docs, after a warm-up on a tenth.

    They take turns, so that a busy moment of the machine falls on all of them. Each is
    loaded anew for its turn: where the weights come to lie in memory changes the speed
    of Thinc's matrix product by up to a third, for as long as they lie there.
    """
    n_words = sum(len(doc) for doc in docs)
    if n_words == 0:
        raise ValueError(f"'docs' should have tokens, but are {len(docs)} empty ones.")
    check_integers(1, rounds=rounds)
    seconds: dict[str, list[float]] = {name: [] for name in loaders}
    for _ in progress(range(rounds)):
        for name, load in loaders.items():
            nlp = load()
            _time_pipe(nlp, docs[: len(docs) // 10 + 1])
            seconds[name].append(_time_pipe(nlp, docs))
    return {name: _summarize(n_words, times) for name, times in seconds.items()}


def _summarize(n_words: int, seconds: Sequence[float]) -> Speed:
    is_one = len(seconds) == 1
    lower, middle, upper = [*seconds] * 3 if is_one else quantiles(seconds, n=4)
    return Speed(n_words / middle, (n_words / upper, n_words / lower))


def _time_pipe(nlp: Language, docs: Sequence[Doc]) -> float:
    copies = [copy_words(doc, nlp.vocab) for doc in docs]
    start = perf_counter()
    for _ in nlp.pipe(copies):
        pass
    return perf_counter() - start


def copy_words(doc: Doc, vocab: Vocab) -> Doc:
    """Make a Doc of the words and spaces of another, without annotation."""
    spaces = [bool(token.whitespace_) for token in doc]
    return Doc(vocab, words=[token.text for token in doc], spaces=spaces)
