"""Precision of products: given, or chosen for each component (`--precision auto`)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_hashembeds.acceleration import conversion, precision
from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.in_memory import accelerate
from spacy_hashembeds.acceleration.parity import in_float32, walk_encoders
from spacy_hashembeds.architectures.maxout_window_encoder import MaxoutWindowEncoder
from spacy_hashembeds.kernels.convolution import Packed
from spacy_hashembeds.loading import load_config

from ..layers.plans import get_cached
from . import accelerate_pipelines as pipelines
from .accelerate_pipelines import SENTENCES, TEXTS, find_precisions

convert = partial(accelerate_folder, blas=False, max_changed=100)


@pytest.fixture(scope="module")
def pair(saved) -> tuple[Language, Language]:
    """A pipeline of `ner` and `tagger`, each with an encoder, and its conversion."""
    before = spacy.load(saved("inside"))
    return before, accelerate(before, TEXTS, blas=False, rounds=1).nlp


@pytest.fixture
def choose(pair, instructions) -> Iterator[partial]:
    """`choose_precisions` for the pair. Resets the precisions afterwards."""
    yield partial(precision.choose_precisions, *pair, progress=lambda items, _: items)
    set_precisions(pair[1], "float32")


def set_precisions(nlp: Language, precision: str) -> None:
    for _, weights in walk_encoders(nlp):
        weights.precision = precision


@pytest.fixture
def times(monkeypatch) -> dict[str, dict[str, float]]:
    times = {
        "ner": {"float32": 9.0, "bfloat16": 6.0, "int8": 3.0},
        "tagger": {"float32": 4.0, "bfloat16": 5.0, "int8": 2.0},
    }

    def measure(nlp, docs):
        found = find_precisions(nlp)
        return {name: of[found[name]] for name, of in times.items()}

    monkeypatch.setattr(precision, "measure_components", measure)
    return times


# Chosen


@pytest.mark.parametrize(
    ("of_ner", "is_noisy", "expected", "reasons"),
    [
        ({}, False, ("int8", "int8"), ""),
        ({"int8": 7.0}, False, ("bfloat16", "int8"), ""),
        (
            *({"bfloat16": 9.1, "int8": 8.5}, False, ("float32", "int8")),
            "; not int8: saves under 10 percent",
        ),
        # for the tagger bfloat16 is slower than float32
        ({}, True, ("bfloat16", "float32"), "; not int8: may change too much, "),
    ],
)
def test_the_fastest_precision_within_the_limit_is_chosen(
    choose, pair, times, add_noise, of_ner, is_noisy, expected, reasons
):
    times["ner"].update(of_ner)
    if is_noisy:
        add_noise("int8")
    chosen = choose([*TEXTS] * 160 if is_noisy else TEXTS, 0.5 if is_noisy else 100)
    found = {each.component: each.precision for each in chosen}
    assert found == find_precisions(pair[1])
    assert (found["ner"], found["tagger"]) == expected
    assert [[*each.refused] for each in chosen] == [["int8"] * is_noisy] * 2
    assert str(chosen[0]).partition(")")[2].startswith(reasons)
    assert ("; not" in str(chosen[0])) == bool(reasons)
    assert {each.component: each.times for each in chosen} == times


def test_an_unsupported_precision_is_named():
    one = precision.ChosenPrecision("ner", "int8", {"float32": 9.0, "int8": 3.0}, {})
    times = "(µs/word: float32 9.0, int8 3.0)"
    assert str(one) == f"ner: chose int8 {times}; not bfloat16: not supported here"


def test_the_fastest_of_rounds_on_a_sample_counts(choose, times, monkeypatch):
    measure, samples = precision.measure_components, []

    def measure_in_turns(nlp, docs):
        extra = (8.0, 0.0, 5.0)[len(samples) // 3]  # three precisions per round
        samples.append([len(doc) for doc in docs])
        return {name: us + extra for name, us in measure(nlp, docs).items()}

    monkeypatch.setattr(precision, "measure_components", measure_in_turns)
    monkeypatch.setattr(precision, "SAMPLE_SIZE", 13)
    assert {each.component: each.times for each in choose(TEXTS, 100)} == times
    assert len(samples) == 9
    assert all(sum(lengths[:-1]) < 13 <= sum(lengths) for lengths in samples)


def test_later_comparisons_include_earlier_choices(choose, times, monkeypatch):
    annotated = []
    annotate = precision.annotate_texts

    def note_precisions(pipeline, *args):
        annotated.append([*find_precisions(pipeline).values()])
        return annotate(pipeline, *args)

    monkeypatch.setattr(precision, "annotate_texts", note_precisions)
    choose(TEXTS, 100)
    assert annotated == [[], ["int8", "float32"], ["int8", "int8"]]


def test_a_fast_precision_is_kept_even_above_the_limit(choose, pair, times):
    for of in times.values():
        of.update({"float32": 9.0, "bfloat16": 4.8, "int8": 5.0})
    set_precisions(pair[1], "int8")
    chosen = choose(TEXTS, 0)
    assert [(each.precision, each.refused) for each in chosen] == [("int8", {})] * 2


def test_few_tokens_give_float32(choose, times):
    chosen = choose(["Anna lives"], 0.5)
    assert {each.precision for each in chosen} == {"float32"}
    assert "2 tokens are too few" in chosen[0].refused["int8"]
    assert choose([""], 0.5) == []


class Shared:
    """A component without `to_disk`, which both pipelines share."""

    def __init__(self, model):
        self.model = model

    def __call__(self, doc):
        self.model.predict([np.zeros((3, 16), dtype="f")])
        return doc


@pytest.mark.usefixtures("instructions", "times")
def test_disabled_and_shared_components_keep_their_precision(saved):
    encoder = MaxoutWindowEncoder(**pipelines.ARGUMENTS["MaxoutWindowEncoder"])
    encoder.initialize()
    Language.factory("shared_encoder", func=lambda nlp, name: Shared(encoder))
    nlp = spacy.load(saved("inside"), disable=["tagger"])
    nlp.add_pipe("shared_encoder")
    golds = [pipelines.make_example(nlp, text).reference for text in SENTENCES]
    done = accelerate(nlp, golds, precision="auto", max_changed=100)
    assert done.changes.f1 is not None
    assert [each.component for each in done.chosen] == ["ner"]
    assert find_precisions(done.nlp) == {
        "ner": "int8",
        "tagger": "float32",
        "shared_encoder": "float32",
    }


def test_components_are_timed_in_each_precision(choose, monkeypatch):
    monkeypatch.setattr(precision, "_ROUNDS", 1)
    for each in choose(TEXTS, 100):
        assert each.times.keys() == {"float32", "bfloat16", "int8"}
        assert min(each.times.values()) > 0


@pytest.mark.parametrize(
    ("name", "processor", "reason"),
    [
        ("inside", "no_instructions", "only float32 is supported by this processor"),
        ("bare", "instructions", "no enabled component"),
    ],
)
def test_without_instructions_or_an_encoder_the_reason_is_given(
    saved, tmp_path, request, name, processor, reason
):
    request.getfixturevalue(processor)
    done = convert(saved(name), tmp_path / "out", TEXTS, precision="auto")
    assert (done.chosen, done.changes, [*done.left]) == ([], None, ["precision"])
    assert done.left["precision"].startswith(reason)
    precisions = find_precisions(spacy.load(tmp_path / "out"))
    assert set(precisions.values()) <= {"float32"}


# Saved


@pytest.mark.usefixtures("instructions", "times")
def test_int8_is_saved_and_reset(saved, tmp_path):
    out, again = tmp_path / "out", tmp_path / "again"
    done = convert(saved("inside"), out, TEXTS, precision="auto")
    assert done.changes.tokens[1] == done.tokens > 0
    assert "Changed by the precision: " in str(done)
    assert "ner: chose int8" in str(done)
    nlp = spacy.load(out)
    assert find_precisions(nlp) == {"ner": "int8", "tagger": "int8"}
    list(nlp.pipe(TEXTS))
    for _, weights in walk_encoders(nlp):
        assert isinstance(get_cached(weights)[0], Packed)
    done = convert(out, again, TEXTS, precision="float32")
    # changes from the int8 pipeline
    assert done.changes.tokens[1] == done.tokens
    assert set(find_precisions(spacy.load(again)).values()) == {"float32"}


def test_the_precision_is_kept_by_default(saved, tmp_path, add_noise):
    """Changes are counted against the original precision."""
    add_noise("int8", "bfloat16")
    config = load_config(saved("inside") / "config.cfg")
    place = config["components"]["tagger"]["model"]["tok2vec"]["encode"]
    place |= {"@architectures": conversion.OUR_ENCODER, "precision": "int8"}
    mixed = spacy.util.load_model_from_config(config)
    mixed.from_disk(saved("inside")).to_disk(tmp_path / "mixed")
    done = convert(tmp_path / "mixed", tmp_path / "out", TEXTS)
    assert "components.tagger.model.tok2vec.encode" not in done.converted
    assert done.changes.tokens == (0, done.tokens)
    precisions = find_precisions(spacy.load(tmp_path / "out"))
    assert precisions == {"ner": "float32", "tagger": "int8"}


def test_in_float32_affects_only_the_current_thread(choose, pair):
    set_precisions(pair[1], "int8")
    docs = [pair[0].make_doc(text) for text in TEXTS]
    exact, predict = (
        nlp.get_pipe("ner").model.get_ref("tok2vec").predict for nlp in pair
    )
    expected, fewer = np.concatenate(exact(docs)), np.concatenate(predict(docs))
    with in_float32(), ThreadPoolExecutor() as threads:
        np.testing.assert_allclose(np.concatenate(predict(docs)), expected, atol=1e-4)
        others = np.concatenate(threads.submit(predict, docs).result())
    np.testing.assert_array_equal(others, fewer)
    assert abs(fewer - expected).max() > 1e-4


def test_changes_above_the_limit_are_refused(saved, tmp_path, add_noise):
    add_noise("int8")
    settings = {"precision": "int8", "max_changed": 0.5}
    with pytest.raises(ValueError, match=r"of (tags|heads|entities)"):
        convert(saved("inside"), tmp_path / "out", TEXTS, **settings)
    assert not (tmp_path / "out").exists()


def test_a_lower_precision_needs_instructions(saved, tmp_path, no_instructions):
    with pytest.raises(ValueError, match="'precision' should be"):
        convert(saved("inside"), tmp_path / "out", TEXTS, precision="int8")
