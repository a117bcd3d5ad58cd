"""The embedding layer as one would write it in PyTorch."""

from collections.abc import Callable, Sequence
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
    RAISES (ImportError): If torch is not installed.
    """

    def __init__(self, stock: Model) -> None:
        self.torch = import_module("torch")
        self.dropout = 0.0
        nodes = {node.name: node for node in stock.walk()}
        tables = [node for node in stock.walk() if node.name == "hashembed"]
        self.columns: list[int | str] = nodes["extract_features"].attrs["columns"]
        self.seeds = [table.attrs["seed"] for table in tables]
        maxout, layernorm = nodes["maxout"], nodes["layernorm"]
        W, b = (np.asarray(maxout.get_param(name)) for name in ("W", "b"))
        self.width, self.pieces, n_inputs = W.shape
        nn = self.torch.nn
        self.norm = nn.LayerNorm(self.width, eps=1e-8)
        self.linear = nn.Linear(n_inputs, self.width * self.pieces)
        self._fill(self.norm.weight, layernorm.get_param("G"))
        self._fill(self.norm.bias, layernorm.get_param("b"))
        self._fill(self.linear.weight, W.transpose(1, 0, 2).reshape(-1, n_inputs))
        self._fill(self.linear.bias, b.T.reshape(-1))
        self.bags = [self._make_bag(table.get_param("E")) for table in tables]

    def predict(self, docs: Sequence[Doc]) -> Sequence[Tensor]:
        """Embed docs. *Output:* for each a tensor of shape `(tokens, width)`."""
        with self.torch.inference_mode():
            return self.embed(docs).split([len(doc) for doc in docs])

    def begin_update(
        self, docs: Sequence[Doc]
    ) -> tuple[Sequence[Tensor], Callable[[Sequence[np.ndarray]], None]]:
        """Embed docs in training, and give the function that backpropagates."""
        Y = self.embed(docs, self.dropout)

        def backprop(dY: Sequence[np.ndarray]) -> None:
            Y.backward(self.torch.from_numpy(np.concatenate(dY)))

        return Y.split([len(doc) for doc in docs]), backprop

    def embed(self, docs: Sequence[Doc], dropout: float = 0.0) -> Tensor:
        """Embed docs. *Shape of the output:* `(tokens, width)`."""
        ids = np.concatenate([doc.to_array(self.columns) for doc in docs])
        vectors = []
        for column, (seed, bag) in enumerate(zip(self.seeds, self.bags, strict=True)):
            keys = NumpyOps().hash(np.ascontiguousarray(ids[:, column]), seed)
            rows = (keys % bag.num_embeddings).astype("int32")
            vectors.append(bag(self.torch.from_numpy(rows)))
        if dropout:
            # whole dimensions, for all tokens together, as Thinc does
            vectors = [v * self._drop(v.new_ones(self.width), dropout) for v in vectors]
        X = self.linear(self.torch.cat(vectors, dim=1))
        Y = self.norm(X.view(-1, self.pieces, self.width).amax(dim=1))
        return self._drop(Y, dropout) if dropout else Y

    def _drop(self, X: Tensor, rate: float) -> Tensor:
        return self.torch.nn.functional.dropout(X, rate)

    def _make_bag(self, E: Any) -> Any:
        bag = self.torch.nn.EmbeddingBag(*E.shape, mode="sum")
        self._fill(bag.weight, E)
        return bag

    def _fill(self, parameter: Tensor, values: Any) -> None:
        parameter.data.copy_(self.torch.from_numpy(np.ascontiguousarray(values)))
