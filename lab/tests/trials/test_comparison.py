import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from spacy.util import load_config, load_model_from_config

from lab.tests.trial import make_trial
from lab.trials import comparison
from lab.trials.comparison import compare_trials
from spacy_hashembeds.acceleration.timing import Speed
from spacy_hashembeds.corpora.docbin import read_docs
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


def test_a_row_is_what_the_trial_recorded(metrics, corpus):
    trial = json.loads(metrics.read_text())
    (row,) = compare_trials([metrics], corpus)["rows"]
    lower, upper = row.pop("words_per_second_quartiles")
    assert 0 < lower <= row.pop("words_per_second") <= upper
    scores = trial["scores"]["test"]
    assert row == {
        "name": "multi_fewer_hash_embed",
        "dataset": "demo",
        "embedder": "multi_fewer_hash_embed",
        "variant": "default",
        "seed": 0,
        "accelerated": False,
        "times_as_fast": 1.0,
        **{
            kind: {key: scores[f"{prefix}_{key}"] for key in ("p", "r", "f", "support")}
            for kind, prefix in (
                ("all", "ents"),
                ("seen", "ents_seen"),
                ("unseen", "ents_unseen"),
            )
        },
        **{key: size for key, size in trial["sizes"].items() if key != "tables"},
        **{"prr": 1, "pcr_all": 0, "pcr_emb": 0, "pcr_tables": 0},
        "poep": trial["sizes"]["embedding_parameters"]
        / trial["sizes"]["pipeline_parameters"],
    }
    assert row["all"]["support"] == row["seen"]["support"] + row["unseen"]["support"]
    assert row["seen"] != row["unseen"]


@pytest.mark.usefixtures("untimed")
def test_scores_are_those_of_dev_where_there_is_no_test(metrics, corpus):
    scores = json.loads(metrics.read_text())["scores"]["dev"]
    path = change(metrics, "x.json", scores={"dev": scores})
    (row,) = compare_trials([path], corpus)["rows"]
    assert row["all"]["f"] == scores["ents_f"]


def test_rows_are_in_the_order_given_with_their_own_speeds(
    metrics, corpus, monkeypatch
):
    timed = []

    def measure(loaders, docs, progress):
        timed.append(({name: load() for name, load in loaders.items()}, docs))
        return {
            name: Speed(100.0 * (i + 1), (9, 901)) for i, name in enumerate(loaders)
        }

    monkeypatch.setattr(comparison, "measure_speeds", measure)
    # The same embedder and variant twice: only the seed tells them apart.
    paths = [change(metrics, f"{seed}.json", seed=seed) for seed in (2, 1)]
    compared = compare_trials(paths, corpus)
    keys = ("seed", "words_per_second", "times_as_fast")
    assert [[row[key] for key in keys] for row in compared["rows"]] == [
        [2, 100.0, 1.0],
        [1, 200.0, 2.0],
    ]
    assert all(
        row["words_per_second_quartiles"] == [9, 901] for row in compared["rows"]
    )
    # quartiles of the first row that are nine times the median apart
    message = r"The quartiles of multi_fewer_hash_embed seed 2 are 892 percent"
    assert re.match(message, compared["disturbances"][-1])
    # All in one run, each a pipeline of its own, on the corpus named.
    ((pipelines, docs),) = timed
    assert len({id(nlp) for nlp in pipelines.values()}) == 2
    assert len(docs) == 40


@pytest.mark.usefixtures("untimed")
def test_trials_are_set_beside_the_first(metrics, corpus):
    trial = json.loads(metrics.read_text())
    sizes, test = trial["sizes"], trial["scores"]["test"]
    half = {key: n // 2 for key, n in sizes.items() if key != "tables"}
    scores = {"test": {**test, "ents_f": test["ents_f"] / 4}}
    other = change(metrics, "x.json", seed=1, sizes=half, scores=scores)
    row = compare_trials([metrics, other], corpus)["rows"][1]
    assert row["prr"] == pytest.approx(1 / 4)
    assert row["pipeline_parameters"] == half["pipeline_parameters"]
    shares = [row[ratio] for ratio in ("pcr_all", "pcr_emb", "pcr_tables")]
    assert shares == pytest.approx([1 / 2] * 3, abs=1e-3)
    poep = half["embedding_parameters"] / half["pipeline_parameters"]
    assert row["poep"] == poep


def test_trials_of_different_corpora_are_refused(metrics, corpus):
    """Not the name tells, but what the files hold."""
    other = change(metrics, "other.json", corpus_hashes={"train": "0"})
    with pytest.raises(
        ValueError, match=r"these are of 2: .*json.* \(demo\), .*json.* \(demo\)\."
    ):
        compare_trials([metrics, other], corpus)


@pytest.mark.parametrize(
    ("changes", "first", "second"),
    [
        ({"seed": 1}, "seed 0", "seed 1"),
        ({"variant": "wide"}, "default", "wide"),
        ({}, "({metrics})", "({other})"),
    ],
)
@pytest.mark.usefixtures("untimed")
def test_names_tell_trials_apart(metrics, corpus, changes, first, second):
    other = change(metrics, "other.json", **changes)
    rows = compare_trials([metrics, other], corpus)["rows"]
    paths = {"metrics": metrics, "other": other}
    assert [row["name"] for row in rows] == [
        f"multi_fewer_hash_embed {each.format(**paths)}" for each in (first, second)
    ]


def test_what_is_not_there_is_named(metrics, corpus, tmp_path):
    with pytest.raises(ValueError, match="be trials to compare, but there are none"):
        compare_trials([], corpus)
    for path in (tmp_path / "gone.json", tmp_path):
        message = rf"no file '{path}': run `python -m lab trial`"
        with pytest.raises(FileNotFoundError, match=message):
            compare_trials([metrics, path], corpus)
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*gone\.spacy"):
        compare_trials([metrics], tmp_path / "gone.spacy")


@pytest.mark.parametrize("model", ["training/gone", "x" * 10**6, "a\0b", ""])
def test_a_pipeline_that_is_gone_is_named(model, metrics, corpus):
    other = change(metrics, "other.json", model=model)
    message = r"The pipeline '.*' of '.*other\.json' is gone\. Remove the file and run"
    with pytest.raises(FileNotFoundError, match=message) as error:
        compare_trials([metrics, other], corpus)
    assert len(str(error.value)) < 400


@pytest.mark.usefixtures("untimed")
def test_scores_of_what_is_not_there_may_be_missing(metrics, corpus):
    scores = json.loads(metrics.read_text())["scores"]
    for key in "prf":
        del scores["test"][f"ents_seen_{key}"]
    scores["test"]["ents_seen_support"] = 0
    path = change(metrics, "other.json", scores=scores)
    (row,) = compare_trials([path], corpus)["rows"]
    assert row["seen"] == {"p": None, "r": None, "f": None, "support": 0}


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


def test_a_pipeline_of_our_layers_is_nothing_to_accelerate(metrics, corpus):
    message = (
        "should be a pipeline with spaCy's layers to accelerate, but there is none "
        "among multi_fewer_hash_embed.*or leave out --accelerate"
    )
    with pytest.raises(ValueError, match=message):
        compare_trials([metrics], corpus, accelerated=True)
