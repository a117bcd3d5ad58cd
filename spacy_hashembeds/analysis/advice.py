"""What to set in an embedder, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .features import Vocabulary
from .measures import Measures
from .options import (
    AttributeUse,
    HashOption,
    LookupOption,
    find_hash_options,
    find_lookup_options,
    measure_attributes,
)
from .reasons import (
    describe_attributes,
    describe_default,
    describe_hashing,
    describe_lookup,
    describe_seeds,
    describe_size,
)

#: How many of an attribute's values may share their whole code, as a share of them.
BOUND = 0.001

#: With fewer distinct words there is nothing to choose: any table has room for them,
#: and what they show of the words to come is chance.
FEWEST_WORDS = 100


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to set in an embedder, and what was chosen from.

    attrs (list[str]): The attributes to embed.
    width (int): The width of the tables.
    bound (float): How many of an attribute's values may share their whole code, as a
        share of them.
    attributes (list[AttributeUse]): What each attribute adds to the others.
    hash_options (list[HashOption]): The smallest tables within the bound, for each
        number of hashes.
    hashing (HashOption, optional): That with the least memory: a lower limit.
    lookup_options (list[LookupOption]): Tables for several values of `min_freq`.
    lookup (LookupOption, optional): That in which the fewest tokens are unknown, of
        those with a `min_freq` of 2 or more, which train the row for unknown values.
    reasons (list[str]): The advice in words.
    """

    attrs: list[str]
    width: int
    bound: float
    attributes: list[AttributeUse]
    hash_options: list[HashOption]
    hashing: HashOption | None
    lookup_options: list[LookupOption]
    lookup: LookupOption | None
    reasons: list[str]


def advise(
    vocabularies: Mapping[str, Vocabulary],
    attrs: Sequence[str],
    *,
    width: int,
    bound: float = BOUND,
    tables: Sequence[Measures] = (),
) -> Advice:
    """Advise on rows, hashes, attributes and `min_freq`.

    It is about telling the words of the training corpus apart, which can be counted.
    What a choice is worth in F1 only training shows. There are no options, and no
    advice on sizes, with fewer than `FEWEST_WORDS` distinct words.

    vocabularies (Mapping[str, Vocabulary]): For each split, "train" among them.
    attrs (Sequence[str]): The attributes to embed.
    width (int): The width of the tables.
    bound (float): How many of an attribute's values may share their whole code, as a
        share of them.
    tables (Sequence[Measures]): What was measured of the tables there are, if any.
    """
    train = vocabularies["train"]
    uses = measure_attributes(vocabularies, attrs) if len(train.words) else []
    kept = [use.attr for use in uses if use.says_nothing is None]
    n_words = len(np.unique(train.words[:, 0]))
    is_enough = bool(kept) and n_words >= FEWEST_WORDS
    hashes = (
        find_hash_options(train, kept, width=width, bound=bound) if is_enough else []
    )
    lookups = find_lookup_options(vocabularies, kept, width=width) if is_enough else []
    hashing = min(hashes, key=lambda option: option.parameters, default=None)
    lookup = _choose_lookup(lookups)
    return Advice(
        attrs=kept,
        width=width,
        bound=bound,
        attributes=uses,
        hash_options=hashes,
        hashing=hashing,
        lookup_options=lookups,
        lookup=lookup,
        reasons=[
            *describe_size(n_words, FEWEST_WORDS),
            *describe_default(lookup),
            *describe_hashing(hashing, kept, bound, tables),
            *describe_seeds(tables if len(train.words) else ()),
            *describe_lookup(lookup, lookups, kept),
            *describe_attributes(uses if is_enough else []),
        ],
    )


def _choose_lookup(options: Sequence[LookupOption]) -> LookupOption | None:
    """Choose the fewest unknown tokens in training, then the least memory.

    An option that knows more tokens of training knows more of any other split, too.
    """
    trained = [option for option in options if option.min_freq > 1]

    def rank(option: LookupOption) -> tuple[float, int]:
        return sum(s["train"] for s in option.unknown_share), option.parameters

    return min(trained, key=rank, default=None)
