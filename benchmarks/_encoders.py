"""The contenders of the benchmark of LSTM encoders, each with vectors for its input."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from spacy.util import registry
from thinc.api import Model, fix_random_seed

from ._embedders import Sample
from ._timing import Contender, Maker

SPACY = "TorchBiLSTMEncoder"
SEPARATE = "BiLSTMEncoder"
CROSSED = "CrossBiLSTMEncoder"
ATTENDING = "AttBiLSTMEncoder"
NAMES = (SPACY, SEPARATE, CROSSED, ATTENDING)

#: That of the output, and of the input too, since spaCy's has no other.
WIDTH = 200
DEPTH = 2
DROPOUT = 0.35

#: Half of the output is of the heads: the LSTMs are as wide as those of the others.
_WIDTHS = {ATTENDING: 2 * WIDTH}

#: How far outputs may be apart, relative to the largest of them.
_TOLERANCE = 1e-5

#: For each batch an array of each Doc, shape `(tokens, width)`.
Vectors = list[list[np.ndarray]]


def make_encoders() -> dict[str, Model]:
    """Make the contenders, the crossed one with the weights of spaCy's.

    RAISES (ImportError): If there is no PyTorch.
    """
    fix_random_seed(0)
    encoders = {name: _build(name) for name in reversed(NAMES)}  # ours say what lacks
    _copy_weights(encoders[SPACY], encoders[CROSSED])
    return {name: encoders[name] for name in NAMES}


def count_parameters(model: Model) -> int:
    """Count the parameters, those within PyTorch's modules too."""
    shims = [shim for node in model.walk() for shim in node.shims]
    theirs = [param for shim in shims for param in shim._model.parameters()]
    sizes = [node.get_param(n).size for node in model.walk() for n in node.param_names]
    return sum(sizes) + sum(param.numel() for param in theirs)


def compare_outputs(encoders: Mapping[str, Model], sample: Sample) -> dict[str, float]:
    """Compare what the crossed encoder predicts with what spaCy's predicts.

    Doc by Doc: what spaCy's finds depends on how long the others of a batch are.

    RAISES (RuntimeError): If it is off by more than the tolerance.
    RETURNS (dict[str, float]): The largest absolute output, and the largest difference.
    """
    stock, ours = (
        np.concatenate(
            [
                encoders[name].predict([X])[0]
                for batch in make_vectors(sample, WIDTH)
                for X in batch
            ]
        )
        for name in (SPACY, CROSSED)
    )
    scale, difference = float(abs(stock).max()), float(abs(stock - ours).max())
    if not difference <= _TOLERANCE * scale:
        raise RuntimeError(
            f"Ours and spaCy's outputs should be within {_TOLERANCE:g} of each other, "
            f"relative to {scale:g}, but differ by {difference:g}. Times of wrong "
            "numbers mean nothing: mend the layer first."
        )
    return {"largest_output": scale, "largest_difference": difference}


def make_vectors(sample: Sample, width: int, seed: int = 0) -> Vectors:
    """Make vectors for the tokens of Docs, of equal values for equal samples."""
    rng = np.random.default_rng(seed)
    return [
        [rng.standard_normal((len(doc), width), dtype="float32") for doc in batch]
        for batch in sample
    ]


def make_encoder_maker(
    model: Model, prepare: Callable[[Model, Sample], Callable[[], None]]
) -> Maker[Sample]:
    """Make what makes a contender: a copy of an encoder.

    prepare (Callable): Given the encoder and a sample, gets ready what is timed.
    """

    def make() -> Contender[Sample]:
        copied = model.copy()
        return lambda sample: prepare(copied, sample)

    return make


def prepare_predict(model: Model, sample: Sample) -> Callable[[], None]:
    """Get ready to encode batches."""
    batches = make_vectors(sample, WIDTH)

    def run() -> None:
        for Xs in batches:
            model.predict(Xs)

    return run


def prepare_train(model: Model, sample: Sample) -> Callable[[], None]:
    """Get ready to encode batches and to take gradients back, without optimizer."""
    gradients = make_vectors(sample, model.get_dim("nO"), seed=1)
    steps = list(zip(make_vectors(sample, WIDTH), gradients, strict=True))

    def run() -> None:
        for Xs, dYs in steps:
            _, backprop = model.begin_update(Xs)
            backprop(dYs)

    return run


def _build(name: str) -> Model:
    """Build an encoder as a config would, and initialise it."""
    package = "spacy" if name == SPACY else "spacy-hashembeds"
    build: Any = registry.get("architectures", f"{package}.{name}.v1")
    model = build(width=_WIDTHS.get(name, WIDTH), depth=DEPTH, dropout=DROPOUT)
    X = np.zeros((1, WIDTH), dtype="float32")
    model.initialize(X=[X])
    return model


def _copy_weights(stock: Model, crossed: Model) -> None:
    """Give a crossed encoder the weights of spaCy's, which has each bias in two."""
    (lstm,) = (shim._model for node in stock.walk() for shim in node.shims)
    weights = {name: W.numpy() for name, W in lstm.state_dict().items()}
    for layer in range(DEPTH):
        for direction, suffix in (("forward", ""), ("backward", "_reverse")):
            theirs, ours = f"l{layer}{suffix}", f"{direction}_{layer + 1}"
            b = weights[f"bias_ih_{theirs}"] + weights[f"bias_hh_{theirs}"]
            crossed.set_param(f"W_{ours}", weights[f"weight_ih_{theirs}"].copy())
            crossed.set_param(f"U_{ours}", weights[f"weight_hh_{theirs}"].copy())
            crossed.set_param(f"b_{ours}", b)
