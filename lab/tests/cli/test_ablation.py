"""`python -m lab ablation`: parts of an encoder's output, alone."""

import json
from functools import partial

import pytest
import spacy
from spacy.language import Language

from lab.attention.ablation import find_layer, find_parts
from spacy_hashembeds import evaluate
from tests import toy_ner
from tests.components.toy_recognizers import train
from tests.toy_encoders import make_tok2vec

from ..calling import succeed

pytestmark = pytest.mark.torch


# The command

TEST = ["Anna|PER met Carl+Brown|PER in New+York+City|LOC", "Rome|LOC", "Oslo sleeps"]


run = partial(succeed, "ablation")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ablation")
    nlp = spacy.blank("en")
    tok2vec = make_tok2vec("AttBiLSTMEncoder", 40)
    classifier = "spacy-hashembeds.TokenClassifier.v1"
    model = {"@architectures": classifier, "tok2vec": tok2vec}
    nlp.add_pipe("token_ner", config={"model": model})
    train(nlp, [*toy_ner.TRAIN, *TEST]).to_disk(folder / "model")
    nlp.add_pipe("attention_weights")
    nlp.to_disk(folder / "attending")
    toy_ner.make_ruler({"Anna": "PER"}, None).to_disk(folder / "ruler")
    toy_ner.write(folder / "test.spacy", [toy_ner.make_doc(text) for text in TEST])
    return folder


def test_parts_are_compared_with_the_whole_and_with_another_pipeline(folder, tmp_path):
    options = folder / "test.spacy", "--against", folder / "ruler"
    output = tmp_path / "ablation.json"
    result = run(folder / "model", *options, "-o", output)
    assert "Parts of the encoder alone" in result.stdout
    found = json.loads(output.read_text())
    nlp = spacy.load(folder / "model")

    def score(nlp: Language) -> dict:
        return evaluate(nlp, options[0], samples=1, show_progress=False)["chunks"]

    whole, other = score(nlp), score(spacy.load(folder / "ruler"))
    assert list(found["chunks"]["O"]["parts"]) == list(find_parts(find_layer(nlp)))
    for tag, chunk in found["chunks"].items():
        assert chunk["recall"] == whole[tag]["recall"]
        assert chunk["other"] == other[tag]["recall"]
    chunks = found["chunks"].values()
    assert len({json.dumps(chunk["parts"]) for chunk in chunks}) > 1
    assert any({*chunk["parts"].values()} - {chunk["recall"]} for chunk in chunks)
    again = tmp_path / "again.json"
    run(folder / "attending", *options, "-o", again)
    assert again.read_text() == output.read_text()
