"""The pipeline that a corpus is analysed for, and its embedding layers."""

from collections.abc import Mapping, Sequence
from configparser import Error as ConfigParserError
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.util import dot_to_dict, load_config, load_model_from_config, walk_dict
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ..architectures.embedders.descriptions import find_table_kinds, get_descriptions
from ..architectures.embedders.hash_former_embed import WordColumn
from ..architectures.embedders.subword_embed import NAME as SUBWORDS
from ..inputs import check_attributes
from ..layers import symboltaker
from ..layers.symboltaker import Symbols
from ..layers.tableembed import TableColumn
from ..loading import check_variables, explain_missing_code, load_trained
from ..symbols import load_symbols
from .features import Vocabulary

#: A config, or its file.
ConfigSource = str | Path | dict[str, Any]
#: A pipeline, or its name or folder.
ModelSource = str | Path | Language
#: Config settings, with dotted keys as `spacy train` takes them.
Overrides = Mapping[str, Any]

LANG = "nlp.lang"
COUNT_SYMBOLS = "spacy-hashembeds.count_symbols.v1"


def name_source(argument: str, source: ConfigSource | ModelSource) -> str:
    """Name a config or pipeline for errors, by its argument where it is in memory."""
    return f"'{source if isinstance(source, str | Path) else argument}'"


def load_pipeline(
    *, config: ConfigSource | None, model: ModelSource | None, overrides: Overrides
) -> Language:
    """Load a pipeline, build one without initialising it, or make a blank one."""
    if config is not None:
        return _build(config, overrides)
    for key in overrides:
        if model is not None or key != LANG:
            source = "a corpus alone"
            if model is not None:
                source = f"the pipeline {name_source('model', model)}"
            raise ValueError(
                f"'{key}' is a setting of a config, but {source} has none. Leave it "
                "out, or give a config."
            )
    if model is not None:
        return _load(model)
    return spacy.blank(str(overrides.get(LANG, "xx")))


def _load(model: ModelSource) -> Language:
    return model if isinstance(model, Language) else load_trained(model)


def _build(config: ConfigSource, overrides: Overrides) -> Language:
    try:
        if isinstance(config, str | Path):
            if not Path(config).is_file():
                raise FileNotFoundError(f"There is no '{config}': give a .cfg file.")
            loaded = load_config(config, overrides=dict(overrides))
        else:
            loaded = Config(config).merge(dot_to_dict(dict(overrides)))
        check_variables(loaded)
        return load_model_from_config(loaded, auto_fill=True)
    except (ValueError, ConfigParserError, ImportError) as error:
        # spaCy names no file, and lays its messages out over many lines.
        reason = explain_missing_code(error) or " ".join(str(error).split())
        raise ValueError(
            f"{name_source('config', config)} should be a spaCy config, but no "
            f"pipeline can be built from it: {reason}"
        ) from error


def load_vectors(vectors: ModelSource | None, nlp: Language) -> Vocab | None:
    """Load the vocab whose vectors tokens are looked up in, or that of the pipeline."""
    if vectors is None:
        return nlp.vocab if nlp.vocab.vectors.size else None
    vocab = _load(vectors).vocab
    if not vocab.vectors.size:
        raise ValueError(
            f"{name_source('vectors', vectors)} should be a pipeline with word "
            "vectors, but has none. Make one with `spacy init vectors`."
        )
    return vocab


@dataclass(frozen=True, kw_only=True)
class Embedder:
    """An embedding layer of a pipeline."""

    component: str
    #: What each of those that have a table embeds, and the layer, in order.
    layers: Sequence[tuple[str, Model]]
    #: What is mixed in that may tell apart what the tables don't: word vectors, and the
    #: parameters of a `SubwordEmbed`, if there is one.
    has_vectors: bool
    subword_parameters: int = 0

    @property
    def tables(self) -> list[TableColumn]:
        """The tables of its layers."""
        kinds = find_table_kinds()
        return [kinds[layer.name](layer, attr) for attr, layer in self.layers]


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
    found: dict[int, Embedder] = {}
    for name, model in find_models(nlp):
        for embedding in find_embeddings_in(model):
            layers = _find_layers(embedding)
            if layers and embedding.id not in found:
                nodes = {node.name: node for node in embedding.walk()}
                subwords = nodes.get(SUBWORDS)
                found[embedding.id] = Embedder(
                    component=name,
                    layers=layers,
                    has_vectors="static_vectors" in nodes,
                    subword_parameters=subwords.get_dim("nV") * subwords.get_dim("nO")
                    if subwords
                    else 0,
                )
    return list(found.values())


def _find_layers(embedding: Model) -> list[tuple[str, Model]]:
    nodes = list(embedding.walk())
    extractors = [node for node in nodes if node.name == "extract_features"]
    if len(extractors) != 1 or any(node.name == "charembed" for node in nodes):
        return []
    kinds, attrs = find_table_kinds(), check_attributes(extractors[0].attrs["columns"])
    return [(attrs[node.attrs["column"]], node) for node in nodes if node.name in kinds]


def find_code_columns(nlp: Language) -> list[tuple[str, WordColumn]]:
    """Find what embeds attributes by codes, with the names of components."""
    finders = {d.name: d.find_columns for d in get_descriptions() if d.find_columns}
    return [
        (name, column)
        for name, model in find_models(nlp)
        for node in model.walk()
        if node.name in finders
        for column in finders[node.name](node)
    ]


def give_symbols(embedder: Embedder, nlp: Language, train: Vocabulary) -> Embedder:
    """Give copies of layers the symbols that initialising would give them."""
    layers = []
    for attr, layer in embedder.layers:
        if "symbol_taker" in layer.attrs and layer.attrs["symbols"] is None:
            layer = layer.copy()
            symbols = _find_symbols(embedder.component, attr, nlp, train)
            symboltaker.give_symbols(layer, symbols)
        layers.append((attr, layer))
    return replace(embedder, layers=layers)


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
            f"The table for {attr} in '{component}' has no "
            "symbols, and the config does not say where they come from. Set "
            f'[initialize.before_init] to @callbacks = "{COUNT_SYMBOLS}", or the '
            "argument `tables` to a file made by `spacy hashembeds tables`."
        )
    values, counts = train.count_values(attr)
    is_frequent = counts >= callback.get("min_freq", 10)
    return Symbols(values[is_frequent], values[~is_frequent])
