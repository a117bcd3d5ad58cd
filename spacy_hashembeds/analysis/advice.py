"""Advice on the settings of an embedder, with reasons."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ..architectures.embedders import (
    multi_embed,
    multi_fewer_hash_embed,
    multi_weighted_hash_embed,
)
from ..layers.hashembed import HashColumn
from ..layers.weightedhashembed import WeightedColumn
from .codes import SOUND_SEED
from .measures import Measures, Vocabularies
from .options import (
    AttributeUse,
    HashOption,
    LookupOption,
    find_hash_options,
    find_lookup_options,
    measure_attributes,
)
from .recommendation import WHERE_TO_BEGIN

#: How many of an attribute's values may share their whole code, as a share of them.
BOUND = 0.001

#: With fewer distinct words there is nothing to choose: any table has room for them,
#: and what they show of the words to come is chance.
FEWEST_WORDS = 100

#: Distinct norms for each row in the smallest table that the report trained with:
#: Spanish, 10% rows, 23,710 norms in 263 rows (table 1; appendix A.1).
SMALLEST_LOAD = 90

_HASHING = multi_fewer_hash_embed.DESCRIPTION.architecture
_LOOKUP = multi_embed.DESCRIPTION.architecture
_WEIGHTED = multi_weighted_hash_embed.DESCRIPTION.architecture


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Settings of an embedder, and what they were chosen from."""

    attrs: list[str]  #: The attributes to embed.
    width: int  #: Of the tables.
    bound: float  #: How many of an attribute's values may share their whole code.
    attributes: list[AttributeUse]
    hash_options: list[HashOption]
    hashing: HashOption | None  #: That with the least memory: a lower limit.
    lookup_options: list[LookupOption]
    #: That of the lowest `min_freq` from 2, so that rarer values train the row for
    #: unknown ones, with no more rows than the tables that there are, or spaCy's.
    lookup: LookupOption | None
    reasons: list[str]  #: The advice in words.


def advise(
    vocabularies: Vocabularies,
    attrs: Sequence[str],
    *,
    width: int,
    bound: float = BOUND,
    rows: Sequence[tuple[str, int]] = (),
    tables: Sequence[Measures] = (),
    settable: Collection[str] = (),
) -> Advice:
    """Advise on rows, hashes, attributes and `min_freq`.

    It is about telling the words of the training corpus apart: what a choice is worth
    in F1 only training shows. There is no advice on sizes with fewer than
    `FEWEST_WORDS` distinct words.

    rows: Attributes, and the rows of the tables that there are; by default spaCy's.
    tables: What was measured of them.
    settable: Attributes that components may set, which are not there yet: they stay.
    """
    train = vocabularies["train"]
    n_words = len(np.unique(train.words[:, 0]))
    uses = measure_attributes(vocabularies, attrs, settable) if n_words else []
    kept = [use.attr for use in uses if use.says_nothing is None]
    hashes, lookups, reasons = [], [], []
    if 0 < n_words < FEWEST_WORDS:
        reasons.append(
            "The training corpus is too small to advise on: its distinct words are "
            f"{n_words}, and should be {FEWEST_WORDS} or more. What is counted above "
            "is right, but says little of other text."
        )
    elif kept:
        hashes = find_hash_options(train, kept, width=width, bound=bound)
        lookups = find_lookup_options(vocabularies, kept, width=width)
        reasons.append(WHERE_TO_BEGIN)
    hashing = min(hashes, key=lambda option: option.parameters, default=None)
    if hashing is not None:
        reasons += _explain_hashing(hashing, kept, bound, tables)
    poor = [table for table in tables if n_words and table.get("with_sound_seed")]
    reasons += [_explain_seed(table, table["with_sound_seed"]) for table in poor]
    unseen = [attr for attr in kept if attr in settable and attr != "NORM"]
    known = rows or [(attr, get_usual_rows(attr)) for attr in attrs]
    lookup = _choose_lookup(lookups, sum(n for attr, n in known if attr not in unseen))
    if unseen:
        reasons.append(
            f"{', '.join(unseen)}: components ahead of the embedder may set what is "
            "not in the corpus, so that its values are not counted here. It stays, "
            "with the rows there are."
        )
    if lookup is not None:
        reasons += _explain_lookup(lookup, lookups, kept[0])
        useless = [use for use in uses if use.says_nothing is not None]
        reasons += [f"Leave out {use.attr}: {use.says_nothing}." for use in useless]
    return Advice(
        attrs=kept,
        width=width,
        bound=bound,
        attributes=uses,
        hash_options=hashes,
        hashing=hashing,
        lookup_options=lookups,
        lookup=lookup,
        reasons=reasons,
    )


def get_usual_rows(attr: str) -> int:
    """Get the rows that `spacy init config` gives to an attribute's table. It has no
    others than these: they get what NORM has.
    """
    return {"PREFIX": 1000, "SUFFIX": 2500, "SHAPE": 2500}.get(attr, 5000)


def _choose_lookup(options: Sequence[LookupOption], most: int) -> LookupOption | None:
    """Choose the lowest `min_freq` from 2 with so many rows at most, or the highest."""
    trained = [option for option in options if option.min_freq > 1]
    return next((o for o in trained if sum(o.rows) <= most), [None, *trained][-1])


