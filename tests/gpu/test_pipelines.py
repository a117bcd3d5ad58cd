"""Whole pipelines, trained on a GPU."""

from itertools import islice

import numpy
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from thinc.api import NumpyOps, require_cpu

from ..training_runs import SMALL, train_small

pytestmark = pytest.mark.gpu


def predict(nlp, docs):
    for name in nlp.pipe_names:
        docs = list(nlp.get_pipe(name).pipe(docs, batch_size=32))
    return docs


@pytest.mark.parametrize("embedder", ["multi_fewer_hash_embed", "multi_embed"])
def test_a_pipeline_trained_on_a_gpu_predicts_on_the_cpu(
    tiny_corpus, tmp_path, embedder
):
    rows = "components.tok2vec.model.embed.rows"  # no argument of MultiEmbed
    settings = {name: value for name, value in SMALL.items() if name != rows}
    model = train_small(embedder, tiny_corpus, tmp_path, settings, use_gpu=0)
    test = tiny_corpus / "test.spacy"
    vectors, entities = [], []
    for require in (spacy.require_gpu, require_cpu):
        require()
        nlp = spacy.load(model)
        is_gpu = not isinstance(nlp.get_pipe("tok2vec").model.ops, NumpyOps)
        assert is_gpu == (require is spacy.require_gpu)
        docs = list(islice(DocBin().from_disk(test).get_docs(nlp.vocab), 40))
        docs = predict(nlp, [Doc(d.vocab, [token.text for token in d]) for d in docs])
        ops = nlp.get_pipe("tok2vec").model.ops
        vectors.append(numpy.concatenate([ops.to_numpy(doc.tensor) for doc in docs]))
        entities.append([[str(ent) for ent in doc.ents] for doc in docs])
    numpy.testing.assert_allclose(vectors[0], vectors[1], atol=1e-4)
    assert entities[0] == entities[1]
    assert any(entities[0])
