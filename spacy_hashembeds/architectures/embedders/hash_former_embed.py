from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from spacy.ml.staticvectors import StaticVectors
from spacy.ml.staticvectors import forward as vectors_forward
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Maxout, Model, chain, concatenate, ragged2list, with_array
from thinc.types import Floats2d

from ...checks import MAX_WIDTH, check_integers, check_types
from ...inputs import check_attributes
from ...layers.compressors import add_forward, emb_forward, pool_forward, proj_forward
from ...layers.hashers import (
    MAX_ROWS,
    lsh_forward,
    md5_forward,
    set_ngrams,
    takes_ngrams,
)
from ...layers.mixing.column import Array, Backprop, Column
from ...layers.mixing.folding import Fold
from ...layers.params import check_once
from ...layers.source import wait_for
from ...layers.table import check_table
from ...layers.tree import UnexpectedNodeError, expect, expect_maxout
from ...thinc_internals import (
    chain_forward,
    concatenate_forward,
    get_forward,
    ragged2list_forward,
    with_array_forward,
)
from .character_ngrams import CHARACTER_NGRAM_SOURCE, CharacterNgrams
from .descriptions import EmbedderDescription
from .distinct_words import TEXT_ATTRIBUTES, Words, get_attribute, with_distinct_words
from .distinct_words import forward as distinct_forward
from .hash_words import forward as hash_forward
from .hash_words import hash_words
from .mix_attributes import Parts, embed_tokens, make_parts
from .static_vectors import get_vectors_width

InT = list[Doc]
OutT = list[Floats2d]

NAME = "hash_former_embed"

# What they make of words depends on nothing but their attributes, dimensions and
# parameters, and none of their rows is out of a table's range: nobody looks again.
_HASHERS = (md5_forward, lsh_forward)
_COMPRESSORS = (add_forward, emb_forward, pool_forward, proj_forward)


def HashFormerEmbed(
    *,
    width: int,
    attrs: list[str],
    hashers: dict[str, Any],  # of blocks, which are checked before they are layers
    compressors: dict[str, Any],
    include_static_vectors: bool,
    maxout_pieces: int | None = 3,
) -> Model[InT, OutT]:
    """Embed tokens by codes of their texts, without a table of words.

    In the place of `spacy.MultiHashEmbed.v2`: for each attribute a hasher computes a
    code of bits from the text, and a compressor a vector from the code. Only
    compressors have parameters. Codes of words met lately are kept.

    Any hasher goes with any compressor. `LSHHasher` and `ProjCompressor` were the best
    of the small ones in the paper. docs/trials.md compares them.

    width (int): The width of the output and of each compressor's vectors, usually 64
        to 300, and 768 in the paper.
    attrs (list[str]): The token attributes to embed. They have to be text: `LSHHasher`
        sees prefixes and suffixes in NORM, or in LOWER as the paper's code has it. A
        SHAPE or ORTH beside them tells upper from lower case.
    hashers (dict[str, Model]): For each attribute `MD5Hasher.v1` or `LSHHasher.v1`.
    compressors (dict[str, Model]): For each attribute `EmbCompressor.v1`,
        `PoolCompressor.v1`, `AddCompressor.v1` or `ProjCompressor.v1`.
    include_static_vectors (bool): Whether to mix in the pipeline's word vectors.
    maxout_pieces (int, optional): Linear pieces of the Maxout layer that mixes the
        attributes, as in spaCy's embedder. If null, there is none, and the vectors of
        the compressor are the output: as in the paper, for a single attribute, before
        an encoder that normalises its input.

    RAISES (ValueError): Of bad arguments; when initialised, if n-grams are to be
        counted and were not, or there are no vectors to include.

    Source: Xue and Aletras, "HashFormers: Towards Vocabulary-independent Pre-trained
    Transformers" (2022), §3.
    """
    names = _check_attributes(attrs)
    check_integers(1, MAX_WIDTH, width=width)
    _check_blocks(names, hashers=hashers, compressors=compressors)
    inputs: list[Model] = [
        _build_column(name, hashers[name], compressors[name], width) for name in names
    ]
    widths = [column.get_dim("nO") for column in inputs]
    if include_static_vectors:
        vectors = StaticVectors(width, dropout=0.0)
        inputs.append(chain(vectors, ragged2list()))
        widths.append(width)
    layers: list[Model] = [concatenate(*inputs)]
    if maxout_pieces is not None:
        check_integers(1, MAX_WIDTH, maxout_pieces=maxout_pieces)
        mixer = Maxout(
            width, sum(widths), nP=maxout_pieces, dropout=0.0, normalize=True
        )
        layers.append(with_array(mixer))
    elif widths != [width]:
        raise ValueError(
            "'maxout_pieces' should be a number where there is something to mix: "
            f"{len(widths)} vectors of widths {widths} can't be the output of width "
            f"{width}. Set maxout_pieces = 3, or have one attribute and no vectors."
        )
    model: Model[InT, OutT] = Model(
        NAME,
        forward,
        init=init,
        layers=layers,
        dims={"nO": width},
        attrs={"include_static_vectors": include_static_vectors, "plan": Fold()},
    )
    wait_for(CHARACTER_NGRAM_SOURCE, model, _give_ngrams)
    return model


