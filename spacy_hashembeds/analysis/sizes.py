"""How large a pipeline is, in parameters and on disk."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.language import Language
from thinc.api import Model, PyTorchShim
from thinc.layers.layernorm import forward as layernorm_forward
from thinc.layers.maxout import forward as maxout_forward

from ..architectures.embedders.descriptions import get_descriptions
from ..layers.sumngrams import forward as sum_ngrams_forward

# Thinc's layer in spaCy's bag of words, which has a row of weights for each n-gram's
# hash, and in it one for each class.
_LINEAR = "sparse_linear"

# What mixes the columns of an embedding to one vector.
_MIXERS = (maxout_forward, layernorm_forward)


def count_parameters(models: Iterable[Model]) -> int:
    """Count the numbers in all parameters of models, shared layers once.

    Those of wrapped PyTorch modules are among them, also where training leaves them as
    they are.
    """
    nodes = {node.id: node for model in models for node in model.walk()}
    own = sum(
        node.get_param(name).size
        for node in nodes.values()
        for name in node.param_names
        if node.has_param(name)
    )
    return own + sum(_find_torch_sizes(nodes.values()).values())


def _find_torch_sizes(nodes: Iterable[Model]) -> dict[int, int]:
    """Find the sizes of PyTorch's parameters, which modules may share, by identity."""
    return {
        id(parameter): parameter.numel()
        for node in nodes
        for shim in node.shims
        if isinstance(shim, PyTorchShim)
        for parameter in shim._model.parameters()
    }


def find_embeddings(nlp: Language) -> list[Model]:
    """Find the embedding layers of a pipeline, whichever component they are in.

    RETURNS (list[Model]): What tok2vec layers name as their "embed", the embedders that
        have descriptions wherever they are, and those of n-grams.
    """
    found = {
        embedding.id: embedding
        for _, model in find_models(nlp)
        for embedding in find_embeddings_in(model)
    }
    return list(found.values())


def find_embeddings_in(model: Model) -> list[Model]:
    """Find the embedding layers of one component: see `find_embeddings`."""
    names = {description.name for description in get_descriptions()}
    found: dict[int, Model] = {}
    for node in model.walk():
        if node.has_ref("embed"):
            found[node.get_ref("embed").id] = node.get_ref("embed")
        elif node._func is sum_ngrams_forward:
            found[node.layers[0].id] = node.layers[0]
        elif node.name in names:
            found[node.id] = node
    return list(found.values())


def count_embedding_parameters(nlp: Language) -> int:
    """Count the parameters of the embedding layers: tables and what mixes them.

    The weights of spaCy's bag of words count as such a table too.
    """
    return count_parameters([*find_embeddings(nlp), *_find_linear(nlp)])


def count_mixing_parameters(nlp: Language) -> int:
    """Count the parameters of embedding layers that mix the columns of their tables.

    They are part of `count_embedding_parameters`: those of Maxout layers, and of layer
    normalisation. The others are those of tables, codebooks and projections.
    """
    nodes = (node for model in find_embeddings(nlp) for node in model.walk())
    return count_parameters(node for node in nodes if node._func in _MIXERS)


def has_embeddings(nlp: Language) -> bool:
    """Say whether there is an embedding whose parameters can be told from others.

    There is none where no component has a model, and where tokens are embedded inside a
    PyTorch module, as in pretrained transformers.
    """
    return bool(find_embeddings(nlp)) or any(_find_linear(nlp))


def count_pipeline_parameters(nlp: Language) -> int:
    """Count the parameters of all components of a pipeline.

    Word vectors are not among them: they belong to the vocab, and nothing trains them.
    """
    return count_parameters(model for _, model in find_models(nlp))


def _find_linear(nlp: Language) -> Iterator[Model]:
    for _, model in find_models(nlp):
        yield from (node for node in model.walk() if node.name == _LINEAR)


def find_models(nlp: Language) -> list[tuple[str, Model]]:
    """Find the models of a pipeline, each with the name of its component."""
    models = [(name, getattr(pipe, "model", None)) for name, pipe in nlp.pipeline]
    return [(name, model) for name, model in models if isinstance(model, Model)]


def bytes_on_disk(path: str | Path) -> int:
    """Sum the sizes of a file, or of all files below a folder, in bytes."""
    path = Path(path)
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file_.stat().st_size for file_ in files if file_.is_file())
