"""How far a sweep has come, and how long the rest will take."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from time import monotonic
from typing import Any, NamedTuple

from .trial import Trial

Results = Mapping[str, Any]


class Finished(NamedTuple):
    """A trial that a sweep has run.

    seconds (float): How long it took, by the clock.
    results (Mapping[str, Any], optional): What `run_trial` recorded; None if it failed.
    error (str, optional): What went wrong, in a line or so.
    """

    trial: Trial
    seconds: float
    results: Results | None
    error: str | None


@dataclass(kw_only=True)
class Progress:
    """How far a sweep has come.

    waiting (list[Trial]): Trials that have not started, next first.
    running (dict[str, tuple[Trial, float]]): By name, those that run, and since when,
        as `time.monotonic` has it.
    finished (list[Finished]): Those that have ended, in that order.
    known (dict[tuple[str, ...], list[float]]): Seconds that trials took, by dataset and
        embedder, by dataset, and of all.
    """

    waiting: list[Trial]
    running: dict[str, tuple[Trial, float]] = field(default_factory=dict)
    finished: list[Finished] = field(default_factory=list)
    known: dict[tuple[str, ...], list[float]] = field(default_factory=dict)

    def learn(self, trial: Trial, seconds: float) -> None:
        """Remember how long a trial took, to estimate others by."""
        for key in _get_similar(trial):
            self.known.setdefault(key, []).append(seconds)

    def estimate_seconds_left(self) -> float | None:
        """Estimate how long the rest takes. None as long as no trial is known to end.

        A trial is taken to last as long as those most like it did on average: on its
        dataset with its embedder, else on its dataset, else all. As many are taken to
        run at once as do now.
        """
        if not self.known:
            return None
        now = monotonic()
        rest = [
            max(0.0, self._estimate(trial) - (now - start))
            for trial, start in self.running.values()
        ]
        total = sum(rest) + sum(self._estimate(trial) for trial in self.waiting)
        return max([total / max(1, len(rest)), *rest])

    def _estimate(self, trial: Trial) -> float:
        key = next(key for key in _get_similar(trial) if key in self.known)
        return fmean(self.known[key])


def _get_similar(trial: Trial) -> tuple[tuple[str, ...], ...]:
    return (trial.dataset, trial.embedder), (trial.dataset,), ()
