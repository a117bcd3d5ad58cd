"""Time implementations in turns on the same samples, and read their memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from spacy_hashembeds.acceleration.timing import Spread, find_spread
from spacy_hashembeds.kernels import compiled

Json = dict[str, Any]

#: Iterator of a benchmark's results so far.
Results = Iterator[Json]

#: Functions that make implementations, which are layers or pipelines.
Builders = Mapping[str, Callable[[], Any]]

#: Function of an implementation and a sample that returns the function to time.
Prepare = Callable[[Any, Any], Callable[[], object]]

#: The implementations, the function that prepares them, and the samples of each task.
Tasks = Mapping[str, tuple[Builders, Prepare, Sequence[Any]]]

#: Contexts in which implementations are made and timed.
Contexts = Mapping[str, Callable[[], AbstractContextManager[Any]]]


class Schedule(NamedTuple):
    """Numbers of blocks and of rounds in a block.

    Implementations are rebuilt for each block, since the addresses of weights change
    the speed of a matrix product by up to a third.
    """

    blocks: int
    rounds: int


def count_words(sample: Any) -> int:
    """Count the words of a Doc or its vectors, or of nested lists of them."""
    return sum(map(count_words, sample)) if isinstance(sample, list) else len(sample)


def time_in_turns(
    builders: Builders,
    prepare: Prepare,
    samples: Sequence[Any],
    schedule: Schedule,
    *,
    contexts: Contexts | None = None,
    clock: Callable[[], float] = perf_counter,
    count_words: Callable[[Any], int] = count_words,
) -> dict[str, Json]:
    """Time implementations in turns, in changing order, and summarize their times.

    Each round uses the next sample. New implementations are warmed up on two samples.
    """
    enter = {name: (contexts or {}).get(name, nullcontext) for name in builders}

    def make(name: str) -> Any:
        with enter[name]():
            return builders[name]()

    def take_turn(name: str, sample: Any) -> float:
        with enter[name]():
            run = prepare(made[name], sample)
            start = clock()
            run()
            return clock() - start

    seconds: dict[str, list[float]] = {name: [] for name in builders}
    first: dict[str, list[float]] = {name: [] for name in builders}
    numbers = count()
    # keep implementations until the next ones are made, at other addresses
    made: dict[str, Any] = {}
    for _ in range(schedule.blocks):
        made = {name: make(name) for name in builders}
        for name in builders:
            first[name].append(take_turn(name, samples[0]))
            take_turn(name, samples[-1])
        for number in (next(numbers) for _ in range(schedule.rounds)):
            sample = samples[number % len(samples)]
            for name in rotate([*builders], number):
                seconds[name].append(take_turn(name, sample) / count_words(sample))
    return {
        name: {**summarize(of), "first_call_ms": 1e3 * median(first[name])}
        for name, of in seconds.items()
    }


def time_tasks(tasks: Tasks, schedule: Schedule, **settings: Any) -> Json:
    """Time implementations on several tasks."""
    return {
        what: time_in_turns(*task, schedule, **settings) for what, task in tasks.items()
    }


def rotate(names: Sequence[str], number: int) -> Iterator[str]:
    """Return the order of implementations in a round: rotated, and reversed if odd."""
    start = number // 2 % len(names)
    order = [*names[start:], *names[:start]]
    yield from reversed(order) if number % 2 else order


def summarize(seconds: Sequence[float]) -> Json:
    """Summarize the seconds per word of rounds."""
    middle, quartiles = find_spread([1e6 * value for value in seconds])
    return {
        "us_per_word": middle,
        "us_per_word_quartiles": [*quartiles],
        "times_measured": len(seconds),
    }


def in_numpy(*names: str) -> Contexts:
    """Return contexts in which these implementations run without compiled kernels."""
    return dict.fromkeys(names, partial(compiled.using, None))


def find_baselines(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Return the times of the first implementations."""
    found = {}
    for section, groups in results.get("timings", {}).items():
        for what, timed in groups.items():
            name, timing = next(iter(timed.items()))
            spread = Spread(timing["us_per_word"], timing["us_per_word_quartiles"])
            found[f"{name} ({section}: {what})"] = spread
    return found


def read_memory_mib(field: str) -> float:
    """Read a field of `/proc/self/status` in MiB, on Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(line.split()[1]) / 1024
