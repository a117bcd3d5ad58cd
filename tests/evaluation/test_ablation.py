import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_hashembeds import evaluate
from spacy_hashembeds.architectures.encoders.parts import find_layer, find_parts
from spacy_hashembeds.evaluation.chunks import score_chunks

from .. import toy_ner
from ..components.toy_recognizers import make_examples, train
from ..toy_encoders import make_tok2vec

TEST = ["Anna|PER met Carl+Brown|PER in New+York+City|LOC", "Rome|LOC", "Oslo sleeps"]


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("en")
    classifier = "spacy-hashembeds.TokenClassifier.v1"
    tok2vec = make_tok2vec("AttBiLSTMEncoder", 40)
    model = {"@architectures": classifier, "tok2vec": tok2vec}
    nlp.add_pipe("token_ner", config={"model": model})
    return train(nlp, [*toy_ner.TRAIN, *TEST])


def classify_by_a_part(nlp: Language, columns: slice) -> list[Example]:
    """Predict with zeros in the classifier's weights of all other columns."""
    copy = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    classifier = copy.get_pipe("token_ner").model.layers[-1]
    while classifier.layers:
        classifier = classifier.layers[0]
    W = classifier.get_param("W").copy()
    kept = W[:, columns].copy()
    W[:] = 0
    W[:, columns] = kept
    classifier.set_param("W", W)
    examples = make_examples(copy, TEST)
    for example in examples:
        example.predicted = copy(example.predicted)
    return examples


@pytest.mark.torch
def test_a_part_alone_scores_as_with_weights_for_it_alone(nlp):
    golds = [example.reference for example in make_examples(nlp, TEST)]
    options = {"train": golds, "samples": 10, "show_progress": False}
    evaluation = evaluate(nlp, golds, ablation=True, **options)
    whole = evaluate(nlp, golds, **options)
    parts = find_parts(find_layer(nlp))
    assert evaluation["setting"]["parts"] == list(parts)
    assert whole["setting"]["parts"] == []
    differs = set()
    for name, columns in parts.items():
        expected = score_chunks(classify_by_a_part(nlp, columns))
        for tag, chunk in evaluation["chunks"].items():
            assert chunk["parts"][name] == expected[tag]["recall"]
            assert chunk["recall"] == whole["chunks"][tag]["recall"]
            if chunk["recall"] != chunk["parts"][name]:
                differs.add(name)
    assert differs  # else nothing was shown
    assert "Parts of the encoder alone" in str(evaluation)
    assert "C5 alone" in evaluation.to_html()
    assert "Parts of the encoder alone" not in str(whole)
    assert " alone<" not in whole.to_html()


@pytest.mark.torch
def test_a_pipeline_may_keep_its_attention(nlp):
    copy = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    copy.add_pipe("attention_weights")
    golds = [example.reference for example in make_examples(copy, TEST)]
    options = {"train": golds, "ablation": True, "samples": 10, "show_progress": False}
    found = evaluate(copy, golds, **options)
    assert found["chunks"] == evaluate(nlp, golds, **options)["chunks"]


def test_predictions_have_no_encoder():
    golds = [toy_ner.make_doc(text) for text in TEST]
    message = r"'ablation' \(--ablation\) runs a pipeline .* 'predictions' are predict"
    with pytest.raises(ValueError, match=message):
        evaluate(golds, golds, train=golds, ablation=True)


def test_a_pipeline_of_another_encoder_is_refused_before_the_work():
    pipeline = toy_ner.make_ruler({"Anna": "PER"}, None)
    golds = [toy_ner.make_doc(text) for text in TEST]
    with pytest.raises(ValueError, match="one BiLSTM encoder of ours"):
        evaluate(pipeline, golds, train=golds, ablation=True)


def test_categories_have_no_chunks():
    nlp = spacy.blank("en")
    nlp.add_pipe("textcat")
    docs = [nlp.make_doc("a")]
    docs[0].cats = {"A": 1.0, "B": 0.0}
    with pytest.raises(ValueError, match=r"'ablation' .* is of entities"):
        evaluate(nlp, docs, ablation=True)
