"""Shuffle + Random: words, loss and gradient; `spacy pretrain`, then `spacy train`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.cli._util import app
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config, registry
from thinc.api import Config, Model, fix_random_seed, set_dropout_rate
from typer.testing import CliRunner

from spacy_hashembeds.papers.hashformers.pretrain_shuffle_random import (
    INTACT,
    RANDOM,
    SHUFFLED,
    PretrainShuffleRandom,
    corrupt,
    corrupt_docs,
    measure_loss,
)
from spacy_hashembeds.training.rawtexts import MEASURES
from tests.configs import CONFIGS

from ..contract import make_small_embedder
from ..toy_embedders import make_docs

SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.99])


def draw(lengths, shuffle, random, words=None, seed=0):
    words = np.arange(sum(lengths)) if words is None else np.array(words)
    draws, sizes = np.random.RandomState(seed), np.array(lengths, dtype="int64")
    return corrupt(words, sizes, shuffle=shuffle, random=random, draws=draws)


@given(
    texts=st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=6),
    shuffle=SHARES,
    random=SHARES,
    seed=st.integers(0, 99),
)
def test_labels_name_the_sources_of_words(texts, shuffle, random, seed):
    """Tokens are intact if and only if the word is equal."""
    words = [word for text in texts for word in text]
    sources, labels = draw(list(map(len, texts)), shuffle, random, words, seed=seed)
    of_text = np.repeat(np.arange(len(texts)), list(map(len, texts)))
    for place, (source, label) in enumerate(zip(sources, labels, strict=True)):
        assert (words[source] == words[place]) == (label == INTACT)
        if label != INTACT:
            assert (of_text[source] == of_text[place]) == (label == SHUFFLED)


def test_shares_of_replaced_words_and_uniform_draws():
    sources, labels = draw([4] * 9000, 0.1, 0.2)
    shares = np.bincount(labels, minlength=3) / len(labels)
    np.testing.assert_allclose(shares, [0.9 * 0.8, 0.1, 0.9 * 0.2], atol=0.005)
    n = len(labels)
    steps = (sources - np.arange(n)) % n
    within = np.unique(steps[labels == SHUFFLED], return_counts=True)
    assert within[0].tolist() == [1, 2, 3, n - 3, n - 2, n - 1]
    expected = np.array([3, 2, 1, 1, 2, 3]) / 12
    np.testing.assert_allclose(within[1] / within[1].sum(), expected, atol=0.02)
    quarters = np.bincount(steps[labels == RANDOM] * 4 // n)
    np.testing.assert_allclose(quarters / quarters.sum(), [0.25] * 4, atol=0.02)


#: Token attributes that embedders read.
ATTRS = "ORTH NORM LOWER PREFIX SUFFIX SHAPE IS_SPACE LIKE_NUM LENGTH".split()


@pytest.fixture
def docs(vocab) -> list[Doc]:
    """Docs with vectors, a custom norm and white space."""
    lines = Doc(
        vocab, words=["two", "\n", "lines", " "], spaces=[False, False, True, True]
    )
    docs = [*make_docs(vocab, [9, 0, 7, 3, 1]), lines]
    docs[2][1].norm_ = "smile"  # as set by a matcher
    return docs


def read(docs: list[Doc]) -> list[tuple]:
    """Read the attributes and vector of each token."""
    rows = [row.tolist() for doc in docs for row in doc.to_array(ATTRS)]
    vectors = [token.vector.tolist() for doc in docs for token in doc]
    return [*zip(map(tuple, rows), vectors, strict=True)]


@pytest.mark.parametrize("share", [0, 0.4])
def test_all_attributes_are_replaced_except_white_space(docs, share):
    before = read(docs)
    fix_random_seed(0)
    made, labels = corrupt_docs(docs, shuffle=share, random=share)
    assert read(docs) == before  # inputs are not modified
    for old, new in zip(docs, made, strict=True):
        np.testing.assert_array_equal(old.to_array("SPACY"), new.to_array("SPACY"))
    for old, new, label in zip(before, read(made), labels, strict=True):
        assert new in before
        assert (new[0][0] == old[0][0]) == (label == INTACT)
    assert set(labels.tolist()) == ({INTACT, SHUFFLED, RANDOM} if share else {INTACT})


def build(docs: list[Doc], **settings: Any) -> Model:
    fix_random_seed(0)
    model = PretrainShuffleRandom(**settings)(docs[0].vocab, make_small_embedder())
    softmax = model.initialize(X=docs).get_ref("output_layer")  # zeros
    softmax.set_param("W", np.random.normal(size=(3, 6)).astype("f"))
    return model


def update(model: Model, docs: list[Doc], seed: int = 0):
    """Compute the loss of a batch, like `spacy pretrain`."""
    fix_random_seed(seed)
    predictions, backprop = model.begin_update(docs)
    loss, gradient = model.attrs["loss"](model.ops, docs, predictions)
    return loss, gradient, backprop


def test_prediction_replaces_no_words(docs):
    """The loss is a sum over tokens; its gradient is that of the mean."""
    model = build(docs, shuffle=0.5, random=0.5)
    (probs, labels), n = model.predict(docs), sum(map(len, docs))
    assert (probs.shape, probs.dtype) == ((n, 3), "float32")
    np.testing.assert_allclose(probs.sum(axis=1), 1, rtol=1e-5)
    assert not labels.any()
    loss, gradient = model.attrs["loss"](model.ops, docs, (probs, labels))
    assert loss == pytest.approx(-np.log(probs[:, INTACT]).sum(), rel=1e-5)
    np.testing.assert_allclose(gradient, (probs - np.eye(3)[labels]) / n, atol=1e-6)
    for nothing in ([], docs[1:2]):
        loss, gradient, backprop = update(model, nothing)
        assert (loss, gradient.shape) == (0, (0, 3))
        backprop(gradient)


def test_the_measured_loss_equals_the_training_loss(docs):
    """Measuring disables dropout, repeats draws, and keeps the global state."""
    model = build(docs)
    set_dropout_rate(model, 0.5)
    fix_random_seed(1)
    found = measure_loss(model, docs)
    assert np.random.uniform() == np.random.RandomState(1).uniform()
    set_dropout_rate(model, 0.0)
    loss, _, _ = update(model, docs, seed=0)  # the seed of measurements
    assert found == pytest.approx(loss / sum(map(len, docs)), rel=1e-5)
    MEASURES[docs[0]] = measures = {}
    model.begin_update(docs)
    assert measures["loss"](docs) == pytest.approx(found, rel=1e-5)


# `spacy pretrain` and `spacy train`: weights that are not loaded would lower scores
# only slightly.

#: Weights of the pretrained component after initialization.
initial: list[bytes] = []


def keep_weights(nlp: Language) -> None:
    initial.append(find_tok2vec(nlp).to_bytes())


registry.callbacks.register("test.keep_weights.v1", func=lambda: keep_weights)


def find_tok2vec(nlp: Language) -> Model:
    section = nlp.config["pretraining"]
    model = nlp.get_pipe(section["component"]).model
    return model.get_ref(section["layer"]) if section["layer"] else model


@pytest.fixture
def config(tiny_corpus) -> Config:
    """Our config, with a small tok2vec and corpus."""
    config = load_config(CONFIGS / "pretrain_ner.cfg")
    paths = {"raw_text": "train", "train": "train", "dev": "dev"}
    config["paths"] |= {k: str(tiny_corpus / f"{v}.spacy") for k, v in paths.items()}
    config["nlp"]["after_pipeline_creation"] = None  # no BLAS measurement
    config["initialize"]["after_init"] = {"@callbacks": "test.keep_weights.v1"}
    config["pretraining"]["batcher"]["size"] = 200
    config["training"] |= {"max_steps": 2, "eval_frequency": 1}
    embed = {
        "@architectures": "spacy-hashembeds.MultiEmbed.v1",
        **{"width": 16, "attrs": ["NORM", "SHAPE"], "include_static_vectors": False},
    }
    encode = {
        "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
        **{"width": 16, "depth": 1, "window_size": 1, "maxout_pieces": 2},
    }
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    config["components"]["tok2vec"]["model"] = tok2vec
    count_symbols = {"@callbacks": "spacy-hashembeds.count_symbols.v1"}
    config["initialize"]["before_init"] = {**count_symbols, "min_freq": 2}
    return config


def run(*args: Any) -> None:
    arguments = [str(arg) for arg in args]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output


def pretrain(config: Config, folder: Path) -> tuple[Path, list[dict[str, float]]]:
    """Pretrain. Return the folder with weights, and the log's epochs."""
    config.to_disk(folder / "config.cfg")
    run("pretrain", folder / "config.cfg", folder / "pretrained")
    lines = (folder / "pretrained" / "log.jsonl").read_text().splitlines()
    return folder / "pretrained", [json.loads(line) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("is_shared", [True, False])
def test_training_starts_with_pretrained_weights(config, tmp_path, is_shared):
    if not is_shared:
        tok2vec = config["components"].pop("tok2vec")["model"]
        config["components"]["ner"]["model"]["tok2vec"] = tok2vec
        config["nlp"]["pipeline"] = ["ner"]
        config["pretraining"] |= {"component": "ner", "layer": "tok2vec"}
    config["pretraining"] |= {"max_epochs": 40, "dropout": 0.0}
    config["pretraining"]["optimizer"]["learn_rate"] = 0.01
    output, log = pretrain(config, tmp_path)
    # the loss is below the entropy of the shares
    per_word = [epoch["epoch_loss"] / log[0]["nr_word"] for epoch in log[-6:-1]]
    shares = np.array([0.81, 0.1, 0.09])
    assert np.mean(per_word) < 0.8 * -(shares * np.log(shares)).sum()
    weights = output / "model-last.bin"
    initial.clear()
    args = ["-o", tmp_path / "trained", "--initialize.init_tok2vec", weights]
    run("train", tmp_path / "config.cfg", *args)
    (started,) = initial
    assert started == weights.read_bytes() != (output / "model0.bin").read_bytes()
    nlp = spacy.load(tmp_path / "trained" / "model-last")
    assert find_tok2vec(nlp).to_bytes() != started  # trained


@pytest.mark.slow
def test_pretraining_stops_without_progress(config, tmp_path, caplog):
    """Some texts are held out. The maximum is ten epochs."""
    config["corpora"]["pretrain"] = {
        "@readers": "spacy-hashembeds.RawTexts.v1",
        **{"path": config["paths"]["raw_text"], "held_out": 0.1},
    }
    config["pretraining"] |= {"max_epochs": 10, "n_save_epoch": 10}
    config["pretraining"]["optimizer"] |= {"learn_rate": 0.0, "L2": 0.0}
    output, (first, last, _) = pretrain(config, tmp_path)
    assert "after epoch 1: 1.0986 a token" in caplog.text  # log(3)
    assert "after epoch 2" not in caplog.text
    assert (output / "model9.bin").exists()
    assert last["nr_word"] == 2 * first["nr_word"]
