"""Entity recognizers on a GPU, beside the CPU."""

import numpy

from ..components.toy_recognizers import make_examples, make_pipeline, train


def test_entities_and_gradients_are_those_of_the_cpu(gpu):
    nlp = train(make_pipeline())
    pipe = nlp.get_pipe("token_ner")
    examples = make_examples(nlp)
    docs = [example.predicted for example in examples]
    found, losses, gradients = [], [], []
    for model in (pipe.model, gpu.copy(pipe.model)):
        pipe.model = model
        found.append(pipe.predict(docs))
        loss, d_scores = pipe.get_loss(examples, model.predict(docs))
        losses.append(loss)
        gradients.append(numpy.concatenate([gpu.get(d) for d in d_scores]))
    for entities, others in zip(*found, strict=True):
        for array, other in zip(entities, others, strict=True):
            numpy.testing.assert_allclose(other, array, rtol=1e-3)
    assert any(len(entities.starts) for entities in found[0])
    numpy.testing.assert_allclose(losses[1], losses[0], rtol=1e-3)
    numpy.testing.assert_allclose(gradients[1], gradients[0], atol=1e-4)
