"""PyTorch's own Transformer, with the weights of ours."""

import numpy as np
from thinc.compat import torch

from spacy_hashembeds.papers.hashformers.transformer import (
    EPSILON,
    NORMS,
    TransformerEncoder,
)

SETTINGS = {
    **{"width": 8, "depth": 2, "num_heads": 2, "hidden_width": 12, "norm": "post"},
    **{"max_length": 16, "stride": 8, "dropout": 0.0, "attention_dropout": 0.0},
}

#: The parameters of a layer of PyTorch's, by those of ours.
NAMES = {
    "attention_{}_in": "self_attn.in_proj_",
    "attention_{}_out": "self_attn.out_proj.",
    "attention_{}_norm": "norm1.",
    "feedforward_{}_in": "linear1.",
    "feedforward_{}_out": "linear2.",
    "feedforward_{}_norm": "norm2.",
}


def make_layer(**settings):
    """A layer that is not initialised yet."""
    return TransformerEncoder(**{**SETTINGS, **settings})


def randomise(model) -> None:
    """Give parameters numbers of such a size that none of them can be left out."""
    state = np.random.default_rng(1)
    for name in model.param_names:
        drawn = 0.4 * state.normal(size=model.get_param(name).shape)
        model.set_param(name, (drawn + name.startswith("G_")).astype("f"))


def run_twin(model, Xs) -> list[np.ndarray]:
    """What `lstms.run` returns, by PyTorch, without dropout, one Doc at a time."""
    width, norm = model.get_dim("nO"), model.attrs["norm"]
    params = {
        name: torch.tensor(model.get_param(name), requires_grad=True)
        for name in model.param_names
    }
    layer = torch.nn.TransformerEncoderLayer(
        *(width, model.get_dim("num_heads"), model.get_dim("hidden_width")),
        dropout=0.0,
        activation="gelu",
        layer_norm_eps=EPSILON,
        batch_first=True,
        norm_first=norm == "pre",
    )

    def normalize(X):
        G, b = (params[f"{kind}_{NORMS[norm]}"] for kind in "Gb")
        return torch.nn.functional.layer_norm(X, (width,), G, b, EPSILON)

    def encode(X):
        X = X + params["E_positions"][: len(X)]
        X = normalize(X) if norm == "post" else X
        for number in range(1, model.get_dim("depth") + 1):
            weights = {}
            for ours, theirs in NAMES.items():
                name = ours.format(number)
                gain = "G" if name.endswith("norm") else "W"
                weights[f"{theirs}weight"] = params[f"{gain}_{name}"]
                weights[f"{theirs}bias"] = params[f"b_{name}"]
            X = torch.func.functional_call(layer, weights, (X[None],))[0]
        return normalize(X) if norm == "pre" else X

    inputs = [torch.tensor(X, requires_grad=True) for X in Xs]
    Ys = [encode(X) if len(X) else X for X in inputs]
    for Y in Ys:
        Y.backward(Y.detach().cos())
    leaves = [*inputs, *params.values()]
    return [*(Y.detach().numpy() for Y in Ys), *(leaf.grad.numpy() for leaf in leaves)]
