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


def test_the_calibration_is_that_of_the_entities(nlp):
    examples = make_examples(nlp, toy_ner.TEST)
    before = get_entities(annotate(nlp, toy_ner.TEST))
    scores: list[float] = []
    is_right: list[bool] = []
    for doc, example in zip(annotate(nlp, toy_ner.TEST), examples, strict=True):
        gold = {(ent.start, ent.end, ent.label_) for ent in example.reference.ents}
        scores.extend(doc.spans["found"].attrs["scores"])
        is_right += [(x.start, x.end, x.label_) in gold for x in doc.spans["found"]]
    expected = fit_calibration(np.array(scores), np.array(is_right))
    found = calibrate_ner(nlp, examples)
    assert found == {"token_ner": pytest.approx(expected, abs=1e-3)}
    assert get_calibration(nlp) == found["token_ner"]
    assert get_entities(annotate(nlp, toy_ner.TEST)) == before
    # it does not start from the one that is there
    assert calibrate_ner(nlp, examples) == found


def test_what_says_nothing_does_not_count_and_nothing_is_changed(nlp):
    """No tokens, tokens of which nothing is known, or types that nobody can find."""
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
    reference.set_ents(
        [ent for ent in reference.ents if ent.label_ != "PLAY"],
        missing=[reference[2:3]],
        default="unmodified",
    )
    assert calibrate_ner(nlp, examples) == found != expected


def test_each_token_ner_is_calibrated_on_what_comes_before_it(nlp):
    examples = make_examples(nlp, DATED)
    expected = calibrate_ner(nlp, examples)["token_ner"]
    other = train(make_pipeline(), ["Anna lives in Paris today|DATE", "Rome"], steps=9)
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("token_ner", name="second", source=other)
    found = calibrate_ner(nlp, examples)
    assert found["token_ner"] == expected
    assert found["second"] == calibrate_ner(other, examples)["token_ner"] != expected
    # by the callback too, which reads the corpus once; frozen ones stay as they are
    nlp.config["corpora"] = {"dev": {"@readers": "test.golds.v1"}}
    nlp.config["training"]["frozen_components"] = ["token_ner"]
    for name in found:
        nlp.get_pipe(name).cfg["calibration"] = None
    assert create_calibrate_ner()(nlp) is nlp
    assert nlp.get_pipe("second").cfg["calibration"] == found["second"]
    assert get_calibration(nlp) is None


def test_scores_stay_where_entities_are_of_one_kind():
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
    texts = [*toy_ner.TRAIN, *toy_ner.TEST, "Anna lives"] * 4
    return nlp, [toy_ner.make_doc(text, vocab=nlp.vocab) for text in texts]


def test_the_balance_is_that_of_spacys_scores(hesitant):
    """With entities of a component before too, of which some are wrong, and some on
    tokens of which nothing is known, be it of one of them.
    """
    nlp, golds = hesitant
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
    pipe = nlp.get_pipe("token_ner")
    f_scores = []
    for bias in BIASES:
        pipe.cfg["outside_bias"] = bias
        copies = [Example(copy_words(gold), gold) for gold in golds]
        f_scores.append(nlp.evaluate(copies)["ents_f"])
    judged = judge_entities(nlp, "token_ner", golds, BIASES)
    assert [each.get_f1() for each in judged] == pytest.approx(f_scores)
    expected = choose_bias(f_scores, sum(len(gold.ents) for gold in golds))
    assert expected > 0
    found = calibrate_ner(nlp, golds, balance=True)
    assert pipe.cfg["outside_bias"] == expected
    # it does not start from the one that is there, and scores are of what it finds
    assert calibrate_ner(nlp, golds, balance=True) == found
    assert calibrate_ner(nlp, golds) == found


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
    with pytest.raises(ValueError, match="'corpus'"):
        create_calibrate_ner(corpus="corpora.test")(nlp)
    with pytest.warns(UserWarning, match=r"0 entities .* 'corpora\.dev' 0 are right"):
        create_calibrate_ner()(nlp)
