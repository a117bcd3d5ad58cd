"""Whole pipelines predict with what is computed from weights once, however trained."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import Adam, Model

from spacy_hashembeds.layers import mixedembed

from .layers.plans import get_kept

TEXT = "Anna of Zotech said so ."

CONFIG = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "tagger"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"

[components.tok2vec.model.embed]
@architectures = "spacy-hashembeds.MultiFewerHashEmbed.v1"
width = 16
attrs = ["NORM", "SHAPE"]
rows = [50, 20]
num_hashes = 2
include_static_vectors = false

[components.tok2vec.model.encode]
@architectures = "spacy-hashembeds.MaxoutWindowEncoder.v1"
width = 16
window_size = 1
maxout_pieces = 3
depth = 2

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"

[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 16
"""


def make_examples(nlp) -> list[Example]:
    doc = nlp.make_doc(TEXT)
    return [Example.from_dict(doc, {"tags": list("ABCABC"[: len(doc)])})]


@pytest.fixture
def nlp() -> Language:
    nlp = spacy.util.load_model_from_config(
        spacy.util.Config().from_str(CONFIG), auto_fill=True
    )
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


def find_caches(nlp) -> list[object]:
    nodes: list[Model] = list(nlp.get_pipe("tok2vec").model.walk())
    caches = [node.attrs.get(name) for node in nodes for name in ("plan", "weights")]
    found = [cache for cache in caches if cache is not None]
    assert len(found) == 2
    return [get_kept(cache) for cache in found]


def predict(nlp) -> np.ndarray:
    tensor = nlp(TEXT).tensor
    assert None not in find_caches(nlp)
    return tensor


def predict_saved(nlp) -> np.ndarray:
    saved = type(nlp).from_config(nlp.config)
    saved.initialize(lambda: make_examples(saved))
    return saved.from_bytes(nlp.to_bytes())(TEXT).tensor


def test_after_updates_by_the_pipeline(nlp):
    """Whose optimizer is called before the listeners have given their gradient."""
    optimizer, before = Adam(0.1), predict(nlp)
    nlp.update(make_examples(nlp), sgd=optimizer)
    for _ in range(3):
        nlp.update(make_examples(nlp), sgd=optimizer)
        after = predict(nlp)
        np.testing.assert_array_equal(after, predict_saved(nlp))
    assert not np.allclose(before, after, atol=1e-3)
    nlp.get_pipe("tok2vec").finish_update(optimizer)  # of the gradient that waits
    assert not np.array_equal(predict(nlp), after)


@pytest.mark.parametrize("L2", [0.0, 0.01])
def test_annotating_components(nlp, L2, monkeypatch):
    """They predict with weights that are about to be changed."""
    optimizer, tensors = Adam(0.1, L2=L2), [predict(nlp)]
    made, fold = [], mixedembed.fold
    monkeypatch.setattr(mixedembed, "fold", lambda *a: made.append(1) or fold(*a))
    for _ in range(3):
        made.clear()
        nlp.update(make_examples(nlp), sgd=False, annotates=["tok2vec", "tagger"])
        assert made == [], "it takes longer than to embed one batch"
        for _, component in nlp.pipeline:
            component.finish_update(optimizer)
        tensors.append(predict(nlp))
        np.testing.assert_array_equal(tensors[-1], predict_saved(nlp))
    assert not np.allclose(tensors[-1], tensors[0], atol=1e-3)
