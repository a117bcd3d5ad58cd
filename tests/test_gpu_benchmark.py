"""The GPU benchmark, on an emulated GPU. How fast anything is, is not tested."""

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from thinc.api import CupyOps, get_current_ops

from benchmarks import (
    _embedders,
    _gpu_data,
    _gpu_device,
    _gpu_kernels,
    _gpu_measure,
    _gpu_pipelines,
    _gpu_roofline,
    _gpu_tables,
    _pipelines,
    gpu,
)
from benchmarks._data import load_corpus
from benchmarks._gpu_measure import Sizes
from benchmarks._timing import Schedule, Timing
from spacy_hashembeds.acceleration.installation import Gpu
from spacy_hashembeds.kernels import cuda

from .gpu import emulation
from .left_out import NO_GPU, find_nvcc

ROOT = Path(__file__).parent.parent
ONCE = Schedule(blocks=1, rounds=1)
TINY = Sizes(
    tokens=(3, 12),
    width=4,
    pieces=2,
    rows=(13, 7, 5, 6),
    large_rows=(400, 300, 20, 10),
    samples=2,
    copied_bytes=2**21,
)


class EmulatedCupy:
    """As much of CuPy as the benchmark asks for beside arrays.

    It is held up as a GPU is, until somebody waits for it. Work takes no time, or what
    `work` says.
    """

    __version__ = "14"

    def __init__(self) -> None:
        self.is_held = False
        self.holds: list[float] = []
        self.waits = 0
        self.cuda: Any = SimpleNamespace(
            Event=self._make_event,
            Device=lambda: SimpleNamespace(
                synchronize=self.wait, compute_capability="90"
            ),
            get_elapsed_time=lambda start, stop: 1e3 * (stop.seconds - start.seconds),
            runtime=SimpleNamespace(
                getDevice=lambda: 3,
                getDeviceProperties=lambda device: {
                    "name": b"NVIDIA H999 (" + str(device).encode() + b")",
                    "multiProcessorCount": 132,
                    "l2CacheSize": 2500,
                    "totalGlobalMem": 141 * 2**30,
                },
                driverGetVersion=lambda: 13000,
                runtimeGetVersion=lambda: 12090,
            ),
        )

    def RawKernel(self, code: str, name: str) -> Any:
        assert f"void {name}(" in code

        def hold(grid: tuple[int], block: tuple[int], args: tuple[Any]) -> None:
            assert (grid, block) == ((1,), (1,))
            assert isinstance(args[0], numpy.uint64)
            self.holds.append(float(args[0]) / 1e9)
            self.is_held = True

        return hold

    def wait(self) -> None:
        self.waits += 1
        self.is_held = False

    def _make_event(self) -> Any:
        return EmulatedEvent(self)


class EmulatedEvent:
    def __init__(self, cupy: EmulatedCupy) -> None:
        self.cupy = cupy

    def record(self) -> None:
        self.seconds = perf_counter()

    def synchronize(self) -> None:
        self.cupy.wait()

    @property
    def done(self) -> bool:
        return not self.cupy.is_held


@pytest.fixture(scope="module")
def device(tmp_path_factory) -> Iterator[_gpu_device.Device]:
    """The kernels, compiled for the CPU."""
    library = emulation.compile_kernels(tmp_path_factory.mktemp("kernels"))
    with pytest.MonkeyPatch.context() as patch:
        ops = emulation.emulate(patch, library)
        yield _gpu_device.Device(EmulatedCupy(), ops)


@pytest.fixture(scope="module")
def corpus(tiny_corpus):
    return load_corpus(tiny_corpus / "train.spacy")


