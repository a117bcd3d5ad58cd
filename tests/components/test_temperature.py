"""The temperature of token_ner: what it does to scores, and how it is found."""

import json

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.lang.en import English
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_hashembeds.components.decoding import DECODERS
from spacy_hashembeds.components.temperature import (
    apply_temperature,
    check_temperature,
    fit_temperature,
)
from spacy_hashembeds.components.token_ner import TokenNER

from .test_decoding import SEEDS, batches
from .toy_recognizers import annotate, get_entities, make_examples, make_pipeline, train

TEMPERATURES = st.floats(0.1, 10)


def log_softmax(rows) -> np.ndarray:
    """By its definition, in Python's numbers."""
    exps = [[np.exp(float(x)) for x in row] for row in rows]
    return np.array([[np.log(x / sum(row)) for x in row] for row in exps])


def draw_tags(
    seed: int, temperature: float, n: int = 4000
) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities of tags, and right ones that are as likely as those say at a
    temperature.
    """
    state = np.random.default_rng(seed)
    scores = log_softmax(2 * state.normal(size=(n, 5)))
    sums = np.exp(log_softmax(scores / temperature)).cumsum(axis=1)
    return scores, (sums < state.random((n, 1))).sum(axis=1).clip(max=4)


def get_loss(scores: np.ndarray, truth: np.ndarray, temperature: float) -> float:
    right = scores[np.arange(len(truth)), truth] / temperature
    return (np.logaddexp.reduce(scores / temperature, axis=1) - right).sum()


# What it does.


def test_at_1_scores_are_what_they_were():
    scores = np.log(np.array([[0.25, 0.75]], dtype="float32"))
    assert apply_temperature(scores, 1.0) is scores
    assert apply_temperature(scores, 1) is scores


@given(SEEDS, TEMPERATURES)
def test_scores_are_divided_and_normalised(seed, temperature):
    scores = log_softmax(np.random.default_rng(seed).normal(size=(6, 5)))
    before = scores.copy()
    found = apply_temperature(scores, temperature)
    np.testing.assert_allclose(found, log_softmax(scores / temperature), atol=1e-9)
    np.testing.assert_array_equal(scores, before)


def test_scores_of_probabilities_that_are_next_to_nothing_are_numbers():
    tiny = np.log(np.finfo("float32").tiny)
    for row in ([0, tiny, tiny], [-np.log(1000)] * 1000):
        found = apply_temperature(np.array([row], dtype="float32"), 0.05)
        assert found.dtype == "float32"
        assert np.isfinite(found).all()


@pytest.mark.parametrize("decoding", DECODERS)
@given(batch=batches(), temperature=TEMPERATURES)
def test_it_changes_no_tag(decoding, batch, temperature):
    """Neither where a tag is impossible: of the others the best is the same."""
    scores, lengths = batch
    is_possible = np.isfinite(scores)
    tempered = apply_temperature(np.where(is_possible, scores, -9), temperature)
    decode = DECODERS[decoding]
    np.testing.assert_array_equal(
        decode(np.where(is_possible, tempered, -np.inf), lengths),
        decode(scores, lengths),
    )


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline, to use only."""
    return train(make_pipeline(spans_key="found"), steps=12)


def find(nlp: Language, temperature: float) -> list[Doc]:
    """Annotate docs with a copy of the pipeline that has this temperature."""
    other = make_pipeline(spans_key="found").from_bytes(nlp.to_bytes())
    other.get_pipe("token_ner").cfg["temperature"] = temperature
    return annotate(other)


def test_entities_stay_and_scores_are_those_of_tempered_tags(nlp):
    before = annotate(nlp)
    assert any(get_entities(before))
    for temperature in (0.4, 1.0, 2.5):
        docs = find(nlp, temperature)
        assert get_entities(docs) == get_entities(before)
        for doc, old in zip(docs, before, strict=True):
            (probs,) = nlp.get_pipe("token_ner").model.predict([doc])
            best = np.exp(log_softmax(np.log(probs) / temperature)).max(axis=1)
            scores = doc.spans["found"].attrs["scores"]
            expected = [best[e.start : e.end].prod() for e in doc.ents]
            assert scores.dtype == "float32"
            np.testing.assert_allclose(scores, expected, rtol=1e-5)
            if temperature == 1:
                np.testing.assert_array_equal(
                    scores, old.spans["found"].attrs["scores"]
                )


def test_what_tokens_can_t_have_takes_its_share_of_the_score():
    """As at temperature 1: white space is no likelier to be inside for it."""
    tags = {"New": 2, "\n": 3, "York": 4}

    def forward(model, docs, is_train):
        rows = [
            [0.5 if tag == tags[t.text] else 0.125 for tag in range(5)]
            for doc in docs
            for t in doc
        ]
        return [np.array(rows, dtype="float32")], None

    pipe = TokenNER(Vocab(), Model("fixed", forward))
    pipe.add_label("LOC")
    pipe.cfg["temperature"] = 2.0
    (found,) = pipe.predict([Doc(English().vocab, words=list(tags))])
    share = 0.5**0.5 / (0.5**0.5 + 4 * 0.125**0.5)
    np.testing.assert_allclose(found.scores, [share**3], rtol=1e-6)


