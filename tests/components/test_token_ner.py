"""`token_ner`: labels, training, prediction and serialization."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_hashembeds.components.decoding import DECODERS, find_entities
from spacy_hashembeds.components.token_ner import TokenNER

from .toy_recognizers import (
    annotate,
    copy_words,
    get_entities,
    make_examples,
    make_pipeline,
    train,
)

PIPE = "token_ner"
NEW = [
    "Zotech|ORG hired Anna|PER",
    "Ben|PER left Zotech|ORG",
    "Zotech|ORG is in Rome|LOC",
]


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline, not to be modified."""
    return train(make_pipeline(spans_key="found"))


@pytest.fixture
def pipe(nlp) -> TokenNER:
    """A trained component that tests may modify."""
    return make_pipeline(spans_key="found").from_bytes(nlp.to_bytes()).get_pipe(PIPE)


@pytest.mark.parametrize(
    "settings",
    [
        {"decoding": "greedy", "listens": True},
        {"decoding": "viterbi"},
        {"architecture": "spacy.Tagger.v2"},
    ],
    ids=str,
)
def test_training(settings):
    nlp = train(make_pipeline(**settings))
    golds = get_entities(eg.reference for eg in make_examples(nlp))
    assert get_entities(annotate(nlp)) == golds
    assert nlp.evaluate(make_examples(nlp))["ents_f"] == 1


# Labels.


@pytest.mark.parametrize(
    ("added", "labels", "expected"),
    [
        ((), None, ("LOC", "PER")),  # from the training data
        ((), ["PER", "LOC", "TOOL"], ("PER", "LOC", "TOOL")),
        (("ORG", "PER", "ORG"), None, ("ORG", "PER", "LOC")),
    ],
)
def test_labels_added_or_passed(added, labels, expected):
    nlp = make_pipeline()
    pipe = nlp.get_pipe(PIPE)
    assert sum(map(pipe.add_label, added)) == len(pipe.labels) == len({*added})
    pipe.initialize(lambda: make_examples(nlp), labels=labels)
    assert pipe.labels == pipe.label_data == expected
    assert all(label in nlp.vocab.strings for label in pipe.labels)
    assert pipe.model.get_dim("nO") == 4 * len(pipe.labels) + 1
    with pytest.raises(ValueError, match="'labels'"):
        pipe.add_label(" LOC")


def test_new_labels_barely_change_predictions_before_training(nlp):
    changed = make_pipeline().from_bytes(nlp.to_bytes())
    pipe, docs = changed.get_pipe(PIPE), [eg.predicted for eg in make_examples(changed)]
    before, found = np.vstack(pipe.model.predict(docs)), get_entities(annotate(changed))
    assert pipe.add_label("TOOL") == 1
    assert get_entities(annotate(changed)) == found
    probs = np.vstack(pipe.model.predict(docs))
    assert 0 < probs[:, 9:].max() < 0.01
    np.testing.assert_allclose(probs[:, :9], before, atol=0.01)
    examples = make_examples(changed, NEW)
    optimizer = changed.resume_training()
    optimizer.learn_rate = 0.02
    for _ in range(40):
        changed.update(examples, sgd=optimizer)
    assert pipe.labels == ("LOC", "PER", "TOOL", "ORG")
    golds = get_entities(eg.reference for eg in examples)
    assert get_entities(annotate(changed, NEW)) == golds
    again = make_pipeline().from_bytes(changed.to_bytes())
    assert get_entities(annotate(again, NEW)) == golds


def test_data_without_entities_or_with_invalid_ones_are_refused():
    nlp = make_pipeline()
    gold = Doc(nlp.vocab, words=["a", "b"], ents=["B-PER ", "O"])
    with pytest.raises(ValueError, match="'PER '"):
        nlp.initialize(lambda: [Example(copy_words(gold), gold)])
    with pytest.raises(ValueError, match="no labels"):
        nlp.initialize(lambda: make_examples(nlp, ["nobody lives there"]))
    with pytest.raises(ValueError, match="E143"):
        nlp("Anna")
    empty = Example(Doc(nlp.vocab), Doc(nlp.vocab))
    with pytest.raises(ValueError, match=r"E923.*'token_ner'"):
        nlp.get_pipe(PIPE).initialize(lambda: [empty], labels=["PER"])


