"""Sizes of pipelines, in parameters and bytes."""

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
from spacy_hashembeds.tools.analyze.corpus import collect_vocabulary
from spacy_hashembeds.tools.analyze.embedders import (
    Measures,
    find_embedders,
    find_embeddings_in,
    find_models,
    measure_size,
)
from spacy_hashembeds.training.docbin import read_examples

# Thinc's layer in spaCy's bag of words, with a row of weights for each hash of an
# n-gram, and a column for each class.
_LINEAR = "sparse_linear"


def measure_sizes(model: Path, train: Path) -> dict[str, Any]:
    """Measure a saved pipeline, and its tables with the vocabulary of training data."""
    nlp = load_model(model)
    tables = measure_tables(nlp, train)
    return {**count_sizes(nlp), "tables": tables, "bytes_on_disk": bytes_on_disk(model)}


def measure_tables(nlp: Language, train: Path) -> list[Measures]:
    """Measure each table. Tables of n-grams have no "vocabulary"."""
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


def count_sizes(nlp: Language) -> dict[str, int]:
    """Count the parameters of all components, without word vectors; of embeddings and
    spaCy's bag of words; and of the mixing layers of embeddings.
    """
    models = [model for _, model in find_models(nlp)]
    nodes = [node for model in models for node in model.walk()]
    embeddings = [layer for model in models for layer in find_embeddings_in(model)]
    embeddings += [layer for _, layer in _find_ngram_layers(nlp)]
    within = [node for model in embeddings for node in model.walk()]
    linear = [node for node in nodes if node.name == _LINEAR]
    mixers = (maxout_forward, layernorm_forward)
    return {
        "embedding_parameters": count_parameters([*embeddings, *linear]),
        "mixing_parameters": count_parameters(
            node for node in within if get_forward(node) in mixers
        ),
        "pipeline_parameters": count_parameters(models),
    }


def count_parameters(models: Iterable[Model]) -> int:
    """Count the parameters of models and PyTorch modules. Shared layers count once."""
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


def _find_ngram_layers(nlp: Language) -> Iterator[tuple[str, Model]]:
    """Yield the tables of n-gram classifiers, with the names of their components."""
    for name, model in find_models(nlp):
        for node in model.walk():
            if get_forward(node) is sum_ngrams_forward:
                yield name, node.layers[0]


def bytes_on_disk(folder: Path) -> int:
    """Sum the sizes of all files below a folder, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