def format_bound(share: float) -> str:
    """Format a share of 0 to 1 in percent, to three figures and in plain digits."""
    return np.format_float_positional(100 * share, 3, fractional=False, trim="-") + "%"


def _explain_hashing(
    limit: HashOption, attrs: Sequence[str], bound: float, tables: Sequence[Measures]
) -> list[str]:
    """Recommend hashes, and say what the least memory is, and why not to use it."""
    names = ", ".join(f'"{attr}"' for attr in attrs)
    collisions = ", ".join(
        f"{attr} {n:,} of {total:,}"
        for attr, n, total in zip(attrs, limit.sharing_code, limit.values, strict=True)
    )
    load, attr = max(zip(limit.load, attrs, strict=True))
    hashed = [table for table in tables if table["kind"] == HashColumn.kind]
    now = sum(table["parameters"] for table in hashed)
    times = (
        f" (the present tables have {now:,}, {now / limit.parameters:.1f} times that)"
    )
    return [
        f"To hash, with {_HASHING}: attrs = [{names}], num_hashes = "
        f"{limit.num_hashes}, seed = {SOUND_SEED}, and "
        f"{_recommend_rows(dict(zip(attrs, limit.rows, strict=True)), hashed)}. Take "
        "fewer only as your development score allows.",
        f"The lower limit with {limit.num_hashes} hash{'es' * (limit.num_hashes > 1)} "
        f"is rows = {limit.rows}, {limit.parameters:,} parameters{times * bool(now)}. "
        f"In them at most {format_bound(bound)} of the values of each attribute share "
        f"all their rows with another. Measured: {collisions}. Taken together, the "
        f"tables leave {limit.words_sharing_codes:,} words that can't be told apart. "
        "It is a limit and not a size to use, since words that are told apart are not "
        f"yet learned well: the {attr} table would have {load:,.1f} values for each "
        f"row. The smallest tables in the report, with up to {SMALLEST_LOAD} values "
        "for each row, gained one F1 point on one corpus and lost three on the other "
        "(its table 1).",
    ]


def _recommend_rows(least: dict[str, int], hashed: Sequence[Measures]) -> str:
    """Recommend the rows there are, or spaCy's, but none below the least."""
    used = [(t["attr"], t["rows"]) for t in hashed if t["attr"] in least]
    if not used:
        return (
            "the rows of `spacy init config` (NORM 5,000, PREFIX 1,000, SUFFIX and "
            "SHAPE 2,500)"
        )
    rows = ", ".join(f"{attr} {n:,}" for attr, n in used)
    short = ", ".join(attr for attr, n in used if n < least[attr])
    more = f", but more for {short}: see the lower limit" if short else ""
    return f"the rows there are ({rows}){more}"


def _explain_seed(poor: Measures, sound: Measures) -> str:
    """Say that a table has a poor seed, and what it costs."""
    rows, shared, architecture = (
        ("component vectors", "their component vectors and weights", _WEIGHTED)
        if poor["kind"] == WeightedColumn.kind
        else ("rows", "all their rows", _HASHING)
    )
    return (
        f"{poor['attr']} is hashed with seed {poor['seed']}, a poor one: it is the "
        "length of the hashed key in bytes, which makes hash 1 always even, and lets "
        "hash 3 depend on hash 1, and hash 4 on hash 2. Here hash 1 reaches "
        f"{poor['rows_reached_by_hash'][0]:,} of {poor['rows']:,} {rows} (seed "
        f"{SOUND_SEED}: {sound['rows_reached_by_hash'][0]:,}), and "
        f"{poor['sharing_code']:,} of {poor['values']:,} values share {shared} with "
        f"another (seed {SOUND_SEED}: {sound['sharing_code']:,}). For a pipeline that "
        f"you train anew, use {architecture} with seed = {SOUND_SEED}."
    )


def _explain_lookup(
    chosen: LookupOption, options: Sequence[LookupOption], attr: str
) -> list[str]:
    """Recommend a `min_freq`, and say what others would leave unknown."""
    shares, unknown = chosen.unknown_share[0], chosen.unknown_values[0]
    split = "dev" if "dev" in shares else "train"
    others = ", ".join(
        f"{option.unknown_share[0][split]:.1%} with {option.min_freq}"
        + " (then nothing trains that row)" * (option.min_freq == 1)
        for option in options
        if option is not chosen
    )
    training = (
        f"Rarer values ({unknown:,}; {shares['train']:.1%} of the training tokens) "
        f"train the row for unknown {attr}."
        if unknown
        else f"No value of {attr} is seen less often: nothing trains the row for "
        "unknown ones."
    )
    return [
        f"To look up, with {_LOOKUP}: min_freq = {chosen.min_freq}, which gives "
        f"{chosen.rows} rows, {chosen.parameters:,} parameters: the lowest from 2 with "
        f"no more rows than the tables have, or spaCy's. {training} Of the tokens in "
        f"{split} {shares[split]:.1%} get that row; {others}.",
        "Which min_freq scores best can't be counted. The report used 10, and did not "
        "try 2 or 3. Compared with 10, min_freq = 1 gained 11 points of F1 on AnEM "
        "without vectors, and lost 4 on Dutch CoNLL 2002 with vectors (its tables 15 "
        "and 16, development sets). Compare on your development set.",
    ]
