from functools import partial
from operator import itemgetter
from pathlib import Path

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..arguments import MAX_ROWS, check_attributes, check_integers, check_shares
from ..layers.symbolembed import LookupColumn, SymbolEmbed
from .descriptions import EmbedderDescription
from .mix_attributes import mix_attributes
from .symbols import set_symbols_at_init

NAME = "multi_embed"


def MultiEmbed(
    *,
    attrs: list[str | int],
    width: int,
    unk: int = 0,
    unknown_rate: float = 0.0,
    tables: str | Path | None = None,
    include_static_vectors: bool,
    dropout: float | None = 0.0,
    maxout_pieces: int = 3,
    subwords: Model | None = None,
) -> Model[list[Doc], list[Floats2d]]:
    """Embed several attributes of each token by looking them up.

    Differs from `spacy.MultiHashEmbed.v2` only in the tables: each frequent symbol of
    the training corpus has a separate row, and all others share one learned row. The
    callback `spacy-hashembeds.count_symbols.v1` in `[initialize.before_init]` counts
    the symbols, or they are read from a file. They are saved with the pipeline.

    attrs (list[str | int]): The token attributes to embed, one table each. Usually
        NORM, PREFIX, SUFFIX and SHAPE. "_.name" and "spans.key" are features: see
        docs/features.md.
    width (int): The width of the output and of each table, usually 64 to 300. Run time
        grows quadratically.
    unk (int): The row of unknown symbols, 0 to the number of symbols. Default: 0. The
        position does not change the model.
    unknown_rate (float): In training, a symbol with count `n` is replaced by the
        unknown symbol with probability `unknown_rate / (unknown_rate + n)`,
        independently for each token and attribute, to train the unknown row. Below 1.
    tables (str | Path, optional): A file from `spacy hashembeds tables`, read only at
        initialization. Takes precedence over the callback.
    include_static_vectors (bool): Mix in the pipeline's word vectors.
    dropout (float, optional): The rate after each table, the projected vectors and the
        Maxout layer, until overridden by the trainer, as in `spacy train`. None: no
        dropout here, regardless of the trainer.
    maxout_pieces (int): Linear pieces of the Maxout layer that mixes the tables.
    subwords (Model, optional): An additional table of character n-grams: see
        `SubwordEmbed`.

    RAISES (ValueError): If arguments are invalid. At initialization, if symbols are
        missing or the file can't be used.

    Source: Miranda et al., "Multi hash embeddings in spaCy", §3 and §3.3. For
    `unknown_rate`, see `SymbolEmbed`.
    """
    names = check_attributes(attrs, with_features=True)
    check_integers(0, MAX_ROWS, unk=unk)
    check_shares(unknown_rate=unknown_rate)
    make = partial(SymbolEmbed, width, unk=unk, unknown_rate=unknown_rate)
    model = mix_attributes(
        NAME,
        attrs=names,
        tables=[make(key=a, column=i, dropout=dropout) for i, a in enumerate(names)],
        width=width,
        maxout_pieces=maxout_pieces,
        dropout=dropout,
        include_static_vectors=include_static_vectors,
        subwords=subwords,
    )
    return set_symbols_at_init(model, tables)


DESCRIPTION = EmbedderDescription(
    name=NAME,
    architecture="spacy-hashembeds.MultiEmbed.v1",
    aliases=["spacy.MultiEmbed.v1"],
    purpose="a row for each frequent symbol of the training corpus, one for all "
    "others.",
    tables={"symbolembed": LookupColumn},
    symbol_width=itemgetter("width"),
)
