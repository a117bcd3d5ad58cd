"""Run many trials, each once, on this machine."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from subprocess import Popen
from threading import Event
from time import monotonic
from typing import NamedTuple

from .processes import kill_session, run_command
from .run_trial import check_config, read_recorded
from .trial import Trial, identify

#: Variables that set the number of threads of libraries for matrix products.
THREAD_VARIABLES = tuple(
    f"{library}_THREADS"
    for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM", "VECLIB_MAXIMUM")
)


class Outcome(NamedTuple):
    """A trial that ended, its duration, and the cause of its failure, if it failed."""

    trial: Trial
    seconds: float
    error: str | None


def plan_sweep(
    trials: Sequence[Trial], *, force: bool = False
) -> tuple[list[Trial], list[tuple[Trial, list[str]]]]:
    """Return finished trials, and the others with the differences of old results.

    RAISES (ValueError): If some can't be run, with all causes.
    """
    done: list[Trial] = []
    pending: list[tuple[Trial, list[str]]] = []
    problems: dict[str, str] = {}
    checked = set()
    for trial in trials:
        try:
            results, differences = read_recorded(trial, identify(trial), force=force)
            if results is not None:
                done.append(trial)
                continue
            pending.append((trial, differences))
            # check once for all seeds
            key = trial.config, json.dumps(trial.overrides, sort_keys=True, default=str)
            if key not in checked:
                checked.add(key)
                check_config(trial)
        except (OSError, ValueError) as e:
            problems.setdefault(str(e).strip(), trial.name)
    if problems:
        messages = (f"{name} can't be run. {e}" for e, name in problems.items())
        raise ValueError("\n".join(messages))
    return done, pending


def run_sweep(
    trials: Sequence[Trial], *, force: bool = False, jobs: int = 1
) -> Iterator[Outcome]:
    """Run trials, each in its own process, and yield them when they end or fail.

    Closing the iterator kills running trials. With several jobs, each trial uses one
    thread for matrix products, unless the environment sets another number.
    """
    started: list[Popen] = []
    is_over = Event()

    def note(process: Popen) -> None:
        started.append(process)
        if is_over.is_set():
            kill_session(process)

    def run(trial: Trial) -> Outcome:
        start = monotonic()
        error = run_alone(trial, force=force, one_thread=jobs > 1, on_start=note)
        return Outcome(trial, monotonic() - start, error)

    pool = ThreadPoolExecutor(jobs)
    # unlike `as_completed`, a queue survives a second interrupt
    ended: SimpleQueue[Future] = SimpleQueue()
    try:
        for trial in trials:
            pool.submit(run, trial).add_done_callback(ended.put)
        for _ in trials:
            yield ended.get().result()
    finally:
        is_over.set()
        pool.shutdown(wait=False, cancel_futures=True)
        for process in started:
            kill_session(process)


def run_alone(
    trial: Trial, *, force: bool, one_thread: bool, on_start: Callable[[Popen], None]
) -> str | None:
    """Run a trial in its own session with a log, and return the cause of a failure."""
    settings = json.dumps([{**asdict(trial), "root": str(trial.root)}, force])
    log = get_log(trial)
    log.parent.mkdir(parents=True, exist_ok=True)
    threads = dict.fromkeys(THREAD_VARIABLES, "1") if one_thread else {}
    with log.open("a", encoding="utf8") as file:
        return run_command(
            [sys.executable, "-m", "lab.trials", settings],
            file,
            on_start=on_start,
            env={**threads, **os.environ},
            start_new_session=True,
        )


def get_log(trial: Trial) -> Path:
    """Return the log to which a sweep appends the output of a trial."""
    return trial.output / "trial.log"
