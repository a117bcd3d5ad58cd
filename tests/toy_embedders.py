"""Small embedders of all kinds, and changes of their weights."""

import copy
from functools import partial
from itertools import chain

import numpy as np
import spacy
from spacy.tokens import Doc, Token
from spacy.vectors import Vectors
from spacy.vocab import Vocab
from thinc.api import Adam, Model

from spacy_hashembeds.architectures.multi_embed import MultiEmbed
from spacy_hashembeds.architectures.multi_fewer_hash_embed import MultiFewerHashEmbed
from spacy_hashembeds.architectures.subword_embed import SubwordEmbed
from spacy_hashembeds.layers.checks import peek
from spacy_hashembeds.layers.vocabulary import assign_symbols, find_vocabulary_layers
from spacy_hashembeds.papers.hash_embeddings.multi_weighted_hash_embed import (
    MultiWeightedHashEmbed,
)
from spacy_hashembeds.training.counting import count_values, filter_symbols

ATTRS = ["NORM", "SHAPE", "SUFFIX"]
FEATURES = ["_.toy_stored", "NORM", "_.toy_initial"]
Token.set_extension("toy_stored", default=None, force=True)


def get_initial(token: Token) -> str:
    """Return the first character. A lambda could not be pickled."""
    return token.text[0]


Token.set_extension("toy_initial", getter=get_initial, force=True)
WORDS = ["a", "A", "bb", "Zürich", "x1", "the", "12", "!", "bbb", "Bb", "été", "n't"]


def make_vocab(seed=0, attr="ORTH") -> Vocab:
    """Make a vocab with vectors for half of the words.

    No row is zero, and two rows belong to no word, so that the vectors of other words
    are zero only if code sets them to zero.
    """
    vocab, words = spacy.blank("en").vocab, WORDS[::2]
    shape = len(words) + 2, 5
    data = np.random.default_rng(seed).normal(size=shape).astype("f")
    vocab.vectors = Vectors(strings=vocab.strings, data=data, keys=words, attr=attr)
    return vocab


def make_docs(vocab, lengths=(3, 0, 7, 1), seed=0) -> list[Doc]:
    state = np.random.default_rng(seed)
    docs = [
        Doc(vocab, words=state.choice(WORDS, length).tolist()) for length in lengths
    ]
    for token in chain.from_iterable(docs):
        token._.toy_stored = [True, 2, "3", None][token.i % 4]
    return docs


SMALL = {"width": 6, "attrs": ATTRS, "include_static_vectors": False}


def build_hash(vocab, *, num_hashes=4, **options) -> Model:
    rows = [11, 7, 5][: len(options.get("attrs", ATTRS))]
    options = {**SMALL, **options}
    model = MultiFewerHashEmbed(rows=rows, num_hashes=num_hashes, **options)
    return model.initialize(X=make_docs(vocab))


def build_lookup(vocab, **options) -> Model:
    return initialize(MultiEmbed(**{**SMALL, **options}), vocab)


def build_weighted(vocab, **options) -> Model:
    model = MultiWeightedHashEmbed(**{**SMALL, "rows": [11, 7, 5], **options})
    initialize(model, vocab)
    state = np.random.default_rng(0)
    for node in get_nodes(model, "weightedhashembed"):
        P = node.get_param("P")
        P[...] = state.normal(size=P.shape)
    return model


def initialize(model, vocab) -> Model:
    """Initialize an embedder, with symbols for the layers that need them."""
    docs = make_docs(vocab)
    return give_counted(model, docs).initialize(X=docs)


def give_counted(model, docs, *, min_freq=2) -> Model:
    """Count the symbols of Docs, and pass them to the layers that need them."""
    for layer in find_vocabulary_layers(model):
        attr = layer.attrs["key"]
        tables = filter_symbols(
            count_values(docs, [attr]), min_freq=min_freq, lang="en"
        )
        assign_symbols(layer, tables.get_table(attr))
    return model


def build_subwords(**options) -> Model:
    return SubwordEmbed(**{"rows": 13, "width": 5, "minn": 2, "maxn": 3, **options})


