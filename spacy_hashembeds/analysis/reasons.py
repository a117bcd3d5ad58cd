"""The advice of `advise` in words."""

from collections.abc import Collection, Sequence

import numpy as np

from ..architectures.embedders import (
    multi_embed,
    multi_fewer_hash_embed,
    multi_weighted_hash_embed,
)
from ..architectures.embedders.descriptions import get_descriptions
from ..architectures.embedders.table_kinds import HashTable, WeightedTable
from ..hashing.murmur import MAX_HASHES
from .codes import SOUND_SEED
from .measures import Measures
from .options import MAX_ROWS, AttributeUse, HashOption, LookupOption

_HASHING = multi_fewer_hash_embed.DESCRIPTION.architecture
_LOOKUP = multi_embed.DESCRIPTION.architecture
_WEIGHTED = multi_weighted_hash_embed.DESCRIPTION.architecture

#: Distinct norms for each row in the smallest table that the report trained with:
#: Spanish, 10% rows, 23,710 norms in 263 rows (table 1; appendix A.1).
SMALLEST_LOAD = 90


#: F1 on WNUT 2017's test set, in percent: of lookup with min_freq 2, and of spaCy's 4
#: hashes (docs/results.md).
MEASURED_F1 = (20.2, 17.6)


def describe_size(n_words: int, fewest: int) -> list[str]:
    """Say that a corpus is too small to advise on, if it is.

    n_words (int): Its distinct words.
    fewest (int): How many there should be.
    """
    if not 0 < n_words < fewest:
        return []
    return [
        f"The training corpus is too small to advise on: its distinct words are "
        f"{n_words}, and should be {fewest} or more. What is counted above is right, "
        "but says little of other text."
    ]


def describe_hashing(
    limit: HashOption | None,
    attrs: Sequence[str],
    bound: float,
    tables: Sequence[Measures],
) -> list[str]:
    """Recommend hashes, and say what the least memory is, and why not to use it.

    limit (HashOption, optional): The tables with the least memory.
    attrs (Sequence[str]): Their attributes.
    bound (float): What they keep to.
    tables (Sequence[Measures]): What was measured of the tables there are, if any.
    """
    if limit is None:
        return []
    names = ", ".join(f'"{attr}"' for attr in attrs)
    collisions = ", ".join(
        f"{attr} {n:,} of {total:,}"
        for attr, n, total in zip(attrs, limit.sharing_code, limit.values, strict=True)
    )
    load, attr = max(zip(limit.load, attrs, strict=True))
    hashes = "1 hash" if limit.num_hashes == 1 else f"{limit.num_hashes} hashes"
    return [
        f"To hash, with {_HASHING}: attrs = [{names}], num_hashes = "
        f"{limit.num_hashes}, seed = {SOUND_SEED}, and "
        f"{_recommend_rows(limit, attrs, tables)}.",
        f"The lower limit with {hashes} is rows = {limit.rows}, {limit.parameters:,} "
        f"parameters{_compare_size(limit, tables)}. In them at most "
        f"{format_bound(bound)} of the values of each attribute share all their rows "
        f"with another. Measured: {collisions}. Taken together, the tables leave "
        f"{limit.words_sharing_codes:,} words that can't be told apart. It is a limit "
        "and not a size to use, since words that are told apart are not yet learned "
        f"well: the {attr} table would have {load:,.1f} values for each row. The "
        f"smallest tables in the report, with up to {SMALLEST_LOAD} values for each "
        "row, gained one F1 point on one corpus and lost three on the other (its "
        "table 1).",
    ]


def describe_seeds(tables: Sequence[Measures]) -> list[str]:
    """Say which of the tables there are have a poor seed, and what it costs."""
    poor = [table for table in tables if table.get("with_sound_seed")]
    return [_describe_seed(table, table["with_sound_seed"]) for table in poor]


def describe_lookup(
    chosen: LookupOption | None,
    options: Sequence[LookupOption],
    attrs: Sequence[str],
) -> list[str]:
    """Recommend a `min_freq`, and say what others would leave unknown.

    chosen (LookupOption, optional): The option to recommend.
    options (Sequence[LookupOption]): All of them.
    attrs (Sequence[str]): Their attributes.
    """
    if chosen is None:
        return []
    attr, shares = attrs[0], chosen.unknown_share[0]
    split = "dev" if "dev" in shares else "train"
    others = ", ".join(
        f"{option.unknown_share[0][split]:.1%} with {option.min_freq}"
        + " (then nothing trains that row)" * (option.min_freq == 1)
        for option in options
        if option is not chosen
    )
    return [
        f"To look up, with {_LOOKUP}: min_freq = {chosen.min_freq}, which gives "
        f"{chosen.rows} rows, {chosen.parameters:,} parameters. "
        f"{_describe_training(chosen, attr)} Of the tokens in {split} "
        f"{shares[split]:.1%} get that row; {others}.",
        "Which min_freq scores best can't be counted. The report used 10, and did not "
        "try 2 or 3. Compared with 10, min_freq = 1 gained 11 points of F1 on AnEM "
        "without vectors, and lost 4 on Dutch CoNLL 2002 with vectors (its tables 15 "
        "and 16, development sets). Compare on your development set.",
    ]


