"""Base of the multi-attribute embedders.

Each token attribute has a table. The vectors of a token from all tables are
concatenated, and mixed by a Maxout layer. The node tree equals `MultiHashEmbed.v2`'s:
weights are interchangeable, and equal seeds give equal initial values.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from numpy.typing import NDArray
from spacy.attrs import IDS, intify_attr
from spacy.ml.featureextractor import forward as extract_forward
from spacy.ml.staticvectors import StaticVectors
from spacy.ml.staticvectors import forward as vectors_forward
from spacy.tokens import Doc
from thinc.api import (
    Maxout,
    Model,
    chain,
    concatenate,
    list2ragged,
    ragged2list,
    with_array,
)
from thinc.types import Floats2d, Ragged

from ..arguments import MAX_WIDTH, check_dropout, check_integers, is_feature
from ..kernels.rows import split
from ..layers.checks import check_attr, check_gradient
from ..layers.column import Column, find_column
from ..layers.folding import Fold
from ..layers.mixedembed import forward as embed_and_mix
from ..layers.mixer import Mixer
from ..layers.plan import (
    MaxoutLayers,
    UnexpectedNodeError,
    expect,
    expect_column,
    expect_maxout,
)
from ..thinc_internals import (
    chain_forward,
    chain_init,
    concatenate_forward,
    get_forward,
    list2ragged_forward,
    ragged2list_forward,
    with_array_forward,
)
from .distinct_words import forward as distinct_forward
from .distinct_words import get_attribute
from .features import extract_features, read_keys
from .features import forward as features_forward
from .static_vectors import DOCS, VectorColumn, get_key_attr, get_vectors_width
from .subword_embed import SubwordColumn
from .subword_embed import forward as subword_forward

InT = list[Doc]
OutT = list[Floats2d]

_ATTR_IDS = {*IDS.values()} - {0}


class Parts(NamedTuple):
    """Layers that mix columns of keys.

    attrs: Attributes read as keys, one per column except the word vectors.
    has_vectors: True if the last column is word vectors.
    """

    mixer: Mixer
    attrs: list[int | str]
    has_vectors: bool

    def read_keys(self, docs: InT) -> NDArray:
        """Read the keys of all tokens. *Shape:* `(n, columns)`, uint64."""
        if not self.has_vectors:
            return read_keys(docs, self.attrs)
        return read_keys(docs, [*self.attrs, get_key_attr(docs[0].vocab)])


def mix_attributes(
    name: str,
    *,
    attrs: Sequence[str],
    tables: Sequence[Model],
    width: int,
    maxout_pieces: int,
    dropout: float | None,
    include_static_vectors: bool,
    subwords: Model | None = None,
) -> Model[InT, OutT]:
    """Embed each token attribute in a table, and mix the vectors by a Maxout layer.

    `subwords` is a `SubwordEmbed`, or another layer that returns a vector per token,
    which disables the fast path.
    """
    check_integers(1, MAX_WIDTH, width=width, maxout_pieces=maxout_pieces)
    check_dropout(dropout)
    features: Model[InT, Ragged] = chain(
        extract_features(attrs),
        list2ragged(),
        with_array(concatenate(*tables)),
    )
    layers = features.layers
    n_inputs = sum(table.get_dim("nO") for table in tables)
    extra: list[Model] = []
    if subwords is not None:
        extra.append(chain(subwords, list2ragged()))
        n_inputs += subwords.get_dim("nO")
    if include_static_vectors:
        extra.append(StaticVectors(width, dropout=dropout))
        n_inputs += width
    if extra:
        layers = [concatenate(features, *extra)]
    mixer = Maxout(width, n_inputs, nP=maxout_pieces, dropout=dropout, normalize=True)
    return Model(
        name,
        forward,
        init=init,
        dims={"nO": width},
        layers=[*layers, with_array(mixer), ragged2list()],
        attrs={"include_static_vectors": include_static_vectors, "plan": Fold()},
    )


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    return embed_tokens(model, docs, is_train, find_parts)


def embed_tokens(
    model: Model[InT, OutT],
    docs: InT,
    is_train: bool,
    find: Callable[[Model], Parts],
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Embed all tokens of a batch, by the layers that `find` returns.

    If a layer was wrapped or replaced, or without kernels, run Thinc's layers.
    """
    lengths = list(map(len, docs))
    if not any(lengths):
        # Thinc's Maxout and LayerNorm can't backpropagate through zero rows.
        width = model.get_dim("nO")
        return [model.ops.alloc2f(0, width) for _ in docs], lambda dY: []
    plan = model.attrs["plan"]
    parts: Parts | None = plan.find_layers(model, find)
    if parts is None:
        return chain_forward(model, docs, is_train)
    keys = parts.read_keys(docs)
    token = DOCS.set(docs)
    try:
        Y, backprop_tokens = embed_and_mix(parts.mixer, plan, keys, is_train)
    finally:
        DOCS.reset(token)
    shape = Y.shape

    def backprop(dYs: OutT) -> InT:
        dY = model.ops.xp.concatenate(dYs)
        check_gradient(dY, shape)
        backprop_tokens(dY)
        return []

    return split(Y, lengths), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X and model.attrs["include_static_vectors"]:
        get_vectors_width(X[0].vocab)
    elif not any(map(len, X or ())):
        X = None  # from empty Docs, Thinc's concatenate would infer widths of 0
    chain_init(model, X, Y)


