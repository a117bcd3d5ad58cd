from collections.abc import Callable, Sequence
from typing import Any

from spacy.ml.staticvectors import StaticVectors
from spacy.ml.staticvectors import forward as vectors_forward
from spacy.tokens import Doc
from thinc.api import Maxout, Model, chain, concatenate, ragged2list, with_array
from thinc.types import Floats2d

from ...architectures.descriptions import EmbedderDescription
from ...architectures.distinct_words import (
    TEXT_ATTRIBUTES,
    Words,
    find_vocabs,
    get_attribute,
    with_distinct_words,
)
from ...architectures.distinct_words import forward as distinct_forward
from ...architectures.mix_attributes import Parts, embed_tokens, make_parts
from ...architectures.static_vectors import DOCS, get_vectors_width
from ...arguments import MAX_WIDTH, check_attributes, check_integers
from ...layers.checks import check_once
from ...layers.column import Array, Backprop, Column
from ...layers.folding import Fold
from ...layers.plan import UnexpectedNodeError, expect, expect_maxout
from ...layers.tables import check_table
from ...layers.vocabulary import call_before_init
from ...thinc_internals import (
    chain_forward,
    concatenate_forward,
    get_forward,
    ragged2list_forward,
    with_array_forward,
)
from .character_ngrams import CHARACTER_NGRAM_SOURCE, CharacterNgrams
from .compressors import add_forward, emb_forward, pool_forward, proj_forward
from .hashers import (
    MAX_LSH_ROWS,
    hash_forward,
    hash_words,
    lsh_forward,
    md5_forward,
    needs_ngrams,
    set_ngrams,
)

InT = list[Doc]
OutT = list[Floats2d]

NAME = "hash_former_embed"

# Hashers whose codes depend only on attributes in the cache key, with rows in range.
_HASHERS = (md5_forward, lsh_forward)
_COMPRESSORS = (add_forward, emb_forward, pool_forward, proj_forward)


def HashFormerEmbed(
    *,
    width: int,
    attrs: list[str],
    hashers: dict[str, Any],  # layers, checked below: confection can't
    compressors: dict[str, Any],
    include_static_vectors: bool,
    maxout_pieces: int | None = 3,
) -> Model[InT, OutT]:
    """Embed tokens by codes of their texts, without a table of words.

    Replaces `spacy.MultiHashEmbed.v2`. For each attribute, a hasher without parameters
    computes a code of bits from the text, and a compressor with parameters computes a
    vector from the code. `LSHHasher` with `ProjCompressor` was the paper's best small
    pair.

    width (int): Width of the output and of each compressor's vectors.
    attrs (list[str]): Token attributes that are text: NORM, or LOWER as in the paper's
        code, and SHAPE or ORTH to distinguish upper and lower case.
    hashers (dict[str, Model]): For each attribute `MD5Hasher.v1` or `LSHHasher.v1`.
    compressors (dict[str, Model]): For each attribute `EmbCompressor.v1`,
        `PoolCompressor.v1`, `AddCompressor.v1` or `ProjCompressor.v1`.
    include_static_vectors (bool): Mix in the pipeline's word vectors.
    maxout_pieces (int, optional): Linear pieces of the Maxout layer that mixes the
        attributes. If null, there must be a single attribute, whose vectors are the
        output, as in the paper.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §3.
    """
    names = check_attributes(attrs)
    if not {*names} <= {*TEXT_ATTRIBUTES} or len({*names}) < len(names):
        raise ValueError(
            "'attrs' should be distinct text attributes (of "
            f"{', '.join(TEXT_ATTRIBUTES)}), but is {', '.join(names)}."
        )
    check_integers(1, MAX_WIDTH, width=width)
    _check_blocks(names, _HASHERS, hashers=hashers)
    _check_blocks(names, _COMPRESSORS, compressors=compressors)
    inputs: list[Model] = [
        _build_column(name, hashers[name], compressors[name], width) for name in names
    ]
    if include_static_vectors:
        vectors = StaticVectors(width, dropout=0.0)
        inputs.append(chain(vectors, ragged2list()))
    layers: list[Model] = [concatenate(*inputs)]
    if maxout_pieces is not None:
        check_integers(1, MAX_WIDTH, maxout_pieces=maxout_pieces)
        nI = len(inputs) * width
        mixer = Maxout(width, nI, nP=maxout_pieces, dropout=0.0, normalize=True)
        layers.append(with_array(mixer))
    elif len(inputs) > 1:
        raise ValueError(
            f"'maxout_pieces' should be a number for {len(inputs)} inputs. Set "
            "maxout_pieces = 3, or use one attribute and no static vectors."
        )
    model: Model[InT, OutT] = Model(
        NAME,
        forward,
        init=init,
        layers=layers,
        dims={"nO": width},
        attrs={"include_static_vectors": include_static_vectors, "plan": Fold()},
    )
    call_before_init(CHARACTER_NGRAM_SOURCE, model, _set_ngrams)
    return model


