import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_hashembeds.architectures.encoders.parts import (
    find_layer,
    find_parts,
    leaving_alone,
)

from ...toy_encoders import make_tok2vec

pytest.importorskip("torch")


def make_pipeline(*encoders: str) -> Language:
    nlp = spacy.blank("en")
    for i, name in enumerate(encoders):
        nlp.add_pipe("tok2vec", f"tok2vec{i}", config={"model": make_tok2vec(name, 20)})
    nlp.initialize()
    return nlp


def encode(nlp: Language) -> np.ndarray:
    model = nlp.get_pipe("tok2vec0").model
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


def test_a_layer_is_whole_again_after_an_error():
    nlp = make_pipeline("BiLSTMEncoder")
    layer, whole = find_layer(nlp), encode(nlp)
    with pytest.raises(KeyError), leaving_alone(layer, slice(0, 1)):
        raise KeyError
    assert np.array_equal(encode(nlp), whole)


@pytest.mark.parametrize("encoders", [(), ("BiLSTMEncoder", "AttBiLSTMEncoder")])
def test_a_pipeline_without_one_encoder_is_refused(encoders):
    nlp = make_pipeline(*encoders)
    message = f"one BiLSTM encoder of ours, .* but has {len(encoders)} in its"
    with pytest.raises(ValueError, match=message):
        find_layer(nlp)