BUILDERS = {
    "one hash": partial(build_hash, num_hashes=1),
    "four hashes": build_hash,
    "one column": partial(build_hash, attrs=["NORM"]),
    "one piece": partial(build_hash, maxout_pieces=1),
    "vectors": partial(build_hash, include_static_vectors=True),
    "width 8, vectors": partial(build_lookup, width=8, include_static_vectors=True),
    "lookup": build_lookup,
    "lookup, unk 2": partial(build_lookup, unk=2),
    "weighted": partial(build_weighted, importance_rows=[50, 30, 20]),
    "weighted, same hash": partial(
        build_weighted, importance_rows=[50, 30, 20], num_hashes=3, same_hash=True
    ),
    "weighted, four hashes": partial(
        build_weighted, importance_rows=[51, 30, 21], num_hashes=4
    ),
    "weighted, symbols": build_weighted,
    "weighted, symbols, same hash": partial(build_weighted, same_hash=True),
    "weighted, side by side": partial(
        build_weighted, num_hashes=3, combine="concat", append_weights=True
    ),
    "weighted, vectors": partial(
        build_weighted, num_hashes=3, same_hash=True, include_static_vectors=True
    ),
    "subwords": lambda vocab: build_lookup(vocab, subwords=build_subwords()),
    "subwords, three hashes, vectors": lambda vocab: build_hash(
        vocab,
        num_hashes=3,
        include_static_vectors=True,
        subwords=build_subwords(num_hashes=2, attr="ORTH"),
    ),
    "subwords, weighted": lambda vocab: build_weighted(
        vocab, width=8, subwords=build_subwords(rows=1, attr="SHAPE")
    ),
    "features": partial(build_hash, attrs=FEATURES),
    "features, lookup": partial(build_lookup, attrs=FEATURES),
    "features, weighted": partial(build_weighted, attrs=FEATURES),
    "lookup, no dropout": partial(build_lookup, dropout=None),
}


def get_nodes(model, *names) -> list[Model]:
    return [node for node in model.walk() if node.name in names]


def get_weights(model) -> list[tuple[Model, str]]:
    return [(node, name) for node in model.walk() for name in node.param_names]


def note_calls(node) -> list:
    """Wrap a node without its name, and record the inputs of its calls."""
    inputs = []
    forward = node._func

    def wrapped(model, X, is_train):
        inputs.append(X)
        return forward(model, X, is_train)

    node.replace_callbacks(wrapped, init=node.init)
    return inputs


def change_in_place(model, docs):
    for node, name in get_weights(model):
        node.get_param(name)[...] *= -1.5


def change_a_unit(model, docs):
    node = get_nodes(model, "maxout")[0]
    node.get_param("W")[0, :, 0] += 3


def replace(model, docs):
    for node, name in get_weights(model):
        node.set_param(name, node.get_param(name) * 2 - 0.1)


def hand_back(model, docs):
    for node, name in get_weights(model):
        W = peek(node, name)  # like an array from an earlier call
        W *= -1.5
        node.set_param(name, W)


def train(model, docs):
    Y, backprop = model.begin_update(docs)
    backprop([np.ones_like(y) for y in Y])
    # the annotating component of a training loop predicts before the update ends
    model.predict(docs)
    model.predict(docs)
    optimizer = Adam(0.5)
    model.finish_update(optimizer)
    Y, backprop = model.begin_update(docs)
    backprop([np.ones_like(y) for y in Y])
    model.finish_update(optimizer)


def load(model, docs):
    other = copy.deepcopy(model)
    change_in_place(other, docs)
    model.from_bytes(other.to_bytes())


CHANGES = [change_in_place, change_a_unit, replace, hand_back, train, load]


def get_gradients(model) -> list:
    return [
        node.get_grad(name)
        for node in model.walk()
        for name in node.param_names
        if node.has_grad(name)
    ]


def make_gradient(Ys) -> list[np.ndarray]:
    state = np.random.default_rng(0)
    return [state.normal(size=Y.shape).astype("f") for Y in Ys]


def update(model, docs, dYs) -> list[np.ndarray]:
    Ys, backprop = model.begin_update(docs)
    assert backprop(dYs) == []
    return Ys


def assert_close(actual, expected):
    scale = max(1, abs(expected).max(initial=0))
    np.testing.assert_allclose(actual / scale, expected / scale, atol=1e-5)


def assert_gradients_close(actual, expected):
    """Compare gradients, relative to the largest one.

    Where dropout leaves rows with a small variance, layer normalization multiplies
    rounding errors by up to 10,000.
    """
    assert len(actual) == len(expected) > 0
    scale = max(1, *(abs(grad).max(initial=0) for grad in expected))
    for grad, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(grad / scale, other / scale, atol=1e-5)
