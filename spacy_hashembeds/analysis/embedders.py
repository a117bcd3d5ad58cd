"""The embedding layers of a pipeline, and the symbols that they will have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spacy.language import Language
from spacy.util import walk_dict
from thinc.api import Model

from ..architectures.embedders.descriptions import find_table_kinds, get_descriptions
from ..architectures.embedders.hash_former_embed import WordColumn
from ..architectures.embedders.table_kinds import Table
from ..checks import check_attributes
from ..layers import symboltaker
from ..layers.symboltaker import Symbols
from ..symbols import load_symbols
from .features import Vocabulary

COUNT_SYMBOLS = "spacy-hashembeds.count_symbols.v1"


@dataclass(frozen=True, kw_only=True)
class Embedder:
    """An embedding layer of a pipeline."""

    component: str
    #: What each of those that have a table embeds, and the layer, in order.
    layers: Sequence[tuple[str, Model]]
    #: Whether word vectors are mixed in, which may tell apart what the tables don't.
    has_vectors: bool

    @property
    def tables(self) -> list[Table]:
        """The tables of its layers."""
        kinds = find_table_kinds()
        return [kinds[layer.name].read(layer, attr) for attr, layer in self.layers]


def find_models(nlp: Language) -> list[tuple[str, Model]]:
    """Find the models of a pipeline, each with the name of its component."""
    models = [(name, getattr(pipe, "model", None)) for name, pipe in nlp.pipeline]
    return [(name, model) for name, model in models if isinstance(model, Model)]


def find_embeddings_in(model: Model) -> list[Model]:
    """Find the embedding layers of a component: what tok2vec layers name as their
    "embed", and the embedders that have descriptions wherever they are.
    """
    names = {description.name for description in get_descriptions()}
    found = [
        node.get_ref("embed") if node.has_ref("embed") else node
        for node in model.walk()
        if node.has_ref("embed") or node.name in names
    ]
    return list({layer.id: layer for layer in found}.values())


def find_embedders(nlp: Language) -> list[Embedder]:
    """Find the embedding layers of a pipeline that have a table for each attribute.

    These are `spacy.MultiHashEmbed`, that of `spacy.HashEmbedCNN`, and those whose
    descriptions say so. A layer that several components share is there once.
    """
    found: dict[int, Embedder] = {}
    for name, model in find_models(nlp):
        for embedding in find_embeddings_in(model):
            layers = _find_layers(embedding)
            if layers and embedding.id not in found:
                has_vectors = any(n.name == "static_vectors" for n in embedding.walk())
                found[embedding.id] = Embedder(
                    component=name, layers=layers, has_vectors=has_vectors
                )
    return list(found.values())


def _find_layers(embedding: Model) -> list[tuple[str, Model]]:
    """Find what has tables in a layer, if it is an embedding by attributes alone."""
    nodes = list(embedding.walk())
    extractors = [node for node in nodes if node.name == "extract_features"]
    if len(extractors) != 1 or any(node.name == "charembed" for node in nodes):
        return []
    kinds, attrs = find_table_kinds(), check_attributes(extractors[0].attrs["columns"])
    return [(attrs[node.attrs["column"]], node) for node in nodes if node.name in kinds]


def find_code_columns(nlp: Language) -> Iterator[tuple[str, WordColumn]]:
    """Find what embeds attributes by codes, with the names of components."""
    finders = {d.name: d.find_columns for d in get_descriptions() if d.find_columns}
    for name, model in find_models(nlp):
        for node in model.walk():
            if node.name in finders:
                yield from ((name, column) for column in finders[node.name](node))


def give_symbols(embedder: Embedder, nlp: Language, train: Vocabulary) -> Embedder:
    """Give layers the symbols that initialising the pipeline would give them.

    train (Vocabulary): What the training corpus holds.
    RAISES (OSError): If the file in the argument `tables` is not there.
    RAISES (ValueError): If the config says nowhere which symbols get a row, or a layer
        refuses them.
    RETURNS (Embedder): The embedder with copies of these layers.
    """
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
            found = load_symbols(path).get_table(attr)
            return Symbols(found.symbols, found.rare)
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
