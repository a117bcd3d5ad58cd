"""Parameters of a pipeline, whatever its layers are."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.language import Language
from thinc.api import Model, PyTorchShim

from spacy_hashembeds.analysis.features import collect_vocabulary
from spacy_hashembeds.analysis.measures import Measures, measure_size
from spacy_hashembeds.analysis.pipelines import (
    find_embedders,
    find_embeddings_in,
    find_models,
)
from spacy_hashembeds.architectures.classifiers.hash_ngram_textcat import KEY as NGRAMS
from spacy_hashembeds.architectures.embedders.descriptions import find_table_kinds
from spacy_hashembeds.corpora.docbin import read_examples
from spacy_hashembeds.layers.sumngrams import forward as sum_ngrams_forward
from spacy_hashembeds.thinc_internals import (
    get_forward,
    layernorm_forward,
    maxout_forward,
)

# Thinc's layer in spaCy's bag of words, which has a row of weights for each n-gram's
# hash, and in it one for each class.
_LINEAR = "sparse_linear"

# What mixes the columns of an embedding to one vector.
_MIXERS = (maxout_forward, layernorm_forward)


def measure_sizes(nlp: Language, train: Path) -> list[Measures]:
    """Measure each embedding table of a trained pipeline, with its "component".

    Those that `find_embedders` finds, by the vocabulary of the training corpus, and
    those of n-grams, which nobody counts, so that they have no "vocabulary".
    """
    kinds = find_table_kinds()
    of_ngrams = [
        {"component": name, **measure_size(kinds[layer.name](layer, NGRAMS), 0)}
        for name, layer in _find_ngram_layers(nlp)
    ]
    for table in of_ngrams:
        del table["standard"]["vocabulary"]
    embedders = find_embedders(nlp)
    attrs = {table.attr for embedder in embedders for table in embedder.tables}
    if not attrs:
        return of_ngrams
    docs = (example.predicted for example in read_examples(train, nlp))
    vocabulary = collect_vocabulary(docs, sorted(attrs))
    n_values = {attr: len(vocabulary.count_values(attr)[0]) for attr in attrs}
    return of_ngrams + [
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
    found += [layer for _, layer in _find_ngram_layers(nlp)]
    return list({layer.id: layer for layer in found}.values())


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
