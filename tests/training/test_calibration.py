"""Calibration of `token_ner`: fitting, from Python, and by the callback in training."""

from itertools import product

import numpy as np
import pytest
import spacy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry

from spacy_hashembeds import calibrate_ner
from spacy_hashembeds.components.decoding import BIASES, apply_calibration, choose_bias
from spacy_hashembeds.training.calibration import (
    create_calibrate_ner,
    fit_calibration,
    judge_entities,
)

from .. import toy_ner
from ..components.toy_recognizers import (
    annotate,
    copy_words,
    get_entities,
    make_examples,
    make_pipeline,
    train,
)
from ..training_runs import SMALL, train_small

CALLBACK = "spacy-hashembeds.calibrate_ner.v1"

#: One of the dates in the test corpus is an entity.
DATED = (toy_ner.TEST[0].replace("today", "today|DATE"), *toy_ner.TEST[1:])

registry.readers.register("test.nothing.v1", func=lambda: lambda nlp: [])
registry.readers.register(
    "test.golds.v1", func=lambda: lambda nlp: iter(make_examples(nlp, DATED))
)

# Fitting.


def get_loss(scores, is_right, slope: float, offset: float) -> float:
    """Return the objective to minimize."""
    n_right, n = is_right.sum(), len(is_right)
    truth = np.where(is_right, (n_right + 1) / (n_right + 2), 1 / (n - n_right + 2))
    probs = 1 / (1 + np.exp(slope * np.log(1 - scores) - offset))
    likelihood = truth * np.log(probs) + (1 - truth) * np.log(1 - probs)
    return (slope - 1) ** 2 / 2 - likelihood.sum()


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.1, 10), st.floats(-5, 5), st.integers(2, 200))
def test_calibration_is_a_local_minimum(seed, slope, offset, n):
    """The minimum is global, since the loss is convex."""
    state = np.random.default_rng(seed)
    scores = state.uniform(0.02, 0.98, size=n)
    is_right = state.random(n) < apply_calibration(np.log(scores), (slope, offset))
    assume(0 < is_right.sum() < n)
    slope, offset = fit_calibration(scores, is_right)
    best = get_loss(scores, is_right, slope, offset)
    for x, y in product((-0.001, 0, 0.001), repeat=2):
        if 1 / 20 <= slope + x <= 20:
            assert get_loss(scores, is_right, slope + x, offset + y) >= best - 1e-9


@pytest.mark.parametrize(
    ("n_gold", "gains", "expected"),
    [
        (10_000, {2.0: 0.005}, 0.0),
        (10_000, {2.0: 0.006}, 2.0),
        # close to the best, and nearer to 0
        (10_000, {1.0: 0.026, 2.0: 0.03, 6.0: 0.031}, 1.0),
        # with 100 entities, noise is 2.5 points
        (100, {2.0: 0.024}, 0.0),
        (100, {2.0: 0.026}, 2.0),
        (0, {}, 0.0),
        # -2 to 6, step 0.5
        *[(10_000, {bias: 0.03}, bias) for bias in (-2.0, -1.5, 6.0)],
        *[(10_000, {bias: 0.03}, 0.0) for bias in (-2.5, 6.5)],
    ],
)
def test_the_bias_is_the_nearest_to_0_close_to_the_best(n_gold, gains, expected):
    f_scores = [0.3 + gains.get(bias, 0.0) for bias in BIASES]
    assert choose_bias(f_scores, n_gold) == expected


# From Python.


@pytest.fixture(scope="module")
def trained() -> bytes:
    return train(make_pipeline(listens=True), steps=20).to_bytes()


@pytest.fixture
def nlp(trained) -> Language:
    """A trained pipeline that tests may modify."""
    return make_pipeline(listens=True, spans_key="found").from_bytes(trained)


def get_calibration(nlp: Language) -> tuple[float, ...] | None:
    found = nlp.get_pipe("token_ner").cfg["calibration"]
    return found and tuple(found)


