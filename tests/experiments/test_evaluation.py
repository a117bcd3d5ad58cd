from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.cli.evaluate import evaluate as spacy_evaluate
from spacy.pipeline import EntityRuler
from spacy.tokens import Doc

from spacy_hashembeds.experiments import evaluation
from spacy_hashembeds.experiments.evaluation import (
    evaluate_pipeline,
    measure_words_per_second,
)

from .. import toy_ner


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return toy_ner.write_train(tmp_path / "train.spacy")


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    return toy_ner.write(tmp_path / "dev.spacy", toy_ner.make_test_docs())


@pytest.mark.slow
def test_scores_of_any_pipeline_equal_those_of_spacy_evaluate(tmp_path, train, dev):
    toy_ner.train_ner(train).to_disk(tmp_path / "model")
    scores = evaluate_pipeline(tmp_path / "model", dev, train)
    for prefix, copy in toy_ner.write_copies(dev, train).items():
        expected = spacy_evaluate(str(tmp_path / "model"), copy)
        assert 0 < expected["ents_f"] < 1  # else this would compare little
        for key, value in toy_ner.without_support(scores, prefix).items():
            assert value == expected[key]


def test_the_pipelines_own_scorer_and_its_lost_file_do_not_matter(tmp_path, train, dev):
    lost = toy_ner.write_train(tmp_path / "lost.spacy")
    toy_ner.make_ruler({"Oslo": "LOC"}, lost).to_disk(tmp_path / "model")
    lost.unlink()
    scores = evaluate_pipeline(str(tmp_path / "model"), str(dev), str(train))
    assert scores["ents_p"] == 1.0
    assert scores["ents_seen_r"] == 0.0
    assert 0 < scores["ents_unseen_r"] < 1


def test_the_pipeline_runs_once_over_each_doc(tmp_path, train, dev, monkeypatch):
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(tmp_path / "model")
    annotated = record_calls(monkeypatch)
    evaluate_pipeline(tmp_path / "model", dev, train)
    texts = [doc.text for doc in toy_ner.make_test_docs()]
    assert [doc.text for _, doc in annotated] == texts


def record_calls(monkeypatch) -> list[tuple[str, Doc]]:
    """Note every doc that an entity ruler annotates, with the ruler's name."""
    calls = []
    annotate = EntityRuler.__call__

    def annotate_and_note(self, doc: Doc) -> Doc:
        calls.append((self.name, doc))
        return annotate(self, doc)

    monkeypatch.setattr(EntityRuler, "__call__", annotate_and_note)
    return calls


@pytest.mark.parametrize("name", ["dev.spacy", "train.spacy"])
def test_a_missing_corpus_is_refused_with_its_path(tmp_path, train, dev, name):
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(tmp_path / "model")
    (tmp_path / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"no file or folder .*{name}"):
        evaluate_pipeline(tmp_path / "model", dev, train)


@pytest.mark.parametrize("name", ["dev.spacy", "train.spacy"])
def test_a_damaged_corpus_is_refused_with_its_path(tmp_path, train, dev, name):
    toy_ner.make_ruler({"Oslo": "LOC"}, None).to_disk(tmp_path / "model")
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=f"'.*{name}.*truncated"):
        evaluate_pipeline(tmp_path / "model", dev, train)


@pytest.fixture
def docs() -> list[Doc]:
    return [toy_ner.make_doc("Anna sings well"), toy_ner.make_doc("Oslo")]


def test_words_per_second_is_that_of_the_median_round(docs, monkeypatch):
    # Rounds of 4, 1 and 2 seconds, each after a warm-up of 50.
    clock = iter([0, 50, 50, 54, 54, 104, 104, 105, 105, 155, 155, 157])
    monkeypatch.setattr(evaluation, "perf_counter", lambda: next(clock))
    speeds = measure_words_per_second({"en": lambda: spacy.blank("en")}, docs, rounds=3)
    assert speeds == {"en": 4 / 2}


def test_pipelines_take_turns_on_fresh_docs_after_a_warm_up(docs, monkeypatch):
    pipelines = {}
    for name in ("slow", "fast"):
        pipelines[name] = spacy.blank("en")
        ruler = pipelines[name].add_pipe("entity_ruler", name=name)
        ruler.add_patterns([{"label": "LOC", "pattern": "Oslo"}])
    calls = record_calls(monkeypatch)
    loaded = []

    def load(name):
        loaded.append(name)
        return pipelines[name]

    loaders = {name: partial(load, name) for name in pipelines}
    speeds = measure_words_per_second(loaders, docs, rounds=2)
    assert loaded == ["slow", "fast"] * 2
    assert all(speed > 0 for speed in speeds.values())
    texts = [doc.text for doc in docs]
    turn = [*texts[: len(texts) // 10 + 1], *texts]
    assert [(name, doc.text) for name, doc in calls] == [
        (name, text) for name in ["slow", "fast"] * 2 for text in turn
    ]
    assert len({id(doc) for _, doc in calls}) == len(calls)
    assert all(doc.vocab is pipelines[name].vocab for name, doc in calls)


def test_there_must_be_something_to_time(docs):
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match="'docs' should have tokens"):
        measure_words_per_second({"en": lambda: nlp}, [Doc(nlp.vocab)])
    with pytest.raises(ValueError, match="'rounds' should be 1 or more, but is 0"):
        measure_words_per_second({"en": lambda: nlp}, docs, rounds=0)
