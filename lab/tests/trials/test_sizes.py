"""Parameters, counted by hand."""

from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import registry
from spacy.vectors import Vectors
from thinc.api import Linear, Maxout, Model, PyTorchWrapper, chain, with_array

from lab.trials.sizes import (
    count_embedding_parameters,
    count_mixing_parameters,
    count_parameters,
    count_pipeline_parameters,
    find_embeddings,
)
from spacy_hashembeds.symbols import count_values, cut_symbols, save_symbols
from spacy_hashembeds.thinc_internals import chain_forward, chain_init

WIDTH = 8
WORDS = ["one", "two", "two"]  # two norms, and one shape: xxx
TAGS = ["A", "B", "C"]

# Maxout of two concatenated tables with 3 pieces, and its layer normalization.
MIX = WIDTH * 3 * 2 * WIDTH + WIDTH * 3 + 2 * WIDTH
HASHED = (20 + 30) * WIDTH + MIX
# A row for each symbol and, in each table, one for the unknown.
LOOKED_UP = (2 + 1 + 1 + 1) * WIDTH + MIX
# Maxout of a token and its two neighbours with 2 pieces, and its layer normalization.
ENCODER = WIDTH * 2 * 3 * WIDTH + WIDTH * 2 + 2 * WIDTH
SOFTMAX = WIDTH * len(TAGS) + len(TAGS)


def make_hash_embed(name: str, **settings: Any) -> dict[str, Any]:
    return {
        "@architectures": name,
        "width": WIDTH,
        "attrs": ["NORM", "SHAPE"],
        "rows": [20, 30],
        "include_static_vectors": False,
        **settings,
    }


def make_multi_embed(tables: Path) -> dict[str, Any]:
    docs = [spacy.tokens.Doc(spacy.blank("en").vocab, words=WORDS)]
    counts = count_values(docs, ["NORM", "SHAPE"])
    save_symbols(tables, cut_symbols(counts, min_freq=1, lang="en"))
    return {
        "@architectures": "spacy-hashembeds.MultiEmbed.v1",
        "width": WIDTH,
        "attrs": ["NORM", "SHAPE"],
        "tables": str(tables),
        "include_static_vectors": False,
    }


EMBEDDERS = {
    "stock": (make_hash_embed("spacy.MultiHashEmbed.v2"), HASHED),
    "hash": (
        make_hash_embed("spacy-hashembeds.MultiFewerHashEmbed.v1", num_hashes=1),
        HASHED,
    ),
    "lookup": (None, LOOKED_UP),
}


@pytest.fixture(params=EMBEDDERS)
def embedder(request, tmp_path: Path) -> tuple[dict[str, Any], int]:
    """The config of an embedder, and how many parameters it has."""
    config, expected = EMBEDDERS[request.param]
    return config or make_multi_embed(tmp_path / "tables.npz"), expected


def make_tok2vec(embed: dict[str, Any]) -> dict[str, Any]:
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": embed,
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": WIDTH,
            "window_size": 1,
            "maxout_pieces": 2,
            "depth": 1,
        },
    }


def add_tagger(nlp: Language, name: str, tok2vec: dict[str, Any]) -> None:
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
    nlp.add_pipe("tagger", name=name, config={"model": model})


def initialize(nlp: Language) -> Language:
    doc = spacy.tokens.Doc(nlp.vocab, words=WORDS)
    nlp.initialize(lambda: [Example.from_dict(doc, {"tags": TAGS})])
    return nlp


def test_a_layer_shared_through_listeners_counts_once(embedder):
    embed, expected = embedder
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")  # has no model
    nlp.add_pipe("tok2vec", config={"model": make_tok2vec(embed)})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH}
    add_tagger(nlp, "tagger", listener)
    add_tagger(nlp, "second", listener)
    initialize(nlp)
    assert len(find_embeddings(nlp)) == 1
    assert count_embedding_parameters(nlp) == expected
    # of the encoder's Maxout layer, nothing
    assert count_mixing_parameters(nlp) == MIX
    assert count_pipeline_parameters(nlp) == expected + ENCODER + 2 * SOFTMAX


def test_layers_that_are_not_shared_count_each(embedder):
    embed, expected = embedder
    nlp = spacy.blank("en")
    add_tagger(nlp, "tagger", make_tok2vec(embed))
    add_tagger(nlp, "second", make_tok2vec(embed))
    initialize(nlp)
    assert len(find_embeddings(nlp)) == 2
    assert count_embedding_parameters(nlp) == 2 * expected
    assert count_mixing_parameters(nlp) == 2 * MIX
    total = 2 * (expected + ENCODER + SOFTMAX)
    assert count_pipeline_parameters(nlp) == total


