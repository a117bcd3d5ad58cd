"""The calibration of token_ner: what it does to scores, and how it is found."""

import json
from math import exp, log

import numpy as np
import pytest
import spacy
from hypothesis import example, given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_hashembeds.components.decoding import (
    BIASES,
    DECODERS,
    choose_bias,
    find_entities,
)
from spacy_hashembeds.components.platt import (
    calibrate,
    check_calibration,
    fit_calibration,
)
from spacy_hashembeds.components.token_ner import TokenNER

from .test_decoding import SEEDS
from .toy_recognizers import annotate, get_entities, make_examples, make_pipeline, train

CALIBRATIONS = st.tuples(st.floats(0.1, 10), st.floats(-5, 5))


def logistic(x: float) -> float:
    return 1 / (1 + exp(-x))


def get_odds(p: float) -> float:
    return log(p / (1 - p))


def get_sureness(score: float) -> float:
    return -log(1 - score)


def draw(seed: int, calibration: tuple[float, float], n: int = 4000):
    """Scores, and whether each is right, as often as they say when calibrated."""
    state = np.random.default_rng(seed)
    scores = state.uniform(0.02, 0.98, size=n)
    probs = calibrate(np.log(scores), calibration)
    return scores, state.random(n) < probs


def get_loss(scores, is_right, slope: float, offset: float) -> float:
    """What is to be as small as can be, an entity after the other."""
    n_right = sum(is_right)
    of_right = (n_right + 1) / (n_right + 2)
    of_wrong = 1 / (len(is_right) - n_right + 2)
    loss = (slope - 1) ** 2 / 2
    for score, right in zip(scores, is_right, strict=True):
        p = logistic(slope * get_sureness(float(score)) + offset)
        truth = of_right if right else of_wrong
        loss -= truth * log(p) + (1 - truth) * log(1 - p)
    return loss


def fit_by_newton(scores, is_right) -> np.ndarray:
    """The same by another method: steps by first and second derivatives."""
    n_right, n = is_right.sum(), len(is_right)
    truth = np.where(is_right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))
    columns = np.stack([-np.log(1 - scores), np.ones(n)], axis=1)
    found = np.array([1.0, 0.0])
    for _ in range(15):
        probs = 1 / (1 + np.exp(-columns @ found))
        first = columns.T @ (probs - truth) + [found[0] - 1, 0]
        second = (columns.T * probs * (1 - probs)) @ columns + np.diag([1, 0])
        step = np.linalg.solve(second, first)
        losses = [
            get_loss(scores, is_right, *(found - step * 0.5**k)) for k in range(9)
        ]
        found = found - step * 0.5 ** int(np.argmin(losses))  # or it may go too far
    return found


# What it does.


@given(st.lists(st.floats(0.001, 0.999), min_size=1), CALIBRATIONS)
def test_log_odds_are_a_line_over_log_doubts(scores, calibration):
    slope, offset = calibration
    expected = [logistic(slope * get_sureness(score) + offset) for score in scores]
    found = calibrate(np.log(scores), calibration)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_what_is_not_fitted_is_the_score_to_the_bit():
    logs = np.log(np.array([1e-30, 0.25, 0.75, 1.0]))
    np.testing.assert_array_equal(calibrate(logs, None), np.exp(logs))


@given(
    st.lists(st.floats(0.001, 0.999), min_size=2),
    st.tuples(st.floats(0.1, 2), st.floats(-5, 5)),
)
def test_the_order_stays(scores, calibration):
    before = np.array(sorted(scores))
    after = calibrate(np.log(before), calibration)
    is_higher = np.diff(before) > 1e-9
    assert (np.diff(after) >= 0).all()
    assert (np.diff(after)[is_higher] > 0).all()


@given(CALIBRATIONS)
@example((20.0, 300.0))
@example((20.0, -300.0))
def test_scores_at_the_bounds_stay_between_0_and_1(calibration):
    logs = np.array([-np.inf, -200.0, -1e-9, 0.0, 0.01])
    with np.errstate(all="raise", under="ignore"):
        found = calibrate(logs, calibration)
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()


