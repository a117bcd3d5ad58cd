"""The embedding layer in PyTorch."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps

# mypy needs a minute to read torch's types
Tensor = Any


def import_torch() -> Any:
    """Import torch, or return None if it is not installed."""
    return import_module("torch") if find_spec("torch") else None


class TorchEmbed:
    """A sum of rows for each attribute, a linear layer, max and layer norm.

    Weights and outputs are those of a `spacy.MultiHashEmbed.v2`. The pieces of the
    maximum are the outermost axis, which was the fastest layout with torch 2.13.
    """

    def __init__(self, stock: Model) -> None:
        self.torch = import_module("torch")
        self.functional = self.torch.nn.functional
        self.dropout = 0.0
        nodes = {node.name: node for node in stock.walk()}
        maxout, norm = nodes["maxout"], nodes["layernorm"]
        W, b = (np.asarray(maxout.get_param(name)) for name in ("W", "b"))
        self.width, self.pieces, n_inputs = W.shape
        self.W = self._copy(W.transpose(1, 0, 2).reshape(-1, n_inputs))
        self.b = self._copy(b.T.reshape(-1))
        self.norm = [self._copy(norm.get_param(name)) for name in ("G", "b")]
        tables = [node for node in stock.walk() if node.name == "hashembed"]
        self.tables = [self._copy(table.get_param("E")) for table in tables]
        self.seeds = [table.attrs["seed"] for table in tables]
        self.columns: list[int | str] = nodes["extract_features"].attrs["columns"]

    def predict(self, docs: Sequence[Doc]) -> Sequence[Tensor]:
        """Embed docs."""
        with self.torch.inference_mode():
            return self.embed(docs).split([len(doc) for doc in docs])

    def begin_update(self, docs: Sequence[Doc]) -> tuple[Sequence[Tensor], Callable]:
        """Embed docs in training, and return the function that backpropagates."""
        Y = self.embed(docs, self.dropout)

        def backprop(dY: Sequence[np.ndarray]) -> None:
            Y.backward(self.torch.from_numpy(np.concatenate(dY)))

        return Y.split([len(doc) for doc in docs]), backprop

    def embed(self, docs: Sequence[Doc], dropout: float = 0.0) -> Tensor:
        """Embed docs. *Shape:* `(tokens, width)`."""
        ids = np.concatenate([doc.to_array(self.columns) for doc in docs])
        drop, vectors = self.functional.dropout, []
        for column, (seed, E) in enumerate(zip(self.seeds, self.tables, strict=True)):
            keys = NumpyOps().hash(np.ascontiguousarray(ids[:, column]), seed)
            rows = self.torch.from_numpy((keys % len(E)).astype("int32"))
            vectors.append(self.functional.embedding_bag(rows, E, mode="sum"))
        if dropout:
            # drop dimensions for all tokens, as Thinc does
            vectors = [v * drop(v.new_ones(self.width), dropout) for v in vectors]
        X = self.functional.linear(self.torch.cat(vectors, dim=1), self.W, self.b)
        best = X.view(-1, self.pieces, self.width).amax(dim=1)
        Y = self.functional.layer_norm(best, (self.width,), *self.norm, eps=1e-8)
        return drop(Y, dropout) if dropout else Y

    def _copy(self, values: Any) -> Tensor:
        return self.torch.tensor(np.asarray(values), requires_grad=True)