def test_calibration_is_fitted_to_entities(nlp):
    examples = make_examples(nlp, toy_ner.TEST)
    docs = annotate(nlp, toy_ner.TEST)
    scores = np.concatenate([doc.spans["found"].attrs["scores"] for doc in docs])
    golds, before = (
        get_entities(of) for of in ([eg.reference for eg in examples], docs)
    )
    is_right = [e in gold for gold, of in zip(golds, before, strict=True) for e in of]
    expected = fit_calibration(scores, np.array(is_right))
    found = calibrate_ner(nlp, examples)
    assert found == {"token_ner": pytest.approx(expected, abs=1e-3)}
    assert get_calibration(nlp) == found["token_ner"]
    assert get_entities(annotate(nlp, toy_ner.TEST)) == before
    # independent of the previous calibration
    assert calibrate_ner(nlp, examples) == found
    with pytest.raises(TypeError, match="'examples'"):
        calibrate_ner(nlp, [*examples, "a text"])
    assert get_calibration(nlp) == found["token_ner"]


def test_uninformative_examples_are_ignored_and_not_modified(nlp):
    """Such examples have no tokens, missing annotation, or unknown types."""
    expected = calibrate_ner(nlp, make_examples(nlp, toy_ner.TEST))
    examples = make_examples(nlp, toy_ner.TEST)
    assert calibrate_ner(nlp, (eg.reference for eg in examples)) == expected
    examples[0].predicted.ents = [Span(examples[0].predicted, 0, 1, label="OLD")]
    empty, unknown = Doc(nlp.vocab), Doc(nlp.vocab, words=["Anna", "lives"])
    assert calibrate_ner(nlp, [empty, *examples, unknown]) == expected
    examples += make_examples(nlp, ["Anna|PER saw Godot|PLAY in Oslo|LOC"])
    before = [(eg.predicted.to_bytes(), eg.reference.to_bytes()) for eg in examples]
    found = calibrate_ner(nlp, examples)
    after = [(eg.predicted.to_bytes(), eg.reference.to_bytes()) for eg in examples]
    assert after == before
    reference = examples[-1].reference
    ents = [ent for ent in reference.ents if ent.label_ != "PLAY"]
    reference.set_ents(ents, missing=[reference[2:3]], default="unmodified")
    assert calibrate_ner(nlp, examples) == found != expected


def test_scores_of_pipelines_on_held_out_docs_are_pooled(nlp):
    """With the bias of each."""
    sources = [(nlp, toy_ner.TEST)]
    for bias, text in enumerate(["Anna|PER lives", "in Paris|LOC"]):
        other = train(make_pipeline(), [text], steps=9)
        other.get_pipe("token_ner").cfg["outside_bias"] = float(bias)
        sources.append((other, DATED))
    judged = []
    for each, texts in sources:
        bias = each.get_pipe("token_ner").cfg["outside_bias"]
        golds = make_examples(each, texts)
        judged += judge_entities(each, "token_ner", golds, [bias])[0][0]
    expected = fit_calibration(*np.array(judged).T)
    own, *held_out = ((each, make_examples(each, texts)) for each, texts in sources)
    found = calibrate_ner(*own, held_out=iter(held_out))
    assert found == {"token_ner": pytest.approx(expected, abs=1e-3)}
    assert found != calibrate_ner(*own)
    golds = make_examples(nlp, DATED)
    for wrong in (nlp, [nlp], [(golds, nlp)], [(nlp, "a.spacy")], [(nlp, ["a text"])]):
        with pytest.raises(TypeError, match="'held_out'"):
            calibrate_ner(*own, held_out=wrong)
    for wrong in (
        [(spacy.blank("en"), golds)],
        [(nlp, [])],
        [(nlp, [nlp.make_doc("Anna")])],
    ):
        with pytest.raises(ValueError, match="'held_out'"):
            calibrate_ner(*own, held_out=wrong)


def test_each_token_ner_is_calibrated_after_preceding_components(nlp):
    examples = make_examples(nlp, DATED)
    expected = calibrate_ner(nlp, examples)["token_ner"]
    other = train(make_pipeline(), ["Anna lives in Paris today|DATE", "Rome"], steps=9)
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("token_ner", name="second", source=other)
    found = calibrate_ner(nlp, examples)
    assert found["token_ner"] == expected
    assert found["second"] == calibrate_ner(other, examples)["token_ner"] != expected
    # by the callback too, which reads the corpus once; frozen ones are unchanged
    nlp.config["corpora"] = {"dev": {"@readers": "test.golds.v1"}}
    nlp.config["training"]["frozen_components"] = ["token_ner"]
    for name in found:
        nlp.get_pipe(name).cfg["calibration"] = None
    assert create_calibrate_ner()(nlp) is nlp
    assert nlp.get_pipe("second").cfg["calibration"] == found["second"]
    assert get_calibration(nlp) is None


