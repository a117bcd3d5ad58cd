from collections.abc import Callable, Sequence
from typing import Any, cast

from spacy.tokens import Doc
from thinc.api import Dropout, Maxout, Model, chain, concatenate, get_width, with_array
from thinc.types import Floats2d

from ...checks import MAX_WIDTH, check_integers
from ...kernels.characters import N_CAPITALISATIONS, find_capitalisations
from ...layers.charcnn import MAX_CHARS, CharCNN
from ...layers.checks import check_integer
from ...layers.maxout import check_maxout
from ...thinc_internals import chain_forward, concatenate_forward, get_forward
from .distinct_words import Words, read_texts, with_distinct_words, word_vectors

InT = list[Doc]
OutT = list[Floats2d]


def CharCNNEmbed(
    *,
    width: int | None = None,
    char_width: int = 25,
    num_kernels: int = 20,
    ngram_size: int = 3,
    max_chars: int = 20,
    include_static_vectors: bool,
    word: Model[InT, OutT] | None = None,
    maxout_pieces: int = 3,
) -> Model[InT, OutT]:
    """Embed each token by its characters and its capitalisation, beside other vectors.

    Characters go through convolutions, of which the maxima over the word are kept: see
    `layers/charcnn.py`, also for characters of any script. Four numbers say whether the
    word is upper case, upper-initial, lower case or mixed. Beside them stand the word
    vectors, and what another embedder gives. All but the latter is computed once for
    each distinct word of a batch. The defaults are the paper's numbers.

    width (int, optional): If given, a Maxout layer with layer normalisation mixes all
        to this width, as encoders such as `MaxoutWindowEncoder` need it. If None, as in
        the paper, all stand side by side: `num_kernels * ngram_size + 4` numbers, 64 by
        default, and as many more as word vectors and `word` have.
    char_width (int): The width of the vectors of characters.
    num_kernels (int): How many convolution kernels there are of each length.
    ngram_size (int): How many characters the longest kernels see; there are some of
        each length from 1 on. At most `max_chars`.
    max_chars (int): How many characters of a word count, the first ones, 1 to 10,000.
    include_static_vectors (bool): Whether to add the pipeline's word vectors, as they
        are, and zeros for words that have none.
    word (Model, optional): Another embedder, such as `spacy-hashembeds.MultiEmbed.v1`,
        whose vectors are added.
    maxout_pieces (int): Linear pieces of the Maxout layer, if there is one.

    RAISES (ValueError): Of bad arguments; when initialised, if there are no vectors to
        include, or it can't be known how wide those of `word` are.

    Source: Li, Fu and Ma, "Why Attention? Analyze BiLSTM Deficiency and Its Remedies in
    the Case of NER" (2020), §3.1.
    """
    check_integers(1, MAX_WIDTH, char_width=char_width, num_kernels=num_kernels)
    check_integers(1, MAX_CHARS, max_chars=max_chars)
    check_integers(1, max_chars, ngram_size=ngram_size)
    check_integers(1, MAX_WIDTH, maxout_pieces=maxout_pieces)
    chars = CharCNN(
        char_width, num_kernels=num_kernels, ngram_size=ngram_size, max_chars=max_chars
    )
    features: Model[Words, Any] = chain(
        read_texts(), concatenate(chars, capitalisation())
    )
    if include_static_vectors:
        features = concatenate(features, word_vectors())
    mixer: Model | None = None
    if width is not None:
        check_integers(1, MAX_WIDTH, width=width)
        mixer = Maxout(width, nP=maxout_pieces, normalize=True)
    return Model(
        "char_cnn_embed",
        forward,
        init=init,
        layers=_combine(features, word, mixer),
        dims={"nO": width},
    )


def _combine(
    features: Model[Words, Floats2d],
    word: Model[InT, OutT] | None,
    mixer: Model[Floats2d, Floats2d] | None,
) -> list[Model]:
    """Put the features and the vectors of `word` side by side, and mix them if asked.

    `find_word` and `find_mixer` go by the number of layers: a copy, as
    `replace_listeners` makes it, has no references.
    """
    if mixer is None:
        words = with_distinct_words(features)
        return [words if word is None else concatenate(words, word)]
    dropout: Model = with_array(Dropout(0.0))
    if word is None:
        return [with_distinct_words(chain(features, mixer)), dropout]
    embed: Model = concatenate(with_distinct_words(features), word)
    return [embed, with_array(mixer), dropout]


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    if not any(len(doc) for doc in docs):
        # Thinc's layers and spaCy's embedders don't take batches without rows
        nO = model.get_dim("nO")
        return [model.ops.alloc2f(0, nO) for _ in docs], lambda dYs: []
    mixer = find_mixer(model)
    if mixer is not None:
        maxout, layernorm = mixer.layers
        check_maxout(maxout, layernorm, nI=maxout.get_dim("nI"))
    for with_array_layer in model.layers[1:]:
        check_integer(with_array_layer, "pad", 0, 0)  # which Thinc loads as it comes
    return chain_forward(model, docs, is_train)


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    embed, *others = model.layers
    word, mixer = find_word(model), find_mixer(model)
    words = embed if word is None else embed.layers[0]
    words.initialize(X=X)
    nO = words.get_dim("nO")
    if word is not None:
        word.initialize(X=X)
        nO += _find_width(word, X)
        embed.set_dim("nO", nO)
        if mixer is not None:
            mixer.layers[0].set_dim("nI", nO)
    for layer in others:
        # not by what comes from Docs: they may be without tokens
        layer.initialize()
    if mixer is None:
        model.set_dim("nO", nO)


def find_word(model: Model[InT, OutT]) -> Model[InT, OutT] | None:
    embed = model.layers[0]
    return embed.layers[1] if get_forward(embed) is concatenate_forward else None


def find_mixer(model: Model[InT, OutT]) -> Model[Floats2d, Floats2d] | None:
    if len(model.layers) == 1:
        return None
    if len(model.layers) == 3:  # behind the vectors of `word`
        return model.layers[1].layers[0]
    return model.layers[0].layers[0].layers[1]


def _find_width(word: Model[InT, OutT], X: InT | None) -> int:
    if nO := word.maybe_get_dim("nO"):  # 0 where it was seen by no Docs
        return nO
    docs = [doc for doc in X or [] if len(doc)]
    if not docs:
        raise ValueError(
            f"'word', the layer '{word.name}', does not say how wide its vectors are, "
            "and there are no Docs with tokens to see it by. Initialise with some, as "
            "`nlp.initialize` does."
        )
    return get_width(cast(Any, word.predict(docs[:1])))


def capitalisation() -> Model[Sequence[str], Floats2d]:
    """Say whether words are upper case, upper-initial, lower case, or mixed.

    By their cased letters alone, see `find_capitalisations`. A word without any, such
    as "12", "!" or one of a script that has no cases, is zeros.

    *Input:* `n` words. *Output shape:* `(n, 4)`, float32, one-hot.

    Source: §3.1 of the paper, after Collobert et al. (2011).
    """
    return Model("capitalisation", find_capitalisation, dims={"nO": N_CAPITALISATIONS})


def find_capitalisation(
    model: Model[Sequence[str], Floats2d], words: Sequence[str], is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Sequence[str]]]:
    Y = model.ops.asarray2f(cast(Any, find_capitalisations(words)))
    return Y, lambda dY: []
