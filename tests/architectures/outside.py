"""An embedder as another package would bring it, with a layer and a table of its own.

Frequent symbols are numbered, and share a row with every `rows`th; all others have the
first row.
"""

from typing import Any

import numpy as np
from thinc.api import Model, chain
from thinc.layers.array_getitem import ints_getitem

from spacy_hashembeds.architectures.descriptions import EmbedderDescription
from spacy_hashembeds.architectures.mix_attributes import mix_attributes
from spacy_hashembeds.architectures.symbols import wait_for_symbols
from spacy_hashembeds.layers.symboltaker import Symbols
from spacy_hashembeds.layers.tableembed import TableColumn


def ToyEmbed(
    *,
    width: int,
    attrs: list[str],
    rows: list[int],
    tables: str | None = None,
    include_static_vectors: bool,
) -> Model:
    model = mix_attributes(
        "toy_embed",
        attrs=attrs,
        tables=[
            ToyLayer(width, n, key=attr, column=column)
            for column, (attr, n) in enumerate(zip(attrs, rows, strict=True))
        ],
        width=width,
        maxout_pieces=3,
        dropout=None,
        include_static_vectors=include_static_vectors,
    )
    wait_for_symbols(model, tables)
    return model


def ToyLayer(nO: int, nV: int, *, key: str, column: int) -> Model:
    layer: Model = Model(
        "toylayer",
        forward,
        init=init,
        params={"E": None},
        dims={"nO": nO, "nV": nV, "nI": None},
        attrs={
            **{"key": key, "column": column, "symbols": None},
            "symbol_taker": take_symbols,
        },
    )
    getter: Any = ints_getitem((slice(0, None), column))
    model = chain(getter, layer)
    model.set_dim("nO", nO)
    return model


def forward(model: Model, ids: Any, is_train: bool) -> tuple[Any, Any]:
    rows = find_rows(ids, model.attrs["symbols"], model.get_dim("nV"))

    def backprop(dY: Any) -> Any:
        dE = model.ops.alloc2f(model.get_dim("nV"), model.get_dim("nO"))
        model.ops.scatter_add(dE, rows, dY)
        model.inc_grad("E", dE)
        return ids * 0

    return model.get_param("E")[rows], backprop


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    shape = model.get_dim("nV"), model.get_dim("nO")
    model.set_param("E", np.random.uniform(-0.1, 0.1, shape).astype("float32"))


def take_symbols(model: Model, symbols: Symbols) -> None:
    model.attrs["symbols"] = np.sort(symbols.frequent)


def find_rows(ids: Any, symbols: np.ndarray, rows: int) -> np.ndarray:
    keys = ids.astype("uint64")
    places = np.searchsorted(symbols, keys).clip(max=len(symbols) - 1)
    return np.where(symbols[places] == keys, places % rows, 0)


class ToyColumn(TableColumn):
    kind = "toy"

    def find_code(self, keys: np.ndarray) -> np.ndarray:
        rows = find_rows(keys, self.model.attrs["symbols"], self.n_rows)
        return rows.reshape(-1, 1).astype("uint64")


DESCRIPTION = EmbedderDescription(
    name="toy_embed",
    architecture="toy.ToyEmbed.v1",
    purpose="rows in turns, to see that others can bring embedders.",
    tables={"toylayer": ToyColumn},
    symbol_width=lambda block: block["width"],
    raises_rows=True,
)