def _check_blocks(names: list[str], known: Sequence[Callable], **blocks: Any) -> None:
    """Check that each attribute has a known layer."""
    ((argument, layers),) = blocks.items()
    if set(layers) != set(names):
        raise ValueError(
            f"'{argument}' should have a block for each of 'attrs' "
            f"({', '.join(names)}), but has {', '.join(layers) or 'none'}."
        )
    for attr, layer in layers.items():
        if not isinstance(layer, Model) or get_forward(layer) not in known:
            raise ValueError(
                f"'{argument}.{attr}' should be one of the {argument} of "
                f"HashFormerEmbed, but is {getattr(layer, 'name', layer)!r:.80}. Set "
                "its `@architectures`."
            )


def _build_column(
    attr: str, hasher: Model, compressor: Model, width: int
) -> Model[InT, OutT]:
    """Chain a hasher and a compressor for an attribute, with matching sizes."""
    compressor.set_dim("nO", width)
    if get_forward(compressor) is emb_forward:
        nV = compressor.get_dim("nV")
        if "lsh_seed" in hasher.attrs:
            check_integers(1, MAX_LSH_ROWS, rows=nV)  # the hasher compares all vectors
        hasher.set_dim("nV", nV)
    else:
        compressor.set_dim("nI", hasher.get_dim("nO"))
    return with_distinct_words(chain(hash_words(hasher), compressor), attr=attr)


class CodeColumn(Column):
    """Column of keys of words in `DOCS`, embedded by their codes.

    words (Model): Layer that runs hasher and compressor once for each word.
    """

    def __init__(self, words: Model) -> None:
        self.words = words
        self.hashing, compressor = words.layers[0].layers
        (self.hasher,) = self.hashing.layers
        super().__init__(compressor, words.attrs["attr"])
        compress = get_forward(compressor)
        if get_forward(self.hasher) in _HASHERS and compress in _COMPRESSORS:
            self.has_rows, self.is_cached = compress is emb_forward, True

    def check(self) -> None:
        """Check the compressor's table, if any."""
        if self.has_rows:
            check_once(self.model, check_table)

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed words by their keys, independently of each other."""
        return self.model(self.find_rows(keys)[0], is_train)

    def find_rows(self, keys: Array) -> tuple[Array, None]:
        """Find the rows of distinct keys, or their bits without a table."""
        words = Words(find_vocabs(DOCS.get()), keys.reshape(-1, 1))
        return self.hashing.predict(words), None


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    return embed_tokens(model, docs, is_train, find_parts)


def _set_ngrams(model: Model, get_ngrams: Callable | None, X: InT | None) -> None:
    for column in find_columns(model):
        hasher = column.hasher
        if get_ngrams is not None and needs_ngrams(hasher):
            settings = (hasher.attrs[n] for n in ("ngram_size", "form", "max_ngrams"))
            set_ngrams(hasher, get_ngrams(CharacterNgrams(column.attr, *settings)))


def find_columns(model: Model[InT, OutT]) -> list[CodeColumn]:
    """Find the columns of an embedder, one for each attribute."""
    # by attribute: copies of a model have no references
    return [CodeColumn(node) for node in model.walk() if "attr" in node.attrs]


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X and model.attrs["include_static_vectors"]:
        get_vectors_width(X[0].vocab)
    inputs, *mixers = model.layers
    inputs.initialize(X=X)
    for mixer in mixers:
        # without a sample: Docs may have no tokens
        mixer.initialize()


def find_parts(model: Model[InT, OutT]) -> Parts:
    """Find the layers. Raise UnexpectedNodeError if the tree was changed."""
    if len(model.layers) != 2:
        raise UnexpectedNodeError(model.name)
    embed, mixing = model.layers
    # `concatenate` returns a single layer unchanged
    is_several = get_forward(embed) is concatenate_forward
    inputs = list(embed.layers) if is_several else [embed]
    vectors = None
    if get_forward(inputs[-1]) is chain_forward:
        vectors, to_list = expect(inputs.pop(), chain_forward, 2)
        expect(vectors, vectors_forward, 0)
        expect(to_list, ragged2list_forward, 0)
    columns = [_expect_column(layer) for layer in inputs]
    attrs: list[int | str] = [get_attribute(column.words) for column in columns]
    (maxout,) = expect(mixing, with_array_forward, 1)
    return make_parts(columns, expect_maxout(maxout), attrs, vectors)


def _expect_column(words: Model) -> CodeColumn:
    (layers,) = expect(words, distinct_forward, 1)
    hashing, compressor = expect(layers, chain_forward, 2)
    expect(hashing, hash_forward, 1)
    if compressor.maybe_get_dim("nO") is None:
        raise UnexpectedNodeError(compressor.name)  # a wrapped compressor
    return CodeColumn(words)


DESCRIPTION = EmbedderDescription(
    name=NAME,
    architecture="spacy-hashembeds.HashFormerEmbed.v1",
    purpose="codes that similar spellings share, without tables.",
    is_of_text=True,
    blocks={
        "hashers": (
            "spacy-hashembeds.LSHHasher.v1",
            "128 bits per attribute, most of which similar spellings share.",
        ),
        "compressors": (
            "spacy-hashembeds.ProjCompressor.v1",
            "128 parameters per dimension for any number of words.",
        ),
    },
)
