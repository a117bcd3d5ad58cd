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

from ...checks import check_shares
from ...corpora.rawtexts import MEASURES, pack_doc, unpack_doc
from ...layers.checks import check_number
from ...layers.loss import get_cross_entropy
from ...layers.params import check_once

InT = list[Doc]
OutT = tuple[Floats2d, NDArray]

#: What became of a token: the word is the one that was there, is that of another token
#: of its text, or of another text.
INTACT, SHUFFLED, RANDOM = CLASSES = (0, 1, 2)


def PretrainShuffleRandom(
    *, shuffle: float = 0.1, random: float = 0.1
) -> Callable[[Vocab, Model], Model[InT, OutT]]:
    """Have `spacy pretrain` teach a tok2vec to tell which words are out of place.

    Some words of a text are replaced by others of the same text ("shuffled"), some by
    words of the other texts of the batch ("random"): have it hold many
    (`pretraining.batcher`). For each token an affine layer and a softmax tell from its
    vector whether the word is intact, shuffled or random. No vocabulary is predicted,
    so the objective is cheap and is for embedders of any words.

    A word is replaced with all that an embedder reads of it, its norm and its vector
    among them, but for the white space behind it. One that is replaced by the same word
    (ORTH) is intact. Annotation, as of a tagger, is not kept. Draws follow
    `training.seed`; `pretraining.dropout` is that of the tok2vec and of its output. The
    reader `spacy-hashembeds.RawTexts.v1` has it measure texts that are held out.

    shuffle (float): The share of tokens that are shuffled, below 1. The paper does not
        say; 0.1 is that of its authors' earlier code. With more, less context is left
        to tell by.
    random (float): The share of the others that are random, below 1, likewise: 9% of
        all by default. One of both is above 0.
    RETURNS (Callable[[Vocab, Model], Model]): Makes the model that `spacy pretrain`
        trains, of a tok2vec that gives each Doc, or all of them together, a float32
        array of shape `(tokens, nO)`. Its loss is the cross-entropy in nats, summed up
        over tokens, and the gradient is that of its mean.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §3.6, after Yamaguchi et al., "Frustratingly Simple
    Pretraining Alternatives to Masked Language Modeling" (2021).
    """
    check_shares(shuffle=shuffle, random=random)
    if not shuffle and not random:
        raise ValueError(
            "'shuffle' and 'random' should not both be 0: then every word is in its "
            "place, and there is nothing to learn. The default is 0.1 for each."
        )

    return lambda vocab, tok2vec: shuffle_random(
        tok2vec, shuffle=shuffle, random=random
    )


def shuffle_random(
    tok2vec: Model[InT, list[Floats2d] | Floats2d], *, shuffle: float, random: float
) -> Model[InT, OutT]:
    """Replace words of Docs, in training alone, and classify their tokens.

    *Output:* for the `n` tokens of all Docs the probabilities of the classes, float32
    of shape `(n, 3)`, and the right ones, integers of shape `(n,)`.
    """
    # with weights of zero: what is below gets its first gradient in the second step
    softmax = Softmax(len(CLASSES))
    return Model(
        "shuffle_random",
        forward,
        init=init,
        layers=[tok2vec, chain(Dropout(), softmax)],
        refs={"tok2vec": tok2vec, "output_layer": softmax},
        attrs={"shuffle": shuffle, "random": random, "loss": get_loss},
    )


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], InT]]:
    check_once(model, _check_shares)
    tok2vec, output = model.layers
    lengths: Any = np.array([len(doc) for doc in docs], dtype="int32")
    labels = np.full(lengths.sum(), INTACT)
    if not lengths.any():
        return (model.ops.alloc2f(0, len(CLASSES)), labels), lambda d_scores: []
    if is_train:
        # for a reader that holds texts out
        MEASURES.get(docs[0], {}).update(loss=partial(measure_loss, model))
        docs, labels = corrupt_docs(docs, **_get_shares(model))
    vectors, backprop_tok2vec = tok2vec(docs, is_train)
    # the layer "tok2vec" of `ner` and of a parser gives an array for all Docs
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
    """Sum up the cross-entropy of tokens in nats, and find the gradient of its mean.

    That is with respect to the scores before the softmax, `(n, 3)`.
    """
    loss, gradient = get_cross_entropy(ops, *predictions)
    if np.isnan(loss):
        raise ValueError(
            "The loss of pretraining is no number: weights grew without bounds. Set a "
            "lower 'learn_rate' in [pretraining.optimizer], and begin anew."
        )
    return loss, gradient / max(1, len(gradient))