@pytest.fixture(scope="module")
def steps(device, tiny_corpus) -> list[dict[str, Any]]:
    """The results, as they grow."""
    measured = gpu.measure_gpu(
        device,
        ONCE,
        TINY,
        tiny_corpus / "train.spacy",
        docs=5,
        updates=1,
        training_steps=2,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_gpu_pipelines, "_BATCHES", 2)
        patch.setattr(_pipelines, "BATCH_WORDS", 8)
        patch.setattr(_gpu_pipelines, "BATCH_WORDS", 8)
        patch.setattr(gpu, "describe_machine", lambda: {"cpu": "a CPU"})
        return [json.loads(json.dumps(results)) for results in measured]


@pytest.fixture(scope="module")
def results(steps) -> dict[str, Any]:
    return steps[-1]


def assert_time(time: dict[str, Any]) -> None:
    lower, upper = time["ms_quartiles"]
    assert 0 < lower <= time["ms"] <= upper
    assert time["times_measured"] == 1


def test_results_grow_part_by_part(steps):
    parts = ["copy", "kernels", "tables", "equal_runs", "distinct_rows"]
    parts += ["corpus", "embedders", "pipelines"]
    assert [[part for part in parts if part in step] for step in steps] == [
        parts[: i + 1] for i in range(len(parts))
    ]
    assert steps[0]["device"] == {
        "name": "NVIDIA H999 (3)",
        "compute_capability": "90",
        "multiprocessors": 132,
        "l2_bytes": 2500,
        "memory_gib": 141.0,
        "cuda_driver": 13000,
        "cuda_runtime": 12090,
        "cupy": "14",
    }


def test_a_copy_is_measured_read_and_written(results):
    copy = results["copy"]
    assert copy["moved_bytes"] == 2 * TINY.copied_bytes
    assert copy["agreement"] == 0
    expected = copy["moved_bytes"] / copy["queued"]["ms"] / 1e6
    assert copy["gb_per_s"] == pytest.approx(expected)


def test_each_kernel_has_a_roofline_at_each_size(results):
    kernels = ["gather_rows", "scatter_rows, fixed order", "scatter_rows, atomic"]
    found = [(r["tables"], r["tokens"], r["kernel"]) for r in results["kernels"]]
    assert found == list(product(("usual", "large"), TINY.tokens, kernels))
    for row in results["kernels"]:
        assert 0 <= row["agreement"] < 1e-5
        assert row["clock"] == "queued"
        assert_time(row["called"])
        assert_time(row["queued"])
        assert row["touched_bytes"] >= row["minimal_bytes"]
        moved = row["percent_of_copy"] / 100 * results["copy"]["gb_per_s"]
        assert moved == pytest.approx(row["minimal_bytes"] / row["queued"]["ms"] / 1e6)
        rows = TINY.rows if row["tables"] == "usual" else TINY.large_rows
        assert row["tables_bytes"] == sum(rows) * TINY.width * 4
        assert row["tables_fit_in_l2"] is (row["tables"] == "usual")


def test_tables_are_timed_beside_thincs(results):
    assert [row["tokens"] for row in results["tables"]] == list(TINY.tokens)
    for row in results["tables"]:
        assert max(row["agreement"].values()) < 1e-5
        for kind in ("train", "predict"):
            times = row[kind]["contenders"]
            for clock, ratio in row[kind]["times_as_fast_as_thinc"].items():
                thinc, ours = (times[name][clock]["ms"] for name in ("thinc", "ours"))
                assert ratio == pytest.approx(thinc / ours)


def test_equal_runs_are_compared(results):
    equal = results["equal_runs"]
    assert equal["tokens"] == 12
    assert equal["weights_are_equal"]["ours, fixed order"] is True
    assert equal["weights_are_equal"]["thinc"] is True, "it is on the CPU here"


def test_unequal_runs_are_seen(device, monkeypatch):
    scatter_rows = cuda.scatter_rows
    numbers = iter(range(1000))

    def scatter(pairs, d_out, gradients, **options):
        scatter_rows(pairs, d_out, gradients, **options)
        if not cuda.is_deterministic():
            gradients[0].array[0] += next(numbers)

    monkeypatch.setattr(
        "spacy_hashembeds.layers.mixing.gputables.scatter_rows", scatter
    )
    equal = _gpu_tables.measure_equality(device, TINY, steps=2)
    assert equal["weights_are_equal"] == {
        "ours, fixed order": True,
        "ours, atomic": False,
        "thinc": True,
    }