def test_training_knows_nothing_of_it(nlp):
    pipe = make_pipeline().from_bytes(nlp.to_bytes()).get_pipe("token_ner")
    examples = make_examples(nlp)
    scores = pipe.model.predict([eg.predicted for eg in examples])
    before = pipe.get_loss(examples, scores)
    pipe.cfg["temperature"] = 3.0
    loss, gradients = pipe.get_loss(examples, scores)
    assert loss == before[0]
    for one, other in zip(gradients, before[1], strict=True):
        np.testing.assert_array_equal(one, other)


# How it is found.


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_by_which_tags_were_drawn_is_found(temperature):
    found = [fit_temperature(*draw_tags(seed, temperature)) for seed in range(3)]
    np.testing.assert_allclose(found, temperature, rtol=0.1)
    np.testing.assert_allclose(np.mean(found), temperature, rtol=0.05)


def test_two_tags_have_a_closed_form():
    """Where one of two tags has p, and is right with q: T is log-odds by log-odds."""
    scores = np.log(np.tile([[0.9, 0.1]], (10, 1)))
    truth = np.array([0] * 7 + [1] * 3)
    expected = np.log(0.9 / 0.1) / np.log(0.7 / 0.3)
    assert fit_temperature(scores, truth) == pytest.approx(expected, rel=1e-6)


@given(SEEDS, st.floats(0.2, 5), st.integers(2, 200))
def test_no_other_temperature_is_better(seed, temperature, n):
    scores, truth = draw_tags(seed, temperature, n)
    found = fit_temperature(scores.astype("float32"), truth)
    grid = np.geomspace(1 / 20, 20, 400)
    best = min(get_loss(scores, truth, each) for each in grid)
    assert 1 / 20 <= found <= 20
    assert get_loss(scores, truth, found) <= best + 1e-4


def test_bounds_hold_where_there_is_no_best_one():
    scores = np.log(np.array([[0.6, 0.4], [0.7, 0.3]]))
    assert fit_temperature(scores, np.array([0, 0])) == pytest.approx(1 / 20)
    assert fit_temperature(scores, np.array([1, 1])) == pytest.approx(20)
    certain = np.log(np.maximum([[1.0, 0.0]], np.finfo("float32").tiny))
    assert 1 < fit_temperature(certain, np.array([1])) <= 20


# How it is saved.


def test_it_is_saved_and_loaded(nlp, tmp_path):
    other = make_pipeline().from_bytes(nlp.to_bytes())
    other.get_pipe("token_ner").cfg["temperature"] = 1.75
    other.to_disk(tmp_path)
    for loaded in (spacy.load(tmp_path), make_pipeline().from_bytes(other.to_bytes())):
        assert loaded.get_pipe("token_ner").cfg["temperature"] == 1.75


def without_temperature(pipe: TokenNER) -> bytes:
    """What earlier versions saved."""
    data = spacy.util.from_bytes(pipe.to_bytes(), {}, ())
    data["cfg"] = json.dumps({"labels": pipe.labels}).encode()
    return spacy.util.to_bytes({key: lambda v=v: v for key, v in data.items()}, ())


def test_what_was_saved_without_any_has_1(nlp, tmp_path):
    pipe = make_pipeline().get_pipe("token_ner")
    pipe.cfg["temperature"] = 2.0
    pipe.from_bytes(without_temperature(nlp.get_pipe("token_ner")))
    assert pipe.cfg["temperature"] == 1.0
    pipe.cfg["temperature"] = 2.0
    nlp.get_pipe("token_ner").to_disk(tmp_path)
    (tmp_path / "cfg").write_text(json.dumps({"labels": pipe.labels}))
    pipe.from_disk(tmp_path)
    assert pipe.cfg["temperature"] == 1.0


def test_another_training_begins_without_it():
    nlp = train(make_pipeline(), steps=0)
    nlp.get_pipe("token_ner").cfg["temperature"] = 2.0
    nlp.initialize(lambda: make_examples(nlp))
    assert nlp.get_pipe("token_ner").cfg["temperature"] == 1.0


def test_it_stays_where_the_cfg_is_left_out(nlp):
    pipe = make_pipeline().from_bytes(nlp.to_bytes()).get_pipe("token_ner")
    pipe.cfg["temperature"] = 2.0
    pipe.from_bytes(pipe.to_bytes(exclude=["cfg"]), exclude=["cfg"])
    assert pipe.cfg["temperature"] == 2.0


@pytest.mark.parametrize(
    "value", ["0", "-1.5", "1e999", '"1"', "true", "null", "NaN", "-Infinity"]
)
def test_damaged_temperatures_are_refused(nlp, tmp_path, value):
    nlp.to_disk(tmp_path)
    cfg = f'{{"labels": ["LOC", "PER"], "temperature": {value}}}'
    (tmp_path / "token_ner" / "cfg").write_text(cfg)
    match = r"token_ner.*('temperature' should be a number from 0\.05|no number in JS)"
    with pytest.raises(ValueError, match=match):
        spacy.load(tmp_path)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", True, None])
def test_what_log_probabilities_can_t_be_divided_by_is_refused(value):
    with pytest.raises(ValueError, match=r"'temperature' should be a number from.*is "):
        check_temperature(value)
    for bound in (0.05, 1, 20):
        check_temperature(bound)
