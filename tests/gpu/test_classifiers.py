"""Text classifiers on a GPU, beside the CPU."""

import numpy
import pytest
from thinc.api import Model

from ..toy_classifiers import make_config, make_examples, make_pipeline

DEEP = {"hidden_layers": 1, "hidden_width": 12, "max_snippet": None}


def get_gradients(gpu, model: Model) -> list[numpy.ndarray]:
    nodes = model.walk()
    return [
        gpu.get(node.get_grad(name))
        for node in nodes
        for name in node.param_names
        if node.has_grad(name)
    ]


@pytest.mark.parametrize(
    "config",
    [
        make_config(**DEEP),
        make_config(**DEEP, importance_rows=0),
        make_config(2, **DEEP),
    ],
    ids=["weighted", "hashed", "ensemble"],
)
def test_scores_and_gradients_are_those_of_the_cpu(gpu, config):
    nlp = make_pipeline(config)
    examples = make_examples(nlp, 20)
    nlp.initialize(lambda: examples)
    on_cpu = nlp.get_pipe("textcat").model
    on_gpu = gpu.copy(on_cpu)
    docs = [example.predicted for example in examples] + [nlp.make_doc(", .")]
    numpy.testing.assert_allclose(
        gpu.get(on_gpu.predict(docs)), on_cpu.predict(docs), atol=1e-5
    )
    gradients = []
    for model in (on_cpu, on_gpu):
        scores, backprop = model.begin_update(docs)
        backprop(scores - model.ops.xp.float32(0.25))
        gradients.append(get_gradients(gpu, model))
    assert len(gradients[0]) == len(gradients[1]) > 0
    for expected, actual in zip(*gradients, strict=True):
        scale = max(1e-3, abs(expected).max())
        numpy.testing.assert_allclose(actual / scale, expected / scale, atol=1e-3)