def test_distinct_tokens_give_an_upper_bound(results):
    for row in results["distinct_rows"]:
        assert 0 < row["distinct_tokens"] <= row["tokens"]
        for name in ("tables_train", "embedder_train", "embedder_predict"):
            times = row[name]
            for clock, saving in times["upper_bound_of_saving_percent"].items():
                whole, distinct = (
                    times[which][clock]["ms"]
                    for which in ("all_tokens", "distinct_tokens")
                )
                assert saving == pytest.approx(100 - 100 * distinct / whole)


def test_embedders_and_pipelines_are_timed(results):
    assert [row["words"] for row in results["embedders"]] == list(TINY.tokens)
    timed = [results["pipelines"]["pipe"], results["pipelines"]["update"]]
    for row in results["embedders"]:
        assert row["agreement"] < 1e-5
        timed += [row["predict"], row["train, dropout 0.0"], row["train, dropout 0.1"]]
    for one in timed:
        us = {name: t["us_per_word"] for name, t in one["contenders"].items()}
        assert list(us) == ["spacy", "ours"]
        ratio = pytest.approx(us["spacy"] / us["ours"])
        assert one["times_as_fast_as_spacy"]["ours"] == ratio
    assert results["pipelines"]["agreement"]["docs_that_differ"] == 0
    cost = results["pipelines"]["cost_of_fixed_order"]
    fixed, atomic = (cost["contenders"][name] for name in ("fixed order", "atomic"))
    percent = 100 * fixed["us_per_word"] / atomic["us_per_word"] - 100
    assert cost["percent"] == pytest.approx(percent)


def test_profiles_say_how_long_python_waited(results):
    for kinds in results["pipelines"]["profile"].values():
        for profile in kinds.values():
            assert profile["functions"]
            *_, last = profile["us_per_word"]
            assert last == "of these, waiting for the GPU"
            assert profile["us_per_word"][last] > 0


def test_pipelines_are_on_the_gpu_and_leave_others_alone(device, corpus):
    before = get_current_ops()
    with device.used_by_new_models():
        nlp = _pipelines.make_pipeline("ours", corpus.vocab)
        assert nlp.get_pipe("tok2vec").model.ops is device.ops
    assert get_current_ops() is before


def test_layers_are_moved_as_copies(device):
    stock = _gpu_tables.make_thinc(TINY)
    moved = device.move(stock)
    assert all(node.ops is device.ops for node in moved.walk())
    assert not any(node.ops is device.ops for node in stock.walk())
    for node, original in zip(moved.walk(), stock.walk(), strict=True):
        for name in original.param_names:
            theirs, own = original.get_param(name), node.get_param(name)
            numpy.testing.assert_array_equal(theirs, own)
            assert not numpy.shares_memory(theirs, own)


def test_contenders_share_no_weights(device):
    stock = _gpu_tables.make_thinc(TINY)
    embedders = [
        _gpu_tables.make_embedder(name, device, stock) for name in ("thinc", "ours")
    ]
    for one, other in zip(*(e.tables for e in embedders), strict=True):
        theirs, own = one.get_param("E"), other.get_param("E")
        numpy.testing.assert_array_equal(theirs, own)
        assert not numpy.shares_memory(theirs, own)


def test_sizes_are_those_of_the_other_benchmarks():
    assert (list(Sizes().rows), Sizes().width) == (_embedders.ROWS, _embedders.WIDTH)
    assert sum(Sizes().large_rows) == 2_000_000


# clocks


