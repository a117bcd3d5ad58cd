"""`spacy pretrain` and then `spacy train`, as a user runs them, on all kinds of layers.

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
COUNTED = {"width": WIDTH, "attrs": ["NORM"], "include_static_vectors": False}
EMBEDDERS: dict[str, dict[str, Any]] = {
    "hash": HASH,
    "spacy": {**HASH, "@architectures": "spacy.MultiHashEmbed.v2"},
    "lookup": {**COUNTED, "@architectures": "spacy-hashembeds.MultiEmbed.v1"},
    "hybrid": {
        **COUNTED,
        "@architectures": "spacy-hashembeds.MultiHybridEmbed.v1",
        "rows": [300],
    },
    "weighted": {
        **COUNTED,
        "@architectures": "spacy-hashembeds.MultiWeightedHashEmbed.v1",
        "rows": [50],
    },
    "characters": {
        "@architectures": "spacy-hashembeds.CharCNNEmbed.v1",
        "width": WIDTH,
        "include_static_vectors": False,
        "word": HASH,
    },
}
WINDOWS = {"width": WIDTH, "depth": 1, "window_size": 1, "maxout_pieces": 2}
LSTMS = {"width": 20, "depth": 1}
ENCODERS: dict[str, dict[str, Any]] = {
    "windows": {
        **WINDOWS,
        "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
    },
    "spacy": {**WINDOWS, "@architectures": "spacy.MaxoutWindowEncoder.v2"},
    "bilstm": {**LSTMS, "@architectures": "spacy-hashembeds.BiLSTMEncoder.v1"},
    "cross": {**LSTMS, "@architectures": "spacy-hashembeds.CrossBiLSTMEncoder.v1"},
    "att": {**LSTMS, "@architectures": "spacy-hashembeds.AttBiLSTMEncoder.v1"},
}
PAIRS = [
    *((embedder, "windows") for embedder in EMBEDDERS),
    ("spacy", "spacy"),
    *(
        pytest.param("hash", encoder, marks=pytest.mark.torch)
        for encoder in ("bilstm", "cross", "att")
    ),
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
    if "rows" not in EMBEDDERS[embedder] or embedder in ("hybrid", "weighted"):
        config["initialize"]["before_init"] = {
            "@callbacks": "spacy-hashembeds.count_symbols.v1",
            "corpus": "corpora.train",
            "min_freq": 2,
        }


def own_tok2vec(config: Config, component: str) -> None:
    """Give a component the tok2vec, in place of a listener."""
    tok2vec = config["components"].pop("tok2vec")["model"]
    if component == "token_ner":
        config["components"].pop("ner")
        config["components"]["token_ner"] = {
            "factory": "token_ner",
            "model": {"@architectures": "spacy-hashembeds.TokenClassifier.v1"},
        }
    config["components"][component]["model"]["tok2vec"] = tok2vec
    config["nlp"]["pipeline"] = [component]
    config["pretraining"] |= {"component": component, "layer": "tok2vec"}


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


def train(config: Config, folder: Path, weights: Path | None = None) -> bytes:
    """Train a pipeline, and give the weights that its tok2vec began with."""
    initial.clear()
    config.to_disk(folder / "config.cfg")
    args = ["--initialize.init_tok2vec", weights] if weights else []
    run("train", folder / "config.cfg", "-o", folder / "trained", *args)
    (first,) = initial
    return first


def read_log(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "log.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def check_loaded(config: Config, folder: Path) -> None:
    """Pretrain, train with these weights and without, and compare what they began with.

    Without them it begins as pretraining itself did, with the same seed.
    """
    output = pretrain(config, folder)
    weights = output / "model-last.bin"
    started = train(config, folder, weights)
    assert started == weights.read_bytes()
    nlp = spacy.load(folder / "trained" / "model-last")
    assert find_tok2vec(nlp).to_bytes() != started  # it was trained
    assert nlp("Anna lives in Paris") is not None
    fresh = train(config, folder)
    assert fresh != started
    model = find_tok2vec(nlp)
    pretrained, random = (read_params(model, weights) for weights in (started, fresh))
    assert pretrained.keys() == random.keys()
    for name in pretrained:
        assert pretrained[name].shape == random[name].shape, name
        assert (pretrained[name] != random[name]).any(), f"{name} was not pretrained"


def read_params(model: Model, weights: bytes) -> dict[str, np.ndarray]:
    """Read the parameters of a model from its bytes."""
    model.from_bytes(weights)
    return {
        f"{i} {node.name}.{name}": node.get_param(name).copy()
        for i, node in enumerate(model.walk())
        for name in node.param_names
        if node.has_param(name)
    }


@pytest.mark.parametrize(("embedder", "encoder"), PAIRS)
def test_training_begins_with_pretrained_weights(config, tmp_path, embedder, encoder):
    set_layers(config, embedder, encoder)
    check_loaded(config, tmp_path)


@pytest.mark.parametrize("component", ["ner", "token_ner"])
def test_a_component_has_a_tok2vec_of_its_own(config, tmp_path, component):
    own_tok2vec(config, component)
    check_loaded(config, tmp_path)


def test_the_config_that_comes_with_us(tiny_corpus, tmp_path):
    """As it is, with the commands at its top."""
    text = (CONFIGS / "pretrain_ner.cfg").read_text(encoding="utf8")
    keep = '{"@callbacks":"test.keep_weights.v1"}'
    assert text.count("after_init = null") == 1
    shipped, weights = tmp_path / "pretrain_ner.cfg", tmp_path / "model-last.bin"
    shipped.write_text(text.replace("after_init = null", f"after_init = {keep}"))
    raw = tiny_corpus / "train.spacy"
    epochs = ["--pretraining.max_epochs", 1]
    run("pretrain", shipped, tmp_path, "--paths.raw_text", raw, *epochs)
    paths = ["--paths.train", raw, "--paths.dev", tiny_corpus / "dev.spacy"]
    steps = ["--training.max_steps", 1, "--initialize.init_tok2vec", weights]
    initial.clear()
    run("train", shipped, "-o", tmp_path / "trained", *paths, *steps)
    assert initial == [weights.read_bytes()]


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


def test_equal_seeds_give_equal_weights(config, tmp_path):
    saved = []
    for i, seed in enumerate((0, 0, 1)):
        config["system"]["seed"] = seed
        folder = tmp_path / str(i)
        folder.mkdir()
        saved.append((pretrain(config, folder) / "model-last.bin").read_bytes())
    assert saved[0] == saved[1] != saved[2]


def test_pretraining_goes_on_where_it_ended(config, tmp_path):
    output = pretrain(config, tmp_path)
    weights = (output / "model1.bin").read_bytes()
    config["pretraining"]["max_epochs"] = 3
    pretrain(config, tmp_path, "--resume-path", output / "model1.bin")
    assert (output / "model1.bin").read_bytes() == weights
    assert [line["epoch"] for line in read_log(output)] == [0, 1, 2, 2, 3]
    assert (output / "model2.bin").read_bytes() != weights


@pytest.mark.parametrize(
    ("setting", "value", "match"),
    [
        ("rows", [100, 30], "dimension 'nV' for model 'hashembed' from 30 to 20"),
        ("attrs", ["NORM", "SHAPE", "PREFIX"], "mismatched structure"),
        ("maxout_pieces", 2, "dimension 'nP' for model 'maxout' from 2 to 3"),
    ],
)
def test_weights_of_another_shape_are_refused(config, tmp_path, setting, value, match):
    output = pretrain(config, tmp_path)
    embed = {**HASH, setting: value}
    if setting == "attrs":
        embed["rows"] = [100, 20, 20]
    config["components"]["tok2vec"]["model"]["embed"] = embed
    with pytest.raises(ValueError, match=match):
        train(config, tmp_path, output / "model-last.bin")


def test_symbols_are_those_of_the_weights_or_it_is_refused(config, tmp_path):
    set_layers(config, "lookup", "windows")
    output = pretrain(config, tmp_path)
    config["initialize"]["before_init"]["min_freq"] = 3
    with pytest.raises(ValueError, match="dimension 'nV' for model 'symbolembed'"):
        train(config, tmp_path, output / "model-last.bin")


def test_damaged_weights_are_refused_before_training(config, tmp_path):
    weights = pretrain(config, tmp_path) / "model-last.bin"
    nlp = spacy.load(train_once(config, tmp_path, weights))
    model = find_tok2vec(nlp)
    model.from_bytes(weights.read_bytes())
    node = next(node for node in model.walk() if node.name == "hashembed")
    node.set_param("E", node.get_param("E") * np.nan)
    weights.write_bytes(model.to_bytes())
    with pytest.raises(ValueError, match=r"'E' of layer 'hashembed' .* finite numbers"):
        train(config, tmp_path, weights)


def train_once(config: Config, folder: Path, weights: Path) -> Path:
    train(config, folder, weights)
    return folder / "trained" / "model-last"


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


def test_an_objective_of_spacy_gets_all_texts(stopping, tmp_path, caplog):
    stopping["pretraining"]["max_epochs"] = 3
    stopping["pretraining"]["objective"] = {
        "@architectures": "spacy.PretrainCharacters.v1",
        "maxout_pieces": 2,
        "hidden_size": 8,
        "n_characters": 2,
    }
    stopping["pretraining"]["n_save_epoch"] = 1
    first, second, third, _ = read_log(pretrain(stopping, tmp_path))
    assert "No loss is measured" in caplog.text
    n_words = second["nr_word"] - first["nr_word"]
    assert first["nr_word"] < n_words == third["nr_word"] - second["nr_word"]


def test_a_batch_may_be_all_there_is(stopping, tmp_path, caplog):
    stopping["pretraining"]["batcher"]["size"] = 100_000
    stopping["pretraining"]["max_epochs"] = 3
    pretrain(stopping, tmp_path)
    assert len(find_losses(caplog)) == 2


def test_training_needs_no_raw_text(stopping, tmp_path):
    """Though it makes the reader too, with all others."""
    stopping["corpora"]["pretrain"]["path"] = str(tmp_path / "gone.txt")
    assert train(stopping, tmp_path)


def test_symbols_of_raw_text_are_counted(stopping, tmp_path):
    set_layers(stopping, "lookup", "windows")
    stopping["initialize"]["before_init"]["corpus"] = "corpora.pretrain"
    stopping["pretraining"]["max_epochs"] = 1
    assert (pretrain(stopping, tmp_path) / "model-last.bin").is_file()