@pytest.mark.parametrize(
    ("settings", "model", "match"),
    [
        ({"decoding": "beam"}, {}, "decoding"),
        ({}, {"normalize": False}, "'model'.*normalize = true"),
        ({}, {"nO": 13}, "'b' .* 9 .* 2 labels.* 13"),
        ({}, {"nO": 9}, "'ORG'"),  # a new label, but the model can't be resized
    ],
)
def test_invalid_settings_and_models_are_refused(settings, model, match):
    nlp = make_pipeline(architecture="spacy.Tagger.v2")
    model = {**nlp.config["components"][PIPE]["model"], **model}

    def add() -> None:
        pipe = nlp.add_pipe(PIPE, name="b", config={"model": model, **settings})
        pipe.initialize(lambda: make_examples(nlp))
        pipe.add_label("ORG")

    with pytest.raises(ValueError, match=match):
        add()


@pytest.mark.parametrize("labels", [["LOC"], ["LOC", "PER", "ORG"]])
def test_labels_of_another_model_are_refused(pipe, nlp, labels):
    pipe.cfg["labels"] = labels
    with pytest.raises(ValueError, match=f"{len(labels)} labels, but has 9"):
        pipe(nlp.make_doc("Anna"))


# Decoding.


@pytest.mark.parametrize("decoding", DECODERS)
@pytest.mark.parametrize("bias", [-20.0, 1.5])
def test_the_bias_is_subtracted_from_o_only(pipe, nlp, decoding, bias):
    pipe.decoding = decoding
    pipe.cfg |= {"outside_bias": bias, "calibration": (0.4, -0.5)}
    docs = [eg.predicted for eg in make_examples(nlp)]
    lengths = np.array([len(doc) for doc in docs])
    scores = pipe.predict_tags(docs)
    tags = DECODERS[decoding](scores - np.eye(1, scores.shape[1]) * bias, lengths)
    expected = find_entities(tags, scores, lengths, (0.4, -0.5))
    for doc, entities in zip(pipe.pipe(docs), expected, strict=True):
        found = [(e.start, e.end, pipe.labels.index(e.label_)) for e in doc.ents]
        assert found == [*zip(*map(list, entities[:3]), strict=True)]
        np.testing.assert_allclose(
            doc.spans["found"].attrs["scores"], entities.scores, rtol=1e-6
        )


@pytest.mark.parametrize("value", [None, np.nan, "1"])
def test_the_bias_is_validated_in_prediction(pipe, nlp, value):
    pipe.cfg["outside_bias"] = value
    with pytest.raises(ValueError, match="'outside_bias'"):
        pipe(nlp.make_doc("Anna"))


def get_scored(doc: Doc) -> list[tuple[int, int, str, float]]:
    group = doc.spans["found"]
    scored = zip(group, group.attrs["scores"].tolist(), strict=True)
    return [(span.start, span.end, span.label_, score) for span, score in scored]


def test_existing_entities_keep_their_scores(nlp):
    (doc,) = annotate(nlp, ["Anna lives in Paris today"])
    scored = get_scored(doc)
    assert [place for *place, _ in scored] == [[0, 1, "PER"], [3, 4, "LOC"]]
    (read,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab)
    before = read.to_bytes()
    assert [len(found.starts) for found in nlp.get_pipe(PIPE).predict([read])] == [0]
    assert read.to_bytes() == before
    (piped,) = nlp.pipe([read])
    assert get_scored(nlp(doc)) == get_scored(piped) == scored
    # except removed entities, or entities with another type
    doc.ents = [Span(doc, 0, 2, label="OTHER")]
    assert get_scored(nlp(doc)) == scored[1:]
    assert get_entities([doc]) == [[(0, 2, "OTHER"), (3, 4, "LOC")]]
    # except if the number of scores differs
    doc.spans["found"].append(doc[1:2])
    assert get_scored(nlp(doc)) == []


