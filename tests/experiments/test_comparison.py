import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from spacy_hashembeds.experiments import comparison
from spacy_hashembeds.experiments.comparison import compare_trials

from ..conftest import make_trial


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
    (row,) = compare_trials([metrics], corpus)
    assert row.pop("words_per_second") > 0
    scores = trial["scores"]["test"]
    assert row == {
        "name": "multi_fewer_hash_embed",
        "dataset": "demo",
        "embedder": "multi_fewer_hash_embed",
        "variant": "default",
        "seed": 0,
        **{
            kind: {key: scores[f"{prefix}_{key}"] for key in ("p", "r", "f", "support")}
            for kind, prefix in (
                ("all", "ents"),
                ("seen", "ents_seen"),
                ("unseen", "ents_unseen"),
            )
        },
        "embedding_parameters": trial["sizes"]["embedding_parameters"],
        "bytes_on_disk": trial["sizes"]["bytes_on_disk"],
    }
    assert row["all"]["support"] == row["seen"]["support"] + row["unseen"]["support"]
    assert row["seen"] != row["unseen"]


def test_scores_are_those_of_dev_where_there_is_no_test(metrics, corpus):
    scores = json.loads(metrics.read_text())["scores"]["dev"]
    (row,) = compare_trials([change(metrics, "x.json", scores={"dev": scores})], corpus)
    assert row["all"]["f"] == scores["ents_f"]


def test_rows_are_in_the_order_given_with_their_own_speeds(
    metrics, corpus, monkeypatch
):
    timed = []

    def measure(loaders, docs):
        timed.append(({name: load() for name, load in loaders.items()}, docs))
        return {name: 100.0 * (i + 1) for i, name in enumerate(loaders)}

    monkeypatch.setattr(comparison, "measure_words_per_second", measure)
    # The same embedder and variant twice: only the seed tells them apart.
    paths = [change(metrics, f"{seed}.json", seed=seed) for seed in (2, 1)]
    rows = compare_trials(paths, corpus)
    assert [(row["seed"], row["words_per_second"]) for row in rows] == [
        (2, 100.0),
        (1, 200.0),
    ]
    # All in one run, each a pipeline of its own, on the corpus named.
    ((pipelines, docs),) = timed
    assert len({id(nlp) for nlp in pipelines.values()}) == 2
    assert len(docs) == 40


def test_trials_of_different_corpora_are_refused(metrics, corpus):
    """Not the name tells, but what the files hold."""
    other = change(metrics, "other.json", corpus_hashes={"train": "0"})
    with pytest.raises(
        ValueError, match=r"these are of 2: .*json.* \(demo\), .*json.* \(demo\)\."
    ):
        compare_trials([metrics, other], corpus)


def test_names_tell_trials_apart(metrics, corpus):
    second = change(metrics, "second.json", seed=1)
    third = change(metrics, "third.json", variant="wide")
    names = [row["name"] for row in compare_trials([metrics, second], corpus)]
    assert names == ["multi_fewer_hash_embed seed 0", "multi_fewer_hash_embed seed 1"]
    names = [row["name"] for row in compare_trials([metrics, third], corpus)]
    assert names == ["multi_fewer_hash_embed default", "multi_fewer_hash_embed wide"]


def test_there_must_be_a_trial(corpus):
    with pytest.raises(
        ValueError, match="should be trials to compare, but there are none"
    ):
        compare_trials([], corpus)


def test_missing_results_are_named(metrics, corpus, tmp_path):
    message = r"no '.*gone\.json': run `spacy hashembeds trial` first"
    with pytest.raises(FileNotFoundError, match=message):
        compare_trials([metrics, tmp_path / "gone.json"], corpus)


def test_a_pipeline_that_is_gone_is_named(metrics, corpus):
    other = change(metrics, "other.json", model="training/gone/model-best")
    message = (
        r"pipeline 'training/gone/model-best' of '.*other\.json' is gone.*"
        "Remove the file and run its trial again"
    )
    with pytest.raises(FileNotFoundError, match=message):
        compare_trials([metrics, other], corpus)


@pytest.mark.parametrize("model", ["x" * 10**6, "a\0b", ""])
def test_what_can_not_be_a_pipeline_is_no_pipeline(model, metrics, corpus):
    with pytest.raises(FileNotFoundError, match=r"The pipeline '.*json' is gone") as e:
        compare_trials([change(metrics, "other.json", model=model)], corpus)
    assert len(str(e.value)) < 400


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": 1}, "'model' should be text, but is 1"),
        ({"scores": []}, r"'scores' should be an object, but is \[\]"),
        ({"sizes": {}}, "'embedding_parameters' should be a whole number"),
        ({"corpus_hashes": "x"}, "'corpus_hashes' should be an object"),
        ({"seed": float("nan")}, "it holds NaN, which is no number in JSON"),
    ],
)
def test_damaged_results_are_named(changes, message, metrics, corpus):
    other = change(metrics, "other.json", **changes)
    expected = f"'{other}' should hold the results of a trial, but .*: {message}"
    with pytest.raises(ValueError, match=expected):
        compare_trials([metrics, other], corpus)


def test_a_missing_corpus_is_named(metrics, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*gone\.spacy"):
        compare_trials([metrics], tmp_path / "gone.spacy")
