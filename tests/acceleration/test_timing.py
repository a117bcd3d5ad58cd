from functools import partial

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_hashembeds.acceleration import timing as timing_module
from spacy_hashembeds.acceleration.timing import (
    Speed,
    find_spread,
    measure_components,
    measure_speeds,
)

from .. import toy_ner


@pytest.fixture
def docs() -> list[Doc]:
    return [toy_ner.make_doc("Anna sings well"), toy_ner.make_doc("Oslo")]


def make_ruler(*names: str) -> Language:
    nlp = spacy.blank("en")
    for name in names:
        ruler = nlp.add_pipe("entity_ruler", name=name)
        ruler.add_patterns([{"label": "LOC", "pattern": "Oslo"}])
    return nlp


def test_words_per_second_are_those_of_the_median_round_and_quartiles(
    docs, monkeypatch
):
    # rounds of 4, 1 and 2 seconds, each after a warm-up of 50
    clock = iter([0, 0, 50, 50, 54, 54, 104, 104, 105, 105, 155, 155, 157])
    monkeypatch.setattr(timing_module, "perf_counter", lambda: next(clock))
    loaders = {"en": lambda: spacy.blank("en")}
    speeds = measure_speeds(loaders, docs, rounds=3)
    # of 1, 2 and 4 seconds the quartiles are 1.5 and 3
    assert speeds == {"en": Speed(4 / 2, (4 / 3, 4 / 1.5))}


@pytest.mark.parametrize(
    ("rounds", "seconds", "expected"), [(7, 1, 7), (7, 15, 5), (7, 90, 3), (2, 90, 2)]
)
def test_no_more_rounds_begin_after_a_minute(
    docs, monkeypatch, rounds, seconds, expected
):
    now, loaded = [0.0], []

    def load():
        now[0] += seconds
        loaded.append(1)
        return spacy.blank("en")

    monkeypatch.setattr(timing_module, "perf_counter", lambda: now[0])
    monkeypatch.setattr(timing_module, "_time_pipe", lambda *_: 1.0)
    assert measure_speeds({"en": load}, docs, rounds=rounds)["en"].median == 4
    assert len(loaded) == expected


def test_pipelines_take_turns_on_fresh_docs_after_a_warm_up(docs, monkeypatch):
    pipelines = {name: make_ruler(name) for name in ("slow", "fast")}
    calls = toy_ner.record_calls(monkeypatch)
    loaders = {name: partial(pipelines.get, name) for name in pipelines}
    speeds = measure_speeds(loaders, docs, rounds=2)
    assert all(speed.median > 0 for speed in speeds.values())
    texts = [doc.text for doc in docs]
    turn = [*texts[: len(texts) // 10 + 1], *texts]
    assert [(name, doc.text) for name, doc in calls] == [
        (name, text) for name in ["slow", "fast"] * 2 for text in turn
    ]
    assert len({id(doc) for _, doc in calls}) == len(calls)
    assert all(doc.vocab is pipelines[name].vocab for name, doc in calls)


def test_a_spread_is_a_median_and_its_quartiles():
    assert find_spread([4.0, 1.0, 2.0]) == (2, (1.5, 3))
    assert find_spread([5.0]) == (5, (5, 5))


def test_there_must_be_something_to_time():
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match="'docs' should have tokens"):
        measure_speeds({"en": lambda: nlp}, [Doc(nlp.vocab)])


def test_components_are_timed_one_after_the_other(docs, monkeypatch):
    nlp = make_ruler("first", "second")
    nlp.add_pipe("sentencizer", name="third")
    nlp.disable_pipe("second")
    clock = iter([0, 4, 4, 6])
    monkeypatch.setattr(timing_module, "process_time", lambda: next(clock))
    assert measure_components(nlp, docs) == {"first": 1e6, "third": 5e5}
    assert not any(doc.ents for doc in docs)
