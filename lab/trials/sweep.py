"""A sweep: run the trials of a grid that are not done, side by side."""

import json
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Protocol

from spacy_hashembeds.files import read_json, write_json

from .progress import Finished, Progress, Results
from .recorded import REMEDY, find_objection, read_done
from .run_trial import check_config, run_trial
from .trial import Identifier, Trial, list_files, say_where

#: Characters of an error that are shown.
_MAX_ERROR = 500

#: Trials with results that are not to be replaced, as many as are named.
_MAX_NAMED = 5


class Executor(Protocol):
    """Calls a function for each item, as `executors.run_local` does."""

    def __call__(  # noqa: D102
        self,
        function: Callable[[Trial], object],
        items: Sequence[Trial],
        *,
        on_start: Callable[[Trial], None],
        on_wait: Callable[[], None],
    ) -> Generator[tuple[Trial, str | None], None, None]: ...


class Pending(NamedTuple):
    """A trial that is not done.

    identity (dict[str, Any]): What its results will depend on; see `identify`.
    error (str, optional): What went wrong when a sweep last ran it.
    """

    trial: Trial
    identity: dict[str, Any]
    error: str | None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a sweep has to do.

    done (Sequence[tuple[Trial, Results]]): Trials with results that fit.
    pending (Sequence[Pending]): The others, in the order to run them. Trials that
        failed before are among them: a sweep tries them again.
    force (bool): Whether to replace results of other settings.
    """

    done: Sequence[tuple[Trial, Results]]
    pending: Sequence[Pending]
    force: bool = False


def plan_sweep(trials: Sequence[Trial], *, force: bool = False) -> Plan:
    """See which trials are done, and that the others can be run.

    force (bool): Replace results of other settings, or that can't be read, and their
        pipelines.
    RAISES (FileNotFoundError): If a config, or a split of a corpus, is missing.
    RAISES (FileExistsError): If there are results of other settings, or that can't be
        read, without force.
    RAISES (ValueError): If the language of a corpus is unknown, or a config with its
        overrides can't be used.
    """
    _check_corpora(trials)
    done, pending = [], []
    identifier = Identifier()
    for trial in trials:
        try:
            identity = identifier.identify(trial)
        except ValueError as e:
            raise ValueError(f"{trial.name} can't be run. {str(e).strip()}") from e
        results = read_done(trial, identity)
        if results is not None:
            done.append((trial, results))
        else:
            pending.append(Pending(trial, identity, _read_failure(trial)))
    if not force:
        _check_settings(pending)
    check_configs(trial for trial, *_ in pending)
    return Plan(done=done, pending=pending, force=force)


def _check_settings(pending: Iterable[Pending]) -> None:
    """Name the trials whose results are not to be replaced."""
    objections = [
        objection
        for trial, identity, _ in pending
        if (objection := find_objection(trial, identity)) is not None
    ]
    if objections:
        more = len(objections) - _MAX_NAMED
        named = objections[:_MAX_NAMED] + ([f"And {more} more"] if more > 0 else [])
        raise FileExistsError(f"{'. '.join(named)}. {REMEDY}")


def _check_corpora(trials: Iterable[Trial]) -> None:
    """Name all datasets that are missing at once, rather than the first."""
    missing: dict[str, Trial] = {}
    there: dict[str, Trial] = {}
    for trial in trials:
        train = trial.corpus["train"]
        (there if list_files(train) else missing)[trial.dataset] = trial
    if missing:
        commands = [
            f"`python -m lab prepare {name} -o {trial.corpus['train'].parent}`"
            for name, trial in missing.items()
        ]
        choice = f", or leave it out: --datasets {','.join(there)}" if there else ""
        raise FileNotFoundError(
            f"There is no training corpus of {', '.join(missing)}. "
            f"Make it with {', '.join(commands)}{choice}. "
            f"{say_where(next(iter(missing.values())))}"
        )


def check_configs(trials: Iterable[Trial]) -> None:
    """Make the pipelines of trials, untrained, to find what is wrong with overrides.

    Each embedder is made once with the same overrides, in a fraction of a second.

    RAISES (ValueError): If one can't be used; see `check_config`.
    """
    checked = set()
    for trial in trials:
        key = trial.config, json.dumps(trial.overrides, sort_keys=True, default=str)
        if key in checked:
            continue
        checked.add(key)
        check_config(trial)


def run_sweep(
    plan: Plan,
    *,
    executor: Executor,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> list[Finished]:
    """Run the trials of a plan that are not done.

    A trial that fails is recorded in `failure.json`, beside the log `trial.log` in its
    folder for pipelines, and the others go on.

    executor (Executor): Runs the trials: `executors.run_local` or `run_on_ray`, with
        their own arguments given.
    on_progress (Callable[[Progress], None]): Called when a trial starts or ends, and
        about every second.
    RETURNS (list[Finished]): The trials that ran, in the order in which they ended.
    """
    trials = [pending.trial for pending in plan.pending]
    identities = {trial.name: identity for trial, identity, _ in plan.pending}
    progress = Progress(waiting=list(trials))
    for trial, results in plan.done:
        progress.learn(trial, results["timings"]["train_seconds"])

    def on_start(trial: Trial) -> None:
        progress.waiting.remove(trial)
        progress.running[trial.name] = trial, monotonic()
        on_progress(progress)

    def on_wait() -> None:
        on_progress(progress)

    with closing(
        executor(
            partial(attempt_trial, force=plan.force),
            trials,
            on_start=on_start,
            on_wait=on_wait,
        )
    ) as calls:
        for trial, error in calls:
            _, start = progress.running.pop(trial.name)
            seconds = monotonic() - start
            finished = _finish(trial, identities[trial.name], seconds, error)
            progress.finished.append(finished)
            if finished.error is None:
                progress.learn(trial, seconds)
            on_progress(progress)
    return progress.finished


def attempt_trial(trial: Trial, *, force: bool = False) -> None:
    """Run a trial in a worker. All that it prints, and its traceback, go to its log.

    force (bool): Replace results of other settings.
    """
    path = get_log(trial)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Appended, since another process may be running the same trial.
    with (
        path.open("a", encoding="utf8", buffering=1) as log,
        redirect_stdout(log),
        redirect_stderr(log),
    ):
        log.write(f"{_now()} {trial.name}\n")
        try:
            run_trial(trial, force=force, on_output=lambda line: print(line, file=log))
        except Exception:
            traceback.print_exc()
            raise


def get_log(trial: Trial) -> Path:
    """The file that a sweep writes a trial's output to, attempt after attempt."""
    return trial.output / "trial.log"


def _finish(
    trial: Trial, identity: dict[str, Any], seconds: float, error: str | None
) -> Finished:
    """Record a failure, or remove the record of an earlier one."""
    results = read_done(trial, identity) if error is None else None
    if results is not None:
        _get_failure(trial).unlink(missing_ok=True)
        return Finished(trial, seconds, results, None)
    error = error or "Its config, corpus or packages changed while it ran."
    failure = {
        "trial": trial.name,
        "error": error,
        "log": str(get_log(trial)),
        "finished": _now(),
    }
    write_json(_get_failure(trial), failure)
    return Finished(trial, seconds, None, error)


def _get_failure(trial: Trial) -> Path:
    return trial.output / "failure.json"


def _read_failure(trial: Trial) -> str | None:
    try:
        error = read_json(_get_failure(trial))["error"]
    except (FileNotFoundError, ValueError, KeyError):
        return None  # not there, or not ours
    return str(error)[:_MAX_ERROR]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
