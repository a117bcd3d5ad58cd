"""What to set in an embedder, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .codes import SOUND_SEED
from .embedders import HashTable, LookupTable
from .features import Vocabulary
from .options import (
    AttributeUse,
    HashOption,
    LookupOption,
    find_hash_options,
    find_lookup_options,
    measure_attributes,
)
from .tables import HashMeasures, measure_hash_table

#: How many of an attribute's values may share their whole code, as a share of them.
BOUND = 0.001

_HASHING = "spacy-hashembeds.MultiFewerHashEmbed.v1"
_LOOKUP = "spacy-hashembeds.MultiEmbed.v1"

#: Distinct norms for each row in the smallest table that the report trained with:
#: Spanish, 10% rows, 23,710 norms in 263 rows (table 1; appendix A.1).
SMALLEST_LOAD = 90


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
    hashing (HashOption, optional): That with the least memory.
    lookup_options (list[LookupOption]): Tables for several values of `min_freq`.
    lookup (LookupOption, optional): That with the least memory within the bound.
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
    tables: Sequence[HashTable | LookupTable] = (),
) -> Advice:
    """Advise rows, hashes, attributes and `min_freq` for the least memory.

    It is about telling the words of the training corpus apart, which can be counted.
    What a choice is worth in F1 only training shows.

    vocabularies (Mapping[str, Vocabulary]): For each split, "train" among them.
    attrs (Sequence[str]): The attributes to embed.
    width (int): The width of the tables.
    bound (float): How many of an attribute's values may share their whole code, as a
        share of them.
    tables (Sequence[HashTable | LookupTable]): The tables there are, if any.
    """
    train = vocabularies["train"]
    uses = measure_attributes(vocabularies, attrs) if len(train.words) else []
    kept = [use.attr for use in uses if use.says_nothing is None]
    hashes = find_hash_options(train, kept, width=width, bound=bound) if kept else []
    lookups = find_lookup_options(vocabularies, kept, width=width) if kept else []
    hashing = min(hashes, key=lambda option: option.parameters, default=None)
    lookup = _choose_lookup(lookups, uses, bound)
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
            *_advise_on_hashing(hashing, hashes, kept, bound),
            *_advise_on_size(hashing, kept, tables),
            *_advise_on_seed(tables, train),
            *_advise_on_lookup(lookup, lookups, kept, bound),
            *_advise_on_attributes(uses),
        ],
    )


def _choose_lookup(
    options: Sequence[LookupOption], uses: Sequence[AttributeUse], bound: float
) -> LookupOption | None:
    """Choose the least memory. All values that are unknown share one row."""
    limits = [bound * use.values for use in uses if use.says_nothing is None]
    within = [
        option
        for option in options
        if all(
            n <= max(limit, 1)  # one alone shares with none
            for n, limit in zip(option.unknown_values, limits, strict=True)
        )
    ]
    return min(within, key=lambda option: option.parameters, default=None)


def _advise_on_hashing(
    chosen: HashOption | None,
    options: Sequence[HashOption],
    attrs: Sequence[str],
    bound: float,
) -> list[str]:
    if chosen is None:
        return []
    collisions = ", ".join(
        f"{attr} {n:,} of {total:,}"
        for attr, n, total in zip(
            attrs, chosen.sharing_code, chosen.values, strict=True
        )
    )
    names = ", ".join(f'"{attr}"' for attr in attrs)
    others = "; ".join(
        f"{_count_hashes(option.num_hashes)}: {option.parameters:,}"
        for option in options
        if option is not chosen
    )
    return [
        f"To hash, with {_HASHING}: attrs = [{names}], rows = {chosen.rows}, "
        f"num_hashes = {chosen.num_hashes}, seed = {SOUND_SEED}. These are the fewest "
        f"parameters ({chosen.parameters:,}) with which at most {_percent(bound)} of "
        "the values of each attribute share all their rows with another. Measured: "
        f"{collisions}. Taken together, the tables leave "
        f"{chosen.words_sharing_codes:,} words that can't be told apart."
        + (f" With other numbers of hashes it takes more: {others}." if others else "")
    ]


def _advise_on_size(
    chosen: HashOption | None,
    attrs: Sequence[str],
    tables: Sequence[HashTable | LookupTable],
) -> list[str]:
    if chosen is None:
        return []
    load, attr = max(zip(chosen.load, attrs, strict=True))
    hash_tables = [table for table in tables if isinstance(table, HashTable)]
    now = sum(table.rows * table.width for table in hash_tables)
    texts = [
        "Take these rows as the least. Words that are told apart are not yet learned "
        f"well: the {attr} table would have {load:,.1f} values for each row. The "
        f"smallest tables in the report, with up to {SMALLEST_LOAD} values for each "
        "row, gained one F1 point on one corpus and lost three on the other (its "
        "table 1). Compare with larger ones on your development set."
    ]
    if now:
        texts.append(
            f"The hash tables there are have {now:,} parameters, "
            f"{now / chosen.parameters:.1f} times as many."
        )
    return texts


def _advise_on_seed(
    tables: Sequence[HashTable | LookupTable], vocabulary: Vocabulary
) -> list[str]:
    texts = []
    for table in tables:
        if isinstance(table, HashTable) and len(vocabulary.words):
            values, _ = vocabulary.count_values(table.attr)
            measures = measure_hash_table(table, values)
            if measures.with_sound_seed is not None:
                texts.append(_describe_seed(measures, measures.with_sound_seed))
    return texts


def _describe_seed(poor: HashMeasures, sound: HashMeasures) -> str:
    return (
        f"{poor.attr} is hashed with seed {poor.seed}, a poor one: it is the length "
        "of the hashed key in bytes, which makes hash 1 always even, and lets hash 3 "
        "depend on hash 1, and hash 4 on hash 2. Here hash 1 reaches "
        f"{poor.rows_reached_by_hash[0]:,} of {poor.rows:,} rows (seed {sound.seed}: "
        f"{sound.rows_reached_by_hash[0]:,}), and {poor.sharing_code:,} of "
        f"{poor.values:,} values share all their rows with another (seed {sound.seed}: "
        f"{sound.sharing_code:,}). For a pipeline that you train anew, use "
        f"{_HASHING} with seed = {sound.seed}."
    )


def _advise_on_lookup(
    chosen: LookupOption | None,
    options: Sequence[LookupOption],
    attrs: Sequence[str],
    bound: float,
) -> list[str]:
    if chosen is None:
        return []
    texts = [
        f"To look up, with {_LOOKUP}: min_freq = {chosen.min_freq}, which gives "
        f"{chosen.rows} rows. "
        f"These are the fewest parameters ({chosen.parameters:,}) with which at most "
        f"{_percent(bound)} of the values of each attribute share the row for unknown "
        "ones."
    ]
    if chosen.min_freq == 1:
        second = next(option for option in options if option.min_freq == 2)
        shares = chosen.unknown_share[0]
        new = "".join(
            f", which {_percent(share)} of the {split} tokens get for {attrs[0]}"
            for split, share in list(shares.items())[1:2]
        )
        texts.append(
            f"With min_freq = 1 nothing trains the row for unknown values{new}. With "
            f"min_freq = 2 the {second.unknown_values[0]:,} values of {attrs[0]} that "
            f"were seen once, {_percent(second.unknown_share[0]['train'])} of its "
            f"tokens, train it, and there are only {second.parameters:,} parameters."
        )
    return texts


def _advise_on_attributes(uses: Sequence[AttributeUse]) -> list[str]:
    return [
        f"Leave out {use.attr}: {use.says_nothing}."
        for use in uses
        if use.says_nothing is not None
    ]


def _count_hashes(number: int) -> str:
    return "1 hash" if number == 1 else f"{number} hashes"


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
