"""Timing several contenders side by side, in turns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from statistics import median, quantiles
from time import perf_counter, thread_time
from typing import Any, Generic, TypeVar

from spacy_hashembeds.acceleration.machine import Spread
from spacy_hashembeds.kernels import compiled

SampleT = TypeVar("SampleT")

#: How many threads of one process predict at once.
THREADS = (1, 2, 4)

#: Given a sample, gets all ready and returns the work that is to be timed.
Contender = Callable[[SampleT], Callable[[], object]]

#: Makes a contender anew, with its weights in another place of the memory.
Maker = Callable[[], Contender[SampleT]]

#: Does some work, and says how many seconds it took.
Clock = Callable[[Callable[[], object]], float]


@dataclass(frozen=True)
class Schedule:
    """How often to time.

    blocks (int): How often the contenders are made anew: where weights come to lie
        in memory changes the speed of a matrix product by up to a third, for as long
        as they lie there.
    rounds (int): How often each contender has its turn in a block.
    """

    blocks: int
    rounds: int

    def __post_init__(self) -> None:
        for name, value in (("blocks", self.blocks), ("rounds", self.rounds)):
            if value < 1:
                raise ValueError(f"'{name}' should be 1 or more, but is {value}.")


@dataclass(frozen=True)
class Work(Generic[SampleT]):
    """What the contenders work on.

    samples (Sequence[SampleT]): Each round takes the next one, over and over.
    count_words (Callable[[SampleT], int]): How many words a sample has.
    """

    samples: Sequence[SampleT]
    count_words: Callable[[SampleT], int]


@dataclass
class Timing:
    """What was measured of one contender.

    seconds_per_word (list[float]): One for each block and round.
    first_seconds (list[float]): What the first call of each block took.
    """

    seconds_per_word: list[float] = field(default_factory=list)
    first_seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Seconds a word, the median over all blocks and rounds."""
        return median(self.seconds_per_word)

    @property
    def quartiles(self) -> tuple[float, float]:
        """Seconds a word, the lower and the upper quartile."""
        return find_quartiles(self.seconds_per_word)

    def to_json(self) -> dict[str, Any]:
        """Say what was measured, in microseconds and words a second."""
        lower, upper = self.quartiles
        return {
            "us_per_word": 1e6 * self.median,
            "us_per_word_quartiles": [1e6 * lower, 1e6 * upper],
            "words_per_second": 1 / self.median,
            "first_call_ms": 1e3 * median(self.first_seconds),
            "times_measured": len(self.seconds_per_word),
        }


def find_quartiles(values: list[float]) -> tuple[float, float]:
    """Find the lower and the upper quartile, which of one value are this."""
    is_one = len(values) == 1
    lower, _, upper = values * 3 if is_one else quantiles(values, n=4)
    return lower, upper


def time_on_host(run: Callable[[], object]) -> float:
    """Measure how long some work takes."""
    start = perf_counter()
    run()
    return perf_counter() - start


def time_on_thread(run: Callable[[], object]) -> float:
    """Measure how long the processor works, if it is on this thread alone."""
    start = thread_time()
    run()
    return thread_time() - start


def time_in_turns(
    makers: Mapping[str, Maker[SampleT]],
    work: Work[SampleT],
    schedule: Schedule,
    clock: Clock = time_on_host,
) -> dict[str, Timing]:
    """Time contenders on the same samples, one after the other, round by round.

    The order turns from round to round, forward and backward, so that a busy moment
    of the machine, and what the one before leaves in the caches, falls on all of them.
    Each is warmed up on two samples whenever it was made anew.

    makers (Mapping[str, Maker]): For each name a function that makes the contender.
    work (Work): The samples.
    schedule (Schedule): How often to time.
    clock (Clock): Times each turn.
    RAISES (ValueError): If a sample has no words.
    RETURNS (dict[str, Timing]): What was measured of each contender.
    """
    if not work.samples or not all(map(work.count_words, work.samples)):
        raise ValueError("There should be words to time in every sample, but are none.")
    timings = {name: Timing() for name in makers}
    numbers = count()
    # What a block made is kept until the next has made its own, which will
    # therefore lie elsewhere.
    contenders: dict[str, Contender[SampleT]] = {}
    for _ in range(schedule.blocks):
        contenders = {name: make() for name, make in makers.items()}
        for name, contender in contenders.items():
            first_seconds = clock(contender(work.samples[0]))
            timings[name].first_seconds.append(first_seconds)
            clock(contender(work.samples[-1]))
        for _ in range(schedule.rounds):
            number = next(numbers)
            sample = work.samples[number % len(work.samples)]
            for name in _turn(list(contenders), number):
                seconds = clock(contenders[name](sample))
                timings[name].seconds_per_word.append(
                    seconds / work.count_words(sample)
                )
    return timings


