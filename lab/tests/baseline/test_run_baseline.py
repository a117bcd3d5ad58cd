"""The baseline, run once on a tiny corpus."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import spacy

from lab.baseline import run_baseline as run_module
from lab.baseline.run_baseline import run_baseline
from lab.trials.results import read_results
from lab.trials.scores import COUNTS
from spacy_hashembeds.components.decoding import BIASES
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.entities import SCORES
from spacy_hashembeds.evaluation.evaluate import evaluate
from tests import toy_ner

pytestmark = pytest.mark.slow

PENALTIES = {"c1": (0.0, 9.0), "c2": (0.01,)}


@pytest.fixture(scope="module")
def root(tiny_corpus, tmp_path_factory) -> Path:
    """A project in which the baseline was run, to read only."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(tiny_corpus, root / "corpus" / "demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "PENALTIES", PENALTIES)
        run_baseline("demo", root=root)
    return root


@pytest.fixture
def metrics(root) -> dict[str, Any]:
    path = root / "metrics/demo/crf/default/seed0.json"
    return json.loads(path.read_text(encoding="utf8"))


def test_what_is_recorded_is_read_as_a_trial(root, metrics):
    ((key, (result,)),) = read_results(root / "metrics").items()
    assert key == ("demo", "crf", "default")
    assert result.scores["test"]["ents_f"] == metrics["scores"]["test"]["ents_f"]
    assert result.joined["test"].keys() == {1, 2, 5, 10, 40}
    assert (result.embedding_parameters, result.mixing_parameters) == (0, 0)
    assert result.pipeline_parameters > 100
    assert result.words_per_second == metrics["timings"]["words_per_second"] > 0
    assert all(
        metrics["timings"][f"{what}_seconds"] > 0 for what in ("train", "choice")
    )
    assert metrics["versions"]["python-crfsuite"]


def test_the_scores_are_those_of_the_pipeline_that_is_left(root, metrics):
    nlp = spacy.load(root / "training/demo/crf/default/seed0/model-best")
    train, test = (
        list(read_docs(root / "corpus/demo" / f"{split}.spacy", nlp.vocab))
        for split in ("train", "test")
    )
    expected = evaluate(nlp, test, train=train, samples=9, show_progress=False)
    scores = metrics["scores"]["test"]
    assert {key: scores[key] for key in SCORES} == {
        key: expected[key] for key in SCORES
    }
    assert scores["ents_f"] > 0.5
    assert scores[COUNTS]


def test_penalties_are_those_that_are_best_on_development_data(metrics):
    weak, strong = metrics["tried"]
    assert (weak["c1"], strong["c1"]) == (0.0, 9.0)
    assert weak["ents_f"] > strong["ents_f"]
    assert metrics["penalties"] == {"c1": 0.0, "c2": 0.01}


def test_the_bias_is_the_best_on_development_data(root, metrics, monkeypatch):
    assert metrics["outside_bias"] in BIASES
    nlp = spacy.load(root / "training/demo/crf/default/seed0/model-best")
    assert nlp.get_pipe("crf").outside_bias == metrics["outside_bias"]
    f_scores = {bias: 0.5 - abs(bias - 2) / 10 for bias in BIASES}
    crf = nlp.get_pipe("crf")
    monkeypatch.setattr(run_module, "measure_f1", lambda *_: f_scores[crf.outside_bias])
    docs = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]
    assert run_module.choose_balance(nlp, docs * 10) == 2
    assert run_module.choose_balance(nlp, []) == 0  # which chance may have given


def test_penalties_are_chosen_on_a_share_of_many_docs(monkeypatch):
    docs = [toy_ner.make_doc(text) for text in toy_ner.TRAIN]
    assert run_module.select_docs(docs) == docs
    monkeypatch.setattr(run_module, "CHOICE_TOKENS", sum(map(len, docs)) - 1)
    assert run_module.select_docs(docs) == docs[::2]
    assert run_module.select_docs([]) == []


def test_an_own_corpus_has_the_language_that_is_said(
    tiny_corpus, tmp_path, monkeypatch
):
    shutil.copytree(tiny_corpus, tmp_path / "corpus" / "own")
    with pytest.raises(ValueError, match="language of corpus 'own' is"):
        run_baseline("own", root=tmp_path)
    monkeypatch.setattr(run_module, "PENALTIES", {"c1": (0.0,), "c2": (0.01,)})
    metrics, _, _ = run_baseline("own", lang="de", root=tmp_path)
    assert metrics["overrides"] == {"nlp.lang": "de"}
    assert spacy.load(tmp_path / metrics["model"]).lang == "de"