def test_events_time_from_an_idle_gpu_to_the_end(device, monkeypatch):
    order: list[str] = []
    monkeypatch.setattr(EmulatedEvent, "record", lambda event: order.append("event"))
    monkeypatch.setattr(device.cupy, "wait", lambda: order.append("wait"))
    monkeypatch.setattr(device, "synchronize", lambda: order.append("idle"))
    monkeypatch.setattr(device.cupy.cuda, "get_elapsed_time", lambda *_: 12.0)
    assert device.time(lambda: order.append("run")) == 0.012
    assert order == ["idle", "event", "run", "event", "wait"]


def test_the_host_times_to_the_end_of_the_gpu(device):
    device.cupy.is_held = True
    waits = device.cupy.waits
    seconds = device.time_by_host(lambda: None)
    assert 0 < seconds < 1
    assert device.cupy.waits == waits + 2


def test_queued_work_is_timed_once_it_was_queued_in_time(device):
    device.cupy.holds.clear()
    late = iter([True, True, False])

    def run() -> None:
        assert device.cupy.is_held, "the GPU is busy until all is queued"
        device.cupy.is_held = not next(late)

    assert device.time_queued(run) > 0
    assert device.cupy.holds == [0.5e-3, 1e-3, 2e-3]


def test_work_that_waits_can_not_be_queued(device):
    assert not device.can_queue(device.synchronize)
    assert device.can_queue(lambda: None)
    with pytest.raises(RuntimeError, match=r"could not be queued within 0\.064 s"):
        device.time_queued(device.synchronize)


def test_what_waits_has_no_queued_time(device):
    makers = {
        "waits": lambda: lambda sample: device.synchronize,
        "runs": lambda: lambda sample: lambda: None,
    }
    times = _gpu_measure.time_both_ways(device, makers, ["a", "b"], ONCE)
    assert list(times) == ["waits", "runs"]
    assert times["waits"]["queued"] is None
    assert_time(times["waits"]["called"])
    assert_time(times["runs"]["queued"])
    assert _gpu_measure.get_ratio(times, "waits", "runs", "queued") is None
    only = {"waits": makers["waits"]}
    times = _gpu_measure.time_both_ways(device, only, ["a"], ONCE)
    assert times["waits"]["queued"] is None


def test_times_are_in_milliseconds():
    time = _gpu_measure.to_ms(Timing([0.001, 0.004, 0.002]))
    assert time == {
        "ms": 2.0,
        "ms_quartiles": [1.0, 4.0],
        "times_measured": 3,
    }


@pytest.mark.parametrize("before", [None, "0"])
def test_the_order_is_set_while_work_is_made_and_run(monkeypatch, before):
    name = cuda.DETERMINISTIC_NAME
    if before is None:
        monkeypatch.delenv(name, raising=False)
    else:
        monkeypatch.setenv(name, before)
    was = cuda.is_deterministic()
    seen: list[bool] = []

    def prepare(sample):
        seen.append(cuda.is_deterministic())
        return lambda: seen.append(cuda.is_deterministic())

    for is_fixed in (True, False):
        run = _gpu_measure.with_order(lambda: prepare, is_fixed)()("sample")
        assert cuda.is_deterministic() is was
        run()
        assert cuda.is_deterministic() is was
    assert seen == [True, True, False, False]


# bytes


def test_bytes_counted_by_hand():
    """Three tokens, tables of width 2 (8 bytes a row) with two rows a key and one."""
    rows = [numpy.array([[0, 1], [0, 0], [4, 1]]), numpy.array([[2], [2], [2]])]
    keys, sums, pairs = 3 * 2 * 8, 3 * 2 * 8, 3 * 3 * 8
    distinct, all_rows = 4 * 8, 9 * 8
    traffic = _gpu_roofline.count_gather(rows, 2)
    assert traffic.minimal == keys + sums + pairs + distinct
    assert traffic.touched == keys + sums + pairs + all_rows
    fixed = _gpu_roofline.count_scatter(rows, 2, is_in_order=True)
    atomic = _gpu_roofline.count_scatter(rows, 2, is_in_order=False)
    assert fixed.minimal == atomic.minimal == pairs + sums + 2 * distinct
    assert fixed.touched == pairs + all_rows + 2 * distinct
    assert atomic.touched == pairs + sums + 2 * all_rows