def measure_loss(model: Model[InT, OutT], docs: Iterable[Doc]) -> float:
    """Measure the mean loss of a token, in nats, of which nothing is learned.

    That is without dropout, and with the same words replaced whenever it is measured.
    """
    draws = np.random.RandomState(0)
    total, n = 0.0, 0
    for batch in minibatch(docs, 128):
        corrupted, labels = corrupt_docs(batch, **_get_shares(model), draws=draws)
        probs, _ = model.predict(corrupted)
        total += get_cross_entropy(model.ops, probs, labels)[0]
        n += len(labels)
    return total / max(1, n)


def corrupt_docs(docs: Sequence[Doc], **settings: Any) -> tuple[list[Doc], NDArray]:
    """Make Docs in which some words are replaced, and say the class of each token.

    The settings are those of `corrupt`.
    """
    vocab = docs[0].vocab
    if any(doc.vocab is not vocab for doc in docs):
        raise ValueError(
            "All Docs of a batch should be of one vocab, since words of one are put "
            "into another, but there are several. Have the reader of the corpus make "
            "Docs for `nlp.vocab`."
        )
    tokens = np.concatenate([pack_doc(doc) for doc in docs])
    lengths = np.array([len(doc) for doc in docs])
    sources, labels = corrupt(tokens[:, 0], lengths, **settings)
    tokens[:, :2] = tokens[sources, :2]
    parts = np.split(tokens, lengths.cumsum()[:-1])
    return [unpack_doc(vocab, part) for part in parts], labels


def corrupt(
    words: NDArray,
    lengths: NDArray,
    *,
    shuffle: float,
    random: float,
    draws: Any = np.random,
) -> tuple[NDArray, NDArray]:
    """Draw which words of a batch of texts are replaced, and by which.

    A shuffled token gets the word of another token of its text, each equally likely. A
    random one, drawn of those that are not shuffled, gets that of a token of the other
    texts, each equally likely, so that random words are as frequent as in the batch.
    Where there is no such token, or the word drawn is the one that was there, the token
    is intact. Numpy's global generator draws, as in Thinc's dropout, or another.

    *Shapes:* words of all texts, `(n,)`, and texts' `lengths` to the token whose word
    stands in each place, and its class, `(n,)`, integers.
    """
    n, places = len(words), np.arange(len(words))
    sizes = np.repeat(lengths, lengths)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    is_shuffled = draws.uniform(size=n) < shuffle
    is_random = ~is_shuffled & (draws.uniform(size=n) < random)
    # So many tokens further on, and from the end on at the beginning. With none to
    # choose from, one round: to the token itself.
    within = 1 + draws.randint(np.maximum(sizes - 1, 1))
    beyond = starts + sizes + draws.randint(np.maximum(n - sizes, 1))
    sources = np.where(is_shuffled, starts + (places - starts + within) % sizes, places)
    sources = np.where(is_random & (sizes < n), beyond % max(n, 1), sources)
    labels = np.where(is_shuffled, SHUFFLED, np.where(is_random, RANDOM, INTACT))
    labels[words[sources] == words] = INTACT
    return sources, labels


def _get_shares(model: Model) -> dict[str, float]:
    return {name: model.attrs[name] for name in ("shuffle", "random")}


def _check_shares(model: Model) -> None:
    check_number(model, "shuffle", 0, 1)
    check_number(model, "random", 0, 1)
