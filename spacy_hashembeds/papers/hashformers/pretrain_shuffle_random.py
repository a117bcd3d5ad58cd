from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vocab import Vocab
from thinc.api import Dropout, Model, Ops, Softmax, chain
from thinc.types import Floats2d

from ...arguments import check_shares
from ...layers.loss import get_cross_entropy
from ...training.rawtexts import MEASURES, pack_doc, unpack_doc

InT = list[Doc]
OutT = tuple[Floats2d, NDArray]

#: Classes of tokens: original word, word from the same text, word from another text.
INTACT, SHUFFLED, RANDOM = CLASSES = (0, 1, 2)


def PretrainShuffleRandom(
    *, shuffle: float = 0.1, random: float = 0.1
) -> Callable[[Vocab, Model], Model[InT, OutT]]:
    """Teach a tok2vec by `spacy pretrain` to tell which words are out of place.

    Some words of a text are replaced by words of the same text ("shuffled"), some by
    words of other texts in the batch ("random"), which should have many texts
    (`pretraining.batcher`). An affine layer and a softmax classify each token by its
    vector. Without a vocabulary to predict, this is fast and works for any embedder.

    All attributes of a word that embedders read are replaced, except the white space
    after it. A token with an equal new word (ORTH) is intact. Annotation, such as tags,
    is removed. With `spacy-hashembeds.RawTexts.v1`, the held-out loss is measured.

    shuffle (float): Share of shuffled tokens, below 1. Not specified in the paper; 0.1
        is the value in the authors' earlier code.
    random (float): Share of random tokens among the others, below 1: by default 9% of
        all.
    RETURNS (Callable[[Vocab, Model], Model]): Creates the model that `spacy pretrain`
        trains, with output probabilities, `(n, 3)`, and true classes, `(n,)`. The loss
        is the cross-entropy in nats, summed over tokens; the gradient is the mean's.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §3.6, after Yamaguchi et al., "Frustratingly Simple
    Pretraining Alternatives to Masked Language Modeling" (2021).
    """
    check_shares(shuffle=shuffle, random=random)

    def create_objective(vocab: Vocab, tok2vec: Model) -> Model[InT, OutT]:
        # weights start at zero: no gradient for the tok2vec in the first step
        softmax = Softmax(len(CLASSES))
        return Model(
            "shuffle_random",
            forward,
            init=init,
            layers=[tok2vec, chain(Dropout(), softmax)],
            refs={"tok2vec": tok2vec, "output_layer": softmax},
            attrs={"shares": {"shuffle": shuffle, "random": random}, "loss": get_loss},
        )

    return create_objective


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], InT]]:
    tok2vec, output = model.layers
    lengths: Any = np.array([len(doc) for doc in docs], dtype="int32")
    labels = np.full(lengths.sum(), INTACT)
    if not lengths.any():
        return (model.ops.alloc2f(0, len(CLASSES)), labels), lambda d_scores: []
    if is_train:
        # for readers with held-out texts
        MEASURES.get(docs[0], {}).update(loss=partial(measure_loss, model))
        docs, labels = corrupt_docs(docs, **model.attrs["shares"])
    vectors, backprop_tok2vec = tok2vec(docs, is_train)
    # "tok2vec" of `ner` and parsers returns one array for all Docs
    is_list = isinstance(vectors, list)
    X = model.ops.flatten(vectors) if is_list else vectors
    probs, backprop_output = output(X, is_train)

    def backprop(d_scores: Floats2d) -> InT:
        dX = backprop_output(d_scores)
        return backprop_tok2vec(model.ops.unflatten(dX, lengths) if is_list else dX)

    return (probs, labels), backprop


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    tok2vec, output = model.layers
    tok2vec.initialize(X=X)
    model.get_ref("output_layer").set_dim("nI", tok2vec.get_dim("nO"))
    output.initialize()


def get_loss(ops: Ops, docs: InT, predictions: OutT) -> tuple[float, Floats2d]:
    """Return the summed cross-entropy of tokens in nats, and the mean's gradient."""
    loss, gradient = get_cross_entropy(ops, *predictions)
    return loss, gradient / max(1, len(gradient))


def measure_loss(model: Model[InT, OutT], docs: Iterable[Doc]) -> float:
    """Measure the mean loss per token in nats, without dropout, with seeded draws."""
    settings = {**model.attrs["shares"], "draws": np.random.RandomState(0)}
    total, n = 0.0, 0
    for batch in minibatch(docs, 128):
        corrupted, labels = corrupt_docs(batch, **settings)
        probs, _ = model.predict(corrupted)
        total += get_cross_entropy(model.ops, probs, labels)[0]
        n += len(labels)
    return total / max(1, n)


def corrupt_docs(docs: Sequence[Doc], **settings: Any) -> tuple[list[Doc], NDArray]:
    """Replace words of Docs by `corrupt`. Return new Docs, and classes."""
    tokens = np.concatenate([pack_doc(doc) for doc in docs])
    lengths = np.array([len(doc) for doc in docs])
    sources, labels = corrupt(tokens[:, 0], lengths, **settings)
    tokens[:, :2] = tokens[sources, :2]
    parts = np.split(tokens, lengths.cumsum()[:-1])
    return [unpack_doc(docs[0].vocab, part) for part in parts], labels


def corrupt(
    words: NDArray,
    lengths: NDArray,
    *,
    shuffle: float,
    random: float,
    draws: Any = np.random,
) -> tuple[NDArray, NDArray]:
    """Draw the tokens of a batch to replace, and the new words.

    Shuffled tokens get the word of another token of the text. Random tokens, drawn from
    the others, get the word of a token of another text. All are equally likely. If
    there are none, or the word is equal, the token is intact.

    *Shapes:* words, `(n,)`, to the index of the new word, and the class, `(n,)`.
    """
    n, places = len(words), np.arange(len(words))
    sizes = np.repeat(lengths, lengths)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    is_shuffled = draws.uniform(size=n) < shuffle
    is_random = ~is_shuffled & (draws.uniform(size=n) < random)
    # draw distances to other tokens, modulo the length of the text, which lead back to
    # the token itself in a text of one token
    within = 1 + draws.randint(np.maximum(sizes - 1, 1))
    beyond = starts + sizes + draws.randint(np.maximum(n - sizes, 1))
    sources = np.where(is_shuffled, starts + (places - starts + within) % sizes, places)
    sources = np.where(is_random & (sizes < n), beyond % max(n, 1), sources)
    labels = np.where(is_shuffled, SHUFFLED, np.where(is_random, RANDOM, INTACT))
    labels[words[sources] == words] = INTACT
    return sources, labels
