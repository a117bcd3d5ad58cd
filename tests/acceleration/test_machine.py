"""How busy a machine is, and what is said of it."""

import json
import os
import sys
from typing import Any

import pytest

from spacy_hashembeds import systems
from spacy_hashembeds.acceleration import machine as machine_module
from spacy_hashembeds.acceleration.machine import (
    describe_machine,
    find_disturbances,
    watch_machine,
)
from spacy_hashembeds.kernels.convolution import PRECISIONS, name_instructions

IDLE: dict[str, Any] = {
    "cores": 2,
    "load_at_start": 0.1,
    "load_at_end": 1.05,
    "other_cores_busy": 0.04,
}


def test_a_machine_is_described_as_json():
    with watch_machine() as machine:
        pass
    assert json.loads(json.dumps(machine)) == machine
    assert machine["cpu"]
    assert machine["instructions"] == {p: name_instructions(p) for p in PRECISIONS}
    assert machine["cores"] >= 1
    assert machine["python"] == sys.version.split()[0]


def write_stat(path, **busy_seconds: float) -> None:
    rows = []
    for name, seconds in busy_seconds.items():
        ticks = int(seconds * os.sysconf("SC_CLK_TCK"))
        # user, nice, system, idle, iowait, irq, softirq, steal, guest
        rows.append(f"{name}  {ticks} 0 0 9999 999 0 0 0 777 0\n")
    path.write_text("".join(rows))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            {"cpu": 500, "cpu0": 60, "cpu1": 400, "cpu2": 40},
            {"cpu": 530, "cpu0": 70, "cpu1": 407, "cpu2": 53},
        ),
        ({"cpu": 100}, {"cpu": 123}),
    ],
    ids=["of the cores it may use", "of all, where no core has a row"],
)
def test_what_others_do_is_what_processors_do_without_us(
    tmp_path, monkeypatch, before, after
):
    monkeypatch.setattr(systems, "_STAT", tmp_path / "stat")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2}, raising=False)
    write_stat(tmp_path / "stat", **before)
    clock = iter([5.0, 15.0])
    monkeypatch.setattr(machine_module, "perf_counter", lambda: next(clock))
    own = iter([(1.0, 1.0, 0.0, 0.0, 0.0), (6.0, 2.0, 1.0, 1.0, 0.0)])
    monkeypatch.setattr(systems.os, "times", lambda: next(own))
    with watch_machine() as machine:
        write_stat(tmp_path / "stat", **after)
    # 23 seconds of work, 8 of them ours, in 10
    assert machine["other_cores_busy"] == 1.5


def test_without_proc_nobody_knows_what_others_do(tmp_path, monkeypatch):
    monkeypatch.setattr(systems, "_STAT", tmp_path / "none")
    with watch_machine() as machine:
        pass
    assert machine["other_cores_busy"] is None


BUSY = (
    "Other processes kept 0.7 of 2 cores busy meanwhile, where up to 0.6 does no harm."
)
LOADED = (
    "The load average was 1.90 at the start, where up to 0.6 does no harm on 2 cores."
)
WIDE = (
    "The quartiles of ours are 25 percent of its median apart, where up to 15 does no "
    "harm."
)
UNSEEN = {"other_cores_busy": None}


@pytest.mark.parametrize(
    ("changes", "spreads", "expected"),
    [
        ({}, {}, []),
        ({"other_cores_busy": 0.7}, {}, [BUSY]),
        ({}, {"ours": (51.0, (42.0, 55.0))}, [WIDE]),
        # loads remember what we did before, such as the trainings of a demo
        ({"load_at_start": 1.9}, {}, []),
        (UNSEEN, {}, []),
        ({**UNSEEN, "load_at_start": 1.9}, {}, [LOADED]),
        ({**UNSEEN, "load_at_start": None}, {}, []),
    ],
)
def test_what_speaks_against_timings(changes, spreads, expected):
    spreads = {"spacy": (10.0, (9.5, 10.5)), **spreads}
    assert find_disturbances({**IDLE, **changes}, spreads) == expected


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "load 0.10 to 1.05, others 0.04 cores"),
        ({"other_cores_busy": None}, "load 0.10 to 1.05"),
        ({"other_cores_busy": None, "load_at_end": None}, "load 0.10"),
        (dict.fromkeys(IDLE), "load unknown"),
    ],
)
def test_machines_are_described(changes, text):
    machine = {**IDLE, **changes, "python": "3.12.1", "cpu": "a CPU"}
    assert describe_machine(machine) == f"Python 3.12.1, a CPU; {text}"
