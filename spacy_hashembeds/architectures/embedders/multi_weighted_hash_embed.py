from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...checks import MAX_WIDTH, check_choice, check_integers, check_rows, check_types
from ...inputs import check_attributes
from ...layers.combination import COMBINE
from ...layers.weightedhashembed import (
    MAX_COMPONENTS,
    WeightedColumn,
    WeightedHashEmbed,
)
from .descriptions import EmbedderDescription
from .mix_attributes import check_seed, mix_attributes
from .symbol_source import wait_for_symbols

NAME = "multi_weighted_hash_embed"

_NUM_HASHES = 2

#: Far beyond what is of use, and where nothing overflows yet.
LARGEST_WEIGHT = 100.0


def MultiWeightedHashEmbed(
    *,
    width: int,
    attrs: list[str | int],
    rows: list[int],
    importance_rows: list[int] | None = None,
    num_hashes: int = _NUM_HASHES,
    same_hash: bool = False,
    combine: str = "sum",
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

    A hash embedding in the sense of Tito Svenstrup et al. (2017), in the place of
    `spacy.MultiHashEmbed.v2`: for each attribute, `num_hashes` component vectors are
    chosen by hashing and shared with other symbols, and weighted by as many numbers
    that are the symbol's own, or nearly: its importance parameters, which are learned.
    A table has `rows * width + importance_rows * num_hashes` parameters.

    Arguments that are not here are as for `MultiEmbed`.

    rows (list[int]): How many component vectors there are for each attribute, the
        paper's B.
    importance_rows (list[int], optional): How many rows of weights there are for each
        attribute, the paper's K, chosen by hashing. They cost little: give ten times
        `rows` or more, so that few symbols share one. By default each frequent symbol
        of the training corpus has one, counted or read as for `MultiEmbed`, and all
        others share one.
    num_hashes (int): Component vectors of each symbol, the paper's k, 1 to 100. The
        paper has 2, and finds no use in more than 3.
    same_hash (bool): Whether the row of weights, hashed again, chooses the components
        too. So it was in the paper's experiments; symbols with equal weights are then
        the same. Its authors found the default better (§6): weights and components are
        chosen independently, and hardly any two symbols are the same.
    combine (str): "sum" adds the weighted components up. "concat" puts them side by
        side, so that the Maxout layer is `num_hashes` times as large.
    append_weights (bool): Whether to mix in the weights themselves too.
    initial_weight (float): What all weights begin at, but for a spread of 0.0005. At 0,
        symbols have to earn their importance: those that training has not shown have
        hardly any. At 1 it begins as `MultiFewerHashEmbed`, and training moves weights
        little.
    tables (str | Path, optional): As for `MultiEmbed`. Not with `importance_rows`.
    seed (int): The hash seed of the first table, saved with the weights; the others
        count up from it.

    RAISES (TypeError): If `same_hash` or `append_weights` is neither true nor false.
    RAISES (ValueError): As `MultiEmbed`.

    Source: Tito Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
    (2017), §3 and §6.
    """
    names = check_attributes(attrs)
    check_integers(1, MAX_WIDTH, width=width)
    check_integers(1, MAX_COMPONENTS, num_hashes=num_hashes)
    check_seed(seed, len(names))
    check_rows(names, rows=rows)
    check_choice(COMBINE, combine=combine)
    check_types(
        bool, "true or false", same_hash=same_hash, append_weights=append_weights
    )
    is_number = isinstance(initial_weight, int | float)
    if not is_number or not abs(initial_weight) <= LARGEST_WEIGHT:
        raise ValueError(
            f"'initial_weight' should be a number from {-LARGEST_WEIGHT:g} to "
            f"{LARGEST_WEIGHT:g}, but is {initial_weight!r}. Usual ones are 0 and 1."
        )
    if importance_rows is not None:
        check_rows(names, importance_rows=importance_rows)
        if tables is not None:
            raise ValueError(
                f"'tables' has symbols to choose weights by ({tables}), but with "
                "'importance_rows' they are chosen by hashing. Leave one of them out."
            )
    embeds: list[Model] = [
        WeightedHashEmbed(
            width,
            rows[column],
            nK=None if importance_rows is None else importance_rows[column],
            num_hashes=num_hashes,
            seed=seed + column,
            key=name,
            same_hash=same_hash,
            combine=combine,
            append_weights=append_weights,
            initial_weight=initial_weight,
            column=column,
            dropout=dropout,
        )
        for column, name in enumerate(names)
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
    return wait_for_symbols(model, tables) if importance_rows is None else model


def _get_symbol_width(block: Mapping[str, Any]) -> int:
    is_hashed = block.get("importance_rows") is not None
    return 0 if is_hashed else block.get("num_hashes", _NUM_HASHES)


DESCRIPTION = EmbedderDescription(
    name=NAME,
    architecture="spacy-hashembeds.MultiWeightedHashEmbed.v1",
    purpose="hashed rows, and for each frequent symbol of the training corpus learned "
    "weights of its own for them.",
    tables={"weightedhashembed": WeightedColumn},
    symbol_width=_get_symbol_width,
    why_hashes="As in the paper (Svenstrup et al. 2017), which found no use in more "
    "than 3.",
)
