from collections.abc import Callable
from typing import Any, cast

from spacy.tokens import Doc
from thinc.api import Dropout, Maxout, Model, chain, concatenate, get_width, with_array
from thinc.types import Floats2d

from ...architectures.distinct_words import Words, with_distinct_words
from ...arguments import MAX_WIDTH, check_integers
from ...layers.maxout import check_maxout
from ...thinc_internals import chain_forward, concatenate_forward, get_forward
from .charcnn import MAX_CHARS, CharCNN
from .words import encode_capitalization, extract_texts, look_up_vectors

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
    """Embed each token by its characters and its capitalization, beside other vectors.

    Convolutions over the characters, of any script, are reduced to their maxima over
    the word. A one-hot vector encodes upper case, upper-initial, lower case or mixed.
    Word vectors and another embedder's vectors may be added. Defaults are the paper's
    values.

    width (int, optional): If given, a Maxout layer with layer normalization mixes all
        vectors to this width, as required by encoders such as `MaxoutWindowEncoder`. If
        None, as in the paper, vectors are concatenated: `num_kernels * ngram_size + 4`
        values (64 by default), word vectors and `word`.
    char_width (int): Width of the vectors of characters.
    num_kernels (int): Convolution kernels of each length from 1 to `ngram_size`.
    ngram_size (int): Maximum kernel length, up to `max_chars`.
    max_chars (int): Maximum characters read per word, 1 to 10,000.
    include_static_vectors (bool): Add the pipeline's word vectors; zeros if missing.
    word (Model, optional): Another embedder, such as `spacy-hashembeds.MultiEmbed.v1`.
    maxout_pieces (int): Linear pieces of the Maxout layer, if any.

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
    texts: Model = concatenate(chars, encode_capitalization())
    features: Model[Words, Any] = chain(extract_texts(), texts)
    if include_static_vectors:
        features = concatenate(features, look_up_vectors())
    # `find_word` and `find_mixer` count layers: copies, such as those of
    # `replace_listeners`, have no references
    if width is None:
        words = with_distinct_words(features)
        layers = [words if word is None else concatenate(words, word)]
    else:
        check_integers(1, MAX_WIDTH, width=width)
        mixer: Model = Maxout(width, nP=maxout_pieces, normalize=True)
        dropout: Model = with_array(Dropout(0.0))
        if word is None:
            layers = [with_distinct_words(chain(features, mixer)), dropout]
        else:
            embed: Model = concatenate(with_distinct_words(features), word)
            layers = [embed, with_array(mixer), dropout]
    return Model(
        "char_cnn_embed", forward, init=init, layers=layers, dims={"nO": width}
    )


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    if not any(len(doc) for doc in docs):
        # Thinc's layers and spaCy's embedders fail on batches without rows
        nO = model.get_dim("nO")
        return [model.ops.alloc2f(0, nO) for _ in docs], lambda dYs: []
    mixer = find_mixer(model)
    if mixer is not None:
        maxout, layernorm = mixer.layers
        check_maxout(maxout, layernorm, nI=maxout.get_dim("nI"))
    return chain_forward(model, docs, is_train)


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    embed, *others = model.layers
    word, mixer = find_word(model), find_mixer(model)
    words = embed if word is None else embed.layers[0]
    words.initialize(X=X)
    nO = words.get_dim("nO")
    if word is not None:
        word.initialize(X=X)
        docs = [doc for doc in X or [] if len(doc)]
        width = word.maybe_get_dim("nO")  # 0 if initialized without Docs
        nO += width or get_width(cast(Any, word.predict(docs[:1])))
        embed.set_dim("nO", nO)
        if mixer is not None:
            mixer.layers[0].set_dim("nI", nO)
    for layer in others:
        # without a sample: Docs may have no tokens
        layer.initialize()
    if mixer is None:
        model.set_dim("nO", nO)


def find_word(model: Model[InT, OutT]) -> Model[InT, OutT] | None:
    embed = model.layers[0]
    return embed.layers[1] if get_forward(embed) is concatenate_forward else None


def find_mixer(model: Model[InT, OutT]) -> Model[Floats2d, Floats2d] | None:
    if len(model.layers) == 1:
        return None
    if len(model.layers) == 3:  # with `word`
        return model.layers[1].layers[0]
    return model.layers[0].layers[0].layers[1]
