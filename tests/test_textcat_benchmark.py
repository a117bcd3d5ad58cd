"""The benchmark of text classifiers in a tiny setting."""

from pathlib import Path
from typing import Any

import numpy
import pytest
from thinc.api import Adam

from benchmarks import _classifiers, _optimizer, textcat
from benchmarks._data import Corpus
from benchmarks._pipelines import prepare_update, strip

from .toy_benchmarks import ONCE, assert_timing, assert_writes
from .toy_classifiers import save_texts


@pytest.fixture(scope="module")
def texts_path(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "train.spacy"
    save_texts(path, 40, seed=0)
    return path


@pytest.fixture(scope="module")
def texts(texts_path) -> Corpus:
    return textcat.load_texts(texts_path)


@pytest.fixture(scope="module")
def textcat_results(texts) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_optimizer, "_STARTS", {"normal": (0.1, 0), "denormal": (0.1, 0)})
        return textcat.measure_classifiers(
            texts, ONCE, texts=10, batches=(4,), texts_trained=8
        )


def test_text_classifiers_are_timed_in_prediction_and_training(textcat_results):
    names = ["TextCatEnsemble", "TextCatReduce", "TextCatBOW"]
    names += ["HashNgramTextCat", "HashNgramTextCat, large"]
    assert list(textcat_results["timings"]) == ["nlp.pipe", "nlp.update, 4 texts"]
    for timed in textcat_results["timings"].values():
        assert list(timed["contenders"]) == names
        us = {name: t["us_per_word"] for name, t in timed["contenders"].items()}
        for name, timing in timed["contenders"].items():
            assert_timing(timing)
            ratio = timed["times_as_fast_as_ensemble"][name]
            assert ratio == pytest.approx(us["TextCatEnsemble"] / us[name])
            ratio = timed["times_as_long_as_bow"][name]
            assert ratio == pytest.approx(us[name] / us["TextCatBOW"])
    assert [*textcat.find_baselines(textcat_results)] == [
        f"{name} ({what})"
        for what in textcat_results["timings"]
        for name in ("TextCatEnsemble", "TextCatBOW")
    ]


def test_text_classifiers_are_those_of_their_names(textcat_results):
    about = textcat_results["classifiers"]
    for name, versions in (("Ensemble", "v2"), ("Reduce", "v1"), ("BOW", "v3")):
        classifier = about[f"TextCat{name}"]
        assert classifier["architecture"] == f"spacy.TextCat{name}.{versions}"
    # a table, weights, and a softmax of two labels
    sizes = {"": 100_000, ", large": 1_000_000}
    for suffix, importance_rows in sizes.items():
        classifier = about[f"HashNgramTextCat{suffix}"]
        assert classifier["architecture"] == "spacy-hashembeds.HashNgramTextCat.v1"
        n_parameters = 10_000 * 20 + importance_rows * 2 + 20 * 2 + 2
        assert classifier["parameters"] == n_parameters
    dropouts = [classifier["dropout"] for classifier in about.values()]
    assert dropouts == [0.1, 0.1, 0.0, 0.0, 0.0]


def test_text_classifiers_have_a_profile_by_stages(textcat_results):
    for name, kinds in textcat_results["profile"].items():
        assert list(kinds) == ["nlp.pipe", "nlp.update, 4 texts"]
        parts = {"words", "n-grams", "tables", "labels"}
        if not name.startswith("Hash"):
            parts = {"model"}
        pipe, update = (kind["us_per_word"] for kind in kinds.values())
        assert set(pipe) == {*parts, "rest"}
        assert set(update) == {*parts, "optimizer", "rest"}
        assert all(us > 0 for us in update.values())
        assert kinds["nlp.pipe"]["functions"]


def test_text_classifiers_write_data_and_chart(
    textcat_results, texts_path, tmp_path, capsys
):
    measure, corpus = "measure_classifiers", texts_path
    assert_writes(textcat, textcat_results, measure, tmp_path, corpus=corpus)
    said = capsys.readouterr().out
    assert "| HashNgramTextCat, nlp.pipe |" in said


def test_a_copied_classifier_predicts_as_before(texts):
    for name in ("TextCatBOW", "HashNgramTextCat, large"):
        source = _classifiers.make_classifier(name, texts.docs)
        # a model of spaCy's begins with zeros
        prepare_update(source, [texts.docs])()
        copied = _classifiers.copy_classifier(name, source)
        scores = [
            [doc.cats for doc in nlp.pipe([strip(doc) for doc in texts.docs[:3]])]
            for nlp in (source, copied)
        ]
        assert scores[0] == scores[1]
        assert scores[0][0] != scores[0][1]


def test_classifiers_need_texts_with_labels(tiny_corpus, tmp_path):
    message = r"There is no '.*train\.spacy'\. .*ag_news_small.* with --corpus"
    with pytest.raises(FileNotFoundError, match=message):
        textcat.load_texts(tmp_path / "train.spacy")
    message = r"Each text in '.*' should have categories, but some have none\. Name"
    with pytest.raises(ValueError, match=message):
        textcat.load_texts(tiny_corpus / "train.spacy")


def test_optimizers_are_timed_with_means_that_are_denormal(texts, monkeypatch):
    source = _classifiers.make_classifier("TextCatBOW", texts.docs)
    seen = []

    def make_optimizer():
        seen.append(Adam(0.001))
        return seen[-1]

    monkeypatch.setattr(source, "create_optimizer", make_optimizer)
    before = source.get_pipe("textcat").model.to_bytes()
    times = _optimizer.time_optimizer(source, "textcat", ONCE)
    assert list(times) == ["normal", "denormal"]
    assert all(ms > 0 for ms in times.values())
    assert source.get_pipe("textcat").model.to_bytes() == before
    smallest = numpy.finfo("float32").tiny
    normal, denormal = (next(iter(adam.mom1.values())) for adam in seen)
    assert normal.min() > smallest
    assert 0 < denormal.max() < smallest
