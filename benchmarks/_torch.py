"""The embedding layer as one would write it in PyTorch."""

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from importlib import import_module
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps

# torch's types take mypy a minute to read
Tensor = Any


class TorchEmbed:
    """An `EmbeddingBag` for each attribute, a linear layer, max and layer norm.

    Takes the weights, seeds and attributes of a `spacy.MultiHashEmbed.v2` and gives
    its numbers. The pieces of the maximum stand outermost and `amax` takes it: the
    fastest of four ways to write it, measured with torch 2.13. Eager mode.

    stock (Model): The layer to copy, initialised.
    num_hashes (int): How many rows to sum, 1 to 4.
    RAISES (ImportError): If torch is not installed.
    """

    def __init__(self, stock: Model, num_hashes: int) -> None:
        self.torch = import_module("torch")
        self.num_hashes = num_hashes
        nodes = {node.name: node for node in stock.walk()}
        tables = [node for node in stock.walk() if node.name == "hashembed"]
        self.columns: list[int | str] = nodes["extract_features"].attrs["columns"]
        self.seeds = [table.attrs["seed"] for table in tables]
        W, b = (_get_array(nodes["maxout"], name) for name in ("W", "b"))
        self.width, self.pieces, n_inputs = W.shape
        nn = self.torch.nn
        norm = nn.LayerNorm(self.width, eps=1e-8)
        linear = nn.Linear(n_inputs, self.width * self.pieces)
        self._fill(norm.weight, _get_array(nodes["layernorm"], "G"))
        self._fill(norm.bias, _get_array(nodes["layernorm"], "b"))
        self._fill(linear.weight, W.transpose(1, 0, 2).reshape(-1, n_inputs))
        self._fill(linear.bias, b.T.reshape(-1))
        bags = [self._make_bag(_get_array(table, "E")) for table in tables]
        self.parts = nn.ModuleDict(
            {"bags": nn.ModuleList(bags), "linear": linear, "norm": norm}
        )

    def copy(self) -> "TorchEmbed":
        """Copy the layer, weights and all."""
        copied = copy(self)
        copied.parts = deepcopy(self.parts)
        return copied

    def predict(self, docs: Sequence[Doc]) -> list[Tensor]:
        """Embed docs. *Output:* for each a tensor of shape `(tokens, width)`."""
        with self.torch.inference_mode():
            return self._split(self.embed(self.find_rows(docs)), docs)

    def begin_update(
        self, docs: Sequence[Doc], dropout: float
    ) -> tuple[list[Tensor], Callable[[Sequence[np.ndarray]], None]]:
        """Embed docs in training, and give the function that backpropagates."""
        Y = self.embed(self.find_rows(docs), dropout)

        def backprop(dY: Sequence[np.ndarray]) -> None:
            Y.backward(self.torch.from_numpy(np.concatenate(dY)))

        return self._split(Y, docs), backprop

    def find_rows(self, docs: Sequence[Doc]) -> list[Tensor]:
        """Find the rows of each attribute's table, as spaCy does.

        RETURNS (list[Tensor]): *Shape:* `(tokens, num_hashes)` each, int32.
        """
        ids = np.concatenate([doc.to_array(self.columns) for doc in docs])
        ops = NumpyOps()
        rows = []
        bags = self.parts["bags"]
        for column, (seed, bag) in enumerate(zip(self.seeds, bags, strict=True)):
            keys = ops.hash(np.ascontiguousarray(ids[:, column]), seed)
            keys = keys[:, : self.num_hashes] % bag.num_embeddings
            rows.append(self.torch.from_numpy(keys.astype("int32")))
        return rows

    def embed(self, rows: Sequence[Tensor], dropout: float = 0.0) -> Tensor:
        """Embed rows. *Shape of the output:* `(tokens, width)`."""
        parts = self.parts
        vectors = [bag(r) for bag, r in zip(parts["bags"], rows, strict=True)]
        if dropout:
            # whole dimensions, for all tokens together, as Thinc does
            vectors = [v * self._drop(v.new_ones(self.width), dropout) for v in vectors]
        X = parts["linear"](self.torch.cat(vectors, dim=1))
        Y = parts["norm"](X.view(-1, self.pieces, self.width).amax(dim=1))
        return self._drop(Y, dropout) if dropout else Y

    def _drop(self, X: Tensor, rate: float) -> Tensor:
        return self.torch.nn.functional.dropout(X, rate)

    def _split(self, Y: Tensor, docs: Sequence[Doc]) -> list[Tensor]:
        return list(Y.split([len(doc) for doc in docs]))

    def _make_bag(self, E: np.ndarray) -> Any:
        bag = self.torch.nn.EmbeddingBag(*E.shape, mode="sum")
        self._fill(bag.weight, E)
        return bag

    def _fill(self, parameter: Tensor, values: np.ndarray) -> None:
        values = np.ascontiguousarray(values)
        parameter.data.copy_(self.torch.from_numpy(values))


def _get_array(model: Model, name: str) -> np.ndarray:
    return np.asarray(model.get_param(name))
