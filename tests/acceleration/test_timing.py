"""Speeds of pipelines and of their components."""

from itertools import count

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_hashembeds.acceleration import timing as timing_module
from spacy_hashembeds.acceleration.timing import (
    Spread,
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


def test_spreads_are_medians_and_quartiles():
    assert find_spread([4.0, 1.0, 2.0]) == (2, (1.5, 3))
    assert find_spread([5.0]) == (5, (5, 5))


@pytest.mark.parametrize(
    ("rounds", "seconds", "expected"), [(7, 1, 7), (7, 25, 5), (7, 90, 3), (2, 90, 2)]
)
def test_no_round_starts_after_a_minute_except_the_first(
    docs, monkeypatch, rounds, seconds, expected
):
    clock = count(step=seconds)
    times = [4.0, 1.0, 2.0, 1.0, 2.0, 2.0, 4.0]
    taken = iter(times)
    monkeypatch.setattr(timing_module, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(timing_module, "_time_pipe", lambda nlp, docs: next(taken))
    speeds = measure_speeds({"en": lambda: None}, docs, rounds=rounds)
    assert speeds == {"en": find_spread([4 / each for each in times[:expected]])}


def test_pipelines_alternate_on_new_docs_after_a_warm_up(docs, monkeypatch):
    pipelines = {name: make_ruler(name) for name in ("slow", "fast")}
    calls = toy_ner.record_calls(monkeypatch)
    loaders = {name: lambda nlp=nlp: nlp for name, nlp in pipelines.items()}
    speeds = measure_speeds(loaders, docs, rounds=2)
    assert all(isinstance(s, Spread) and s.median > 0 for s in speeds.values())
    texts = [doc.text for doc in docs]
    turn = [*texts[: len(texts) // 10 + 1], *texts]
    assert [(name, doc.text) for name, doc in calls] == [
        (name, text) for name in ["slow", "fast"] * 2 for text in turn
    ]
    assert len({id(doc) for _, doc in calls}) == len(calls)
    assert all(doc.vocab is pipelines[name].vocab for name, doc in calls)


def test_components_are_timed_in_order(docs, monkeypatch):
    nlp = make_ruler("first", "second")
    nlp.add_pipe("sentencizer", name="third")
    nlp.disable_pipe("second")
    clock = iter([0, 4, 4, 6])
    monkeypatch.setattr(timing_module, "process_time", lambda: next(clock))
    assert measure_components(nlp, docs) == {"first": 1e6, "third": 5e5}
    assert not any(doc.ents for doc in docs)
