"""A sweep: run the trials of a grid that are not done, side by side."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from queue import SimpleQueue
from subprocess import Popen
from threading import Event
from time import monotonic
from typing import Any, NamedTuple

from ..extras import import_extra
from .processes import kill_session, run_command
from .recorded import read_recorded
from .run_trial import check_config
from .trial import Trial, hash_files, identify

#: What the libraries that multiply matrices read when they are loaded.
THREAD_VARIABLES = tuple(
    f"{library}_THREADS"
    for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM", "VECLIB_MAXIMUM")
)

#: Reasons why a sweep can't be run, as many as are told.
_MAX_TOLD = 5

#: Runs a trial, and says what went wrong, if anything did.
Run = Callable[[Trial], str | None]

#: A block in which trials can be run, and how many at once.
Executor = Callable[[], AbstractContextManager[tuple[Run, int]]]


class Plan(NamedTuple):
    """Trials of a sweep that are done; the rest, and how old results differ."""

    done: list[Trial]
    pending: list[tuple[Trial, list[str]]]


class Ended(NamedTuple):
    """A trial that a sweep has run, how long it took, and why it failed, if it did."""

    trial: Trial
    seconds: float
    error: str | None


def plan_sweep(trials: Sequence[Trial], *, force: bool = False) -> Plan:
    """See which trials are done, and that the others can be run, or say why not."""
    plan = Plan([], [])
    problems: dict[str, Trial] = {}
    hash_once = cache(hash_files)
    checked = set()
    for trial in trials:
        try:
            identity = identify(trial, hash_once)
            results, differences = read_recorded(trial, identity, force=force)
            if results is not None:
                plan.done.append(trial)
                continue
            plan.pending.append((trial, differences))
            # a pipeline is made in a fraction of a second: once for all seeds
            key = trial.config, json.dumps(trial.overrides, sort_keys=True, default=str)
            if key not in checked:
                checked.add(key)
                check_config(trial)
        except (OSError, ValueError) as e:
            problems.setdefault(str(e).strip(), trial)
    if problems:
        told = [f"{trial.name} can't be run. {e}" for e, trial in problems.items()]
        more = [f"And {len(told) - _MAX_TOLD} more."] if len(told) > _MAX_TOLD else []
        raise ValueError("\n".join(told[:_MAX_TOLD] + more))
    return plan


def run_sweep(trials: Sequence[Trial], executor: Executor) -> Iterator[Ended]:
    """Run trials, each in a process of its own, and go on where some fail.

    executor: `run_here` or `run_on_ray`, with their arguments given.
    """
    with executor() as (run, jobs):
        pool = ThreadPoolExecutor(jobs)
        # unlike `as_completed`, it stands two interrupts in a row
        ended: SimpleQueue[Future] = SimpleQueue()
        try:
            for trial in trials:
                pool.submit(_time, run, trial).add_done_callback(ended.put)
            for _ in trials:
                yield ended.get().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _time(run: Run, trial: Trial) -> Ended:
    start = monotonic()
    error = run(trial)
    return Ended(trial, monotonic() - start, error)


@contextmanager
def run_here(*, force: bool, jobs: int) -> Iterator[tuple[Run, int]]:
    """Run trials on this machine; those that run at the end of the block are killed.

    With more than one job, each has one thread for matrix products, unless the
    environment says how many.
    """
    started: list[Popen] = []
    is_over = Event()

    def note(process: Popen) -> None:
        started.append(process)
        if is_over.is_set():
            kill_session(process)

    run = partial(_run_alone, folder=Path.cwd(), force=force, on_start=note)
    try:
        yield partial(run, one_thread=jobs > 1), jobs
    finally:
        is_over.set()
        for process in started:
            kill_session(process)


def _run_alone(
    trial: Trial,
    *,
    folder: Path,
    force: bool,
    one_thread: bool = True,
    on_start: Callable[[Popen], None] = lambda process: None,
) -> str | None:
    """Run a trial in a session of its own. All that it prints goes to its log."""
    settings = json.dumps([{**asdict(trial), "root": str(trial.root)}, force])
    log = folder / get_log(trial)
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = dict.fromkeys(THREAD_VARIABLES, "1") if one_thread else {}
    # appended, since another process may be running the same trial
    with log.open("a", encoding="utf8") as file:
        return run_command(
            [sys.executable, "-m", "lab.trials", settings],
            file,
            on_start=on_start,
            env={**environment, **os.environ, **_find_us()},
            cwd=folder,
            start_new_session=True,
        )


def get_log(trial: Trial) -> Path:
    """The file that a sweep writes a trial's output to, attempt after attempt."""
    return trial.output / "trial.log"


def _find_us() -> dict[str, str]:
    """Have Python find this package in other processes, wherever it was started."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


@contextmanager
def run_on_ray(
    *, force: bool, jobs: int | None, num_gpus: int
) -> Iterator[tuple[Run, int]]:
    """Run trials on a Ray cluster: the one that Ray finds (RAY_ADDRESS), else its own.

    Each has one CPU and one thread, in a folder of the same path as ours, which the
    nodes must share. Where its worker or node dies, it is tried once more.

    jobs: How many to run at once. Default: all that there is room for.
    num_gpus: GPUs that each trial needs. Ray shows it no others.
    """
    ray = import_ray()
    if is_ours := not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level="ERROR")
    needs = {"num_cpus": 1, "num_gpus": num_gpus, "max_calls": 1, "max_retries": 1}
    call = ray.remote(**needs, runtime_env={"env_vars": _find_us()})(_run_alone)
    started = []

    def run(trial: Trial) -> str | None:
        reference = call.remote(trial, folder=Path.cwd(), force=force)
        started.append(reference)
        try:
            return ray.get(reference)
        except ray.exceptions.RayError as e:
            return f"{type(e).__name__}: {e}".strip()

    try:
        unit = "GPU" if num_gpus else "CPU"
        room = int(ray.cluster_resources().get(unit, 0))
        if not room:  # Ray would wait for ever
            raise ValueError(
                f"Each trial needs a {unit}, but the Ray cluster has none."
            )
        yield run, jobs or room
    finally:
        for reference in started:
            ray.cancel(reference, force=True)
        if is_ours:
            ray.shutdown()


def import_ray() -> Any:
    """Import Ray, or raise an ImportError that names the extra."""
    extra = "'spacy-hashembeds[ray]'"
    return import_extra("ray", "Sweeps on a cluster need Ray", extra)
