"""The pipeline that a corpus is analysed for, and its embedding layers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.util import dot_to_dict, load_model_from_config, walk_dict
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ...architectures.descriptions import Coded, find_table_kinds, get_descriptions
from ...architectures.subword_embed import NAME as SUBWORDS
from ...architectures.symbols import load_symbols
from ...arguments import check_attributes
from ...layers import symboltaker
from ...layers.symboltaker import Symbols
from ...layers.tableembed import TableColumn
from ...loading import (
    describe_config_error,
    explain_missing_code,
    load_config,
    load_trained,
)
from .features import Vocabulary

ConfigSource = str | Path | dict[str, Any]
ModelSource = str | Path | Language
#: Config settings, with dotted keys as `spacy train` takes them.
Overrides = Mapping[str, Any]

COUNT_SYMBOLS = "spacy-hashembeds.count_symbols.v1"


def load_pipeline(
    *, config: ConfigSource | None, model: ModelSource | None, overrides: Overrides
) -> Language:
    """Load a pipeline, or build one, by default a blank one, not initialised."""
    if model is not None and overrides:
        keys = ", ".join(overrides)
        raise ValueError(f"There is no config to change by {keys}, but a model.")
    if model is not None:
        return model if isinstance(model, Language) else load_trained(model)
    name = config if isinstance(config, str | Path) else "config"
    try:
        if isinstance(config, str | Path):
            loaded = load_config(config, overrides)
        else:
            blank = {"nlp": {"lang": "xx"}}
            loaded = Config(blank if config is None else config)
            loaded = loaded.merge(dot_to_dict(dict(overrides)))
        return load_model_from_config(loaded, auto_fill=True)
    # AttributeError: spaCy's, of a language that is another module in spacy.lang
    except (ValueError, ImportError, AttributeError) as error:
        reason = explain_missing_code(error) or describe_config_error(error)
        raise ValueError(
            f"'{name}' should be a spaCy config, but no pipeline can be built from it: "
            f"{reason}"
        ) from error


def load_vectors(vectors: ModelSource | None, nlp: Language) -> Vocab | None:
    """Load the vocab whose vectors tokens are looked up in, or that of the pipeline."""
    if vectors is None:
        return nlp.vocab if nlp.vocab.vectors.size else None
    vocab = load_pipeline(config=None, model=vectors, overrides={}).vocab
    if not vocab.vectors.size:
        raise ValueError(
            "'vectors' should be a pipeline with word vectors, but has none. Make one "
            "with `spacy init vectors`."
        )
    return vocab


class Embedder(NamedTuple):
    """An embedding layer of a pipeline, with a table for each attribute."""

    component: str
    tables: list[TableColumn]
    #: True if word vectors or character n-grams are mixed in, which may tell apart what
    #: the tables don't.
    has_others: bool


def find_models(nlp: Language) -> list[tuple[str, Model]]:
    """Find the models of a pipeline, each with the name of its component."""
    models = [(name, getattr(pipe, "model", None)) for name, pipe in nlp.pipeline]
    return [(name, model) for name, model in models if isinstance(model, Model)]


def find_embeddings_in(model: Model) -> list[Model]:
    """Find the layers that are the "embed" of a tok2vec, or embedders described."""
    names = {description.name for description in get_descriptions()}
    found = [
        node.get_ref("embed") if node.has_ref("embed") else node
        for node in model.walk()
        if node.has_ref("embed") or node.name in names
    ]
    return list({layer.id: layer for layer in found}.values())


def find_embedders(nlp: Language) -> list[Embedder]:
    """Find embedders with a table for each attribute. Shared ones are there once."""
    kinds = find_table_kinds()
    found: dict[int, Embedder] = {}
    for name, model in find_models(nlp):
        for embedding in find_embeddings_in(model):
            nodes = list(embedding.walk())
            names = [node.name for node in nodes]
            layers = [node for node in nodes if node.name in kinds]
            extractors = [node for node in nodes if node.name == "extract_features"]
            if "charembed" in names or len(extractors) != 1 or not layers:
                continue
            attrs = check_attributes(extractors[0].attrs["columns"])
            tables = [kinds[n.name](n, attrs[n.attrs["column"]]) for n in layers]
            has_others = "static_vectors" in names or SUBWORDS in names
            found.setdefault(embedding.id, Embedder(name, tables, has_others))
    return list(found.values())


def find_code_columns(nlp: Language) -> list[tuple[str, Coded]]:
    """Find what embeds attributes by codes, with the names of components."""
    finders = {d.name: d.find_columns for d in get_descriptions() if d.find_columns}
    return [
        (name, column)
        for name, model in find_models(nlp)
        for node in model.walk()
        if node.name in finders
        for column in finders[node.name](node)
    ]


def give_symbols(
    embedder: Embedder, nlp: Language, train: Vocabulary
) -> list[TableColumn]:
    """Return the tables, with the symbols that initialising would give to copies of
    their layers.
    """
    tables = []
    for table in embedder.tables:
        attrs = table.model.attrs
        if "symbol_taker" in attrs and attrs["symbols"] is None:
            layer = table.model.copy()
            symbols = _find_symbols(embedder.component, table.attr, nlp, train)
            symboltaker.give_symbols(layer, symbols)
            table = type(table)(layer, table.attr)
        tables.append(table)
    return tables


def _find_symbols(
    component: str, attr: str, nlp: Language, train: Vocabulary
) -> Symbols:
    config = nlp.config.interpolate()
    for keys, path in walk_dict(config["components"][component]):
        if keys[-1] == "tables" and path:
            return load_symbols(path).get_table(attr)
    callback = config["initialize"].get("before_init") or {}
    if callback.get("@callbacks") != COUNT_SYMBOLS:
        raise ValueError(
            f"The table for {attr} in '{component}' has no symbols. Set "
            f'[initialize.before_init] to @callbacks = "{COUNT_SYMBOLS}", or the '
            "argument `tables` to a file made by `spacy hashembeds tables`."
        )
    values, counts = train.count_values(attr)
    return Symbols(values[counts >= callback.get("min_freq", 10)])
