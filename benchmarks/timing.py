"""Timing contenders side by side, in turns, and reading what memory they take.

pyperf has no turns within a process, nor weights that are made anew between rounds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from spacy_hashembeds.acceleration.machine import Spread, find_spread
from spacy_hashembeds.kernels import compiled

Json = dict[str, Any]

#: What a benchmark yields: the results so far.
Results = Iterator[Json]

#: Makes what is timed anew, a layer or a pipeline: its weights lie elsewhere in memory.
Makes = Mapping[str, Callable[[], Any]]

#: Given what was made and a sample, gets all ready and returns the work to be timed.
Prepare = Callable[[Any, Any], Callable[[], object]]

#: For each way to use contenders what makes them and gets them ready, and samples.
Ways = Mapping[str, tuple[Makes, Prepare, Sequence[Any]]]

#: What a contender is made, made ready and timed in, by its name.
Contexts = Mapping[str, Callable[[], AbstractContextManager[Any]]]

#: How many threads of one process predict at once.
THREADS = (1, 2, 4)
THREADED = "several threads"


class Schedule(NamedTuple):
    """Counts of rounds: contenders are made anew for each block, since where weights
    come to lie in memory changes the speed of a matrix product by up to a third, and
    each has its turn in every round of a block.
    """

    blocks: int
    rounds: int


def count_words(sample: Any) -> int:
    """Count the words of a Doc or its vectors, of batches, and of batches of these."""
    return sum(map(count_words, sample)) if isinstance(sample, list) else len(sample)


def time_in_turns(
    makes: Makes,
    prepare: Prepare,
    samples: Sequence[Any],
    schedule: Schedule,
    *,
    contexts: Contexts | None = None,
    clock: Callable[[], float] = perf_counter,
    count_words: Callable[[Any], int] = count_words,
) -> dict[str, Json]:
    """Time contenders on the same samples, one after the other, round by round.

    The order turns from round to round, forward and backward, so that a busy moment
    of the machine, and what the one before leaves in the caches, falls on all of them.
    Each is warmed up on two samples whenever it was made anew.

    makes (Makes): Makes each contender. The first is what others are compared with.
    samples (Sequence[Any]): Each round takes the next one, over and over.
    RAISES (ValueError): If a sample has no words.
    RETURNS (dict[str, Json]): What `summarize` says of each contender.
    """
    if not samples or not all(map(count_words, samples)):
        raise ValueError("There should be words to time in every sample, but are none.")
    enter = {name: (contexts or {}).get(name, nullcontext) for name in makes}

    def take_turn(name: str, sample: Any) -> float:
        with enter[name]():
            run = prepare(made[name], sample)
            start = clock()
            run()
            return clock() - start

    seconds: dict[str, list[float]] = {name: [] for name in makes}
    first: dict[str, list[float]] = {name: [] for name in makes}
    numbers = count()
    # What a block made is kept until the next has made its own, which will
    # therefore lie elsewhere.
    made: dict[str, Any] = {}
    for _ in range(schedule.blocks):
        made = {name: _make(make, enter[name]) for name, make in makes.items()}
        for name in makes:
            first[name].append(take_turn(name, samples[0]))
            take_turn(name, samples[-1])
        for number in (next(numbers) for _ in range(schedule.rounds)):
            sample = samples[number % len(samples)]
            for name in take_order([*makes], number):
                seconds[name].append(take_turn(name, sample) / count_words(sample))
    return {name: summarize(seconds[name], first[name]) for name in makes}


def _make(make: Callable[[], Any], enter: Callable[[], Any]) -> Any:
    with enter():
        return make()


def time_ways(ways: Ways, schedule: Schedule, **settings: Any) -> Json:
    """Time contenders in each of the ways that they are put to use."""
    return {
        what: time_in_turns(*way, schedule, **settings) for what, way in ways.items()
    }


def take_order(names: Sequence[str], number: int) -> Iterator[str]:
    """Say in which order contenders have their turn in a round of this number."""
    start = number // 2 % len(names)
    order = [*names[start:], *names[:start]]
    yield from reversed(order) if number % 2 else order


def summarize(seconds: Sequence[float], first: Sequence[float] = ()) -> Json:
    """Sum up the seconds a word of each round, and those of each block's first call."""
    middle, quartiles = find_spread([1e6 * value for value in seconds])
    timing = {
        "us_per_word": middle,
        "us_per_word_quartiles": [*quartiles],
        "times_measured": len(seconds),
    }
    return {**timing, "first_call_ms": 1e3 * median(first)} if first else timing


def time_on_threads(
    make: Callable[[], Any],
    prepare: Prepare,
    samples: Sequence[list[Any]],
    schedule: Schedule,
) -> dict[str, Json]:
    """Time one contender on several threads that share out what a sample has.

    RETURNS (dict[str, Json]): What was measured on so many threads.
    """

    def make_pool(n: int) -> tuple[int, Any, ThreadPoolExecutor]:
        return n, make(), ThreadPoolExecutor(n)

    def prepare_shares(made: Any, sample: list[Any]) -> Callable[[], object]:
        n, contender, pool = made
        runs = [prepare(contender, sample[i::n]) for i in range(n)]
        return lambda: list(pool.map(lambda run: run(), runs))

    makes = {f"threads: {n}": partial(make_pool, n) for n in THREADS}
    return time_in_turns(makes, prepare_shares, samples, schedule)


def in_numpy(*names: str) -> Contexts:
    """Have contenders of these names run without compiled kernels."""
    return dict.fromkeys(names, partial(compiled.using, None))


def find_baselines(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Find the times of the first contenders, which all others are compared with."""
    found = {}
    for section, groups in results.get("timings", {}).items():
        for what, timed in groups.items():
            name, timing = next(iter(timed.items()))
            spread = timing["us_per_word"], timing["us_per_word_quartiles"]
            found[f"{name} ({section}: {what})"] = spread
    return found


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
