"""`spacy pretrain` and then `spacy train`, as a user runs them.

Weights that are not loaded, or not all of them, would go unnoticed: the pipeline trains
from its first weights and scores a little less.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.cli._util import app
from spacy.language import Language
from spacy.util import load_config, registry
from thinc.api import Config, Model
from typer.testing import CliRunner, Result

from spacy_hashembeds.corpora.rawtexts import MEASURES
from spacy_hashembeds.layers.mixing.column import find_column
from tests.configs import CONFIGS

pytestmark = pytest.mark.slow

WIDTH = 16
HASH = {
    "@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1",
    "width": WIDTH,
    "attrs": ["NORM", "SHAPE"],
    "rows": [100, 20],
    "include_static_vectors": False,
}
EMBEDDERS: dict[str, dict[str, Any]] = {
    "hash": HASH,
    "lookup": {
        "@architectures": "spacy-hashembeds.MultiEmbed.v1",
        "width": WIDTH,
        "attrs": ["NORM"],
        "include_static_vectors": False,
    },
}
ENCODERS: dict[str, dict[str, Any]] = {
    "windows": {
        "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
        **{"width": WIDTH, "depth": 1, "window_size": 1, "maxout_pieces": 2},
    },
    "att": {
        "@architectures": "spacy-hashembeds.AttBiLSTMEncoder.v1",
        **{"width": 20, "depth": 1},
    },
}
PAIRS = [
    *((embedder, "windows") for embedder in EMBEDDERS),
    pytest.param("hash", "att", marks=pytest.mark.torch),
]

#: The weights of the pretrained component when a pipeline has been initialised.
initial: list[bytes] = []


def keep_weights() -> Any:
    def keep(nlp: Language) -> Language:
        initial.append(find_tok2vec(nlp).to_bytes())
        return nlp

    return keep


registry.callbacks.register("test.keep_weights.v1", func=keep_weights)


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
    set_layers(config, "hash", "windows")
    return config


def set_layers(config: Config, embedder: str, encoder: str) -> None:
    config["components"]["tok2vec"]["model"] = {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": EMBEDDERS[embedder],
        "encode": ENCODERS[encoder],
    }
    if embedder == "lookup":
        config["initialize"]["before_init"] = {
            "@callbacks": "spacy-hashembeds.count_symbols.v1",
            "corpus": "corpora.train",
            "min_freq": 2,
        }


def run(*args: Any) -> Result:
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def pretrain(config: Config, folder: Path, *args: Any) -> Path:
    config.to_disk(folder / "config.cfg")
    output = folder / "pretrained"
    run("pretrain", folder / "config.cfg", output, *args)
    return output


def train(config: Config, folder: Path, weights: Path) -> bytes:
    """Train a pipeline, and give the weights that its tok2vec began with."""
    initial.clear()
    config.to_disk(folder / "config.cfg")
    args = ["-o", folder / "trained", "--initialize.init_tok2vec", weights]
    run("train", folder / "config.cfg", *args)
    (first,) = initial
    return first


def read_log(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "log.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def check_loaded(config: Config, folder: Path) -> None:
    """Pretrain, train, and compare the weights that the one made and the other began
    with.
    """
    output = pretrain(config, folder)
    weights = output / "model-last.bin"
    started = train(config, folder, weights)
    assert started == weights.read_bytes() != (output / "model0.bin").read_bytes()
    nlp = spacy.load(folder / "trained" / "model-last")
    assert find_tok2vec(nlp).to_bytes() != started  # it was trained
    assert nlp("Anna lives in Paris") is not None


@pytest.mark.parametrize(("embedder", "encoder"), PAIRS)
def test_training_begins_with_pretrained_weights(config, tmp_path, embedder, encoder):
    set_layers(config, embedder, encoder)
    check_loaded(config, tmp_path)


def test_a_component_has_a_tok2vec_of_its_own(config, tmp_path):
    tok2vec = config["components"].pop("tok2vec")["model"]
    config["components"]["ner"]["model"]["tok2vec"] = tok2vec
    config["nlp"]["pipeline"] = ["ner"]
    config["pretraining"] |= {"component": "ner", "layer": "tok2vec"}
    check_loaded(config, tmp_path)


def test_something_is_learned(config, tmp_path):
    """The loss falls below that of a model that knows nothing but the shares."""
    config["pretraining"] |= {"max_epochs": 40, "dropout": 0.0}
    config["pretraining"]["optimizer"]["learn_rate"] = 0.01
    *epochs, _ = read_log(pretrain(config, tmp_path))
    assert len(epochs) == 40
    n_words = epochs[0]["nr_word"]
    assert [epoch["nr_word"] for epoch in epochs] == [n_words * k for k in range(1, 41)]
    per_word = [epoch["epoch_loss"] / n_words for epoch in epochs]
    shares = np.array([0.81, 0.1, 0.09])
    assert np.mean(per_word[-5:]) < 0.8 * -(shares * np.log(shares)).sum()


# A reader that holds texts out


@pytest.fixture
def stopping(config, tiny_corpus) -> Config:
    """A config with such a reader, that would go on for ten epochs."""
    config["corpora"]["pretrain"] = {
        "@readers": "spacy-hashembeds.RawTexts.v1",
        "path": config["paths"]["raw_text"],
        "held_out": 0.1,
        "exclude": [str(tiny_corpus / "test.spacy")],
    }
    config["pretraining"] |= {"max_epochs": 10, "n_save_epoch": 10}
    return config


def test_pretraining_ends_when_nothing_is_learned(stopping, tmp_path, caplog):
    stopping["pretraining"]["optimizer"] |= {"learn_rate": 0.0, "L2": 0.0}
    output = pretrain(stopping, tmp_path)
    assert "after epoch 1: 1.0986 a token" in caplog.text  # that of guessing
    assert caplog.text.count("Held-out loss") == 2
    files = sorted(path.name for path in output.iterdir())
    expected = ["config.cfg", "log.jsonl", "model-last.bin", "model0.bin", "model9.bin"]
    assert files == expected
    first, last, _ = read_log(output)
    assert last["nr_word"] == 2 * first["nr_word"]


def test_held_out_texts_are_never_learned_from(stopping, tmp_path, monkeypatch):
    """Rows that their words alone have get no gradient, and without decay stay."""
    stopping["pretraining"]["optimizer"]["L2"] = 0.0
    stopping["pretraining"] |= {"max_epochs": 3, "dropout": 0.0}
    embed = {**HASH, "attrs": ["ORTH"], "rows": [10_000], "num_hashes": 1}
    stopping["components"]["tok2vec"]["model"]["embed"] = embed
    learned: set[int] = set()
    measured: set[int] = set()
    tables: list[np.ndarray] = []
    layers: list[Model] = []
    update = spacy.training.pretrain.make_update

    def make_update(model, docs, optimizer, objective):
        layers[:] = [node for node in model.walk() if node.name == "hashembed"]
        tables.append(layers[0].get_param("E").copy())
        learned.update(token.orth for doc in docs for token in doc)
        loss = update(model, docs, optimizer, objective)
        measures = MEASURES[docs[0]]
        measure = measures["loss"]

        def note(held_out):
            kept = list(held_out)
            measured.update(token.orth for doc in kept for token in doc)
            return measure(kept)

        measures["loss"] = note
        return loss

    monkeypatch.setattr(spacy.training.pretrain, "make_update", make_update)
    pretrain(stopping, tmp_path)
    column = find_column(layers[0])
    only_measured, rows = (
        np.unique(column.find_rows(np.array(sorted(words), dtype="uint64"))[0])
        for words in (measured - learned, learned)
    )
    changed = np.flatnonzero((tables[0] != tables[-1]).any(axis=1))
    assert len(set(only_measured) - set(rows)) > 3
    assert len(changed) > 100
    assert set(changed) <= set(rows)


def test_pretraining_that_goes_on_measures_anew(stopping, tmp_path, caplog):
    stopping["pretraining"] |= {"max_epochs": 2, "n_save_epoch": None}
    output = pretrain(stopping, tmp_path)
    (loss,) = find_losses(caplog)  # the last epoch has no next one to measure it
    stopping["pretraining"]["max_epochs"] = 4
    caplog.clear()
    pretrain(stopping, tmp_path, "--resume-path", output / "model1.bin")
    (later,) = find_losses(caplog)
    assert later < loss
    assert [line["epoch"] for line in read_log(output)] == [0, 1, 2, 2, 3, 4]


def find_losses(caplog) -> list[float]:
    return [
        float(x) for x in re.findall(r"after epoch \d+: (\S+) a token", caplog.text)
    ]
