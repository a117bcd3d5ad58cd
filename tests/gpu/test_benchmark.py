"""The benchmark, on an emulated GPU. How fast anything is, is not tested."""

import json
from collections.abc import Iterator
from types import SimpleNamespace

import numpy
import pytest
from thinc.api import get_current_ops

from benchmarks import gpu
from benchmarks._data import load_corpus
from spacy_hashembeds.acceleration.installation import Gpu
from spacy_hashembeds.kernels import cuda

from . import emulation

TINY = gpu.Sizes(tokens=(3, 12), batches=2, docs=5, updates=1, training_steps=2)


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


@pytest.fixture(scope="module")
def corpus(tiny_corpus):
    return load_corpus(tiny_corpus / "train.spacy")


def test_all_parts_are_measured_by_the_kernels(
    device, corpus, monkeypatch, tmp_path, capsys
):
    used = []
    get_kernel = cuda.get_kernel
    monkeypatch.setattr(cuda, "get_kernel", lambda *n: used.append(n) or get_kernel(*n))
    monkeypatch.setattr(gpu, "BATCH_WORDS", 8)
    monkeypatch.setattr(gpu, "describe_machine", lambda: {"cpu": "a CPU"})
    monkeypatch.setattr(gpu, "find_device", lambda: device)
    monkeypatch.setattr(gpu, "RESULTS", tmp_path)
    monkeypatch.setattr(gpu, "Sizes", lambda: TINY)
    monkeypatch.setattr(gpu, "load_corpus", lambda path: corpus)
    before = get_current_ops()
    gpu.main(blocks=1, rounds=1)
    assert get_current_ops() is before
    assert {name for name, _ in used} == {
        "gather_sum",
        "sum_runs",
        "join_runs",
        "scatter_atomically",
    }
    results = json.loads((tmp_path / "gpu-nvidia-h999-3.json").read_text())
    assert results["device"]["name"] == "NVIDIA H999 (3)"
    assert results["equal_runs"][gpu.FIXED] is True
    rows, pipelines = results["embedders"], results["pipelines"]
    assert [row["tokens"] for row in rows] == list(TINY.tokens)
    assert pipelines["agreement"]["docs_that_differ"]["ours"] == 0
    timed = [row[kind] for row in rows for kind in ("predict", "train")]
    for found in (*timed, pipelines["pipe"], pipelines["update"]):
        times = {name: t["us_per_word"] for name, t in found["contenders"].items()}
        for name, us_per_word in times.items():
            ratio = pytest.approx(times["spacy"] / us_per_word)
            assert found["times_as_fast"][name] == ratio
    printed = capsys.readouterr().out
    assert "embedder, train, 12 tokens" in printed
    assert "ours, atomic" in printed


def test_wrong_numbers_are_not_timed(device, corpus):
    models = gpu.make_embedders(corpus.docs)
    moved = {name: device.move(model) for name, model in models.items()}
    (mixer,) = (node for node in moved["ours"].walk() if node.name == "maxout")
    weights = numpy.array(mixer.get_param("b"))
    weights[0, 0] += 1
    mixer.set_param("b", weights)
    with pytest.raises(RuntimeError, match="spacy and ours should be equal to 1e-05"):
        gpu.check_equal(device, moved, corpus.docs[:2])


def test_without_a_gpu_nothing_is_done(monkeypatch, capsys):
    monkeypatch.setattr(gpu, "examine_gpu", lambda: Gpu(None, None, "It broke."))
    monkeypatch.setattr(gpu, "measure_gpu", pytest.fail)
    with pytest.raises(SystemExit, match="1"):
        gpu.main()
    printed = " ".join(capsys.readouterr().out.split())
    assert "It broke. Install CuPy" in printed
    assert "'spacy-hashembeds[cuda13x]'" in printed


@pytest.mark.gpu
def test_a_real_gpu_is_found_and_described():
    described = gpu.find_device().describe()
    assert described["name"]
    assert described["memory_gib"] > 0
