import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from spacy.util import load_config, load_model_from_config

from lab.tests.trial import make_trial
from lab.trials import comparison
from lab.trials.comparison import compare_trials
from spacy_hashembeds.acceleration.timing import Speed
from spacy_hashembeds.training.docbin import read_docs
from tests.configs import CONFIGS


@pytest.fixture
def metrics(trained_root, tmp_path) -> Path:
    """Results of a trial, to change."""
    return shutil.copy(make_trial(trained_root).metrics, tmp_path / "first.json")


@pytest.fixture
def corpus(trained_root) -> Path:
    return trained_root / "corpus/demo/test.spacy"


def change(path: Path, name: str, **values: Any) -> Path:
    """Write changed results under another name."""
    data = {**json.loads(path.read_text()), **values}
    changed = path.with_name(name)
    changed.write_text(json.dumps(data))
    return changed


def test_trials_of_different_corpora_are_refused(metrics, corpus):
    """Not the name tells, but what the files hold."""
    other = change(metrics, "other.json", corpus_hashes={"train": "0"})
    with pytest.raises(ValueError, match="same files of one corpus"):
        compare_trials([metrics, other], corpus)


@pytest.fixture
def stock(metrics, trained_root, tmp_path) -> Path:
    """Results of a trial of spaCy's own layers, whose pipeline was not trained."""
    config = load_config(CONFIGS / "spacy_stock.cfg")
    nlp = load_model_from_config(config, auto_fill=True)
    for doc in read_docs(trained_root / "corpus/demo/train.spacy", nlp.vocab):
        for ent in doc.ents:
            nlp.get_pipe("ner").add_label(ent.label_)
    nlp.initialize()
    nlp.to_disk(tmp_path / "stock")
    model = str(tmp_path / "stock")
    return change(metrics, "stock.json", embedder="spacy_stock", model=model)


def test_stock_pipelines_are_accelerated_and_timed_with_the_others(
    stock, metrics, corpus, monkeypatch
):
    layers = []

    def measure(loaders, docs, progress):
        for load in loaders.values():
            config = load().config["components"]["tok2vec"]["model"]
            layers.append(config["encode"]["@architectures"].partition(".")[0])
        return dict.fromkeys(loaders, Speed(100.0, (99.0, 101.0)))

    monkeypatch.setattr(comparison, "measure_speeds", measure)
    rows = compare_trials([stock, metrics], corpus, accelerated=True)["rows"]
    assert [(row["name"], row["accelerated"]) for row in rows] == [
        ("spacy_stock", False),
        ("spacy_stock accelerated", True),
        ("multi_fewer_hash_embed", False),
    ]
    assert layers == ["spacy", "spacy-hashembeds", "spacy-hashembeds"]
    before, after, _ = rows
    assert after["all"] == before["all"]
    assert after["bytes_on_disk"] != before["bytes_on_disk"]