def _check_attributes(attrs: Sequence[str]) -> list[str]:
    names = check_attributes(attrs)
    for name in names:
        if name not in TEXT_ATTRIBUTES:
            raise ValueError(
                f"'attrs' holds {name}, which is no text to hash. There are "
                f"{', '.join(TEXT_ATTRIBUTES)}."
            )
    if len(set(names)) < len(names):
        raise ValueError(
            f"'attrs' should hold each attribute once, but is {', '.join(names)}."
        )
    return names


def _check_blocks(names: Sequence[str], **arguments: Mapping[str, Model]) -> None:
    for argument, blocks in arguments.items():
        check_types(Mapping, "a block for each of 'attrs'", **{argument: blocks})
        if set(blocks) != set(names):
            raise ValueError(
                f"'{argument}' should have a block for each of 'attrs' "
                f"({', '.join(names)}), but has {', '.join(blocks) or 'none'}."
            )
        for name, block in blocks.items():
            if not isinstance(block, Model):
                raise ValueError(
                    f"'{argument}.{name}' should be a layer, such as those of "
                    f"@architectures, but is of type {type(block).__name__}."
                )
        if len(set(map(id, blocks.values()))) < len(blocks):
            raise ValueError(
                f"'{argument}' should have a layer of its own for each of 'attrs', but "
                "has one twice. Build another."
            )


def _build_column(
    attr: str, hasher: Model, compressor: Model, width: int
) -> Model[InT, OutT]:
    """Fit hasher and compressor to each other, and have them embed an attribute."""
    if hasher.has_dim("nV") is False:
        raise ValueError(
            f"'hashers.{attr}' should be MD5Hasher or LSHHasher, but is a layer "
            f"'{hasher.name}'."
        )
    if compressor.has_dim("nI") is False and not compressor.has_dim("nV"):
        raise ValueError(
            f"'compressors.{attr}' should take bits or rows, as ProjCompressor and "
            f"EmbCompressor do, but is a layer '{compressor.name}'."
        )
    if compressor.has_dim("nO") is None:
        compressor.set_dim("nO", width)
    if compressor.has_dim("nI") is False:  # it has rows, and reads no bits
        nV = compressor.get_dim("nV")
        if "lsh_seed" in hasher.attrs and nV > MAX_ROWS:
            raise ValueError(
                f"'rows' should be 1 to {MAX_ROWS} where LSHHasher chooses them, one "
                f"vector after the other, but is {nV}. Take fewer, or MD5Hasher."
            )
        hasher.set_dim("nV", nV)
    elif compressor.has_dim("nI") is None:
        compressor.set_dim("nI", hasher.get_dim("nO"))
    return with_distinct_words(chain(hash_words(hasher), compressor), attr=attr)


class WordColumn(NamedTuple):
    """The layers that embed an attribute: `words` runs the others, once for each."""

    words: Model
    hashing: Model
    compressor: Model

    @property
    def attr(self) -> str:
        """The attribute."""
        return self.words.attrs["attr"]