@example(n=1, hashes=[1], width=1, seed=0)
@example(n=30, hashes=[4, 4, 4, 4], width=9, seed=0)
@given(
    n=st.integers(1, 30),
    hashes=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    width=st.integers(1, 9),
    seed=st.integers(0, 99),
)
def test_bytes_counted_one_by_one(n, hashes, width, seed):
    """Walk over all numbers that are read and written, remembering where they are."""
    rng = numpy.random.default_rng(seed)
    rows = [rng.integers(0, 12, size=(n, k), dtype="uint32") for k in hashes]
    read, written, sums, pairs, touched = set(), set(), set(), set(), 0
    for t, found in enumerate(rows):
        for token in range(n):
            sums |= {(t, token, i) for i in range(width)}
            for k, row in enumerate(found[token]):
                pairs.add((t, token, k))
                cells = {(t, int(row), i) for i in range(width)}
                read |= cells
                touched += len(cells)
    written = sums
    traffic = _gpu_roofline.count_gather(rows, width)
    others = 8 * n * len(rows) + 4 * len(written) + 8 * len(pairs)
    assert traffic.minimal == others + 4 * len(read)
    assert traffic.touched == others + 4 * touched
    traffic = _gpu_roofline.count_scatter(rows, width, is_in_order=True)
    assert traffic.minimal == 8 * len(pairs) + 4 * len(sums) + 2 * 4 * len(read)


def test_traffic_is_that_of_an_average_batch(device):
    tables = _gpu_data.make_tables(device, TINY.rows, TINY.width)
    samples = _gpu_data.draw_samples(_gpu_data.draw_text_keys, 30, 2)
    both = _gpu_kernels.count_traffic(tables, samples)
    each = [_gpu_kernels.count_traffic(tables, [keys]) for keys in samples]
    for name, traffic in both.items():
        assert traffic.minimal == sum(one[name].minimal for one in each) // 2
        assert traffic.touched == sum(one[name].touched for one in each) // 2


def test_the_roofline_prefers_what_the_gpu_takes():
    traffic = _gpu_roofline.Traffic(minimal=4_000_000, touched=6_000_000)
    times = {"called": {"ms": 2.0}, "queued": {"ms": 0.5}}
    described = _gpu_roofline.describe_roofline(traffic, times, 16.0)
    assert described["clock"] == "queued"
    assert described["gb_per_s"] == pytest.approx(8.0)
    assert described["touched_gb_per_s"] == pytest.approx(12.0)
    assert described["percent_of_copy"] == pytest.approx(50.0)
    times["queued"] = None
    described = _gpu_roofline.describe_roofline(traffic, times, 16.0)
    assert described["clock"] == "called"
    assert described["percent_of_copy"] == pytest.approx(12.5)


# keys, tables and what becomes of them


def test_keys_are_frequent_and_rare_as_in_text():
    keys = _gpu_data.draw_text_keys(20_000, numpy.random.default_rng(0))
    assert (keys.shape, keys.dtype) == ((20_000, 4), "uint64")
    n_values = [len(numpy.unique(column)) for column in keys.T]
    assert 4000 < n_values[0] < 10_000
    assert n_values[1:] == [100, pytest.approx(2000, abs=300), 100]
    _, counts = numpy.unique(keys[:, 0], return_counts=True)
    first, second = sorted(counts)[:-3:-1]
    assert first / 20_000 == pytest.approx(1 / 11.4, rel=0.1)
    assert first / second == pytest.approx(2, rel=0.2)
    assert len(numpy.unique(keys, axis=0)) == n_values[0], "a word has its attributes"
    keys = _gpu_data.draw_distinct_keys(1000, numpy.random.default_rng(0))
    assert len(numpy.unique(keys)) == 4000


