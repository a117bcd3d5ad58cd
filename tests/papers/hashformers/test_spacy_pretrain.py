"""`spacy pretrain` and then `spacy train`, as a user runs them.

Weights that are not loaded, or not all of them, would go unnoticed: the pipeline trains
from its first weights and scores a little less.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.cli._util import app
from spacy.language import Language
from spacy.util import load_config, registry
from thinc.api import Config, Model
from typer.testing import CliRunner

from tests.configs import CONFIGS

pytestmark = pytest.mark.slow

EMBED = {
    "@architectures": "spacy-hashembeds.MultiEmbed.v1",
    **{"width": 16, "attrs": ["NORM", "SHAPE"], "include_static_vectors": False},
}
ENCODE = {
    "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
    **{"width": 16, "depth": 1, "window_size": 1, "maxout_pieces": 2},
}

#: The weights of the pretrained component when a pipeline has been initialised.
initial: list[bytes] = []


def keep_weights(nlp: Language) -> None:
    initial.append(find_tok2vec(nlp).to_bytes())


registry.callbacks.register("test.keep_weights.v1", func=lambda: keep_weights)


def find_tok2vec(nlp: Language) -> Model:
    """What [pretraining] names."""
    section = nlp.config["pretraining"]
    model = nlp.get_pipe(section["component"]).model
    return model.get_ref(section["layer"]) if section["layer"] else model


@pytest.fixture
def config(tiny_corpus) -> Config:
    """The config that comes with us, with a small tok2vec, for a small corpus."""
    config = load_config(CONFIGS / "pretrain_ner.cfg")
    config["paths"] |= {
        "raw_text": str(tiny_corpus / "train.spacy"),
        "train": str(tiny_corpus / "train.spacy"),
        "dev": str(tiny_corpus / "dev.spacy"),
    }
    config["nlp"]["after_pipeline_creation"] = None  # no BLAS to measure
    config["initialize"]["after_init"] = {"@callbacks": "test.keep_weights.v1"}
    config["pretraining"]["max_epochs"] = 2
    config["pretraining"]["batcher"]["size"] = 200
    config["training"] |= {"max_steps": 2, "eval_frequency": 1}
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": EMBED, "encode": ENCODE}
    config["components"]["tok2vec"]["model"] = tok2vec
    count_symbols = {"@callbacks": "spacy-hashembeds.count_symbols.v1"}
    config["initialize"]["before_init"] = {**count_symbols, "min_freq": 2}
    return config


def run(*args: Any) -> None:
    arguments = [str(arg) for arg in args]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output


def pretrain(config: Config, folder: Path) -> Path:
    config.to_disk(folder / "config.cfg")
    run("pretrain", folder / "config.cfg", folder / "pretrained")
    return folder / "pretrained"


def read_log(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "log.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("is_shared", [True, False])
def test_training_begins_with_pretrained_weights(config, tmp_path, is_shared):
    if not is_shared:
        tok2vec = config["components"].pop("tok2vec")["model"]
        config["components"]["ner"]["model"]["tok2vec"] = tok2vec
        config["nlp"]["pipeline"] = ["ner"]
        config["pretraining"] |= {"component": "ner", "layer": "tok2vec"}
    output = pretrain(config, tmp_path)
    weights = output / "model-last.bin"
    initial.clear()
    args = ["-o", tmp_path / "trained", "--initialize.init_tok2vec", weights]
    run("train", tmp_path / "config.cfg", *args)
    (started,) = initial
    assert started == weights.read_bytes() != (output / "model0.bin").read_bytes()
    nlp = spacy.load(tmp_path / "trained" / "model-last")
    assert find_tok2vec(nlp).to_bytes() != started  # it was trained


def test_something_is_learned(config, tmp_path):
    """The loss falls below that of a model that knows nothing but the shares."""
    config["pretraining"] |= {"max_epochs": 40, "dropout": 0.0}
    config["pretraining"]["optimizer"]["learn_rate"] = 0.01
    *epochs, _ = read_log(pretrain(config, tmp_path))
    assert len(epochs) == 40
    per_word = [epoch["epoch_loss"] / epochs[0]["nr_word"] for epoch in epochs]
    shares = np.array([0.81, 0.1, 0.09])
    assert np.mean(per_word[-5:]) < 0.8 * -(shares * np.log(shares)).sum()


def test_pretraining_ends_when_nothing_is_learned(config, tmp_path, caplog):
    """With a reader that holds texts out, which would go on for ten epochs."""
    config["corpora"]["pretrain"] = {
        "@readers": "spacy-hashembeds.RawTexts.v1",
        **{"path": config["paths"]["raw_text"], "held_out": 0.1},
    }
    config["pretraining"] |= {"max_epochs": 10, "n_save_epoch": 10}
    config["pretraining"]["optimizer"] |= {"learn_rate": 0.0, "L2": 0.0}
    output = pretrain(config, tmp_path)
    assert "after epoch 1: 1.0986 a token" in caplog.text  # that of guessing
    assert caplog.text.count("Held-out loss") == 2
    assert (output / "model9.bin").exists()
    first, last, _ = read_log(output)
    assert last["nr_word"] == 2 * first["nr_word"]
