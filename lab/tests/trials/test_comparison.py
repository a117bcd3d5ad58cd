import json
import re
from pathlib import Path
from typing import Any

import pytest
from spacy.cli.init_config import init_config
from spacy.util import load_config, load_model_from_config

from lab.tests.calling import read_cells, succeed
from lab.tests.trial import make_trial
from lab.trials import comparison
from lab.trials.comparison import compare_trials
from lab.trials.run_trial import run_trial
from spacy_hashembeds.acceleration.timing import Spread
from tests import toy_ner, toy_textcat
from tests.configs import CONFIGS

NAME = "multi_fewer_hash_embed"


@pytest.fixture
def metrics(trained_root) -> Path:
    """Results of a trial."""
    return make_trial(trained_root).metrics


@pytest.fixture
def corpus(trained_root) -> Path:
    return trained_root / "corpus/demo/test.spacy"


def change(path: Path, changed: Path, **values: Any) -> Path:
    """Write changed results elsewhere."""
    changed.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return changed


def test_trials_of_different_corpora_are_refused(metrics, corpus, tmp_path):
    """The hashes of files are compared, not names."""
    other = change(metrics, tmp_path / "other.json", corpus_hashes={"train": "0"})
    with pytest.raises(ValueError, match="same files of one corpus"):
        compare_trials([metrics, other], corpus)


def test_stock_pipelines_are_accelerated_and_timed_with_the_others(
    metrics, tmp_path, corpus, monkeypatch
):
    config = load_config(CONFIGS / "spacy_stock.cfg")
    nlp = load_model_from_config(config, auto_fill=True)
    for label in ("LOC", "ORG", "PERSON"):
        nlp.get_pipe("ner").add_label(label)
    nlp.initialize()
    nlp.to_disk(tmp_path / "stock")
    own = {"embedder": "spacy_stock", "model": str(tmp_path / "stock")}
    stock = change(metrics, tmp_path / "stock.json", **own)
    layers = []

    def measure(loaders, docs, progress):
        for load in loaders.values():
            config = load().config["components"]["tok2vec"]["model"]
            layers.append(config["encode"]["@architectures"].partition(".")[0])
        return {name: Spread(100.0 + int(name), (99.0, 101.0)) for name in loaders}

    monkeypatch.setattr(comparison, "measure_speeds", measure)
    rows = compare_trials([stock, metrics], corpus, accelerated=True)["rows"]
    names = ["spacy_stock", "spacy_stock accelerated", NAME]
    assert [row["name"] for row in rows] == names
    assert [row["accelerated"] for row in rows] == [False, True, False]
    assert layers == ["spacy", "spacy-hashembeds", "spacy-hashembeds"]
    before, after, last = rows
    assert after["scores"] == before["scores"]
    assert after["bytes_on_disk"] != before["bytes_on_disk"]
    assert last["times_as_fast"] == 1.02


def test_tables_have_a_row_for_each_trial(metrics, corpus, tmp_path):
    data = json.loads(metrics.read_text())
    test = data["scores"]["test"]
    nothing = {"ents_unseen_support": 0, "ents_unseen_f": None}
    # without the parameters of the pipeline and of mixing layers
    sizes = {"embedding_parameters": 1234567, "bytes_on_disk": 8_910_000}
    changed = {"variant": "small", "scores": {"test": test | nothing}, "sizes": sizes}
    other, output = change(metrics, tmp_path / "o.json", **changed), tmp_path / "c.json"
    result = succeed("compare", metrics, other, "--corpus", corpus, "-o", output)
    shown = re.split("=+ (?:Size|Relative)", result.output)
    scores, speeds, ratios = map(read_cells, shown)
    *cells, unseen = (
        " ".join(f"{100 * test[f'{kind}_{key}']:.1f}" for key in "prf")
        + f" ({test[f'{kind}_support']})"
        for kind in ("ents", "ents_seen", "ents_unseen")
    )
    assert [f"{NAME} variant default", *cells, unseen] in scores
    unseen = f"{unseen.rsplit(' ', 2)[0]} - (0)"
    assert [f"{NAME} variant small", *cells, unseen] in scores
    (row,) = (row for row in speeds if row[0] == f"{NAME} variant small")
    assert row[1:3] == ["1,234,567", "8.91"]
    lower, upper = row[4].replace(",", "").split("..")
    assert 0 < int(lower) <= int(upper)
    saved = f"{100 * (1 - 1234567 / data['sizes']['embedding_parameters']):.1f}"
    assert [f"{NAME} variant small", "100.0", "-", saved, "-", "-"] in ratios
    rows = json.loads(output.read_text())["rows"]
    assert [row["pcr_all"] for row in rows] == [0, None]


@pytest.mark.slow
def test_text_classifiers_are_trained_and_compared(tmp_path):
    splits = {"train": toy_textcat.TRAIN, "dev": toy_textcat.TRAIN[::2]}
    for split, texts in {**splits, "test": toy_textcat.TEST}.items():
        path = tmp_path / f"corpus/texts/{split}.spacy"
        toy_ner.write(path, toy_textcat.make_docs(texts))
    (tmp_path / "configs").mkdir()
    config = init_config(pipeline=["textcat"], silent=True)
    config.to_disk(tmp_path / "configs/textcat.cfg")
    overrides = {"nlp.lang": "en", "components.textcat.model.length": 256}
    overrides |= {"training.max_steps": 20, "training.eval_frequency": 10}
    overrides["training.optimizer.learn_rate"] = 0.05
    own = {"dataset": "texts", "embedder": "textcat", "overrides": overrides}
    trial = make_trial(tmp_path, **own)
    metrics, _ = run_trial(trial)
    result = succeed("compare", trial.metrics, "--corpus", trial.corpus["test"])
    scores = metrics["scores"]["test"]
    assert scores["cats_support"] == len(toy_textcat.TEST)
    keys = ("cats_acc", "cats_macro_f", "cats_micro_f")
    rows = read_cells(result.output)
    assert ["Embedder", "Accuracy", "Macro F", "Micro F"] in rows
    assert ["textcat", *(f"{100 * scores[key]:.1f}" for key in keys)] in rows