def test_samples_are_the_same_each_time():
    first, again = (
        _gpu_data.draw_samples(_gpu_data.draw_text_keys, 50, 2) for _ in range(2)
    )
    numpy.testing.assert_array_equal(first, again)
    assert (first[0] != first[1]).any()


def test_gradients_are_added_up_as_by_numpy(device):
    tables = _gpu_data.make_tables(device, TINY.rows, TINY.width)
    (keys,) = _gpu_data.draw_samples(_gpu_data.draw_text_keys, 50, 1)
    d_out = numpy.random.default_rng(1).standard_normal((50, 4 * TINY.width))
    added = tables.add_gradients(keys, d_out)
    for i, rows in enumerate(tables.find_rows(keys)):
        expected = tables.values[i].astype("float64")
        part = d_out[:, i * TINY.width : (i + 1) * TINY.width]
        for rows_of_hash in rows.T:
            numpy.add.at(expected, rows_of_hash, part)
        numpy.testing.assert_allclose(added[i], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["gather_rows", "scatter_rows"])
def test_wrong_kernels_are_not_timed(device, monkeypatch, name):
    tables = _gpu_data.make_tables(device, TINY.rows, TINY.width)
    keys = _gpu_data.draw_text_keys(9, numpy.random.default_rng(0))
    assert max(_gpu_kernels.check_kernels(device, tables, keys).values()) < 1e-5
    kernel = getattr(cuda, name)

    def spoil(*args):
        result = kernel(*args)
        if name == "gather_rows":
            args[2][-1, -1] = numpy.nan
        elif not cuda.is_deterministic():
            args[2][-1].array[0, 0] += 0.1
        return result

    monkeypatch.setattr(_gpu_kernels, name, spoil)
    with pytest.raises(RuntimeError, match=f"result of '{name}.*' should be within"):
        _gpu_kernels.check_kernels(device, tables, keys)


def test_wrong_tables_are_not_timed(device, monkeypatch):
    stock = _gpu_tables.make_thinc(TINY)
    keys = _gpu_data.draw_text_keys(9, numpy.random.default_rng(0))
    embed_tables = _gpu_tables.embed_tables

    def spoil(tables, keys, is_train):
        X, backprop = embed_tables(tables, keys, is_train)
        return X, lambda dX: backprop(dX * 1.01)

    monkeypatch.setattr(_gpu_tables, "embed_tables", spoil)
    with pytest.raises(RuntimeError, match="result of 'ours' should be within"):
        _gpu_tables.compare_embedders(device, stock, keys)


# the command


@pytest.mark.parametrize(
    ("found", "what"),
    [
        (Gpu(None, None, None), "CuPy is not installed"),
        (Gpu("14", None, "CUDARuntimeError: no driver"), "no driver"),
    ],
)
def test_without_a_gpu_nothing_is_done(monkeypatch, capsys, tmp_path, found, what):
    monkeypatch.setattr(_gpu_device, "examine_gpu", lambda: found)
    monkeypatch.setattr(gpu, "measure_gpu", pytest.fail)
    with pytest.raises(SystemExit) as exit_:
        gpu.main(output=tmp_path / "results.json")
    assert exit_.value.code == 1
    assert not list(tmp_path.iterdir())
    printed = " ".join(capsys.readouterr().out.split())
    assert what in printed
    for extra in ("cuda12x", "cuda13x"):
        assert f"'spacy-hashembeds[{extra}]'" in printed


def test_a_gpu_is_found_by_cupy(monkeypatch):
    cupy = EmulatedCupy()
    monkeypatch.setattr(_gpu_device, "examine_gpu", lambda: Gpu("14", "A GPU", None))
    monkeypatch.setattr(_gpu_device, "import_module", lambda name: cupy)
    device = _gpu_device.find_device()
    assert device.cupy is cupy
    assert isinstance(device.ops, CupyOps)