def test_scores_are_not_calibrated_if_all_or_no_entities_are_right():
    nlp = train(make_pipeline(), steps=40)
    for texts, n, n_right in (
        ([], 0, 0),
        (toy_ner.TRAIN, 12, 12),  # all right
        (["Anna lives in Paris today"], 2, 0),  # none
    ):
        nlp.get_pipe("token_ner").cfg["calibration"] = (1.5, 0.5)
        with pytest.warns(UserWarning, match=f"'token_ner' .* {n} .* {n_right}"):
            found = calibrate_ner(nlp, make_examples(nlp, texts), balance=True)
        assert found == {"token_ner": None}
        assert get_calibration(nlp) is None
        assert nlp.get_pipe("token_ner").cfg["outside_bias"] == 0


def test_balance_maximizes_spacys_scores():
    """The pipeline has a low recall. A preceding component sets entities, some of them
    wrong, or on tokens with missing annotation.
    """
    nlp = train(make_pipeline(spans_key="found"), steps=12)
    pipe = nlp.get_pipe("token_ner")
    pipe.model.get_ref("output_layer").get_param("b")[0] += 10
    nlp.batch_size = 50
    texts = [*toy_ner.TRAIN, *toy_ner.TEST, "Anna lives"] * 4
    golds = [toy_ner.make_doc(text, vocab=nlp.vocab) for text in texts]
    for text, missing in (
        ("Anna lives in Oslo|LOC", slice(2)),
        ("Carl Brown lives in Rome|LOC", slice(1, 2)),
    ):
        gold = toy_ner.make_doc(text, vocab=nlp.vocab)
        gold.set_ents([], missing=[gold[missing]], default="unmodified")
        golds.append(gold)
    ruler = nlp.add_pipe("entity_ruler", before="token_ner")
    before = ["Rome", "Anna", "lives", "Carl Brown"]
    ruler.add_patterns([{"label": "LOC", "pattern": name} for name in before])
    f_scores = []
    for bias in BIASES:
        pipe.cfg["outside_bias"] = bias
        copies = [Example(copy_words(gold), gold) for gold in golds]
        f_scores.append(nlp.evaluate(copies)["ents_f"])
    _, found_f_scores, n_gold = judge_entities(nlp, "token_ner", golds, BIASES)
    assert found_f_scores == pytest.approx(f_scores)
    assert n_gold == sum(len(gold.ents) for gold in golds)
    expected = choose_bias(f_scores, n_gold)
    assert expected > 0
    found = calibrate_ner(nlp, golds, balance=True)
    assert pipe.cfg["outside_bias"] == expected
    # independent of the previous bias; scores are those of the predictions
    assert calibrate_ner(nlp, golds, balance=True) == found
    assert calibrate_ner(nlp, golds) == found


# In training.


@pytest.mark.slow
def test_saved_pipelines_are_calibrated(tiny_corpus, tmp_path):
    """Weights are averaged. Calibration changes no weights or scores of training."""
    trained = []
    for callback in ({"@callbacks": CALLBACK, "balance": True}, None):
        changes = {"training.optimizer.use_averages": True}
        changes |= {"training.before_to_disk": callback}
        path = tmp_path / str(len(trained))
        train_small("token_ner", tiny_corpus, path, {**SMALL, **changes})
        trained.append(spacy.load(path / "model-last"))
    yes, no = trained
    assert get_calibration(no) is None is not get_calibration(yes)
    calibrate_ner(no, toy_ner.read(tiny_corpus / "dev.spacy"), balance=True)
    assert get_calibration(yes) == pytest.approx(get_calibration(no))
    ours, expected = (nlp.get_pipe("token_ner") for nlp in trained)
    assert ours.cfg["outside_bias"] == expected.cfg["outside_bias"]
    assert ours.model.to_bytes() == expected.model.to_bytes()
    assert no.meta["performance"] == yes.meta["performance"]


def test_errors_and_warnings_of_the_callback(nlp):
    nlp.config["corpora"] = {"dev": {"@readers": "test.nothing.v1"}}
    with pytest.raises(ValueError, match="'corpus'"):
        create_calibrate_ner(corpus="corpora.test")(nlp)
    with pytest.warns(UserWarning, match=r"0 entities .* 'corpora\.dev' 0 are right"):
        create_calibrate_ner()(nlp)
    nlp.remove_pipe("token_ner")
    for call in (lambda nlp: calibrate_ner(nlp, []), create_calibrate_ner()):
        with pytest.raises(ValueError, match="'token_ner'"):
            call(nlp)
