"""`python -m lab ablation`: parts of an encoder's output, alone."""

import json
from functools import partial

import numpy as np
import pytest
import spacy
from spacy.language import Language
from thinc.api import Model

from lab.attention.ablation import find_layer, find_parts, leave_alone
from lab.papers.listings import Ablation, read_listing
from spacy_hashembeds import evaluate
from tests import toy_ner
from tests.components.toy_recognizers import train
from tests.toy_encoders import make_tok2vec

from ..calling import succeed

pytestmark = pytest.mark.torch

TWICE = ["BiLSTMEncoder", "AttBiLSTMEncoder"]


def make_pipeline(*encoders: str, is_shared: bool = False) -> Language:
    """Taggers over encoders, which may be those of tok2vecs before them."""
    nlp = spacy.blank("en")
    for i, name in enumerate(encoders):
        tok2vec = make_tok2vec(name, 20)
        if is_shared:
            nlp.add_pipe("tok2vec", f"tok2vec{i}", config={"model": tok2vec})
            listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 20}
            tok2vec = {**listener, "upstream": f"tok2vec{i}"}
        model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
        nlp.add_pipe("tagger", f"tagger{i}", config={"model": model}).add_label("A")
    nlp.initialize()
    return nlp


def encode(nlp: Language) -> np.ndarray:
    model = nlp.get_pipe("tagger0").model.get_ref("tok2vec")
    return np.concatenate(model.predict([nlp.make_doc("a b c"), nlp.make_doc("d")]))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("BiLSTMEncoder", {"forward": (0, 10), "backward": (10, 20)}),
        ("CrossBiLSTMEncoder", {"forward": (0, 10), "backward": (10, 20)}),
        (
            "AttBiLSTMEncoder",
            {
                "H": (0, 10),
                "C": (10, 20),
                **{f"C{i}": (8 + 2 * i, 10 + 2 * i) for i in range(1, 6)},
            },
        ),
    ],
)
def test_all_but_one_part_is_zero(name, parts):
    nlp = make_pipeline(name)
    layer = find_layer(nlp)
    whole = encode(nlp)
    wrapper = Model("alone", leave_alone, layers=[layer])
    assert whole.shape == (4, 20)
    assert np.all(whole != 0)
    found = find_parts(layer)
    assert {n: (part.start, part.stop) for n, part in found.items()} == parts
    nlp.get_pipe("tagger0").model.replace_node(layer, wrapper)
    for columns in found.values():
        wrapper.attrs["columns"] = columns
        part = encode(nlp)
        assert np.array_equal(part[:, columns], whole[:, columns])
        assert np.count_nonzero(part) == part[:, columns].size


@pytest.mark.parametrize("name", TWICE)
def test_a_shared_encoder_is_found_and_its_copy_in_its_place(name):
    nlp = make_pipeline(name, is_shared=True)
    layer = find_layer(nlp)
    assert any(node is layer for node in nlp.get_pipe("tok2vec0").model.walk())
    nlp.replace_listeners("tok2vec0", "tagger0", ["model.tok2vec"])
    copied = find_layer(nlp)  # nobody listens to the other one any more
    assert any(node is copied for node in nlp.get_pipe("tagger0").model.walk())
    assert find_parts(copied) == find_parts(layer)


@pytest.mark.parametrize("encoders", [[], TWICE])
def test_a_pipeline_without_one_encoder_is_refused(encoders):
    nlp = make_pipeline(*encoders)
    message = f"one BiLSTM encoder of ours, .* but has {len(encoders)} in its"
    with pytest.raises(ValueError, match=message):
        find_layer(nlp)


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
    found = read_listing(Ablation, output)
    nlp = spacy.load(folder / "model")

    def score(nlp: Language) -> dict:
        return evaluate(nlp, options[0], samples=1, show_progress=False)["chunks"]

    whole, other = score(nlp), score(spacy.load(folder / "ruler"))
    assert list(found.chunks["O"].parts) == list(find_parts(find_layer(nlp)))
    for tag, chunk in found.chunks.items():
        assert chunk.recall == whole[tag]["recall"]
        assert chunk.other == other[tag]["recall"]
    chunks = found.chunks.values()
    assert len({json.dumps(chunk.parts) for chunk in chunks}) > 1
    assert any({*chunk.parts.values()} - {chunk.recall} for chunk in chunks)
    again = tmp_path / "again.json"
    run(folder / "attending", *options, "-o", again)
    assert again.read_text() == output.read_text()
