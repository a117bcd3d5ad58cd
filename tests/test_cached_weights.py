"""Values cached from weights are valid after all kinds of training."""

import numpy as np
import pytest
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import Adam, Config

from spacy_hashembeds.layers import folding

from .layers.plans import get_cached

TEXT = "Anna of Zotech said so ."
TOK2VEC = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {
        "@architectures": "spacy-hashembeds.MultiFewerHashEmbed.v1",
        **{"width": 16, "attrs": ["NORM", "SHAPE"], "rows": [50, 20]},
        **{"num_hashes": 2, "include_static_vectors": False},
    },
    "encode": {
        "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
        **{"width": 16, "window_size": 1, "maxout_pieces": 3, "depth": 2},
    },
}
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16}
TAGGER = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
CONFIG = {
    "nlp": {"lang": "en", "pipeline": ["tok2vec", "tagger"]},
    "components": {
        "tok2vec": {"factory": "tok2vec", "model": TOK2VEC},
        "tagger": {"factory": "tagger", "model": TAGGER},
    },
}


def make_examples(nlp) -> list[Example]:
    doc = nlp.make_doc(TEXT)
    return [Example.from_dict(doc, {"tags": list("ABCABC"[: len(doc)])})]


@pytest.fixture
def nlp() -> Language:
    nlp = load_model_from_config(Config(CONFIG), auto_fill=True)
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


def predict(nlp) -> np.ndarray:
    """Predict with cached values, and compare with a saved and loaded copy."""
    tensor = nlp(TEXT).tensor
    nodes = list(nlp.get_pipe("tok2vec").model.walk())
    caches = [
        node.attrs[n] for node in nodes for n in ("plan", "weights") if n in node.attrs
    ]
    assert len(caches) == 2
    assert None not in map(get_cached, caches)
    saved = type(nlp).from_config(nlp.config)
    saved.initialize(lambda: make_examples(saved))
    np.testing.assert_array_equal(saved.from_bytes(nlp.to_bytes())(TEXT).tensor, tensor)
    return tensor


def test_updates_of_a_pipeline(nlp):
    """The optimizer is called before listeners backpropagate."""
    optimizer, before = Adam(0.1), predict(nlp)
    nlp.update(make_examples(nlp), sgd=optimizer)
    for _ in range(3):
        nlp.update(make_examples(nlp), sgd=optimizer)
        after = predict(nlp)
    assert not np.allclose(before, after, atol=1e-3)
    nlp.get_pipe("tok2vec").finish_update(optimizer)  # with the pending gradient
    assert not np.array_equal(predict(nlp), after)


@pytest.mark.parametrize("L2", [0.0, 0.01])
def test_annotating_components(nlp, L2, monkeypatch):
    """Annotating components predict before each step, and must not fold tables."""
    optimizer, before = Adam(0.1, L2=L2), predict(nlp)
    made, fold = [], folding.fold
    monkeypatch.setattr(folding, "fold", lambda *a: made.append(1) or fold(*a))
    for _ in range(3):
        made.clear()
        nlp.update(make_examples(nlp), sgd=False, annotates=["tok2vec", "tagger"])
        assert made == []
        for _, component in nlp.pipeline:
            component.finish_update(optimizer)
        after = predict(nlp)
    assert not np.allclose(after, before, atol=1e-3)
