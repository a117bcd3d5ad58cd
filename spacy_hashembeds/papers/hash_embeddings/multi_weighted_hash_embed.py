from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...architectures.descriptions import EmbedderDescription
from ...architectures.mix_attributes import check_seed, mix_attributes
from ...architectures.symbols import set_symbols_at_init
from ...arguments import MAX_WIDTH, check_attributes, check_integers, check_rows
from .weightedhashembed import MAX_COMPONENTS, WeightedColumn, WeightedHashEmbed

NAME = "multi_weighted_hash_embed"

_NUM_HASHES = 2


def MultiWeightedHashEmbed(
    *,
    width: int,
    attrs: list[str | int],
    rows: list[int],
    importance_rows: list[int] | None = None,
    num_hashes: int = _NUM_HASHES,
    same_hash: bool = False,
    combine: Literal["sum", "concat"] = "sum",
    append_weights: bool = False,
    initial_weight: float = 0.0,
    tables: str | Path | None = None,
    include_static_vectors: bool,
    dropout: float | None = 0.0,
    seed: int = 9,
    maxout_pieces: int = 3,
    subwords: Model | None = None,
) -> Model[list[Doc], list[Floats2d]]:
    """Embed several attributes of each token by hashing, with importance weights.

    Replaces `spacy.MultiHashEmbed.v2`. Each symbol of an attribute has `num_hashes`
    component vectors, chosen by hashing and shared with other symbols, and as many
    learned weights, which few or no other symbols share. A table has
    `rows * width + importance_rows * num_hashes` parameters. Others: See `MultiEmbed`.

    rows (list[int]): Component vectors per attribute, the paper's B.
    importance_rows (list[int], optional): Rows of weights per attribute, the paper's K,
        chosen by hashing: ten times `rows` or more. By default each frequent symbol
        has a row, counted as for `MultiEmbed`, and all others share one.
    num_hashes (int): Component vectors per symbol, the paper's k, 1 to 100. The paper
        uses 2, and finds no benefit in more than 3.
    same_hash (bool): Choose components by hashing the number of the row of weights, as
        in the paper's experiments. The authors found the default better (§6).
    combine (str): "sum" adds the weighted components. "concat" concatenates them, which
        makes the Maxout layer `num_hashes` times as large.
    append_weights (bool): Concatenate the weights too.
    initial_weight (float): Mean of the initial weights (standard deviation: 0.0005).
        With 1, the embedder starts like `MultiFewerHashEmbed`, and training changes
        weights little.
    seed (int): Hash seed of the first table, saved; others count up from it.

    Source: Tito Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §3 and §6.
    """
    names = check_attributes(attrs, with_features=True)
    check_integers(1, MAX_WIDTH, width=width)
    check_integers(1, MAX_COMPONENTS, num_hashes=num_hashes)
    check_seed(seed, len(names))
    check_rows(names, rows=rows)
    if importance_rows is not None:
        check_rows(names, importance_rows=importance_rows)
        if tables is not None:
            raise ValueError(
                f"'tables' ({tables}) and 'importance_rows' are alternatives: weights "
                "are chosen by symbol or by hashing. Remove one of them."
            )
    make = partial(
        WeightedHashEmbed,
        width,
        num_hashes=num_hashes,
        same_hash=same_hash,
        combine=combine,
        append_weights=append_weights,
        initial_weight=initial_weight,
        dropout=dropout,
    )
    weights: Sequence[int | None] = importance_rows or [None] * len(names)
    embeds: list[Model] = [
        make(rows[i], nK=weights[i], seed=seed + i, key=name, column=i)
        for i, name in enumerate(names)
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
    return set_symbols_at_init(model, tables) if importance_rows is None else model


def _get_symbol_width(block: Mapping[str, Any]) -> int:
    is_hashed = block.get("importance_rows") is not None
    return 0 if is_hashed else block.get("num_hashes", _NUM_HASHES)


DESCRIPTION = EmbedderDescription(
    name=NAME,
    architecture="spacy-hashembeds.MultiWeightedHashEmbed.v1",
    purpose="hashed rows, with learned weights per frequent symbol of the training "
    "corpus.",
    tables={"weightedhashembed": WeightedColumn},
    symbol_width=_get_symbol_width,
    why_hashes="The paper (Svenstrup et al. 2017) found no use in more than 3.",
)
