import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_hashembeds.architectures.encoders.parts import find_layer, find_parts
from spacy_hashembeds.layers.columns import leaving_alone

from ...toy_encoders import make_tok2vec

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
    assert whole.shape == (4, 20)
    assert np.all(whole != 0)
    found = find_parts(layer)
    assert {n: (part.start, part.stop) for n, part in found.items()} == parts
    for columns in found.values():
        with leaving_alone(layer, columns):
            part = encode(nlp)
        assert np.array_equal(part[:, columns], whole[:, columns])
        assert np.count_nonzero(part) == part[:, columns].size
    assert np.array_equal(encode(nlp), whole)


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
