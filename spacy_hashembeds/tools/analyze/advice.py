"""Advice on the settings of an embedder, with reasons."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ...architectures import multi_embed, multi_fewer_hash_embed
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

#: How many of an attribute's values may share their whole code, as a share of them.
BOUND = 0.001

#: With fewer distinct words there is nothing to choose: any table has room for them,
#: and what they show of the words to come is chance.
FEWEST_WORDS = 100

_HASHING = multi_fewer_hash_embed.DESCRIPTION.architecture
_LOOKUP = multi_embed.DESCRIPTION.architecture


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
    in F1 only training shows. There is none on sizes below `FEWEST_WORDS` words.

    rows: Attributes, and the rows of the tables that there are; by default spaCy's.
    tables: What was measured of them.
    settable: Attributes that components may set, which are not there yet: they stay.
    """
    train = vocabularies["train"]
    n_words = len(np.unique(train.words[:, 0]))
    uses = measure_attributes(vocabularies, attrs, settable) if n_words else []
    kept = [use.attr for use in uses if use.says_nothing is None]
    unseen = [attr for attr in kept if attr in settable and attr != "NORM"]
    hashes, lookups, reasons = [], [], []
    if n_words >= FEWEST_WORDS and kept:
        hashes = find_hash_options(train, kept, width=width, bound=bound)
        lookups = find_lookup_options(vocabularies, kept, width=width)
        reasons.append("Begin with what `spacy hashembeds config` puts in.")
    elif n_words:
        reasons.append(
            f"The training corpus is too small to advise on: it has {n_words} distinct "
            f"words, of {FEWEST_WORDS} or more."
        )
    hashing = min(hashes, key=lambda option: option.parameters, default=None)
    if hashing is not None:
        reasons.append(_explain_hashing(hashing, kept, bound, tables))
    known = rows or [(attr, get_usual_rows(attr)) for attr in attrs]
    most = sum(n for attr, n in known if attr not in unseen)
    trained = [option for option in lookups if option.min_freq > 1]
    few = (option for option in trained if sum(option.rows) <= most)
    lookup = next(few, trained[-1] if trained else None)
    if lookup is not None:
        reasons.append(_explain_lookup(lookup, kept[0]))
        useless = [use for use in uses if use.says_nothing is not None]
        reasons += [f"Leave out {use.attr}: {use.says_nothing}." for use in useless]
    if unseen:
        reasons.append(
            f"Keep {', '.join(unseen)} with the rows there are: components ahead may "
            "set values that are not in the corpus."
        )
    poor = [table for table in tables if n_words and table.get("with_sound_seed")]
    return Advice(
        attrs=kept,
        width=width,
        bound=bound,
        attributes=uses,
        hash_options=hashes,
        hashing=hashing,
        lookup_options=lookups,
        lookup=lookup,
        reasons=[*reasons, *map(_explain_seed, poor)],
    )


def get_usual_rows(attr: str) -> int:
    """Return the rows that `spacy init config` gives to an attribute's table. It has no
    others than these: they get what NORM has.
    """
    return {"PREFIX": 1000, "SUFFIX": 2500, "SHAPE": 2500}.get(attr, 5000)


def format_bound(share: float) -> str:
    """Format a share of 0 to 1 in percent, to three figures and in plain digits."""
    return np.format_float_positional(100 * share, 3, fractional=False, trim="-") + "%"


def _explain_hashing(
    limit: HashOption, attrs: Sequence[str], bound: float, tables: Sequence[Measures]
) -> str:
    least = dict(zip(attrs, limit.rows, strict=True))
    hashed = [(t["attr"], t["rows"]) for t in tables if "num_hashes" in t]
    short = [attr for attr, rows in hashed if rows < least.get(attr, 0)]
    more = f", but more for {', '.join(short)}" * bool(short)
    return (
        f"To hash: {_HASHING} with num_hashes = {limit.num_hashes}, seed = "
        f"{SOUND_SEED}, and {'the rows there are' if hashed else 'the usual rows'}"
        f"{more}. The lower limit, with {limit.parameters:,} parameters, is "
        f"{', '.join(f'{attr} {rows:,}' for attr, rows in least.items())}: "
        f"{format_bound(bound)} of the values of each share all rows with another, and "
        f"{limit.words_sharing_codes:,} words can't be told apart."
    )


def _explain_lookup(chosen: LookupOption, attr: str) -> str:
    shares = chosen.unknown_share[0]
    split = "dev" if "dev" in shares else "train"
    untrained = f" No {attr} is rarer: nothing trains the row for unknown ones."
    return (
        f"To look up: {_LOOKUP} with min_freq = {chosen.min_freq}, which makes "
        f"{sum(chosen.rows):,} rows, {chosen.parameters:,} parameters, and leaves "
        f"{shares[split]:.1%} of the tokens in {split} with an unknown {attr}."
        + untrained
        * (not chosen.unknown_values[0])
    )


def _explain_seed(poor: Measures) -> str:
    sound = poor["with_sound_seed"]
    return (
        f"With seed {poor['seed']} hash 1 of {poor['attr']} reaches "
        f"{poor['rows_reached_by_hash'][0]:,} of {poor['rows']:,} rows, and "
        f"{poor['sharing_code']:,} of {poor['values']:,} values can't be told apart; "
        f"with {SOUND_SEED} {sound['rows_reached_by_hash'][0]:,} and "
        f"{sound['sharing_code']:,}. To train anew, set seed = {SOUND_SEED}: "
        f"{_HASHING} has it, spaCy's embedders don't."
    )
