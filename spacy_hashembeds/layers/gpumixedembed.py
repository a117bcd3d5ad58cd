"""Embed the keys of tokens and mix them, on a GPU: see `mixedembed.py` for the CPU.

All tables are embedded by one kernel. In training Thinc's own layers mix the columns,
and a second kernel takes their gradients back to all tables. Prediction goes through
folded tables, which are made anew as soon as weights change: one small matrix product.
"""

from collections.abc import Callable, Sequence
from typing import Any

from thinc.api import Model

from ..kernels.cuda import Array, Finder, Table, sum_rows
from .folding import FoldedTables
from .gputables import GpuTable, embed_tables
from .mixedembed import MixedEmbed, split_pieces

#: Embeds what has no table, in training or not: an array as wide as a table, and what
#: takes its gradient back.
EmbedMore = Callable[[bool], tuple[Array, Callable[[Array], object]]]


def embed(
    layers: MixedEmbed,
    finders: Sequence[Finder],
    keys: Array,
    embed_more: EmbedMore | None,
    is_train: bool,
) -> tuple[Array, Callable[[Array], None]]:
    """Embed tokens by their keys.

    finders (Sequence[Finder]): For each table what finds the rows of its keys.
    keys (Array): A column for each table. *Shape:* `(n, tables)`, uint64.
    embed_more (EmbedMore, optional): Embeds what has no table.
    RETURNS (tuple): The output, of shape `(n, nO)`, float32; and what takes its
        gradient to the parameters of all layers.
    """
    tables = [GpuTable(*pair) for pair in zip(layers.tables, finders, strict=True)]
    n_columns = sum(table.get_dim("nO") for table in layers.tables)
    n_more = 0 if embed_more is None else layers.tables[0].get_dim("nO")
    X, backprop_tables = embed_tables(tables, keys, is_train, n_more=n_more)
    if embed_more is not None:
        X[:, n_columns:], backprop_more = embed_more(is_train)
    backprops = []
    Y: Any = X
    mixers: list[Model | None] = [layers.maxout, layers.layernorm, layers.dropout]
    for mixer in mixers:
        if mixer is not None:
            Y, backprop_mixer = mixer(Y, is_train)
            backprops.append(backprop_mixer)

    def backprop(dY: Array) -> None:
        for backprop_mixer in reversed(backprops):
            dY = backprop_mixer(dY)
        backprop_tables(dY)
        if embed_more is not None:
            backprop_more(dY[:, n_columns:])

    return Y, backprop


def predict_folded(
    layers: MixedEmbed,
    folded: FoldedTables,
    finders: Sequence[Finder],
    keys: Array,
    embed_more: EmbedMore | None,
) -> Array:
    """Do the same as `embed` in prediction, through folded tables.

    RETURNS (Array): *Shape:* `(n, nO)`, float32.
    """
    starts = [*folded.starts.tolist(), len(folded.F)]
    tables = [
        Table(folded.F[start:stop], finder)
        for finder, start, stop in zip(finders, starts, starts[1:], strict=False)
    ]
    mixed = sum_rows(keys, tables, folded.bias)
    if embed_more is not None:
        more, _ = embed_more(False)
        mixed += more @ folded.W.T
    return layers.layernorm.predict(split_pieces(mixed, layers).max(axis=1))
