from operator import itemgetter
from pathlib import Path

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...checks import check_integers, check_rows
from ...hashing.murmur import MAX_HASHES
from ...inputs import check_attributes
from ...layers.hybridembed import HybridColumn, HybridEmbed
from .descriptions import EmbedderDescription
from .mix_attributes import check_seed, mix_attributes
from .symbol_source import wait_for_symbols

NAME = "multi_hybrid_embed"


def MultiHybridEmbed(
    *,
    width: int,
    num_hashes: int = 2,
    attrs: list[str | int],
    rows: list[int],
    tables: str | Path | None = None,
    include_static_vectors: bool,
    seed: int = 9,
    dropout: float | None = 0.0,
    maxout_pieces: int = 3,
    subwords: Model | None = None,
) -> Model[list[Doc], list[Floats2d]]:
    """Embed several attributes of each token, frequent values apart from all others.

    Each symbol that is frequent enough in the training corpus has a row of its own, as
    in `MultiEmbed`, and shares it with none. All others are hashed, as in
    `MultiFewerHashEmbed`, to the rows that are left, so that rare and unknown words
    have vectors that differ. Symbols are counted or read as for `MultiEmbed`, whose
    `tables`, `dropout` and other arguments these are, but for:

    num_hashes (int): How many rows are summed for a symbol that is not frequent, 1 to
        4. More keep rare words apart that share a row, and reach more rows.
    rows (list[int]): The most rows of each table. The frequent symbols take the first
        ones, and there must be one more. The rest is for hashing, but for rows that
        the rare symbols of the training corpus would not all reach: an attribute with
        few values has fewer rows than are given here.
    seed (int): The hash seed of the first table, saved with the weights; the others
        count up from it.

    RAISES (ValueError): As `MultiEmbed`, or if frequent symbols take too many rows.

    Source: Miranda et al., "Multi hash embeddings in spaCy", §3, whose two kinds of
    tables these are in one.
    """
    names = check_attributes(attrs)
    check_integers(1, MAX_HASHES, num_hashes=num_hashes)
    check_seed(seed, len(names))
    check_rows(names, rows=rows)
    embeds: list[Model] = [
        HybridEmbed(
            width,
            table_rows,
            key=name,
            num_hashes=num_hashes,
            seed=seed + column,
            column=column,
            dropout=dropout,
        )
        for column, (name, table_rows) in enumerate(zip(names, rows, strict=True))
    ]
    model = mix_attributes(
        NAME,
        attrs=names,
        tables=embeds,
        width=width,
        maxout_pieces=maxout_pieces,
        dropout=dropout,
        include_static_vectors=include_static_vectors,
        subwords=subwords,
    )
    return wait_for_symbols(model, tables)


DESCRIPTION = EmbedderDescription(
    name=NAME,
    architecture="spacy-hashembeds.MultiHybridEmbed.v1",
    purpose="a row for each frequent symbol of the training corpus, hashed ones for "
    "all others.",
    tables={"hybridembed": HybridColumn},
    symbol_width=itemgetter("width"),
    rows_for="symbols",
)
