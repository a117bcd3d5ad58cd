"""The benchmark, on an emulated GPU. How fast anything is, is not tested."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from thinc.api import get_current_ops

from benchmarks import command, data, gpu, page
from benchmarks.timing import Schedule
from spacy_hashembeds.acceleration.installation import Gpu
from tests.gpu import emulation

ONCE = Schedule(blocks=1, rounds=1)
TINY = data.Sizes(gpu_words=(3, 12), docs=5, updates=1, steps=2)


def make_cupy() -> SimpleNamespace:
    """As much of CuPy as the benchmark asks for beside arrays."""
    runtime = SimpleNamespace(
        getDevice=lambda: 3,
        getDeviceProperties=lambda device: {
            "name": f"NVIDIA H999 ({device})".encode(),
            "totalGlobalMem": 141 * 2**30,
        },
        driverGetVersion=lambda: 13000,
        runtimeGetVersion=lambda: 12090,
    )
    device = SimpleNamespace(synchronize=lambda: None)
    cuda = SimpleNamespace(Device=lambda: device, runtime=runtime)
    return SimpleNamespace(__version__="14", cuda=cuda)


@pytest.fixture(scope="module")
def device(tmp_path_factory) -> Iterator[gpu.Device]:
    libraries = emulation.compile_kernels(tmp_path_factory.mktemp("kernels"))
    with pytest.MonkeyPatch.context() as patch:
        yield gpu.Device(make_cupy(), emulation.emulate(patch, libraries))


def test_all_parts_are_measured_by_the_kernels(device, tiny_corpus, used, monkeypatch):
    monkeypatch.setattr(gpu, "BATCH_WORDS", 8)
    monkeypatch.setattr(data, "BATCH_WORDS", 8)
    monkeypatch.setattr(gpu, "find_device", lambda: device)
    before = get_current_ops()
    path = tiny_corpus / "train.spacy"
    parts = command.measure(command.BENCHMARKS["gpu"], path, ONCE, TINY)
    first, *_, results = [{**part} for part in parts]
    assert get_current_ops() is before
    assert {name for name, _ in used} == {"gather_sum", "sum_runs", "join_runs"}
    assert "equal_runs" not in first, "what was measured is not lost"
    assert results["device"]["name"] == "NVIDIA H999 (3)"
    assert results["equal_runs"]["ours"] is True
    assert results["agreement"]["docs_that_differ"]["ours"] == 0
    assert len(results["timings"]["embedders"]) == 2 * len(TINY.gpu_words)
    table = page.tabulate_gpu({**results, "machine": {"cpu": "a CPU"}})
    assert "| embedder, forward and backward, 12 words |" in table
    assert "NVIDIA H999 (3), CuPy 14, host a CPU; 0 Docs differ." in table


def test_without_a_gpu_nothing_is_done(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gpu, "examine_gpu", lambda: Gpu(None, None, "It broke."))
    monkeypatch.setattr(command, "_SECONDS_TO_WATCH", 0)
    with pytest.raises(SystemExit, match="1"):
        command.run("gpu", output=tmp_path / "gpu.json")
    printed = " ".join(capsys.readouterr().out.split())
    assert "It broke. Install CuPy" in printed
    assert "'spacy-hashembeds[cuda13x]'" in printed


@pytest.mark.gpu
def test_a_real_gpu_is_found_and_described():
    described = gpu.find_device().describe()
    assert described["name"]
    assert described["memory_gib"] > 0