def time_on_threads(
    makers: Mapping[str, Maker[Any]], work: Work[Any], schedule: Schedule
) -> dict[str, dict[str, Any]]:
    """Time contenders on several threads that share out what a sample has.

    RETURNS (dict[str, dict[str, Any]]): What was measured of each, as JSON data: its
        `contenders` are numbers of threads, and `times_as_fast_as_1` compares them.
    """
    timings = time_in_turns(
        {
            f"{n} {name}": _on_threads(make, n)
            for name, make in makers.items()
            for n in THREADS
        },
        work,
        schedule,
    )
    of_each = {
        name: {f"{n}": timings[f"{n} {name}"] for n in THREADS} for name in makers
    }
    return {
        name: {
            "contenders": {n: timing.to_json() for n, timing in on.items()},
            "times_as_fast_as_1": get_ratios(on, "1"),
        }
        for name, on in of_each.items()
    }


def _on_threads(make: Maker[Any], n: int) -> Maker[Any]:
    def make_on_threads() -> Contender[Any]:
        contender, pool = make(), ThreadPoolExecutor(n)

        def prepare(sample: Any) -> Callable[[], object]:
            runs = [contender(sample[i::n]) for i in range(n)]
            return lambda: list(pool.map(lambda run: run(), runs))

        return prepare

    return make_on_threads


def in_numpy(make: Maker[SampleT]) -> Maker[SampleT]:
    """Make a contender that uses no compiled kernels."""

    def make_in_numpy() -> Contender[SampleT]:
        with compiled.using(None):
            contender = make()

        def prepare(sample: SampleT) -> Callable[[], object]:
            with compiled.using(None):
                run = contender(sample)

            def run_in_numpy() -> None:
                with compiled.using(None):
                    run()

            return run_in_numpy

        return prepare

    return make_in_numpy


def get_spread(timing: Mapping[str, Any]) -> Spread:
    """Get the median and the quartiles of what `Timing.to_json` gave."""
    lower, upper = timing["us_per_word_quartiles"]
    return timing["us_per_word"], (lower, upper)


def get_spreads(
    timings: Mapping[str, Mapping[str, Any]], *baselines: str
) -> dict[str, Spread]:
    """Get the times of those that all others are compared with.

    timings (Mapping): What was timed side by side, by what that was. Each has the
        JSON data of its `contenders`.
    baselines (str): The names of the contenders.
    """
    return {
        f"{name} ({what})": get_spread(timed["contenders"][name])
        for what, timed in timings.items()
        for name in baselines
    }


def get_ratios(
    timings: Mapping[str, Timing | None], baseline: str
) -> dict[str, float | None]:
    """Say how many times as fast as a baseline each contender is.

    RETURNS (dict[str, Optional[float]]): Ratios of medians, above 1 if faster than
        the baseline. None where one of the two was not measured.
    """
    base = timings.get(baseline)
    return {
        name: base.median / timing.median if base and timing else None
        for name, timing in timings.items()
    }


def get_relative_times(
    timings: Mapping[str, Timing], baseline: str
) -> dict[str, float]:
    """Say how many times as long as a baseline each contender takes.

    RETURNS (dict[str, float]): Ratios of medians, above 1 if slower than the baseline.
    """
    base = timings[baseline].median
    return {name: timing.median / base for name, timing in timings.items()}


def _turn(names: Sequence[str], number: int) -> Iterator[str]:
    start = number // 2 % len(names)
    order = [*names[start:], *names[:start]]
    yield from reversed(order) if number % 2 else order
