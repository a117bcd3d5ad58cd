"""Attention weights of encoders, and ablations."""

import json

import numpy as np
import pytest
import spacy
from spacy.language import Language

from lab.attention.weights import find_attending, list_attention
from lab.tests.calling import call, check_failure, succeed
from spacy_hashembeds import evaluate
from tests import toy_ner
from tests.components.toy_recognizers import train

pytestmark = pytest.mark.torch

TEXTS = ["Anna met Carl in Rome", "", "Rome"]
TEST = ["Anna|PER met Carl+Brown|PER in New+York+City|LOC", "Rome|LOC", "Oslo sleeps"]


EMBED = {"width": 12, "attrs": ["NORM", "SHAPE"], "rows": [50, 20]}
EMBED |= {"@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1"}
EMBED["include_static_vectors"] = False
ENCODE = {"@architectures": "spacy-hashembeds.AttBiLSTMEncoder.v1"}
ENCODE |= {"width": 40, "dropout": 0.0}
TOK2VEC = {"@architectures": "spacy.Tok2Vec.v2", "embed": EMBED, "encode": ENCODE}


def make_pipeline(*, is_shared: bool = True) -> Language:
    """Make a pipeline with a shared tok2vec, or with that of a tagger."""
    nlp, tok2vec = spacy.blank("en"), TOK2VEC
    if is_shared:
        nlp.add_pipe("tok2vec", config={"model": tok2vec})
        listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 40}
        tok2vec = {**listener, "upstream": "tok2vec"}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
    tagger = nlp.add_pipe("tagger", config={"model": model})
    for label in "AB":
        tagger.add_label(label)
    nlp.initialize()
    return nlp


@pytest.mark.parametrize(("is_shared", "name"), [(True, "tok2vec"), (False, "tagger")])
def test_vectors_follow_from_the_stored_weights(is_shared, name):
    nlp = make_pipeline(is_shared=is_shared)
    nlp.add_pipe("attention_weights")
    for doc in nlp.pipe(TEXTS):
        weights = doc._.attention_weights[name]
        assert list(doc._.attention_weights) == [name]
        assert weights.shape == (5, len(doc), len(doc))
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        # vectors end with the weighted sums of the output of the LSTMs
        tok2vec = find_attending(nlp)[name]
        (vectors,) = tok2vec.predict([doc])
        (node,) = (node for node in tok2vec.walk() if node.has_param("value"))
        values = (vectors[:, :20] @ node.get_param("value")).reshape(len(doc), 5, 4)
        found = np.einsum("hij,jhd->ihd", weights, values).reshape(len(doc), 20)
        np.testing.assert_allclose(found, vectors[:, 20:], atol=1e-5)


def test_the_token_with_the_largest_weight_is_printed(tmp_path):
    make_pipeline().to_disk(tmp_path / "att")
    result = succeed("attention", tmp_path / "att", TEXTS[0], "-o", tmp_path / "x.json")
    data = list_attention(spacy.load(tmp_path / "att"), TEXTS[0])
    assert json.loads((tmp_path / "x.json").read_text()) == data
    rows = [line.split() for line in result.stdout.splitlines()]
    head = np.array(data["components"][0]["heads"][0])
    for i, token in enumerate(data["tokens"]):
        (row,) = [row for row in rows if row[:1] == [token]]
        favourite = data["tokens"][head[i].argmax()]
        assert row[1:3] == [favourite, f"{100 * head[i].max():.0f}"]


def test_parts_and_another_pipeline_are_compared(tmp_path):
    nlp = spacy.blank("en")
    classifier = "spacy-hashembeds.TokenClassifier.v1"
    model = {"@architectures": classifier, "tok2vec": TOK2VEC}
    nlp.add_pipe("token_ner", config={"model": model})
    train(nlp, [*toy_ner.TRAIN, *TEST]).to_disk(tmp_path / "model")
    nlp.add_pipe("attention_weights")
    nlp.to_disk(tmp_path / "attending")
    ruler = toy_ner.make_ruler({"Anna": "PER"}, None)
    ruler.to_disk(tmp_path / "ruler")
    docs = [toy_ner.make_doc(text) for text in TEST]
    test = toy_ner.write(tmp_path / "test.spacy", docs)
    options = [test, "--against", tmp_path / "ruler", "-o"]
    for name in ("model", "attending"):
        output = tmp_path / f"{name}.json"
        shown = succeed("ablation", tmp_path / name, *options, output)
        assert "Parts of the encoder alone" in shown.stdout
    text = (tmp_path / "model.json").read_text()
    assert text == (tmp_path / "attending.json").read_text()
    chunks = json.loads(text)["chunks"]
    whole, other = (
        evaluate(each, test, samples=1, show_progress=False)["chunks"]
        for each in (spacy.load(tmp_path / "model"), ruler)
    )
    names = ["H", "C", "C1", "C2", "C3", "C4", "C5"]
    for tag, chunk in chunks.items():
        assert chunk["recall"] == whole[tag]["recall"]
        assert chunk["other"] == other[tag]["recall"]
        assert list(chunk["parts"]) == names
    assert len({json.dumps(chunk["parts"]) for chunk in chunks.values()}) > 1
    check_failure(call("ablation", tmp_path / "ruler", test), "AttBiLSTMEncoder")
