"""Whether contenders compute the same: speed of wrong numbers is worth nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, set_dropout_rate

from ._embedders import OURS, SPACY, TORCH, Embedders, make_gradients

#: How far outputs may be apart, relative to the largest of them.
TOLERANCE = 1e-5


def compare_outputs(
    embedders: Embedders, batches: Sequence[list[Doc]]
) -> dict[str, Any]:
    """Compare what contenders predict with what spaCy predicts.

    RAISES (RuntimeError): If ours with four hashes is off by more than the tolerance.
    RETURNS (dict[str, Any]): The largest absolute output, and the largest differences
        from it, also of ours from torch's with fewer hashes.
    """
    outputs = {
        name: _concatenate(model.predict(list(docs)) for docs in batches)
        for name, model in {**embedders.thinc, **embedders.torch}.items()
        if model is not None
    }
    scale = float(abs(outputs[SPACY]).max())
    pairs = [(OURS[4], SPACY), (TORCH[4], SPACY)]
    pairs += [(OURS[k], TORCH[k]) for k in OURS]
    differences = {
        f"{a} and {b}": float(abs(outputs[a] - outputs[b]).max())
        for a, b in pairs
        if a in outputs and b in outputs
    }
    difference = differences[f"{OURS[4]} and {SPACY}"]
    if not difference <= TOLERANCE * scale:
        raise RuntimeError(
            f"Ours and spaCy's outputs should be within {TOLERANCE:g} of each other, "
            f"relative to {scale:g}, but differ by {difference:g}. Times of wrong "
            "numbers mean nothing: mend the layer first."
        )
    return {"largest_output": scale, "largest_difference": differences}


def compare_gradients(
    thinc: Mapping[str, Model], batches: Sequence[list[Doc]]
) -> dict[str, dict[str, float]]:
    """Compare the gradients of our parameters with spaCy's, without dropout.

    Where two pieces of a maximum are equal but for rounding, two correct layers may
    choose differently, and a few gradients differ. So nothing is refused.

    RETURNS (dict[str, dict[str, float]]): For each parameter, by layer and name, the
        largest difference and the norm of all differences, each relative to that of
        spaCy's gradient.
    """
    ours, stock = (_get_gradients(thinc[name], batches) for name in (OURS[4], SPACY))
    return {
        name: {
            "largest": float(abs(ours[name] - expected).max() / abs(expected).max()),
            "norm": float(_norm(ours[name] - expected) / _norm(expected)),
        }
        for name, expected in stock.items()
    }


def _get_gradients(model: Model, batches: Sequence[list[Doc]]) -> dict[str, np.ndarray]:
    model = model.copy()
    set_dropout_rate(model, 0.0)
    for docs, dY in zip(batches, make_gradients(list(batches)), strict=True):
        _, backprop = model.begin_update(docs)
        backprop(dY)
    return {
        f"{number} {node.name} {param}": np.asarray(node.get_grad(param))
        for number, node in enumerate(model.walk())
        for param in node.param_names
        if node.has_grad(param)
    }


def _concatenate(outputs: Any) -> np.ndarray:
    return np.concatenate([np.asarray(Y) for batch in outputs for Y in batch])


def _norm(X: np.ndarray) -> float:
    return float(np.linalg.norm(X.ravel().astype("float64")))
