"""Many trials, run once each, on this machine."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from subprocess import Popen
from threading import Event
from time import monotonic
from typing import NamedTuple

from .processes import kill_session, run_command
from .run_trial import check_config, read_recorded
from .trial import Trial, hash_files, identify

#: What the libraries that multiply matrices read when they are loaded.
THREAD_VARIABLES = tuple(
    f"{library}_THREADS"
    for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM", "VECLIB_MAXIMUM")
)


class Ended(NamedTuple):
    """A trial that a sweep has run, how long it took, and why it failed, if it did."""

    trial: Trial
    seconds: float
    error: str | None


def plan_sweep(
    trials: Sequence[Trial], *, force: bool = False
) -> tuple[list[Trial], list[tuple[Trial, list[str]]]]:
    """Return the trials that are done, and the rest with how old results differ.

    RAISES (ValueError): If some can't be run, with all reasons.
    """
    done: list[Trial] = []
    pending: list[tuple[Trial, list[str]]] = []
    problems: dict[str, str] = {}
    hash_once = cache(hash_files)
    checked = set()
    for trial in trials:
        try:
            identity = identify(trial, hash_once)
            results, differences = read_recorded(trial, identity, force=force)
            if results is not None:
                done.append(trial)
                continue
            pending.append((trial, differences))
            # a pipeline is made in a fraction of a second: once for all seeds
            key = trial.config, json.dumps(trial.overrides, sort_keys=True, default=str)
            if key not in checked:
                checked.add(key)
                check_config(trial)
        except (OSError, ValueError) as e:
            problems.setdefault(str(e).strip(), trial.name)
    if problems:
        told = (f"{name} can't be run. {e}" for e, name in problems.items())
        raise ValueError("\n".join(told))
    return done, pending


def run_sweep(
    trials: Sequence[Trial], *, force: bool = False, jobs: int = 1
) -> Iterator[Ended]:
    """Run trials, each in a process of its own, and go on where some fail.

    Those that run when the iterator is closed are killed. With more than one job, each
    has one thread for matrix products, unless the environment says how many.
    """
    started: list[Popen] = []
    is_over = Event()

    def note(process: Popen) -> None:
        started.append(process)
        if is_over.is_set():
            kill_session(process)

    def run(trial: Trial) -> Ended:
        start = monotonic()
        error = run_alone(trial, force=force, one_thread=jobs > 1, on_start=note)
        return Ended(trial, monotonic() - start, error)

    pool = ThreadPoolExecutor(jobs)
    # unlike `as_completed`, it stands two interrupts in a row
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
    """Run a trial in a session of its own, and return why it failed, if it did. All
    that it prints goes to its log.
    """
    settings = json.dumps([{**asdict(trial), "root": str(trial.root)}, force])
    log = get_log(trial)
    log.parent.mkdir(parents=True, exist_ok=True)
    # Python finds this package in other processes, wherever it was started
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    threads = dict.fromkeys(THREAD_VARIABLES, "1") if one_thread else {}
    found = {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    # appended, since another process may be running the same trial
    with log.open("a", encoding="utf8") as file:
        return run_command(
            [sys.executable, "-m", "lab.trials", settings],
            file,
            on_start=on_start,
            env={**threads, **os.environ, **found},
            start_new_session=True,
        )


def get_log(trial: Trial) -> Path:
    """Return the file that a sweep writes a trial's output to, attempt by attempt."""
    return trial.output / "trial.log"
