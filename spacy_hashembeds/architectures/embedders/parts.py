"""Finds the layers that `mix_attributes` made in its tree of nodes."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from thinc.api import Model
from thinc.layers.layernorm import forward as layernorm_forward
from thinc.layers.maxout import forward as maxout_forward

from ...kernels.cuda_tables import MAX_COLUMNS, Finder
from ...layers import hashembed, symbolembed
from ...layers.folding import FindRows
from ...layers.mixedembed import MixedEmbed

# By what the layers do rather than by name: wrappers keep the name.
_FIND_ROWS: dict[Any, Callable[..., Any]] = {
    hashembed.forward: hashembed.find_rows,
    symbolembed.forward: symbolembed.find_rows,
}
_GET_FINDER: dict[Any, Callable[[Model], Finder]] = {
    hashembed.forward: hashembed.get_finder,
    symbolembed.forward: symbolembed.get_finder,
}
_NORM_FORWARDS = [maxout_forward, layernorm_forward]


class Parts(NamedTuple):
    """The layers of the tree.

    features (Model): Reads the attributes.
    vectors (Model, optional): spaCy's StaticVectors.
    layers (MixedEmbed): The layers that compute together.
    """

    features: Model
    vectors: Model | None
    layers: MixedEmbed

    @property
    def find_rows(self) -> list[FindRows]:
        """For each table what finds the rows of keys, on the CPU."""
        return [partial(_FIND_ROWS[t._func], t) for t in self.layers.tables]

    @property
    def finders(self) -> list[Finder]:
        """For each table what finds the rows of keys, on a GPU."""
        return [_GET_FINDER[t._func](t) for t in self.layers.tables]


def find_parts(model: Model) -> Parts | None:
    """Find the layers in the tree, or None if it is not as `mix_attributes` made it."""
    *inputs, mixer, _ = model.layers
    vectors = None
    if len(inputs) == 1 and len(inputs[0].layers) == 2:
        features, vectors = inputs[0].layers
        inputs = features.layers
    norm, dropout = mixer.layers[0], None
    if [layer.name for layer in norm.layers[1:]] == ["dropout"]:
        norm, dropout = norm.layers
    columns = inputs[-1].layers[0]
    # Thinc concatenates nothing where there is only one column
    is_single = not columns.layers[0].layers
    tables = [c.layers[-1] for c in ([columns] if is_single else columns.layers)]
    is_known = (
        [layer.name for layer in inputs[:-1]] == ["extract_features", "list2ragged"]
        and [layer._func for layer in norm.layers] == _NORM_FORWARDS
        and all(table._func in _FIND_ROWS for table in tables)
        and (vectors is None or vectors.name == "static_vectors")
    )
    n_columns = len(tables) + (vectors is not None)
    if not is_known or n_columns > MAX_COLUMNS:
        return None
    maxout, layernorm = norm.layers
    return Parts(inputs[0], vectors, MixedEmbed(tables, maxout, layernorm, dropout))