# How it is found.


@pytest.mark.parametrize("calibration", [(0.4, -0.8), (1.0, 0.0), (2.0, -1.0)])
def test_what_entities_were_drawn_by_is_found(calibration):
    found = [fit_calibration(*draw(seed, calibration)) for seed in range(3)]
    np.testing.assert_allclose(np.mean(found, axis=0), calibration, atol=0.1)


def test_equal_scores_have_a_closed_form():
    """Nothing is known of the slope, and the mean is that of Laplace's rule."""
    truth = 7 * [True] + 3 * [False]
    mean = (7 * 8 / 9 + 3 * 1 / 5) / 10
    found = fit_calibration(np.full(10, 0.95), np.array(truth))
    assert found == pytest.approx((1, get_odds(mean) - get_sureness(0.95)), abs=1e-5)


@given(SEEDS, CALIBRATIONS, st.integers(2, 200))
def test_it_is_what_newton_s_method_finds(seed, calibration, n):
    scores, is_right = draw(seed, calibration, n)
    if 0 < is_right.sum() < n:
        expected = fit_by_newton(scores, is_right)
        found = fit_calibration(scores, is_right)
        if 1 / 20 < expected[0] < 20:
            np.testing.assert_allclose(found, expected, atol=1e-4)


def test_no_other_is_better():
    scores, is_right = draw(1, (0.5, -0.7), 60)
    best = get_loss(scores, is_right, *fit_calibration(scores, is_right))
    for slope in np.linspace(0.05, 3, 20):
        for offset in np.linspace(-3, 3, 20):
            assert get_loss(scores, is_right, slope, offset) >= best - 1e-9


def test_the_slope_stays_above_0_where_the_surer_are_wrong():
    scores = np.array([0.9] * 20 + [0.1] * 20)
    slope, _ = fit_calibration(scores, scores < 0.5)
    assert slope == pytest.approx(1 / 20, rel=1e-5)


def test_scores_of_0_and_1_can_be_fitted_to():
    scores = np.array([0.0, 1.0, 1.0, 0.0], dtype="float32")
    with np.errstate(all="raise", under="ignore"):
        found = fit_calibration(scores, np.array([False, True, False, True]))
    assert np.isfinite(found).all()


# How the bias is chosen.


