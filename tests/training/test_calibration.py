"""Calibrating token_ner: by a callback, while training, and from Python."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry

from spacy_hashembeds import calibrate_ner
from spacy_hashembeds.components.decoding import BIASES, choose_bias
from spacy_hashembeds.tools.evaluate.measures import ScoreCollector
from spacy_hashembeds.training.calibration import (
    create_calibrate_ner,
    fit_calibration,
    judge_entities,
)
from spacy_hashembeds.training.scorer import ALL, match_entities

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


@pytest.fixture(scope="module")
def trained() -> bytes:
    return train(make_pipeline(listens=True), steps=20).to_bytes()


@pytest.fixture
def nlp(trained) -> Language:
    """A trained pipeline, to change."""
    return make_pipeline(listens=True, spans_key="found").from_bytes(trained)


def get_calibration(nlp: Language) -> tuple[float, ...] | None:
    found = nlp.get_pipe("token_ner").cfg["calibration"]
    return found and tuple(found)


def fit(nlp: Language, examples: list[Example]) -> tuple[float, float]:
    """Fit to all entities at once, as the evaluation judges them."""
    collector = ScoreCollector()
    docs = nlp.pipe([eg.predicted for eg in examples])
    for doc, old in zip(docs, examples, strict=True):
        found = Example(doc, old.reference)
        collector.add(found, match_entities(found, None)[ALL])
    (pairs,) = collector._scored.values()
    scores, is_right = zip(*pairs, strict=True)
    return fit_calibration(np.array(scores), np.array(is_right))


def test_the_calibration_is_that_of_the_entities(nlp):
    examples = make_examples(nlp, toy_ner.TEST)
    before = get_entities(annotate(nlp, toy_ner.TEST))
    expected = fit(nlp, make_examples(nlp, toy_ner.TEST))
    found = calibrate_ner(nlp, examples)
    assert found == {"token_ner": pytest.approx(expected, abs=1e-3)}
    assert get_calibration(nlp) == found["token_ner"]
    assert get_entities(annotate(nlp, toy_ner.TEST)) == before
    # it does not start from the one that is there
    assert calibrate_ner(nlp, examples) == found


def test_nothing_that_is_given_is_changed(nlp):
    examples = make_examples(nlp, toy_ner.TEST)
    examples[0].predicted.ents = [Span(examples[0].predicted, 0, 1, label="OLD")]
    examples[1].reference.ents = [Span(examples[1].reference, 0, 1, label="UNKNOWN")]
    before = [(eg.predicted.to_bytes(), eg.reference.to_bytes()) for eg in examples]
    calibrate_ner(nlp, examples)
    after = [(eg.predicted.to_bytes(), eg.reference.to_bytes()) for eg in examples]
    assert after == before


def test_what_says_nothing_does_not_count(nlp):
    """No tokens, tokens of which nothing is known, or types that nobody can find."""
    examples = make_examples(nlp, toy_ner.TEST)
    expected = calibrate_ner(nlp, examples)
    assert calibrate_ner(nlp, (eg.reference for eg in examples)) == expected
    empty, unknown = Doc(nlp.vocab), Doc(nlp.vocab, words=["Anna", "lives"])
    more = [empty, *examples, Example(empty, empty), unknown]
    assert calibrate_ner(nlp, more) == expected
    examples = make_examples(nlp, ["Anna|PER saw Godot|PLAY in Oslo|LOC"])
    examples += make_examples(nlp, toy_ner.TEST)
    found = calibrate_ner(nlp, examples)
    examples[0].reference.set_ents(
        [ent for ent in examples[0].reference.ents if ent.label_ != "PLAY"],
        missing=[examples[0].reference[2:3]],
        default="unmodified",
    )
    assert calibrate_ner(nlp, examples) == found


def test_each_token_ner_is_calibrated_on_what_comes_before_it(nlp):
    examples = make_examples(nlp, DATED)
    expected = calibrate_ner(nlp, examples)["token_ner"]
    other = train(make_pipeline(), ["Anna lives in Paris today|DATE", "Rome"], steps=9)
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("token_ner", name="second", source=other)
    found = calibrate_ner(nlp, examples)
    assert found["token_ner"] == expected
    assert found["second"] == calibrate_ner(other, examples)["token_ner"] != expected
    # by the callback too, which reads the corpus once
    nlp.config["corpora"] = {"dev": {"@readers": "test.golds.v1"}}
    for name in found:
        nlp.get_pipe(name).cfg["calibration"] = None
    create_calibrate_ner()(nlp)
    assert {name: nlp.get_pipe(name).cfg["calibration"] for name in found} == found


@pytest.fixture(scope="module")
def sure() -> bytes:
    """A pipeline that finds all that it was trained on."""
    return train(make_pipeline(), steps=40).to_bytes()


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        ([], (0, 0)),
        (["nobody lives there today"], (0, 0)),
        (toy_ner.TRAIN, (12, 12)),  # all right
        (["Anna lives in Paris today"], (2, 0)),  # none
    ],
)
def test_scores_stay_where_entities_are_of_one_kind(sure, texts, counts):
    nlp = make_pipeline().from_bytes(sure)
    nlp.get_pipe("token_ner").cfg["calibration"] = (1.5, 0.5)
    n, n_right = counts
    match = f"'token_ner' .* {n} .* {n_right}"
    with pytest.warns(UserWarning, match=match):
        found = calibrate_ner(nlp, make_examples(nlp, texts), balance=True)
    assert found == {"token_ner": None}
    assert get_calibration(nlp) is None
    assert nlp.get_pipe("token_ner").cfg["outside_bias"] == 0


def test_without_a_token_ner_there_is_nothing_to_calibrate():
    nlp = spacy.blank("en")
    nlp.config["corpora"] = {"dev": {"@readers": "test.nothing.v1"}}
    for call in (lambda nlp: calibrate_ner(nlp, []), create_calibrate_ner()):
        with pytest.raises(ValueError, match="'token_ner'"):
            call(nlp)


# Balance.


@pytest.fixture
def hesitant() -> tuple[Language, list[Doc]]:
    """A pipeline that finds too few entities, and Docs that say so."""
    nlp = train(make_pipeline(spans_key="found"), steps=12)
    output = nlp.get_pipe("token_ner").model.get_ref("output_layer")
    output.get_param("b")[0] += 10
    nlp.batch_size = 50
    texts = [*toy_ner.TRAIN, *toy_ner.TEST, "Anna lives"] * 9
    return nlp, [toy_ner.make_doc(text, vocab=nlp.vocab) for text in texts]


@pytest.mark.parametrize(
    "before", [["nobody here"], ["Rome", "Anna", "lives"], ["Carl Brown"]]
)
def test_the_balance_is_that_of_spacys_scores(hesitant, before):
    """With entities of a component before too, of which some are wrong, and some on
    tokens of which nothing is known, be it of one of them.
    """
    nlp, golds = hesitant
    partly = toy_ner.make_doc("Anna lives in Oslo|LOC", vocab=nlp.vocab)
    partly.set_ents([], missing=[partly[:2]], default="unmodified")
    half = toy_ner.make_doc("Carl Brown lives in Rome|LOC", vocab=nlp.vocab)
    half.set_ents([], missing=[half[1:2]], default="unmodified")
    golds += [partly, half]
    ruler = nlp.add_pipe("entity_ruler", before="token_ner")
    ruler.add_patterns([{"label": "LOC", "pattern": name} for name in before])
    pipe = nlp.get_pipe("token_ner")
    f_scores = []
    for bias in BIASES:
        pipe.cfg["outside_bias"] = bias
        f_scores.append(nlp.evaluate(make_copies(golds))["ents_f"])
    judged = judge_entities(nlp, "token_ner", golds, BIASES)
    assert [each.get_f1() for each in judged] == pytest.approx(f_scores)
    expected = choose_bias(f_scores, sum(len(gold.ents) for gold in golds))
    assert expected > 0
    found = calibrate_ner(nlp, golds, balance=True)
    assert pipe.cfg["outside_bias"] == expected
    # it does not start from the one that is there, and scores are of what it finds
    assert calibrate_ner(nlp, golds, balance=True) == found
    assert calibrate_ner(nlp, golds) == found
    assert pipe.cfg["outside_bias"] == expected


def make_copies(golds: list[Doc]) -> list[Example]:
    return [Example(copy_words(gold), gold) for gold in golds]


# In training.


@pytest.mark.slow
def test_training_with_the_callback_is_the_same_but_for_scores(tiny_corpus, tmp_path):
    """Pipelines trained with averages: calibrated, and as they are."""
    settings = {
        **SMALL,
        "training.optimizer.use_averages": True,
        "training.before_to_disk": {"@callbacks": CALLBACK, "balance": True},
    }
    train_small("token_ner", tiny_corpus, tmp_path / "yes", settings)
    settings["training.before_to_disk"] = None
    train_small("token_ner", tiny_corpus, tmp_path / "no", settings)
    yes, no = (spacy.load(tmp_path / name / "model-last") for name in ("yes", "no"))
    for name in ("tok2vec", "token_ner"):
        assert yes.get_pipe(name).model.to_bytes() == no.get_pipe(name).model.to_bytes()
    assert get_calibration(no) is None is not get_calibration(yes)
    dev = toy_ner.read(tiny_corpus / "dev.spacy")
    # the averaged weights are those that are saved
    found = calibrate_ner(no, dev, balance=True)
    assert found["token_ner"] == pytest.approx(get_calibration(yes))
    bias, expected = (x.get_pipe("token_ner").cfg["outside_bias"] for x in (yes, no))
    assert bias == expected
    # and they are chosen by scores without a bias
    assert no.meta["performance"] == yes.meta["performance"]


def test_a_corpus_is_named_by_the_callback(nlp):
    nlp.config["corpora"] = {"dev": {"@readers": "test.nothing.v1"}}
    with pytest.raises(ValueError, match=r"'corpus' should name a corpus .*are: dev"):
        create_calibrate_ner(corpus="corpora.test")(nlp)
    match = "of 0 entities that it finds in the corpus 'corpora.dev' 0 are right"
    with pytest.warns(UserWarning, match=match):
        assert create_calibrate_ner()(nlp) is nlp


def test_frozen_components_stay_as_they_are(nlp):
    nlp.config["corpora"] = {"dev": {"@readers": "test.nothing.v1"}}
    nlp.config["training"]["frozen_components"] = ["token_ner"]
    nlp.get_pipe("token_ner").cfg["calibration"] = (1.5, 0.5)
    create_calibrate_ner()(nlp)
    assert get_calibration(nlp) == (1.5, 0.5)
