"""Configs with our functions in them train, save and load as `spacy train` has it."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, load_model_from_config

from spacy_hashembeds.configuration import configure as configure_module
from spacy_hashembeds.configuration.configure import configure
from spacy_hashembeds.optimizers import OnePassAdam

from . import toy_configs as toys

SMALL = {
    "training.max_steps": 2,
    "training.eval_frequency": 1,
    "components.tok2vec.model.encode.width": 16,
    "components.tok2vec.model.encode.depth": 1,
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return toys.write_corpus(tmp_path_factory.mktemp("corpus") / "train.spacy")


def train_and_load(config: Path, corpus: Path, output: Path, **overrides):
    """Train as `spacy train` does, and give the pipeline as it was saved."""
    dev = toys.write_corpus(output.with_suffix(".spacy"), 5)
    paths = {"paths.train": str(corpus), "paths.dev": str(dev)}
    loaded = load_config(config, {**paths, **SMALL, **overrides})
    output.mkdir()
    log = StringIO()
    nlp, _ = train(init_nlp(loaded), output, stdout=log, stderr=StringIO())
    saved = spacy.load(output / "model-last")
    doc = nlp.make_doc(" ".join(toys.WORDS))
    before, after = (
        each.get_pipe("tok2vec").model.predict([doc])[0] for each in (nlp, saved)
    )
    np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-6)
    return saved, log.getvalue()


@pytest.mark.parametrize(
    "section",
    ["", '[training.optimizer]\n@optimizers = "Adam.v1"\nlearn_rate = 0.01\n'],
)
def test_our_optimizer_trains_the_bits_that_thincs_does(
    tmp_path, corpus, section, monkeypatch
):
    """Also where spaCy fills in arguments, which it does for Thinc's alone."""
    base, config = tmp_path / "base.cfg", tmp_path / "new.cfg"
    base.write_text(f"{toys.CNN}\n[training]\n{section}")
    trained = []
    for is_ours in (True, False):
        if not is_ours:
            monkeypatch.setattr(configure_module, "put_in_adam", lambda *args: None)
        config.write_text(configure(base, embedder="multi_embed").text)
        output = tmp_path / f"{is_ours}"
        saved, _ = train_and_load(config, corpus, output, **{"training.max_steps": 6})
        assert isinstance(saved.create_optimizer(), OnePassAdam) is is_ours
        trained.append([pipe.model.to_bytes() for _, pipe in saved.pipeline])
    assert trained[0] == trained[1]


@pytest.mark.parametrize(
    ("pipeline", "optimize", "embedder"),
    [
        (["tagger", "parser", "ner"], "efficiency", "multi_fewer_hash_embed"),
        (["ner", "textcat"], "accuracy", "multi_embed"),
        (
            ["spancat", "morphologizer", "textcat_multilabel"],
            "accuracy",
            "hash_former_embed",
        ),
    ],
)
def test_it_trains(tmp_path, corpus, pipeline, optimize, embedder):
    base = toys.write_base(tmp_path / "base.cfg", pipeline, optimize)
    made = configure(base, embedder=embedder, train=corpus, scorer="ner" in pipeline)
    config = toys.write_made(tmp_path / "new.cfg", made)
    overrides = {}
    if optimize == "accuracy":
        vectors = toys.write_vectors(tmp_path / "vectors")
        overrides["paths.vectors"] = str(vectors)
    saved, log = train_and_load(config, corpus, tmp_path / "out", **overrides)
    assert saved.pipe_names == ["tok2vec", *pipeline]
    embed = saved.config["components"]["tok2vec"]["model"]["embed"]
    assert embed["@architectures"] == toys.NAMES[embedder]
    assert embed["include_static_vectors"] == (optimize == "accuracy")
    assert ("ENTS_UNSEEN_F" in log.upper()) == ("ner" in pipeline)


def test_what_spacy_fills_in_trains(tmp_path, corpus):
    config = tmp_path / "cnn.cfg"
    config.write_text(toys.CNN)
    toys.write_made(config, configure(config, embedder="multi_embed", scorer=True))
    saved, _ = train_and_load(config, corpus, tmp_path / "out")
    assert saved.config["initialize"]["before_init"]["min_freq"] == 2
    listener = saved.get_pipe("ner").model.get_ref("tok2vec").layers[0]
    assert listener.get_dim("nO") == 16


def test_a_saved_pipeline_trains_anew(tmp_path, base, corpus):
    old = load_model_from_config(load_config(base), auto_fill=True)
    old.to_disk(tmp_path / "old")
    made = toys.configure_hashed(tmp_path / "old")
    assert made.base.is_pipeline
    config = toys.write_made(tmp_path / "new.cfg", made)
    saved, _ = train_and_load(config, corpus, tmp_path / "new")
    model = saved.config["components"]["tok2vec"]["model"]
    assert model["embed"]["@architectures"] == toys.HASH
    assert model["encode"]["@architectures"] == toys.ENCODER