@pytest.mark.parametrize("embedder", ["hash", "lookup"], indirect=True)
def test_our_layers_are_found_without_a_tok2vec_around_them(embedder):
    embed, expected = embedder
    nlp = spacy.blank("en")
    add_tagger(nlp, "tagger", embed)
    initialize(nlp)
    assert count_embedding_parameters(nlp) == expected
    assert count_pipeline_parameters(nlp) == expected + SOFTMAX


def test_the_weights_of_a_bag_of_words_are_its_table():
    """A row for each n-gram's hash, in it one number for each class; and the biases."""
    nlp = spacy.blank("en")
    model = {"@architectures": "spacy.TextCatBOW.v3", "exclusive_classes": True}
    model |= {"ngram_size": 1, "no_output_layer": False, "length": 64}
    pipe: Any = nlp.add_pipe("textcat", config={"model": model})
    for label in TAGS:
        pipe.add_label(label)
    nlp.initialize()
    assert find_embeddings(nlp) == []
    assert count_mixing_parameters(nlp) == 0
    assert count_embedding_parameters(nlp) == 64 * len(TAGS) + len(TAGS)
    assert count_pipeline_parameters(nlp) == count_embedding_parameters(nlp)


def test_a_pipeline_without_layers():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    assert find_embeddings(nlp) == []
    assert count_embedding_parameters(nlp) == count_pipeline_parameters(nlp) == 0
    assert count_mixing_parameters(nlp) == 0


@registry.architectures("tests.CompressedEmbed.v1")
def make_compressed_embed(width: int, is_mixed: bool) -> Model:
    """An embedder of layers that nobody here knows by their names."""
    projection: Model = Model(
        "projcompressor",
        lambda model, docs, is_train: (
            [model.ops.alloc2f(len(doc), width) for doc in docs],
            lambda dYs: [],
        ),
        init=lambda model, X=None, Y=None: model.set_param(
            "W", model.ops.alloc2f(width, 128)
        ),
        dims={"nO": width},
        params={"W": None},
    )
    mixer = [with_array(Maxout(width, width, nP=3, normalize=True))] * is_mixed
    return Model(
        "hash_former_embed",
        chain_forward,
        init=chain_init,
        layers=[projection, *mixer],
        dims={"nO": width},
    )


@pytest.mark.parametrize("is_mixed", [False, True])
def test_whatever_is_in_an_embedder_counts(is_mixed):
    nlp = spacy.blank("en")
    embed = {"@architectures": "tests.CompressedEmbed.v1", "width": WIDTH}
    add_tagger(nlp, "tagger", make_tok2vec({**embed, "is_mixed": is_mixed}))
    initialize(nlp)
    mix = is_mixed * (WIDTH * 3 * WIDTH + WIDTH * 3 + 2 * WIDTH)
    assert count_mixing_parameters(nlp) == mix
    assert count_embedding_parameters(nlp) == 128 * WIDTH + mix
    total = 128 * WIDTH + mix + ENCODER + SOFTMAX
    assert count_pipeline_parameters(nlp) == total


def test_word_vectors_are_no_parameters_but_their_projection_is():
    nlp = spacy.blank("en")
    nlp.vocab.vectors = Vectors(data=numpy.ones((2, 5), "f"), keys=["one", "two"])
    embed = make_hash_embed("spacy.MultiHashEmbed.v2", include_static_vectors=True)
    add_tagger(nlp, "tagger", make_tok2vec(embed))
    initialize(nlp)
    mix = MIX + WIDTH * 3 * WIDTH  # of one column more
    assert count_mixing_parameters(nlp) == mix
    assert count_embedding_parameters(nlp) == HASHED - MIX + WIDTH * 5 + mix


@pytest.mark.torch
def test_parameters_of_torch_count_once_and_frozen_too():
    import torch

    module = torch.nn.Linear(3, 4)
    module.bias.requires_grad = False
    twice: Model = chain(PyTorchWrapper(module), Linear(2, 4), PyTorchWrapper(module))
    twice.layers[1].initialize()
    assert count_parameters([twice]) == 3 * 4 + 4 + 4 * 2 + 2


def test_a_layer_that_is_there_twice_counts_once():
    shared = Linear(3, 3)
    model: Model = chain(shared, Linear(2, 3), shared)
    model.initialize()
    linear = 3 * 3 + 3
    assert count_parameters([model]) == count_parameters([model, shared, model])
    assert count_parameters([model]) == linear + 2 * 3 + 2
    assert count_parameters([shared]) == linear


def test_parameters_that_are_not_set_count_nothing():
    assert count_parameters([Linear()]) == 0
