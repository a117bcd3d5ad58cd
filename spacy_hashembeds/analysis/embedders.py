"""The embedding layers of a pipeline, and the symbols that they will have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spacy.language import Language
from spacy.util import walk_dict
from thinc.api import Model

from ..architectures.embedders.descriptions import find_table_kinds, get_descriptions
from ..architectures.embedders.table_kinds import Table
from ..checks import check_attributes
from ..layers.symboltaker import Symbols
from ..symbols import load_symbols
from .features import Vocabulary
from .sizes import find_embeddings_in, find_models

COUNT_SYMBOLS = "spacy-hashembeds.count_symbols.v1"


@dataclass(frozen=True, kw_only=True)
class Embedder:
    """An embedding layer of a pipeline.

    component (str): The name of its component.
    tables (Sequence[Table]): In the order of the layer.
    has_vectors (bool): Whether it mixes in word vectors, which may tell apart words
        that the tables don't.
    """

    component: str
    tables: Sequence[Table]
    has_vectors: bool


def find_embedders(nlp: Language) -> list[Embedder]:
    """Find the embedding layers of a pipeline that have a table for each attribute.

    These are `spacy.MultiHashEmbed`, that of `spacy.HashEmbedCNN`, and those whose
    descriptions say so. A layer that several components share is there once.
    """
    found: dict[int, Embedder] = {}
    for name, model in find_models(nlp):
        for layer in find_embeddings_in(model):
            tables = _find_tables(layer)
            if tables and layer.id not in found:
                vectors = any(node.name == "static_vectors" for node in layer.walk())
                found[layer.id] = Embedder(
                    component=name, tables=tables, has_vectors=vectors
                )
    return list(found.values())


def _find_tables(layer: Model) -> list[Table]:
    """Find the tables of a layer, or none if it is no embedding by attributes alone."""
    nodes = list(layer.walk())
    extractors = [node for node in nodes if node.name == "extract_features"]
    is_known = len(extractors) == 1 and all(node.name != "charembed" for node in nodes)
    if not is_known:
        return []
    kinds, attrs = find_table_kinds(), check_attributes(extractors[0].attrs["columns"])
    return [
        kinds[node.name].read(node, attrs[node.attrs["column"]])
        for node in nodes
        if node.name in kinds
    ]


def find_code_columns(nlp: Language) -> Iterator[tuple[str, Any]]:
    """Find what embeds attributes by codes, with the names of components."""
    finders = {d.name: d.find_columns for d in get_descriptions() if d.find_columns}
    for name, model in find_models(nlp):
        for node in model.walk():
            if node.name in finders:
                yield from ((name, column) for column in finders[node.name](node))


def give_symbols(embedder: Embedder, nlp: Language, train: Vocabulary) -> Embedder:
    """Give tables the symbols that initialising the pipeline would give them.

    train (Vocabulary): What the training corpus holds.
    RAISES (OSError): If the file in the argument `tables` is not there.
    RAISES (ValueError): If the config says nowhere which symbols get a row, or a table
        has no rows for them.
    """
    tables = [
        table.with_symbols(_find_symbols(embedder, table, nlp, train))
        if table.needs_symbols
        else table
        for table in embedder.tables
    ]
    return replace(embedder, tables=tables)


def _find_symbols(
    embedder: Embedder, table: Table, nlp: Language, train: Vocabulary
) -> Symbols:
    config = nlp.config.interpolate()
    settings = walk_dict(config["components"][embedder.component])
    for path in (value for keys, value in settings if keys[-1] == "tables" and value):
        found = load_symbols(path).get_table(table.attr)
        return Symbols(found.symbols, found.rare)
    callback = config["initialize"].get("before_init") or {}
    if callback.get("@callbacks") != COUNT_SYMBOLS:
        raise ValueError(
            f"The table for {table.attr} in '{embedder.component}' has no "
            "symbols, and the config does not say where they come from. Set "
            f'[initialize.before_init] to @callbacks = "{COUNT_SYMBOLS}", or the '
            "argument `tables` to a file made by `spacy hashembeds tables`."
        )
    values, counts = train.count_values(table.attr)
    is_frequent = counts >= callback.get("min_freq", 10)
    return Symbols(values[is_frequent], values[~is_frequent])