class CodeColumn(Column):
    """Column of the keys of words of some vocabs, which are embedded by their codes.

    Where its layers are known, codes are kept, or the rows are that they choose.
    """

    def __init__(self, words: WordColumn, vocabs: Sequence[Vocab]) -> None:
        super().__init__(words.compressor)
        self.hashing, self.vocabs = words.hashing, vocabs
        hasher, compress = self.hashing.layers[0], get_forward(self.model)
        if get_forward(hasher) in _HASHERS and compress in _COMPRESSORS:
            self.has_rows, self.is_kept = compress is emb_forward, True

    def check(self) -> None:
        """Check the table once it arrives, if there is one."""
        if self.has_rows:
            check_once(self.model, check_table)

    def embed(self, keys: Array, is_train: bool) -> tuple[Array, Backprop]:
        """Embed words by their keys, each on its own."""
        words = Words(self.vocabs, keys.reshape(-1, 1))
        return self.model(self.hashing.predict(words), is_train)

    def find_rows(self, keys: Array) -> tuple[Array, None]:
        """Find the rows of distinct keys."""
        words = Words(self.vocabs, keys.reshape(-1, 1))
        return self.hashing.predict(words), None


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    return embed_tokens(model, docs, is_train, find_parts)


def _give_ngrams(model: Model, get_ngrams: Callable | None, X: InT | None) -> None:
    for attr, hasher in find_hashers(model):
        if get_ngrams is not None and takes_ngrams(hasher):
            size, form = hasher.attrs["ngram_size"], hasher.attrs["form"]
            most = hasher.attrs["ngram_taker"].max_ngrams
            set_ngrams(hasher, get_ngrams(CharacterNgrams(attr, size, form, most)))


def find_hashers(model: Model[InT, OutT]) -> list[tuple[str, Model]]:
    """Find the attributes that an embedder reads, and for each its hasher."""
    return [(c.attr, c.hashing.layers[0]) for c in find_columns(model)]


def find_columns(model: Model[InT, OutT]) -> list[WordColumn]:
    """Find what embeds each attribute of an embedder."""
    # by places in the tree, wrapped or not: copies of a model have no references
    words = [n for n in model.walk() if "attr" in n.attrs]
    return [WordColumn(n, *n.layers[0].layers) for n in words]


def init(model: Model[InT, OutT], X: InT | None = None, Y: OutT | None = None) -> None:
    if X and model.attrs["include_static_vectors"]:
        get_vectors_width(X[0].vocab)
    inputs, *mixers = model.layers
    inputs.initialize(X=X)
    for mixer in mixers:
        # not by what comes from Docs: they may be without tokens
        mixer.initialize()


def find_parts(model: Model[InT, OutT], vocabs: Sequence[Vocab]) -> Parts:
    """Find the layers, for Docs of some vocabs.

    UnexpectedNodeError: if a node is another, or nothing mixes.
    """
    if len(model.layers) != 2:
        raise UnexpectedNodeError(model.name)
    embed, mixing = model.layers
    # Thinc concatenates nothing where there is only one column
    is_several = get_forward(embed) is concatenate_forward
    inputs = list(embed.layers) if is_several else [embed]
    vectors = None
    if get_forward(inputs[-1]) is chain_forward:
        vectors, to_list = expect(inputs.pop(), chain_forward, 2)
        expect(vectors, vectors_forward, 0)
        expect(to_list, ragged2list_forward, 0)
    words = [_expect_column(layer) for layer in inputs]
    attrs: list[int | str] = [get_attribute(column.words) for column in words]
    columns = [CodeColumn(column, vocabs) for column in words]
    (maxout,) = expect(mixing, with_array_forward, 1)
    return make_parts(columns, expect_maxout(maxout), attrs, vectors, vocabs)


def _expect_column(words: Model) -> WordColumn:
    (layers,) = expect(words, distinct_forward, 1)
    hashing, compressor = expect(layers, chain_forward, 2)
    expect(hashing, hash_forward, 1)
    if compressor.maybe_get_dim("nO") is None:
        raise UnexpectedNodeError(compressor.name)  # as what wraps one has none
    return WordColumn(words, hashing, compressor)


DESCRIPTION = EmbedderDescription(
    name=NAME,
    architecture="spacy-hashembeds.HashFormerEmbed.v1",
    purpose="codes of words, in which similar spellings agree, and no rows at all.",
    find_columns=find_columns,
    is_of_text=True,
    blocks={
        "hashers": (
            "spacy-hashembeds.LSHHasher.v1",
            "128 bits for each attribute, of which similar spellings have most in "
            "common.",
        ),
        "compressors": (
            "spacy-hashembeds.ProjCompressor.v1",
            "128 parameters for each dimension, whatever the number of words.",
        ),
    },
)