def test_results_are_written_after_each_part(
    device, results, steps, monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(gpu, "find_device", lambda: device)
    monkeypatch.setattr(gpu, "RESULTS", tmp_path)
    path = tmp_path / "gpu-nvidia-h999-3.json"
    written: list[Any] = []

    def measure(*_):
        yield steps[0]
        written.append(json.loads(path.read_text("utf8")))
        yield results

    monkeypatch.setattr(gpu, "measure_gpu", measure)
    gpu.main()
    written.append(json.loads(path.read_text("utf8")))
    assert written == [steps[0], results]
    printed = capsys.readouterr().out
    assert "NVIDIA H999 (3): a copy moves" in printed
    assert "scatter_rows, atomic" in printed
    gpu.main(output=tmp_path / "other.json")
    assert (tmp_path / "other.json").exists()


def test_goals_are_checked_where_something_was_measured():
    assert gpu.check_goals({}) == []
    kernel = {"kernel": "gather_rows", "tokens": 1000, "tables": "large"}
    ratio = {"train": {"times_as_fast_as_thinc": {"called": 5.0}}}
    goals = gpu.check_goals(
        {
            "kernels": [
                {**kernel, "percent_of_copy": 50.0},
                {**kernel, "kernel": "scatter_rows, atomic"},
            ],
            "tables": [{"tokens": n, **ratio} for n in (1000, 10_000, 100_000)],
            "pipelines": {"cost_of_fixed_order": {"percent": 5.1}},
        }
    )
    checked = [(g["wanted"], g["measured"], g["reached"]) for g in goals]
    assert checked == [
        ("at least 50", 50.0, True),
        ("at least 3", 5.0, True),
        ("at least 10", 5.0, False),
        ("at most 5", 5.1, False),
    ]
    assert gpu.check_goals({"pipelines": {"skipped": "no spaCy"}}) == []


def test_parts_that_need_spacy_are_skipped_without(device, monkeypatch):
    monkeypatch.setattr(gpu, "find_spec", lambda name: None)
    monkeypatch.setattr(gpu, "describe_machine", dict)
    for part in ("measure_copy", "measure_kernels", "measure_tables"):
        monkeypatch.setattr(gpu, part, lambda *_: {"gb_per_s": 1.0})
    for part in ("measure_equality", "measure_distinct"):
        monkeypatch.setattr(gpu, part, lambda *_: {})
    monkeypatch.setattr(gpu, "check_goals", lambda results: [])
    *_, results = gpu.measure_gpu(device, ONCE, TINY)
    for part in ("corpus", "embedders", "pipelines"):
        assert "spaCy is not installed" in results[part]["skipped"]


def test_no_spacy_is_imported_where_there_is_none():
    code = (
        "import sys; sys.modules['spacy'] = sys.modules['typer'] = None; "
        "import benchmarks.gpu; from benchmarks import _machine; "
        "_machine.measure_threads = dict; machine = _machine.describe_machine(); "
        "assert machine['parser_profiled'] is None; print('done')"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout == "done\n"


def test_cupy_has_what_is_emulated():
    """All names but those of the data that only a device gives."""
    cupy = pytest.importorskip("cupy", reason=NO_GPU)
    emulated = EmulatedCupy()
    for name in vars(emulated.cuda):
        assert hasattr(cupy.cuda, name)
    for name in vars(emulated.cuda.runtime):
        assert hasattr(cupy.cuda.runtime, name)
    for name in ("record", "synchronize", "done"):
        assert hasattr(cupy.cuda.Event, name)
    for name in ("synchronize", "compute_capability"):
        assert hasattr(cupy.cuda.Device, name)
    assert callable(cupy.RawKernel)


def test_the_kernel_that_holds_the_gpu_compiles(tmp_path):
    nvcc = find_nvcc()
    path = tmp_path / "hold.cu"
    path.write_text(_gpu_device.HOLD, encoding="utf8")
    options = ["-arch=sm_80", "-Werror", "all-warnings", "-c", str(path)]
    subprocess.run([nvcc, *options, "-o", str(tmp_path / "hold.o")], check=True)