def test_a_second_token_ner_adds_its_entities_in_order(nlp):
    texts = ["Anna lives|ACT in Paris today"]
    second = train(make_pipeline(spans_key="found"), texts)
    (alone,), (other,) = (annotate(pipeline, texts) for pipeline in (nlp, second))
    both = make_pipeline(spans_key="found").from_bytes(nlp.to_bytes())
    both.add_pipe(PIPE, name="second", source=second)
    (doc,) = annotate(both, texts)
    assert get_scored(doc) == sorted(get_scored(alone) + get_scored(other))
    assert [label for _, _, label, _ in get_scored(doc)] == ["PER", "ACT", "LOC"]


def test_docs_without_tokens(nlp):
    assert [len(doc.ents) for doc in nlp.pipe(["", "Anna", ""])] == [0, 1, 0]
    assert nlp("").spans["found"].attrs["scores"].shape == (0,)
    assert nlp.get_pipe(PIPE).predict([]) == []
    fresh, empty = make_pipeline(), Example(Doc(nlp.vocab), Doc(nlp.vocab))
    examples = make_examples(nlp)
    fresh.initialize(lambda: [empty, *examples])
    assert fresh.update([empty, empty], losses={}) == {PIPE: 0.0}
    assert fresh.update([empty, examples[0], empty], losses={})[PIPE] > 0


def test_tokens_without_annotation_have_no_gradient(nlp):
    pipe = nlp.get_pipe(PIPE)
    (example,) = make_examples(nlp, ["we met Anna|PER and Ben|PER in Rome|LOC"])
    gold = example.reference.copy()
    gold.set_ents([], missing=[gold[1:4]], default="unmodified")
    partly = Example(copy_words(gold), gold)
    scores = pipe.model.predict([partly.predicted])
    _, (whole,) = pipe.get_loss([example], scores)
    _, (gradient,) = pipe.get_loss([partly], scores)
    assert not gradient[1:4].any()
    np.testing.assert_array_equal(gradient[[0, 4, 5, 6]], whole[[0, 4, 5, 6]])


def test_replaced_listeners():
    nlp = train(make_pipeline(listens=True))
    assert nlp.get_pipe("tok2vec").listening_components == [PIPE]
    expected = get_entities(annotate(nlp))
    nlp.replace_listeners("tok2vec", PIPE, ["model.tok2vec"])
    loaded = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    for replaced in (nlp, loaded):
        replaced.remove_pipe("tok2vec")
        assert get_entities(annotate(replaced)) == expected


def test_rehearse_is_a_no_op(nlp):
    before = nlp.get_pipe(PIPE).to_bytes()
    nlp.rehearse(make_examples(nlp))
    assert nlp.get_pipe(PIPE).to_bytes() == before


def test_nan_loss_is_refused():
    nlp = train(make_pipeline(architecture="spacy.Tagger.v2"), steps=0)
    softmax = nlp.get_pipe(PIPE).model.get_ref("output_layer")
    softmax.set_param("b", softmax.get_param("b") * np.nan)
    with pytest.raises(ValueError, match=r"E910.*'token_ner'"):
        nlp.update(make_examples(nlp))


# Serialization.


@pytest.mark.parametrize("method", ["update", "initialize"])
def test_training_resets_bias_and_calibration(pipe, nlp, method):
    pipe.cfg |= {"calibration": [2.0, 1.0], "outside_bias": 1.5}
    examples = make_examples(nlp)
    if method == "update":
        pipe.update(examples)
    else:
        pipe.initialize(lambda: examples)
    unfitted = {"calibration": None, "outside_bias": 0.0}
    assert pipe.cfg == {"labels": list(pipe.labels), **unfitted}


def test_exclude(nlp, tmp_path):
    pipe = nlp.get_pipe(PIPE)
    pipe.to_disk(tmp_path, exclude=["model", "vocab"])
    other, another = (make_pipeline().get_pipe(PIPE) for _ in range(2))
    assert other.from_disk(tmp_path, exclude=["model", "vocab"]).labels == pipe.labels
    assert another.from_bytes(pipe.to_bytes(), exclude=["cfg"]).labels == ()