def describe_default(chosen: LookupOption | None) -> list[str]:
    """Say which embedder to begin with, by what was measured.

    chosen (LookupOption, optional): The tables to look up in.
    """
    if chosen is None:
        return []
    lookup, hashing = MEASURED_F1
    others = {d.not_better: d.architecture for d in get_descriptions() if d.not_better}
    named = " nor ".join(f"{what} ({name})" for what, name in sorted(others.items()))
    return [
        f"Begin with {_LOOKUP} where nearly all entities are new, as in the test of "
        "WNUT 2017: with half of the parameters it scored better there than spaCy's 4 "
        f"hashes (F1 {lookup} to {hashing}, means of eight seeds). On AnEM and Spanish "
        "CoNLL 2002 it was level with hashing in tables of equal size, with one seed. "
        "Where many entities stand in the training data and tables are to "
        f"be small, hashing scored better, and it needs no symbols. Neither {named} "
        "were shown to be worth more than plain hashing. All of it: docs/results.md.",
    ]


def describe_attributes(uses: Sequence[AttributeUse]) -> list[str]:
    """Say which attributes to leave out, and why."""
    return [
        f"Leave out {use.attr}: {use.says_nothing}."
        for use in uses
        if use.says_nothing is not None
    ]


def name_out_of_reach(num_hashes: Collection[int]) -> str:
    """Say which numbers of hashes would take larger tables than `MAX_ROWS`.

    num_hashes (Collection[int]): Those that are options.
    RETURNS (str): A sentence after a space; nothing if all are options.
    """
    missing = [str(n) for n in range(1, MAX_HASHES + 1) if n not in num_hashes]
    if not missing:
        return ""
    return (
        f" Out of reach, with more than {MAX_ROWS:,} rows in a table: "
        f"{', '.join(missing)} hash{'es' * (missing != ['1'])}."
    )


def format_bound(share: float) -> str:
    """Format a share of 0 to 1 in percent, to three figures and in plain digits."""
    percent = np.format_float_positional(
        100 * share, precision=3, fractional=False, trim="-"
    )
    return f"{percent}%"


def _recommend_rows(
    limit: HashOption, attrs: Sequence[str], tables: Sequence[Measures]
) -> str:
    """Recommend the rows there are, or spaCy's, but none below the limit."""
    least = dict(zip(attrs, limit.rows, strict=True))
    hashed = [(t["attr"], t["rows"]) for t in tables if t["kind"] == HashTable.kind]
    used = [(attr, n) for attr, n in hashed if attr in least]
    short = [attr for attr, n in used if n < least[attr]]
    if used:
        rows = ", ".join(f"{attr} {n:,}" for attr, n in used)
        start = f"the rows there are ({rows})"
    else:
        start = (
            "the rows of `spacy init config` (NORM 5,000, PREFIX 1,000, SUFFIX and "
            "SHAPE 2,500)"
        )
    more = f", but more for {', '.join(short)}: see the lower limit" if short else ""
    return f"{start}{more}. Take fewer only as your development score allows"


def _compare_size(limit: HashOption, tables: Sequence[Measures]) -> str:
    now = sum(t["parameters"] for t in tables if t["kind"] == HashTable.kind)
    if not now:
        return ""
    return (
        f" (the present tables have {now:,}, {now / limit.parameters:.1f} times that)"
    )


def _describe_seed(poor: Measures, sound: Measures) -> str:
    is_weighted = poor["kind"] == WeightedTable.kind
    rows = "component vectors" if is_weighted else "rows"
    shared = "their component vectors and weights" if is_weighted else "all their rows"
    return (
        f"{poor['attr']} is hashed with seed {poor['seed']}, a poor one: it is the "
        "length of the hashed key in bytes, which makes hash 1 always even, and lets "
        "hash 3 depend on hash 1, and hash 4 on hash 2. Here hash 1 reaches "
        f"{poor['rows_reached_by_hash'][0]:,} of {poor['rows']:,} {rows} (seed "
        f"{SOUND_SEED}: {sound['rows_reached_by_hash'][0]:,}), and "
        f"{poor['sharing_code']:,} of {poor['values']:,} values share {shared} with "
        f"another (seed {SOUND_SEED}: {sound['sharing_code']:,}). For a pipeline that "
        f"you train anew, use {_WEIGHTED if is_weighted else _HASHING} with seed = "
        f"{SOUND_SEED}."
    )


def _describe_training(chosen: LookupOption, attr: str) -> str:
    """Say what trains the row for unknown values."""
    unknown = chosen.unknown_values[0]
    if not unknown:
        return (
            f"No value of {attr} is seen less often: nothing trains the row for "
            "unknown ones."
        )
    return (
        f"Of the options that train the row for unknown {attr}, this leaves the fewest "
        f"tokens to it. Rarer values ({unknown:,}; "
        f"{chosen.unknown_share[0]['train']:.1%} of the training tokens) train it."
    )
