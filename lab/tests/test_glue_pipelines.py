"""GLUE from files to scores: the shipped configs, prepared, trained, saved, loaded.

Small layers stand in the place of HashFormers, but in the tests of the whole configs.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.cli.train import train
from spacy.training import Corpus
from spacy.training.initialize import init_nlp
from spacy.training.pretrain import pretrain
from spacy.util import load_config, load_model_from_config, registry

from lab.corpora.datasets import prepare_dataset
from spacy_hashembeds.evaluation.glue import LABELS, METRICS
from tests.configs import CONFIGS
from tests.conftest import GLUE_CONFIGS

from .toy_glue import make_config, write_assets

NAMES = [path.stem for path in GLUE_CONFIGS]

#: What both configs say of STS-B.
STSB = {
    "components.textcat.factory": "text_regressor",
    "components.textcat.model.exclusive_classes": False,
}


def get_overrides(folder: Path, task: str) -> dict[str, Any]:
    """Overrides for a task, with the paths of its prepared files."""
    assets = write_assets(folder / "assets", task, n=240)
    paths = prepare_dataset(f"glue_{task}", assets, folder / "corpus")
    return {
        "paths.train": str(paths["train"]),
        "paths.dev": str(paths["test"]),
        "components.textcat.scorer.task": task,
        **(STSB if task == "stsb" else {}),
    }


def train_small(name: str, task: str, folder: Path, **settings: Any) -> Path:
    overrides = {
        **get_overrides(folder, task),
        "training.max_steps": 60,
        "training.eval_frequency": 20,
        "training.optimizer.learn_rate.initial_rate": 0.02,
        "training.optimizer.learn_rate.warmup_steps": 5,
        "training.optimizer.learn_rate.total_steps": 60,
        **settings,
    }
    log = {
        "training.logger": {"@loggers": "spacy.ConsoleLogger.v3"}
        | {"progress_bar": None, "console_output": False}
        | {"output_file": str(folder / "log.jsonl")}
    }
    train(make_config(name, folder), folder / "out", overrides=overrides | log)
    return folder / "out"


@pytest.mark.slow
@pytest.mark.parametrize("task", ["cola", "mnli", "stsb"])
def test_a_task_of_each_kind_is_learned_and_scored(task, tmp_path):
    output = train_small("glue_small", task, tmp_path)
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    log = list(map(json.loads, lines))
    losses = [each["losses"]["textcat"] for each in log]
    # the first is that of one batch, the others of twenty
    assert losses[-1] < losses[1]
    assert log[0]["scores"].keys() == {"glue_score"}
    nlp = spacy.load(output / "model-best")
    examples = list(Corpus(tmp_path / "corpus" / "test.spacy")(nlp))
    scores = nlp.evaluate(examples)
    assert scores["glue_score"] > 0.9
    assert {f"glue_{name}" for name in METRICS[task]} <= scores.keys()
    nlp.to_disk(tmp_path / "again")
    again = spacy.load(tmp_path / "again").evaluate(examples)
    assert again["glue_score"] == scores["glue_score"]


@pytest.mark.slow
def test_they_pretrain_and_begin_with_what_was_pretrained(tmp_path):
    """spaCy passes over `init_tok2vec` without a word where [pretraining] is empty."""
    texts = tmp_path / "texts.jsonl"
    srsly.write_jsonl(texts, [{"text": "the old boat\nis a new house ."}] * 20)
    settings = {"paths.raw_text": str(texts), "pretraining.max_epochs": 2}
    path = make_config("glue_small", tmp_path)
    pretrain(load_config(path, overrides=settings, interpolate=True), tmp_path)
    weights = tmp_path / "model-last.bin"
    overrides = get_overrides(tmp_path, "cola")
    fresh, loaded = (
        init_nlp(load_config(path, overrides={**overrides, **more}))
        for more in ({}, {"initialize.init_tok2vec": str(weights)})
    )
    expected = weights.read_bytes()
    assert loaded.get_pipe("tok2vec").model.to_bytes() == expected
    assert fresh.get_pipe("tok2vec").model.to_bytes() != expected


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_them_is_unknown_to_spacy(name, tmp_path):
    config = load_config(make_config(name, tmp_path))
    filled = load_model_from_config(config, auto_fill=True).config
    for section in ("nlp", "training", "initialize", "pretraining"):
        assert config[section].keys() <= filled[section].keys()
    weights = filled["training"]["score_weights"]
    assert {key for key, value in weights.items() if value} == {"glue_score"}


def test_they_differ_in_sizes_and_rates_alone():
    """Values may; keys, and what is named, may not."""
    one, two = (load_config(path, interpolate=False) for path in GLUE_CONFIGS)

    def outline(section: Any) -> Any:
        if isinstance(section, dict):
            return {key: outline(value) for key, value in section.items()}
        return section if isinstance(section, str) else None

    assert outline(one) == outline(two)


# The whole configs.


@pytest.mark.torch
@pytest.mark.slow
def test_the_small_one_trains_as_it_is(tmp_path):
    overrides = get_overrides(tmp_path, "rte")
    overrides |= {"training.max_steps": 3, "training.eval_frequency": 2}
    train(CONFIGS / "glue_small.cfg", tmp_path / "out", overrides=overrides)
    nlp = spacy.load(tmp_path / "out" / "model-last")
    assert set(nlp("the boat is old\na house is red .").cats) == set(LABELS["rte"])


@pytest.mark.torch
def test_the_large_one_can_be_made():
    config = load_config(CONFIGS / "glue_base.cfg")
    nlp = load_model_from_config(config, auto_fill=True)
    assert nlp.pipe_names == ["tok2vec", "textcat"]
    registry.resolve({"pretraining": nlp.config.interpolate()["pretraining"]})
