"""What all benchmarks share: turns, threads, and the software."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from benchmarks import command
from benchmarks.charts import compare
from benchmarks.page import format_cell, format_time
from benchmarks.timing import (
    Schedule,
    in_numpy,
    summarize,
    take_order,
    time_in_turns,
    time_on_threads,
)
from spacy_hashembeds.kernels import compiled
from tests.kernels.paths import KERNELS, needs_kernels

ROOT = Path(__file__).parents[2]
ONCE = Schedule(blocks=1, rounds=1)


def test_contenders_have_turns_on_the_same_samples():
    seen: list[tuple[str, str]] = []
    made = []

    def make(name):
        return lambda: made.append(name) or name

    timings = time_in_turns(
        {name: make(name) for name in "ab"},
        lambda name, sample: lambda: seen.append((name, sample)),
        ["one", "three"],
        Schedule(blocks=2, rounds=2),
    )
    warm_up = [(name, sample) for name in "ab" for sample in ("one", "three")]
    first = [("a", "one"), ("b", "one"), ("b", "three"), ("a", "three")]
    second = [("b", "one"), ("a", "one"), ("a", "three"), ("b", "three")]
    assert seen == [*warm_up, *first, *warm_up, *second]
    assert made == ["a", "b", "a", "b"]
    assert [timing["times_measured"] for timing in timings.values()] == [4, 4]


def test_each_contender_comes_first_and_after_each_neighbour():
    rounds = ["".join(take_order("abc", number)) for number in range(6)]
    assert rounds == ["abc", "cba", "bca", "acb", "cab", "bac"]


def test_seconds_are_of_a_word_and_of_the_work_alone():
    now = [0.0]

    def prepare(seconds, sample):
        now[0] += 1000
        return lambda: now.__setitem__(0, now[0] + seconds)

    timed = time_in_turns(
        {"a": lambda: 4, "b": lambda: 2}, prepare, ["four"], ONCE, clock=lambda: now[0]
    )
    assert timed["a"]["us_per_word"] == pytest.approx(1e6)
    assert timed["a"]["first_call_ms"] == pytest.approx(4000)
    assert format_cell(timed, "b").endswith(", **2.00x**")
    assert format_cell(timed, "b", digits=1).endswith(", **2.0x**")


def test_medians_have_quartiles_around_them():
    timing = summarize([1e-6, 2e-6, 3e-6, 4e-6, 5e-6])
    assert timing["us_per_word"] == pytest.approx(3)
    assert timing["us_per_word_quartiles"] == pytest.approx([2, 4])
    assert format_time(timing) == "3.00 (2.00..4.00)"
    assert format_time(summarize([2e-6])) == "2.00"
    ratio, below, above = compare(summarize([6e-6]), timing)
    assert (ratio, ratio - below, ratio + above) == pytest.approx((2, 1.5, 3))


@needs_kernels
def test_contenders_in_numpy_have_no_kernels_at_any_time():
    seen = {}

    def prepare(name, sample):
        found = [compiled.kernels]
        seen[name] = found
        return lambda: found.append(compiled.kernels)

    makes = {"numpy": lambda: "numpy", "compiled": lambda: "compiled"}
    with compiled.using(KERNELS):
        time_in_turns(makes, prepare, ["x"], ONCE, contexts=in_numpy("numpy"))
    assert seen == {"numpy": [None] * 2, "compiled": [KERNELS] * 2}


def test_threads_share_out_what_a_sample_has():
    seen: list[str] = []
    together = {"aceg": 2, "bdf": 2, "ae": 4, "bf": 4, "cg": 4, "d": 4}
    barriers = {n: threading.Barrier(n, timeout=60) for n in (2, 4)}

    def prepare(made, sample):
        def run() -> None:
            seen.append(sample)
            if sample in together:  # or it waits for the others in vain
                barriers[together[sample]].wait()

        return run

    measured = time_on_threads(object, prepare, ["abcdefg"], ONCE)
    assert set(seen) == {"abcdefg", *together}
    assert list(measured) == ["threads: 1", "threads: 2", "threads: 4"]


def test_software_is_described_on_one_thread(monkeypatch):
    """The command has all libraries use one; more than one is refused."""
    code = "import benchmarks.command as m, json; print(json.dumps(m.measure_busy()))"
    main = (ROOT / "benchmarks" / "__main__.py").read_text(encoding="utf8")
    main = main.replace('import_module("benchmarks.command").main()', code)
    result = subprocess.run(
        [sys.executable, "-c", main],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "2"},
        capture_output=True,
        check=True,
        text=True,
    )
    busy = json.loads(result.stdout)
    assert all(0 < value < 1.2 for value in busy.values())
    monkeypatch.setattr(command, "measure_busy", lambda: busy)
    described = command.describe_software()
    assert described["processors_busy"] == busy
    assert described["versions"]["spacy-hashembeds"]
    assert described["parser_profiled"] is (sys.version_info < (3, 12))
    monkeypatch.setattr(command, "measure_busy", lambda: {"numpy": 1.9})
    with pytest.raises(RuntimeError, match="'numpy' should use one thread"):
        command.describe_software()
