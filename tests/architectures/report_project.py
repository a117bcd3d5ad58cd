"""What the report's own project registers, restated: a file for `--code`.

The public shape of `benchmarks/ner_embeddings` in explosion/projects: the names, the
arguments, the tree of nodes, their attributes and references, and so the files that it
saves. To import it is to register it, so tests give it to spaCy as its users do.
"""

from collections.abc import Callable
from pathlib import Path

import srsly
from spacy.language import Language
from spacy.ml.featureextractor import FeatureExtractor
from spacy.ml.models.tok2vec import MultiHashEmbed
from spacy.ml.staticvectors import StaticVectors
from spacy.util import registry
from thinc.api import (
    Dropout,
    Embed,
    Maxout,
    Model,
    chain,
    concatenate,
    list2ragged,
    ragged2list,
    with_array,
)
from thinc.layers.chain import forward as chain_forward
from thinc.layers.remap_ids import remap_ids_v2


@registry.architectures("spacy.MultiEmbed.v1")
def MultiEmbed(
    attrs: list[str],
    width: int,
    unk: int,
    *,
    tables: dict[str, dict[int, int]] | None = None,
    include_static_vectors: bool = False,
    dropout: float = 0,
    maxout_pieces: int = 3,
) -> Model:
    """Embed by tables of rows, which are set later, between here and `init`."""
    columns = concatenate_columns(
        attrs, [chain(remap_ids_v2(), Embed(column=0)) for _ in attrs]
    )
    inputs = columns
    if include_static_vectors:
        inputs = chain(concatenate(columns, StaticVectors(width)), Dropout(dropout))
    width_in = width * (len(attrs) + include_static_vectors)
    maxout = Maxout(width, width_in, nP=maxout_pieces, dropout=dropout, normalize=True)
    mixer = chain(with_array(maxout), ragged2list())
    model: Model = Model(
        "multiembed",
        chain_forward,
        init=init_tables,
        dims={"width": width},
        layers=[inputs, mixer],
        attrs={
            "tables": tables,
            "unk": unk,
            "include_static_vectors": include_static_vectors,
            "attrs": attrs,
            "dropout": dropout,
        },
    )
    model.set_ref("embedder-stack", columns)
    model.set_ref("output-layer", mixer)
    return model


def concatenate_columns(attrs, columns) -> Model:
    embed = with_array(concatenate(*columns))
    return chain(FeatureExtractor(attrs), list2ragged(), embed)


def init_tables(model, X=None, Y=None):
    """Put in tables with as many rows as there are symbols, and one."""
    attrs, width = model.attrs["attrs"], model.get_dim("width")
    unk, dropout = model.attrs["unk"], model.attrs["dropout"]
    columns = []
    for column, attr in enumerate(attrs):
        table = model.attrs["tables"][attr]
        remap = remap_ids_v2(table, default=unk, column=column)
        columns.append(
            chain(remap, Embed(width, len(table) + 1, column=0, dropout=dropout))
        )
    old = model.get_ref("embedder-stack")
    model.replace_node(old, concatenate_columns(attrs, columns))
    inputs, mixer = model.layers
    mixer.initialize(inputs.initialize(X).predict(X))


@registry.architectures("spacy.MultiFewerHashEmbed.v1")
def MultiFewerHashEmbed(
    width: int,
    num_hashes: int,
    attrs: list[str | int],
    rows: list[int],
    include_static_vectors: bool,
) -> Model:
    """The tree of spaCy's `MultiHashEmbed`, with tables of another name."""
    model = MultiHashEmbed(width, attrs, rows, include_static_vectors)
    for node in model.walk():
        if node.name == "hashembed":
            node.attrs["num_hashes"] = num_hashes
            node.replace_callbacks(forward_fewer, init=node.init)
        node.name = node.name.replace("hashembed", "fewerhashembed")
    return model


def forward_fewer(model, ids, is_train):
    E, ops = model.get_param("E"), model.ops
    keys = ops.hash(ops.as_contig(ids, dtype="uint64"), model.attrs["seed"])
    rows = keys[:, : model.attrs["num_hashes"]] % E.shape[0]
    return ops.gather_add(E, rows), None  # nothing of it is trained here


@registry.callbacks("set_attr")
def create_set_attr(
    path: Path, component: str, attr: str, layer: str | None
) -> Callable[[Language], None]:
    value = srsly.read_msgpack(path)

    def set_attr(nlp: Language) -> None:
        nodes = nlp.get_pipe(component).model.walk()
        (model,) = (node for node in nodes if node.name == layer)
        model.attrs[attr] = value

    return set_attr