def find_parts(model: Model[InT, OutT]) -> Parts:
    """Find the layers. Raise UnexpectedNodeError if a node was wrapped or replaced."""
    if len(model.layers) not in (3, 5):
        raise UnexpectedNodeError(model.name)
    *inputs, mixer, to_list = model.layers
    expect(to_list, ragged2list_forward, 0)
    vectors = subwords = None
    if len(inputs) == 1:
        features, *extra = expect(inputs[0], concatenate_forward)
        if get_forward(extra[0]) is chain_forward:
            subwords, to_ragged = expect(extra.pop(0), chain_forward, 2)
            expect(to_ragged, list2ragged_forward, 0)
            (layer,) = expect(subwords, distinct_forward, 1)
            expect(layer, subword_forward, 0)
        for vectors in extra:
            expect(vectors, vectors_forward, 0)
        if len(extra) > 1:
            raise UnexpectedNodeError(inputs[0].name)
        inputs = expect(features, chain_forward, 3)
    extractor, to_ragged, embed = inputs
    is_ours = get_forward(extractor) is features_forward
    expect(extractor, features_forward if is_ours else extract_forward, 0)
    expect(to_ragged, list2ragged_forward, 0)
    (mixing,) = expect(mixer, with_array_forward, 1)
    layers, columns = expect_maxout(mixing), _expect_columns(embed)
    check_columns(extractor, len(columns))
    attrs = [*extractor.attrs["columns"]]
    if subwords is not None:
        attrs.append(get_attribute(subwords))
        columns.append(SubwordColumn(subwords.layers[0]))
    return make_parts(columns, layers, attrs, vectors)


def make_parts(
    columns: Sequence[Column],
    layers: MaxoutLayers,
    attrs: list[int | str],
    vectors: Model | None,
) -> Parts:
    """Combine columns, and append one for spaCy's StaticVectors, if given.

    Raise UnexpectedNodeError if there is no fast path on the device.
    """
    if vectors is not None:
        columns = [*columns, VectorColumn(vectors)]
    mixer = Mixer(columns, layers)
    if not mixer.can_embed():
        raise UnexpectedNodeError(layers.maxout.name)
    return Parts(mixer, attrs, vectors is not None)


def _expect_columns(model: Model[Ragged, Ragged]) -> list[Column]:
    (concatenated,) = expect(model, with_array_forward, 1)
    # with a single column, there is no concatenate
    is_single = get_forward(concatenated) is chain_forward
    layers = [concatenated] if is_single else expect(concatenated, concatenate_forward)
    columns = []
    for i, layer in enumerate(layers):
        column = find_column(expect_column(layer, i))
        if column is None:
            raise UnexpectedNodeError(layer.name)
        columns.append(column)
    return columns


def check_columns(extractor: Model, n_columns: int) -> None:
    """Check that the extractor reads `n_columns` known attributes."""
    attrs = extractor.attrs["columns"]
    is_list = isinstance(attrs, list) and len(attrs) == n_columns
    # excludes bool, a subclass of int
    is_right = is_list and all(
        type(attr) in (int, str)
        and (is_feature(attr) or intify_attr(attr) in _ATTR_IDS)
        for attr in attrs
    )
    expected = f"{n_columns} token attributes, one for each table"
    check_attr(extractor, "columns", is_right, expected)


def check_seed(seed: int, n_tables: int) -> None:
    """Check that the hash seeds of all tables are unsigned 32-bit integers."""
    check_integers(0, 2**32 - n_tables, seed=seed)
