"""PyTorch's own Transformer, with the weights of ours."""

import numpy as np
from thinc.compat import torch

from spacy_hashembeds.layers.transformer import NORMS, TransformerEncoder

SIZES = {"width": 8, "depth": 2, "num_heads": 2, "hidden_width": 12}
SPANS = {"max_length": 16, "stride": 8}
RATES = {"dropout": 0.0, "attention_dropout": 0.0}

#: What BERT adds to variances.
EPSILON = 1e-12


def make_layer(**settings):
    """A layer that is not initialised yet."""
    return TransformerEncoder(**{**SIZES, **SPANS, **RATES, "norm": "post", **settings})


def randomise(model) -> None:
    """Give parameters numbers of such a size that none of them can be left out."""
    state = np.random.default_rng(1)
    for name in model.param_names:
        drawn = 0.4 * state.normal(size=model.get_param(name).shape)
        model.set_param(name, (drawn + name.startswith("G_")).astype("f"))


class Twin:
    """What PyTorch makes of the same sizes and weights, without dropout.

    A batch is padded to its longest Doc.
    """

    def __init__(self, model):
        width, norm = model.get_dim("nO"), model.attrs["norm"]
        layer = torch.nn.TransformerEncoderLayer(
            width,
            model.get_dim("num_heads"),
            model.get_dim("hidden_width"),
            dropout=0.0,
            activation="gelu",
            layer_norm_eps=EPSILON,
            batch_first=True,
            norm_first=norm == "pre",
        )
        self.layers = torch.nn.TransformerEncoder(
            layer, model.get_dim("depth"), enable_nested_tensor=False
        )
        self.positions = torch.nn.Embedding(model.get_dim("max_length"), width)
        self.norm = torch.nn.LayerNorm(width, eps=EPSILON)
        self.is_pre = norm == "pre"
        self.named = {
            "E_positions": self.positions.weight,
            f"G_{NORMS[norm]}": self.norm.weight,
            f"b_{NORMS[norm]}": self.norm.bias,
        }
        for number, layer in enumerate(self.layers.layers, start=1):
            self.named |= name_parameters(layer, number)
        for name, parameter in self.named.items():
            parameter.data = torch.tensor(model.get_param(name))

    def __call__(self, Xs):
        longest = max(map(len, Xs))
        X = torch.nn.utils.rnn.pad_sequence(Xs, batch_first=True)
        X = X + self.positions.weight[:longest]
        lengths = torch.tensor([len(X) for X in Xs])
        is_padding = torch.arange(longest) >= lengths[:, None]
        if self.is_pre:
            Y = self.norm(self.layers(X, src_key_padding_mask=is_padding))
        else:
            Y = self.layers(self.norm(X), src_key_padding_mask=is_padding)
        return [y[:n] for y, n in zip(Y, lengths, strict=True)]


def name_parameters(layer, number) -> dict:
    """The parameters of a layer of PyTorch's, under the names of ours."""
    attention = layer.self_attn
    products = {
        f"attention_{number}_in": (attention.in_proj_weight, attention.in_proj_bias),
        f"attention_{number}_out": (attention.out_proj.weight, attention.out_proj.bias),
        f"feedforward_{number}_in": (layer.linear1.weight, layer.linear1.bias),
        f"feedforward_{number}_out": (layer.linear2.weight, layer.linear2.bias),
    }
    norms = {
        f"attention_{number}_norm": layer.norm1,
        f"feedforward_{number}_norm": layer.norm2,
    }
    named = {}
    for name, (W, b) in products.items():
        named |= {f"W_{name}": W, f"b_{name}": b}
    for name, norm in norms.items():
        named |= {f"G_{name}": norm.weight, f"b_{name}": norm.bias}
    return named


def run_twin(model, Xs) -> list[np.ndarray]:
    """What `lstms.run` gives, by PyTorch. Docs without tokens are none of its."""
    twin = Twin(model)
    inputs = [torch.tensor(X, requires_grad=True) for X in Xs]
    Ys = twin([X for X in inputs if len(X)])
    gradients = torch.autograd.grad(
        Ys,
        [*[X for X in inputs if len(X)], *twin.named.values()],
        [Y.detach().cos() for Y in Ys],
    )
    found, gradients = iter(Ys), iter(gradients)
    Ys = [next(found).detach().numpy() if len(X) else X for X in Xs]
    dXs = [next(gradients).numpy() if len(X) else X for X in Xs]
    named = {name: next(gradients).numpy() for name in twin.named}
    return [*Ys, *dXs, *(named[name] for name in model.param_names)]
