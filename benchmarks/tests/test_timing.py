"""Turns, charts, pages and the description of the software."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import command, data, page
from benchmarks.charts import compare
from benchmarks.timing import Schedule, in_numpy, summarize, time_in_turns
from spacy_hashembeds.kernels import compiled
from tests.kernels.paths import KERNELS, needs_kernels

ROOT = Path(__file__).parents[2]
ONCE = Schedule(blocks=1, rounds=1)
BUSY = {
    **{"cpu": "a CPU", "cores": 2, "python": "3.11.7", "load_at_start": 0.1},
    **{"load_at_end": 1.9, "other_cores_busy": 0.9},
}


def test_implementations_take_turns_on_the_same_samples():
    seen: list[tuple[str, str]] = []
    made = []
    timings = time_in_turns(
        {name: lambda name=name: made.append(name) or name for name in "ab"},
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


def test_preparation_is_not_timed():
    now = [0.0]

    def prepare(seconds, sample):
        now[0] += 1000
        return lambda: now.__setitem__(0, now[0] + seconds)

    builders = {"a": lambda: 4, "b": lambda: 2}
    timed = time_in_turns(builders, prepare, ["four"], ONCE, clock=lambda: now[0])
    assert timed["a"]["us_per_word"] == pytest.approx(1e6)
    assert timed["a"]["first_call_ms"] == pytest.approx(4000)
    assert page.format_cell(timed, "b").endswith(", **2.00x**")
    timing = summarize([1e-6, 2e-6, 3e-6, 4e-6, 5e-6])
    assert page.format_time(timing) == "3.00 (2.00..4.00)"
    assert page.format_speed(timing) == "333,333 (250,000..500,000)"
    assert compare(summarize([6e-6]), timing) == pytest.approx((2, 0.5, 1))


@needs_kernels
def test_implementations_in_numpy_never_use_kernels():
    seen = {}

    def prepare(name, sample):
        seen[name] = [compiled.kernels]
        return lambda: seen[name].append(compiled.kernels)

    builders = {"numpy": lambda: "numpy", "compiled": lambda: "compiled"}
    with compiled.using(KERNELS):
        time_in_turns(builders, prepare, ["x"], ONCE, contexts=in_numpy("numpy"))
    assert seen == {"numpy": [None] * 2, "compiled": [KERNELS] * 2}


def test_more_than_one_thread_is_refused(monkeypatch):
    code = "import benchmarks.command as m, json; print(json.dumps(m.measure_busy()))"
    main = (ROOT / "benchmarks" / "__main__.py").read_text(encoding="utf8")
    main = main.replace('import_module("benchmarks.command").main()', code)
    env = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "2"}
    run = [sys.executable, "-c", main]
    busy = json.loads(subprocess.check_output(run, cwd=ROOT, env=env))
    assert all(0 < value < 1.2 for value in busy.values())
    monkeypatch.setattr(command, "measure_busy", lambda: {"numpy": 1.9})
    with pytest.raises(RuntimeError, match="'numpy'"):
        command.describe_software()


def test_pages_have_the_tables_of_the_results():
    """If this fails, run `python -m benchmarks.page`."""
    texts = [path.read_text(encoding="utf8") for path in page.PAGES]
    assert page.fill_pages(texts) == texts
    assert all((data.RESULTS / f"{name}.png").is_file() for name in page.CHARTS)


def test_pages_without_a_comment_for_each_table_raise_an_error(tmp_path):
    texts = [path.read_text(encoding="utf8") for path in page.PAGES]
    with pytest.raises(ValueError, match="once for each of"):
        page.fill_pages([*texts, "<!-- begin memory -->\n<!-- end memory -->"])
    filled = "".join(page.fill_pages(texts, tmp_path))
    assert "Not measured yet: `python -m benchmarks memory` does it." in filled
