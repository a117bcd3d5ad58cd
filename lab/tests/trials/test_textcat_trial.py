"""Trials of text classifiers."""

import json
import re
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import spacy
from click import unstyle
from spacy.cli.init_config import init_config
from spacy.util import load_config

from lab.cli import sweep
from lab.tests.calling import succeed
from lab.trials import run_trial as run_module
from lab.trials.comparison import compare_trials
from lab.trials.metrics import read_metrics
from lab.trials.run_trial import check_config, run_trial
from lab.trials.scores import evaluate_pipeline
from lab.trials.sizes import count_pipeline_parameters
from lab.trials.sweep import Ended, plan_sweep
from lab.trials.trial import Trial
from tests.toy_textcat import TEST, TRAIN, make_docs, write


def write_project(root: Path) -> Trial:
    """Write the corpus and the config of a trial."""
    for split, pairs in (("train", TRAIN), ("dev", TRAIN[::2]), ("test", TEST)):
        write(root / f"corpus/texts/{split}.spacy", make_docs(pairs))
    config = root / "configs/textcat.cfg"
    config.parent.mkdir(parents=True, exist_ok=True)
    init_config(pipeline=["textcat"], silent=True).to_disk(config)
    overrides = {
        "nlp.lang": "en",
        "components.textcat.model.length": 256,
        "training.max_steps": 20,
        "training.eval_frequency": 10,
        "training.optimizer.learn_rate": 0.05,
    }
    return Trial(dataset="texts", embedder="textcat", overrides=overrides, root=root)


@pytest.fixture(scope="module")
def trial(tmp_path_factory) -> Trial:
    """A trial of `textcat` that was run, to read only."""
    trial = write_project(tmp_path_factory.mktemp("texts"))
    run_trial(trial)
    return trial


@pytest.fixture
def metrics(trial) -> dict[str, Any]:
    return read_metrics(trial.metrics)


@pytest.mark.slow
def test_scores_are_those_of_the_best_pipeline(trial, metrics):
    assert list(metrics["scores"]) == ["dev", "test"]
    for split, scores in metrics["scores"].items():
        args = (metrics["model"], trial.corpus[split], trial.corpus["train"])
        assert scores == evaluate_pipeline(*args)
    assert 0 < metrics["scores"]["test"]["cats_acc"] < 1  # else this would say little
    assert metrics["scores"]["test"]["cats_support"] == len(TEST)
    nlp = spacy.load(metrics["model"])
    n_parameters = 3 * 256 + 3  # of nothing but the bag of words
    assert count_pipeline_parameters(nlp) == n_parameters
    assert metrics["sizes"]["embedding_parameters"] == n_parameters
    assert metrics["timings"]["words_per_second"] > 0


@pytest.mark.slow
def test_the_command_prints_scores_of_documents(trial, metrics, monkeypatch):
    monkeypatch.chdir(trial.root)
    monkeypatch.setattr(run_module, "run_command", None)  # it is done
    settings = [
        x for key, value in trial.overrides.items() for x in (f"--{key}", value)
    ]
    result = succeed("trial", trial.dataset, trial.embedder, *settings)
    output = unstyle(result.output)
    rows = [re.split(" {2,}", line.strip()) for line in output.splitlines()]
    header = ["Split", "Scored", "Number", "Accuracy", "Macro F", "Micro F"]
    assert header in rows
    keys = ("cats_acc", "cats_macro_f", "cats_micro_f")
    for split, scores in metrics["scores"].items():
        percents = [f"{100 * scores[key]:.1f}" for key in keys]
        assert [split, "documents", str(scores["cats_support"]), *percents] in rows
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.slow
def test_a_sweep_tells_accuracy(trial, metrics):
    dev, test = (100 * scores["cats_acc"] for scores in metrics["scores"].values())
    line = sweep._format_ended(Ended(trial, 3.0, None))
    assert line.endswith(f" cats_acc: dev {dev:.1f}, test {test:.1f}, in 3 s")


@pytest.mark.slow
def test_entities_and_categories_are_not_compared(trial, metrics, tmp_path):
    prefixes = ("ents", "ents_seen", "ents_unseen")
    scores = {f"{prefix}_{key}": 0.5 for prefix in prefixes for key in "prf"}
    scores |= {f"{prefix}_support": 10 for prefix in prefixes}
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**metrics, "scores": {"test": scores}}))
    message = r"those of '.*other\.json' are of entities, and those of '.*seed0\.json'"
    with pytest.raises(ValueError, match=message):
        compare_trials([trial.metrics, other], trial.corpus["test"])


@pytest.mark.slow
@pytest.mark.usefixtures("untimed")
def test_the_command_compares_them(trial, metrics, tmp_path):
    scores = metrics["scores"]["test"]
    nothing = {"cats_acc": None, "cats_support": 0, "cats_exclusive": False}
    changed = {"embedder": "other", "scores": {"test": {**scores, **nothing}}}
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**metrics, **changed}))
    paths = (trial.metrics, other, "--corpus", trial.corpus["test"])
    result = succeed("compare", *paths, "-o", tmp_path / "c.json")
    rows = [re.split(" {2,}", line.strip()) for line in result.output.splitlines()]
    keys = ("acc", "macro_f", "micro_f")
    first, *others = (f"{100 * scores[f'cats_{key}']:.1f}" for key in keys)
    # not all have one label for each document
    assert ["Embedder", "Exact match", "Macro F", "Micro F"] in rows
    assert ["textcat", first, *others] in rows
    assert ["other", "-", *others] in rows
    (row, _) = json.loads((tmp_path / "c.json").read_text())["rows"]
    assert (row["accuracy"], row["documents"]) == (scores["cats_acc"], len(TEST))


@pytest.mark.slow
def test_a_split_may_be_a_folder_of_files(trial, tmp_path, monkeypatch):
    trained, trial = trial.output / "model-best", write_project(tmp_path)
    train = trial.corpus["train"]
    for path in (train, trial.corpus["test"]):
        path.unlink()
    with pytest.raises(FileNotFoundError, match=r"There is no '.*train\.spacy'"):
        run_trial(trial)
    write(train / "0001.spacy", make_docs(TRAIN[5:]))
    with pytest.raises(ValueError, match=r"no '.*textcat_none\.cfg'"):
        plan_sweep([replace(trial, embedder="textcat_none")])  # but a corpus
    write(train / "0000.spacy", make_docs(TRAIN[:5]))
    write(tmp_path / "corpus/texts/test.spacy/0000.spacy", make_docs(TEST))

    def copy(command, log, **settings) -> None:
        shutil.copytree(trained, trial.output / "model-best")

    monkeypatch.setattr(run_module, "run_command", copy)
    metrics, _ = run_trial(trial)
    assert metrics["scores"]["test"]["cats_support"] == len(TEST)
    data = b"".join((train / f"000{i}.spacy").read_bytes() for i in range(2))
    assert metrics["corpus_hashes"]["train"] == sha256(data).hexdigest()


def test_a_config_that_does_not_say_what_to_score_is_refused(tmp_path):
    trial = write_project(tmp_path)
    config = load_config(trial.config)
    config["nlp"]["pipeline"].append("entity_ruler")
    config["components"]["entity_ruler"] = {"factory": "entity_ruler"}
    config.to_disk(trial.config)
    message = r"The config textcat, .* can't be used\. .* sets both: 'entity_rul"
    with pytest.raises(ValueError, match=message):
        check_config(trial)
