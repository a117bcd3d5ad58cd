"""Parameters of a pipeline, whatever its layers are."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import load_model
from thinc.api import Model, PyTorchShim

from spacy_hashembeds.architectures.descriptions import find_table_kinds
from spacy_hashembeds.papers.hash_embeddings.hash_ngram_textcat import KEY as NGRAMS
from spacy_hashembeds.papers.hash_embeddings.ngrams import forward as sum_ngrams_forward
from spacy_hashembeds.thinc_internals import (
    get_forward,
    layernorm_forward,
    maxout_forward,
)
from spacy_hashembeds.tools.analyze.features import collect_vocabulary
from spacy_hashembeds.tools.analyze.measures import Measures, measure_size
from spacy_hashembeds.tools.analyze.pipelines import (
    find_embedders,
    find_embeddings_in,
    find_models,
)
from spacy_hashembeds.training.docbin import read_examples

# Thinc's layer in spaCy's bag of words, which has a row of weights for each n-gram's
# hash, and in it one for each class.
_LINEAR = "sparse_linear"

# What mixes the columns of an embedding to one vector.
_MIXERS = (maxout_forward, layernorm_forward)


def measure_sizes(model: Path, train: Path) -> dict[str, Any]:
    """Measure a saved pipeline, its tables by the vocabulary of the training corpus."""
    nlp = load_model(model)
    return {
        "embedding_parameters": count_embedding_parameters(nlp),
        "mixing_parameters": count_mixing_parameters(nlp),
        "tables": measure_tables(nlp, train),
        "pipeline_parameters": count_pipeline_parameters(nlp),
        "bytes_on_disk": bytes_on_disk(model),
    }


def measure_tables(nlp: Language, train: Path) -> list[Measures]:
    """Measure each embedding table of a trained pipeline, with its "component".

    Those of n-grams, which nobody counts, have no "vocabulary".
    """
    kinds = find_table_kinds()
    tables = []
    for name, layer in _find_ngram_layers(nlp):
        size = measure_size(kinds[layer.name](layer, NGRAMS), 0)
        del size["standard"]["vocabulary"]
        tables.append({"component": name, **size})
    embedders = find_embedders(nlp)
    attrs = {table.attr for embedder in embedders for table in embedder.tables}
    if not attrs:
        return tables
    docs = (example.predicted for example in read_examples(train, nlp))
    vocabulary = collect_vocabulary(docs, sorted(attrs))
    n_values = {attr: len(vocabulary.count_values(attr)[0]) for attr in attrs}
    return tables + [
        {"component": embedder.component, **measure_size(table, n_values[table.attr])}
        for embedder in embedders
        for table in embedder.tables
    ]


def count_parameters(models: Iterable[Model]) -> int:
    """Count the numbers in all parameters of models, shared layers once.

    Those of PyTorch modules too, also where training leaves them as they are.
    """
    nodes = {node.id: node for model in models for node in model.walk()}
    own = sum(
        node.get_param(name).size
        for node in nodes.values()
        for name in node.param_names
        if node.has_param(name)
    )
    # modules may share parameters
    of_torch = {
        id(parameter): parameter.numel()
        for node in nodes.values()
        for shim in node.shims
        if isinstance(shim, PyTorchShim)
        for parameter in shim._model.parameters()
    }
    return own + sum(of_torch.values())


def find_embeddings(nlp: Language) -> list[Model]:
    """Find the embedding layers of a pipeline, and the tables of n-grams."""
    models = [model for _, model in find_models(nlp)]
    found = [layer for model in models for layer in find_embeddings_in(model)]
    return found + [layer for _, layer in _find_ngram_layers(nlp)]


def count_embedding_parameters(nlp: Language) -> int:
    """Count parameters of embeddings, what mixes them, and spaCy's bag of words."""
    nodes = (node for _, model in find_models(nlp) for node in model.walk())
    linear = (node for node in nodes if node.name == _LINEAR)
    return count_parameters([*find_embeddings(nlp), *linear])


def count_mixing_parameters(nlp: Language) -> int:
    """Count parameters that mix tables: of Maxout and layer normalisation."""
    nodes = (node for model in find_embeddings(nlp) for node in model.walk())
    return count_parameters(node for node in nodes if get_forward(node) in _MIXERS)


def count_pipeline_parameters(nlp: Language) -> int:
    """Count the parameters of all components, without word vectors of the vocab."""
    return count_parameters(model for _, model in find_models(nlp))


def _find_ngram_layers(nlp: Language) -> Iterator[tuple[str, Model]]:
    """Find the tables of n-gram classifiers, with the names of their components."""
    for name, model in find_models(nlp):
        for node in model.walk():
            if get_forward(node) is sum_ngrams_forward:
                yield name, node.layers[0]


def bytes_on_disk(folder: Path) -> int:
    """Sum the sizes of all files below a folder, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
