"""Whole pipelines with text classifiers: trained from configs, loaded and shared."""

import pytest
import spacy
from spacy.cli.train import train
from spacy.util import load_config

from tests.configs import CONFIGS

from .conftest import find_configs
from .processes import train_alone
from .toy_classifiers import MARKS, get_scores, make_texts, measure_accuracy, save_texts

TEXTCAT_CONFIGS = find_configs("textcat")
TEXTS = [text for text, _ in make_texts(12, seed=3)] + ["", ", ."]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The paths of a small corpus, as overrides of a config."""
    folder = tmp_path_factory.mktemp("texts")
    overrides = {}
    for seed, split in enumerate(("train", "dev")):
        save_texts(folder / f"{split}.spacy", 120 if split == "train" else 30, seed)
        overrides[f"paths.{split}"] = str(folder / f"{split}.spacy")
    return overrides


def test_there_are_configs_of_ours_and_of_spacy():
    names = sorted(path.stem for path in TEXTCAT_CONFIGS)
    ours = ["hash_ngram_ensemble", "hash_ngram_textcat"]
    assert names == [*ours, "textcat_bow", "textcat_reduce"]


@pytest.fixture(scope="module")
def trained_alone(paths, tmp_path_factory):
    """A folder with a pipeline of each config."""
    folder = tmp_path_factory.mktemp("alone")
    train_alone(TEXTCAT_CONFIGS, folder, {**paths, "training.max_steps": 2})
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in TEXTCAT_CONFIGS])
def test_spacy_train_needs_no_code(trained_alone, name):
    nlp = spacy.load(trained_alone / name / "model-last")
    assert set(nlp("a great film").cats) == set(MARKS)


def test_configs_differ_in_the_model_alone():
    """But for what the model needs: a dictionary, and the dropout of spaCy's CNN."""
    configs = [load_config(path, interpolate=False) for path in TEXTCAT_CONFIGS]
    for config in configs:
        config["components"]["textcat"].pop("model")
        config["training"].pop("dropout")
        config.pop("initialize", None)
        config["training"].pop("train_corpus", None)
    assert all(config == configs[0] for config in configs)


@pytest.mark.slow
def test_an_ensemble_learns_and_loads(paths, tmp_path):
    overrides = {
        **paths,
        "components.textcat.model.num_models": 3,
        "training.max_steps": 30,
        "training.eval_frequency": 15,
        "training.optimizer.learn_rate": 0.02,
    }
    train(CONFIGS / "hash_ngram_ensemble.cfg", tmp_path, overrides=overrides)
    nlp = spacy.load(tmp_path / "model-last")
    assert measure_accuracy(nlp, seed=2) > 0.9
    nlp.to_disk(tmp_path / "elsewhere")
    again = spacy.load(tmp_path / "elsewhere")
    assert get_scores(again, TEXTS) == get_scores(nlp, TEXTS)
