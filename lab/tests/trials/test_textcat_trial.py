"""Trials of text classifiers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from spacy.cli.init_config import init_config

from lab.tests.calling import succeed
from lab.trials.run_trial import run_trial
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
    return json.loads(trial.metrics.read_text())


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