@pytest.mark.parametrize(
    ("n_gold", "gains", "expected"),
    [
        (10_000, {}, 0.0),
        (10_000, {2.0: 0.005}, 0.0),
        (10_000, {2.0: 0.006}, 2.0),
        (10_000, {-1.0: 0.03, 2.0: 0.02}, -1.0),
        # nearly the best, and nearer to 0
        (10_000, {1.0: 0.026, 2.0: 0.03, 6.0: 0.031}, 1.0),
        # of 100, chance gains 2.5 points
        (100, {2.0: 0.024}, 0.0),
        (100, {2.0: 0.026}, 2.0),
        (0, {}, 0.0),
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


def find(nlp: Language, calibration: tuple[float, float] | None) -> list[Doc]:
    """Annotate docs with a copy of the pipeline that has this calibration."""
    other = make_pipeline(spans_key="found").from_bytes(nlp.to_bytes())
    other.get_pipe("token_ner").cfg["calibration"] = calibration
    return annotate(other)


def get_scores(docs: list[Doc]) -> np.ndarray:
    return np.concatenate([doc.spans["found"].attrs["scores"] for doc in docs])


def test_entities_stay_and_scores_are_calibrated(nlp):
    before = annotate(nlp)
    assert any(get_entities(before))
    for calibration in (None, (0.4, -0.5), (2.5, 1.0)):
        docs = find(nlp, calibration)
        assert get_entities(docs) == get_entities(before)
        scores = get_scores(docs)
        assert scores.dtype == "float32"
        expected = calibrate(np.log(get_scores(before).astype(float)), calibration)
        np.testing.assert_allclose(scores, expected, rtol=1e-3)
        if calibration is None:
            np.testing.assert_array_equal(scores, get_scores(before))


@pytest.mark.parametrize("decoding", DECODERS)
@pytest.mark.parametrize("bias", [-20.0, 0.0, 1.5, 6.0])
def test_the_bias_is_taken_from_o_alone(nlp, decoding, bias):
    other = make_pipeline(spans_key="found", decoding=decoding)
    pipe = other.from_bytes(nlp.to_bytes()).get_pipe("token_ner")
    pipe.cfg["outside_bias"] = bias
    docs = annotate(other)
    lengths = np.array([len(doc) for doc in docs])
    scores = pipe.predict_tags([Doc(doc.vocab, [t.text for t in doc]) for doc in docs])
    biased = scores - np.eye(1, scores.shape[1]) * bias
    expected = find_entities(DECODERS[decoding](biased, lengths), scores, lengths)
    for doc, entities in zip(docs, expected, strict=True):
        found = [(e.start, e.end, pipe.labels.index(e.label_)) for e in doc.ents]
        assert found == [*zip(*map(list, entities[:3]), strict=True)]
        np.testing.assert_allclose(
            doc.spans["found"].attrs["scores"], entities.scores, rtol=1e-6
        )


def test_the_higher_the_bias_the_more_is_found(nlp):
    other = make_pipeline().from_bytes(nlp.to_bytes())
    n_found = []
    for bias in (-20.0, 0.0, 20.0):
        other.get_pipe("token_ner").cfg["outside_bias"] = bias
        n_found.append(sum(map(len, get_entities(annotate(other)))))
    assert 0 == n_found[0] < n_found[1] < n_found[2]


def test_training_knows_nothing_of_it(nlp):
    pipe = make_pipeline().from_bytes(nlp.to_bytes()).get_pipe("token_ner")
    examples = make_examples(nlp)
    scores = pipe.model.predict([eg.predicted for eg in examples])
    before = pipe.get_loss(examples, scores)
    pipe.cfg |= {"calibration": (0.5, -1.0), "outside_bias": 3.0}
    loss, gradients = pipe.get_loss(examples, scores)
    assert loss == before[0]
    for one, other in zip(gradients, before[1], strict=True):
        np.testing.assert_array_equal(one, other)


# How it is saved.


def test_it_is_saved_and_loaded(nlp, tmp_path):
    other = make_pipeline(spans_key="found").from_bytes(nlp.to_bytes())
    cfg = other.get_pipe("token_ner").cfg
    cfg |= {"calibration": [0.5, -0.25], "outside_bias": 1.5}
    other.to_disk(tmp_path)
    copy = make_pipeline(spans_key="found").from_bytes(other.to_bytes())
    for loaded in (spacy.load(tmp_path), copy):
        assert loaded.get_pipe("token_ner").cfg == cfg
        scores = (get_scores(annotate(each)) for each in (loaded, other))
        np.testing.assert_array_equal(*scores)


UNFITTED = {"calibration": None, "outside_bias": 0.0}


def replace_cfg(pipe: TokenNER, **cfg: object) -> bytes:
    """What earlier versions saved."""
    data = spacy.util.from_bytes(pipe.to_bytes(), {}, ())
    data["cfg"] = json.dumps({"labels": pipe.labels, **cfg}).encode()
    return spacy.util.to_bytes({key: lambda v=v: v for key, v in data.items()}, ())


@pytest.mark.parametrize("cfg", [{}, {"temperature": 1.0}])
def test_what_was_saved_without_any_has_none(nlp, tmp_path, cfg):
    pipe = make_pipeline().get_pipe("token_ner")
    pipe.cfg["calibration"] = (2.0, 1.0)
    pipe.from_bytes(replace_cfg(nlp.get_pipe("token_ner"), **cfg))
    assert pipe.cfg == {"labels": list(pipe.labels), **UNFITTED}
    pipe.cfg["calibration"] = (2.0, 1.0)
    nlp.get_pipe("token_ner").to_disk(tmp_path)
    (tmp_path / "cfg").write_text(json.dumps({"labels": pipe.labels, **cfg}))
    pipe.from_disk(tmp_path)
    assert pipe.cfg == {"labels": list(pipe.labels), **UNFITTED}


def test_a_temperature_of_earlier_versions_is_left_out_with_a_warning(nlp):
    pipe = make_pipeline().get_pipe("token_ner")
    data = replace_cfg(nlp.get_pipe("token_ner"), temperature=2.0)
    with pytest.warns(UserWarning, match="by a temperature .* `calibrate_ner`"):
        pipe.from_bytes(data)
    assert pipe.cfg == {"labels": list(pipe.labels), **UNFITTED}


def test_another_training_begins_without_it():
    nlp = train(make_pipeline(), steps=0)
    pipe = nlp.get_pipe("token_ner")
    pipe.cfg |= {"calibration": (2.0, 1.0), "outside_bias": 1.0}
    nlp.initialize(lambda: make_examples(nlp))
    assert pipe.cfg == {"labels": list(pipe.labels), **UNFITTED}


def test_training_that_goes_on_drops_it(nlp):
    other = make_pipeline().from_bytes(nlp.to_bytes())
    pipe = other.get_pipe("token_ner")
    pipe.cfg |= {"calibration": (2.0, 1.0), "outside_bias": 1.0}
    other.update(make_examples(other))
    assert pipe.cfg == {"labels": list(pipe.labels), **UNFITTED}


def test_it_stays_where_the_cfg_is_left_out(nlp):
    pipe = make_pipeline().from_bytes(nlp.to_bytes()).get_pipe("token_ner")
    pipe.cfg |= (fitted := {"calibration": (2.0, 1.0), "outside_bias": 1.0})
    pipe.from_bytes(pipe.to_bytes(exclude=["cfg"]), exclude=["cfg"])
    assert pipe.cfg == {"labels": list(pipe.labels), **fitted}


@pytest.mark.parametrize(
    "value",
    [
        *("1", "[]", "[1]", "[1, 0, 0]", '["1", 0]', "[true, 0]", "[0, 0]"),
        *("[-1, 0]", "[1e999, 0]", "[1, NaN]", "[1, -Infinity]", '{"1": 0, "2": 0}'),
    ],
)
def test_damaged_calibrations_are_refused(nlp, tmp_path, value):
    nlp.to_disk(tmp_path)
    cfg = f'{{"labels": ["LOC", "PER"], "calibration": {value}}}'
    (tmp_path / "token_ner" / "cfg").write_text(cfg)
    match = r"token_ner.*('calibration' should be a slope from 0\.05|no number in JS)"
    with pytest.raises(ValueError, match=match):
        spacy.load(tmp_path)


@pytest.mark.parametrize("value", ['"1"', "null", "true", "[1]", "101", "NaN", "1e999"])
def test_damaged_biases_are_refused(nlp, tmp_path, value):
    nlp.to_disk(tmp_path)
    cfg = f'{{"labels": ["LOC", "PER"], "outside_bias": {value}}}'
    (tmp_path / "token_ner" / "cfg").write_text(cfg)
    match = r"token_ner.*('outside_bias' should be a number, such|no number in JS)"
    with pytest.raises(ValueError, match=match):
        spacy.load(tmp_path)


@pytest.mark.parametrize(
    "value", [None, "2", True, [1.0], np.float32(2), np.nan, np.inf]
)
def test_a_bias_that_is_set_is_checked_where_it_is_used(nlp, value):
    other = make_pipeline().from_bytes(nlp.to_bytes())
    other.get_pipe("token_ner").cfg["outside_bias"] = value
    with pytest.raises(ValueError, match=r"'outside_bias' should be .*, or 2 to find"):
        annotate(other)


def test_bounds_are_no_damage():
    for calibration in (None, (0.05, -300.0), (20, 5), [1, 0]):
        check_calibration(calibration)
