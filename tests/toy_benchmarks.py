"""What the tests of all benchmarks share: a machine, a schedule, and what to expect."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from matplotlib.image import imread

from benchmarks import _command, _pipelines
from benchmarks._timing import Schedule

ONCE = Schedule(blocks=1, rounds=1)
MACHINE = {"versions": {"python": "3.11.7"}, "processors_busy": {"numpy": 1.0}}
BUSY = {
    "cpu": "a CPU",
    "cores": 2,
    "python": "3.11.7",
    "load_at_start": 0.1,
    "load_at_end": 1.9,
    "other_cores_busy": 0.9,
}


def make_watch(machine: dict[str, Any] = BUSY):
    """Watch a machine of which all is known."""

    @contextmanager
    def watch():
        yield {**machine}

    return watch


@contextmanager
def small_steps() -> Iterator[None]:
    """Train contenders on fewer words a step: steps make entities found, not words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pipelines, "BATCH_WORDS", 200)
        yield


def assert_timing(timing: dict[str, Any], times: int = 1) -> None:
    lower, upper = timing["us_per_word_quartiles"]
    assert 0 < lower <= timing["us_per_word"] <= upper
    assert timing["words_per_second"] == pytest.approx(1e6 / timing["us_per_word"])
    assert timing["first_call_ms"] > 0
    assert timing["times_measured"] == times


def assert_writes(module, measured: dict[str, Any], measure: str, tmp_path, **settings):
    """Have a benchmark's command write results that are there already."""
    output = tmp_path / "made" / "results.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_command, "describe_machine", lambda: {**MACHINE})
        patch.setattr(_command, "watch_machine", make_watch())
        patch.setattr(_command, "_SECONDS_TO_WATCH", 0)
        patch.setattr(module, measure, lambda *_: measured)
        module.main(output=output, **settings)
    written = json.loads(output.read_text(encoding="utf8"))
    disturbances = written.pop("disturbances")
    assert written == {"machine": {**MACHINE, **BUSY}, **measured}
    assert disturbances[0].startswith("Other processes kept 0.9 of 2 cores busy")
    chart = imread(output.with_suffix(".png"))
    height, width, _ = chart.shape
    assert width > 1000
    assert height > 300
    assert chart[..., 3].min() == 1, "dark pages would shine through"
    assert len(list(output.parent.iterdir())) == 2
