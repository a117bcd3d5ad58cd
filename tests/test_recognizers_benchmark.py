"""The benchmark of NER components in a tiny setting."""

from typing import Any

import pytest

from benchmarks import _recognizers, recognizers
from benchmarks._data import Corpus, load_corpus
from benchmarks._pipelines import annotate, strip

from .toy_benchmarks import ONCE, assert_timing, assert_writes, small_steps

NAMES = ["ner", "token_ner, greedy", "token_ner, viterbi"]


@pytest.fixture(scope="module")
def corpus(tiny_corpus) -> Corpus:
    return load_corpus(tiny_corpus / "train.spacy")


@pytest.fixture(scope="module")
def results(corpus) -> dict[str, Any]:
    with small_steps():
        return recognizers.measure_recognizers(
            corpus, ONCE, docs=20, updates=1, training_steps=40
        )


def test_components_are_timed_in_prediction_and_training(results):
    assert list(results["timings"]) == ["nlp.pipe", "nlp.update"]
    for timed in results["timings"].values():
        assert list(timed["contenders"]) == NAMES
        us = {name: t["us_per_word"] for name, t in timed["contenders"].items()}
        for name, timing in timed["contenders"].items():
            assert_timing(timing)
            ratio = timed["times_as_fast_as_ner"][name]
            assert ratio == pytest.approx(us["ner"] / us[name])
    assert [*recognizers.find_baselines(results)] == [
        "ner (nlp.pipe)",
        "ner (nlp.update)",
    ]


def test_what_is_timed_finds_entities(results):
    assert list(results["entities"]) == NAMES
    assert all(count > 0 for count in results["entities"].values())


@pytest.mark.parametrize("name", NAMES)
def test_contenders_differ_in_the_component_alone(corpus, name):
    source = _recognizers.train_recognizer(name, corpus.docs, 3)
    nlp = _recognizers.copy_recognizer(name, source)
    component, _, decoding = name.partition(", ")
    assert nlp.pipe_names == ["tok2vec", component]
    assert getattr(nlp.get_pipe(component), "decoding", "") == decoding
    plain = _recognizers.build_recognizer("ner", corpus.vocab)
    own, others = (p.config["components"] for p in (nlp, plain))
    assert own["tok2vec"] == others["tok2vec"]
    assert own[component]["model"]["tok2vec"] == others["ner"]["model"]["tok2vec"]
    assert nlp.config["training"] == plain.config["training"]
    for pipe in nlp.pipe_names:
        one, other = (p.get_pipe(pipe).model.to_bytes() for p in (nlp, source))
        assert one == other
    found = []
    for pipeline in (nlp, source):
        docs = [strip(doc) for doc in corpus.docs[:5]]
        annotate(pipeline, docs)
        found.append([[ent.text for ent in doc.ents] for doc in docs])
    assert found[0] == found[1]


def test_components_write_data_and_chart(results, tmp_path, capsys):
    assert_writes(recognizers, results, "measure_recognizers", tmp_path)
    assert "| token_ner, viterbi |" in capsys.readouterr().out
