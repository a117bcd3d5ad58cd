"""`--precision auto`: for each component the fastest that changes little."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_hashembeds.acceleration import precision
from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.architectures.maxout_window_encoder import MaxoutWindowEncoder

from .accelerate_pipelines import TEXTS, find_precisions

chosen = partial(accelerate_folder, precision="auto", blas=False, rounds=1)


@pytest.fixture
def folder(saved) -> Path:
    """An ner and a tagger, each with an encoder of its own."""
    return saved("inside")


@pytest.fixture
def times(instructions, monkeypatch) -> dict[str, dict[str, float]]:
    """What each component is taken to take in each precision."""
    times = {
        "ner": {"float32": 9.0, "bfloat16": 6.0, "int8": 3.0},
        "tagger": {"float32": 4.0, "bfloat16": 5.0, "int8": 2.0},
    }
    monkeypatch.setattr(
        precision,
        "measure_components",
        lambda nlp, docs: {
            name: of[find_precisions(nlp)[name]] for name, of in times.items()
        },
    )
    return times


@pytest.mark.parametrize(
    ("of_ner", "precision"),
    [
        ({}, "int8"),
        ({"int8": 7.0}, "bfloat16"),
        # hardly faster
        ({"bfloat16": 8.9, "int8": 8.5}, "float32"),
    ],
)
def test_the_fastest_is_chosen_for_each_component(
    folder, tmp_path, times, of_ner, precision
):
    times["ner"].update(of_ner)
    done = chosen(folder, tmp_path / "out", TEXTS, max_changed=100)
    expected = {"ner": precision, "tagger": "int8"}
    assert {c.component: c.precision for c in done.chosen} == expected
    assert done.chosen[0].times == times["ner"]
    assert f"ner: products of {precision}" in str(done)
    assert find_precisions(spacy.load(tmp_path / "out")) == expected
    assert done.changes.tokens[1] == done.tokens


def test_times_are_the_least_of_rounds_on_a_sample(
    folder, tmp_path, times, monkeypatch
):
    measure, samples = precision.measure_components, []

    def measure_in_turns(nlp, docs):
        extra = (8.0, 0.0, 5.0)[len(samples) // 3]  # of three precisions a round
        samples.append([len(doc) for doc in docs])
        return {name: us + extra for name, us in measure(nlp, docs).items()}

    monkeypatch.setattr(precision, "measure_components", measure_in_turns)
    monkeypatch.setattr(precision, "SAMPLE_SIZE", 13)
    done = chosen(folder, tmp_path / "out", TEXTS, max_changed=100)
    assert {each.component: each.times for each in done.chosen} == times
    assert len(samples) == 9
    assert all(sum(lengths[:-1]) < 13 <= sum(lengths) for lengths in samples)


def test_what_changes_too_much_gives_way_to_the_next(folder, tmp_path, times, spoil):
    spoil("int8")
    done = chosen(folder, tmp_path / "out", [*TEXTS] * 40, max_changed=0.5)
    # for the tagger bfloat16 is slower than float32
    found = find_precisions(spacy.load(tmp_path / "out"))
    assert found == {"ner": "bfloat16", "tagger": "float32"}
    assert [list(c.refused) for c in done.chosen] == [["int8"], ["int8"]]
    assert "not int8" in str(done.chosen[0])


@pytest.mark.usefixtures("times")
def test_the_limit_is_that_of_all_components_together(folder, tmp_path, monkeypatch):
    """What was chosen first counts when the next is chosen."""
    annotated = []
    annotate = precision.annotate

    def note_precisions(pipeline, texts):
        annotated.append(find_precisions(pipeline))
        return annotate(pipeline, texts)

    monkeypatch.setattr(precision, "annotate", note_precisions)
    chosen(folder, tmp_path / "out", TEXTS, max_changed=100)
    assert annotated == [
        {},
        {"ner": "int8", "tagger": "float32"},
        {"ner": "int8", "tagger": "int8"},
    ]


def test_what_is_fast_already_stays(folder, tmp_path, times):
    """Even if float32 would change more than may be changed."""
    for of in times.values():
        of.update({"float32": 9.0, "bfloat16": 4.8, "int8": 5.0})
    out = tmp_path / "out"
    accelerate_folder(folder, out, TEXTS, precision="int8", max_changed=100, rounds=1)
    done = chosen(out, tmp_path / "again", TEXTS, max_changed=0)
    assert {c.precision for c in done.chosen} == {"int8"}
    assert not any(c.refused for c in done.chosen)
    assert done.converted == []


class Shared:
    """A component that can't be saved, so that both pipelines have it."""

    def __init__(self, model):
        self.model = model

    def __call__(self, doc):
        self.model.predict([np.zeros((3, 16), dtype="f")])
        return doc


@pytest.mark.usefixtures("times")
def test_disabled_components_and_what_is_shared_keep_what_they_have(folder):
    encoder = MaxoutWindowEncoder(width=16, depth=1, window_size=1, maxout_pieces=2)
    encoder.initialize()
    Language.factory("shared_encoder", func=lambda nlp, name: Shared(encoder))
    nlp = spacy.load(folder, disable=["tagger"])
    nlp.add_pipe("shared_encoder")
    done = accelerate(nlp, TEXTS, precision="auto", max_changed=100, rounds=1)
    assert [c.component for c in done.chosen] == ["ner"]
    assert find_precisions(done.nlp) == {
        "ner": "int8",
        "tagger": "float32",
        "shared_encoder": "float32",
    }


@pytest.mark.usefixtures("times")
def test_of_few_tokens_nothing_can_be_told(folder, tmp_path):
    """Not a kind of annotation is within its limit, whatever they are."""
    done = chosen(folder, tmp_path / "out", ["Anna lives"], max_changed=0.5)
    assert {c.precision for c in done.chosen} == {"float32"}
    assert "2 tokens are too few to tell" in done.chosen[0].refused["int8"]
    with pytest.raises(ValueError, match="'texts' should have tokens"):
        chosen(folder, tmp_path / "none", [""])


@pytest.mark.parametrize(
    ("name", "processor"), [("inside", "no_instructions"), ("bare", "instructions")]
)
def test_without_instructions_or_an_encoder_all_stays_and_the_reason_is_said(
    saved, tmp_path, request, name, processor
):
    request.getfixturevalue(processor)
    done = chosen(saved(name), tmp_path / "out", TEXTS)
    assert (done.chosen, done.changes, [*done.left]) == ([], None, ["precision"])
    precisions = find_precisions(spacy.load(tmp_path / "out"))
    assert set(precisions.values()) <= {"float32"}


@pytest.mark.usefixtures("instructions")
def test_components_are_timed_in_each_precision(folder):
    nlp = spacy.load(folder)
    done = accelerate(nlp, TEXTS, precision="auto", max_changed=100, rounds=1)
    assert {c.component for c in done.chosen} == {"ner", "tagger"}
    for each in done.chosen:
        assert set(each.times) == {"float32", "bfloat16", "int8"}
        assert min(each.times.values()) > 0
