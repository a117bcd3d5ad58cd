"""The calibration of token_ner: what it does to scores, and how it is found."""

from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_hashembeds.components.decoding import (
    BIASES,
    DECODERS,
    calibrate,
    choose_bias,
    find_entities,
)
from spacy_hashembeds.components.token_ner import TokenNER
from spacy_hashembeds.training.calibration import fit_calibration

from .test_decoding import SEEDS
from .toy_recognizers import annotate, make_examples, make_pipeline, train

CALIBRATIONS = st.tuples(st.floats(0.1, 10), st.floats(-5, 5))


def logistic(x: float) -> float:
    return 1 / (1 + exp(-x))


def get_sureness(score: float) -> float:
    return -log(1 - score)


def draw(seed: int, calibration: tuple[float, float], n: int):
    """Scores, and whether each is right, as often as they say when calibrated."""
    state = np.random.default_rng(seed)
    scores = state.uniform(0.02, 0.98, size=n)
    probs = calibrate(np.log(scores), calibration)
    return scores, state.random(n) < probs


def get_loss(scores, is_right, slope: float, offset: float) -> float:
    """What is to be as small as can be."""
    n_right, n = is_right.sum(), len(is_right)
    truth = np.where(is_right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))
    probs = 1 / (1 + np.exp(slope * np.log(1 - scores) - offset))
    likelihood = truth * np.log(probs) + (1 - truth) * np.log(1 - probs)
    return (slope - 1) ** 2 / 2 - likelihood.sum()


# What it does.


@given(st.lists(st.floats(0.001, 0.999), min_size=1), CALIBRATIONS)
@example([0.99999], (1.0, -5.0))
def test_log_odds_are_a_line_over_log_doubts(scores, calibration):
    slope, offset = calibration
    expected = [logistic(slope * get_sureness(score) + offset) for score in scores]
    found = calibrate(np.log(scores), calibration)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("calibration", [(1.0, 0.0), (20.0, 300.0), (20.0, -300.0)])
def test_scores_at_the_bounds_stay_between_0_and_1(calibration):
    logs = np.array([-np.inf, -200.0, -1e-9, 0.0, 0.01])
    with np.errstate(all="raise", under="ignore"):
        found = calibrate(logs, calibration)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()


# How it is found.


@settings(max_examples=30)
@given(SEEDS, CALIBRATIONS, st.integers(2, 200))
def test_no_other_near_it_is_better(seed, calibration, n):
    """So that none is, since the loss is convex."""
    scores, is_right = draw(seed, calibration, n)
    assume(0 < is_right.sum() < n)
    slope, offset = fit_calibration(scores, is_right)
    best = get_loss(scores, is_right, slope, offset)
    for x, y in product((-0.001, 0, 0.001), repeat=2):
        if 1 / 20 <= slope + x <= 20:
            assert get_loss(scores, is_right, slope + x, offset + y) >= best - 1e-9


# How the bias is chosen.


@pytest.mark.parametrize(
    ("n_gold", "gains", "expected"),
    [
        (10_000, {}, 0.0),
        (10_000, {2.0: 0.005}, 0.0),
        (10_000, {2.0: 0.006}, 2.0),
        # nearly the best, and nearer to 0
        (10_000, {1.0: 0.026, 2.0: 0.03, 6.0: 0.031}, 1.0),
        # of 100, chance gains 2.5 points
        (100, {2.0: 0.024}, 0.0),
        (100, {2.0: 0.026}, 2.0),
        (0, {}, 0.0),
        # from -2 to 6 by halves
        *[(10_000, {bias: 0.03}, bias) for bias in (-2.0, -1.5, 6.0)],
        *[(10_000, {bias: 0.03}, 0.0) for bias in (-2.5, 6.5)],
    ],
)
def test_the_bias_is_the_nearest_to_0_that_has_all_but_the_best(
    n_gold, gains, expected
):
    f_scores = [0.3 + gains.get(bias, 0.0) for bias in BIASES]
    assert choose_bias(f_scores, n_gold) == expected


# What they do in a pipeline.


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline, to use only."""
    return train(make_pipeline(spans_key="found"), steps=12)


@pytest.mark.parametrize("decoding", DECODERS)
@pytest.mark.parametrize("bias", [-20.0, 1.5])
def test_the_bias_is_taken_from_o_alone(nlp, decoding, bias):
    other = make_pipeline(spans_key="found", decoding=decoding)
    pipe = other.from_bytes(nlp.to_bytes()).get_pipe("token_ner")
    pipe.cfg |= {"outside_bias": bias, "calibration": (0.4, -0.5)}
    docs = annotate(other)
    lengths = np.array([len(doc) for doc in docs])
    scores = pipe.predict_tags([Doc(doc.vocab, [t.text for t in doc]) for doc in docs])
    biased = scores - np.eye(1, scores.shape[1]) * bias
    tags = DECODERS[decoding](biased, lengths)
    expected = find_entities(tags, scores, lengths, (0.4, -0.5))
    for doc, entities in zip(docs, expected, strict=True):
        found = [(e.start, e.end, pipe.labels.index(e.label_)) for e in doc.ents]
        assert found == [*zip(*map(list, entities[:3]), strict=True)]
        np.testing.assert_allclose(
            doc.spans["found"].attrs["scores"], entities.scores, rtol=1e-6
        )


# How it is saved.


FITTED = {"calibration": [2.0, 1.0], "outside_bias": 1.5}
UNFITTED = {"calibration": None, "outside_bias": 0.0}


@pytest.fixture
def pipe(nlp) -> TokenNER:
    """A trained component to which something was fitted."""
    pipe = make_pipeline().from_bytes(nlp.to_bytes()).get_pipe("token_ner")
    pipe.cfg |= FITTED
    return pipe


@pytest.mark.parametrize("method", ["update", "initialize"])
def test_training_drops_it(pipe, nlp, method):
    examples = make_examples(nlp)
    if method == "update":
        pipe.update(examples)
    else:
        pipe.initialize(lambda: examples)
    assert pipe.cfg == {"labels": list(pipe.labels), **UNFITTED}


@pytest.mark.parametrize("value", [None, np.nan, "1"])
def test_a_bias_that_is_set_is_checked_where_it_is_used(pipe, nlp, value):
    pipe.cfg["outside_bias"] = value
    with pytest.raises(ValueError, match="'outside_bias'"):
        pipe(nlp.make_doc("Anna"))
