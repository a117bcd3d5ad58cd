"""Advice on the settings of an embedder, with reasons."""

from collections.abc import Collection, Sequence

import numpy as np

from ...architectures import multi_embed, multi_fewer_hash_embed
from ...layers.symbolembed import LookupColumn
from .codes import DEGENERATE_SEED, SOUND_SEED
from .features import Vocabulary
from .measures import Measures
from .options import MIN_FREQS, HashOption, find_hash_options, measure_attributes

#: Share of an attribute's values that may share their whole code.
BOUND = 0.001

#: With fewer distinct words there is nothing to choose: any table has room for them,
#: and what they show of the words to come is chance.
FEWEST_WORDS = 100

#: The attributes that spaCy embeds by default, and the width of its tables.
ATTRS = ("NORM", "PREFIX", "SUFFIX", "SHAPE")
WIDTH = 96

_HASHING = multi_fewer_hash_embed.DESCRIPTION.architecture
_LOOKUP = multi_embed.DESCRIPTION.architecture


def advise(
    train: Vocabulary,
    embedder: Measures,
    *,
    bound: float = BOUND,
    settable: Collection[str] = (),
) -> Measures:
    """Advise on rows, hashes, attributes and `min_freq`.

    It is about telling the words of the training corpus apart: what a choice is worth
    in F1 only training shows. There is none on sizes below `FEWEST_WORDS` words.

    embedder (Measures): The "component", and what was measured of its "tables". Without
        any, those that spaCy has by default are advised on.
    settable (Collection[str]): Attributes that components may set, which are not there
        yet: they stay.
    RETURNS (Measures): "component"; "attrs", those to embed; "hashing", the hash tables
        of the least memory within the bound, a lower limit, and "lookup", the lookup
        tables of the lowest `min_freq` from 2, so that rarer values train the row for
        unknown ones, with no more rows than there are: each None without advice;
        "reasons", in words.
    """
    tables = embedder["tables"]
    attrs = [*dict.fromkeys(table["attr"] for table in tables)] or [*ATTRS]
    width = tables[0]["width"] if tables else WIDTH
    n_words = len(np.unique(train.words[:, 0]))
    uses = measure_attributes({"train": train}, attrs, settable) if n_words else []
    kept = [use.attr for use in uses if use.says_nothing is None]
    unseen = [attr for attr in kept if attr in settable and attr != "NORM"]
    hashing, lookup, reasons = None, None, []
    if n_words >= FEWEST_WORDS and kept:
        options = find_hash_options(train, kept, width=width, bound=bound)
        hashing = min(options, key=lambda option: option.parameters, default=None)
        there = tables or [{"attr": attr, "kind": LookupColumn.kind} for attr in attrs]
        most = sum(map(_get_rows, (t for t in there if t["attr"] not in unseen)))
        lookup = _find_lookup(train, kept, width, most)
        reasons += [
            "Begin with what `spacy hashembeds config` puts in.",
            *([_explain_hashing(hashing, kept, bound, tables)] if hashing else []),
            f"To look up: {_LOOKUP} with min_freq = {lookup['min_freq']}, which makes "
            f"{sum(lookup['rows']):,} rows, {lookup['parameters']:,} parameters.",
            *(f"Leave out {u.attr}: {u.says_nothing}." for u in uses if u.says_nothing),
        ]
    elif n_words:
        reasons.append(
            f"The training corpus is too small to advise on: it has {n_words} distinct "
            f"words, of {FEWEST_WORDS} or more."
        )
    if unseen:
        reasons.append(
            f"Keep {', '.join(unseen)} with the rows there are: components ahead may "
            "set values that are not in the corpus."
        )
    poor = [t for t in tables if n_words and t.get("seed") == DEGENERATE_SEED]
    return {
        "component": embedder["component"],
        "attrs": kept,
        "hashing": hashing and hashing._asdict(),
        "lookup": lookup,
        "reasons": [*reasons, *map(_explain_seed, poor)],
    }


def get_usual_rows(attr: str) -> int:
    """Return the rows that `spacy init config` gives to an attribute's table. It has no
    others than these: they get what NORM has.
    """
    return {"PREFIX": 1000, "SUFFIX": 2500, "SHAPE": 2500}.get(attr, 5000)


def format_bound(share: float) -> str:
    """Format a share of 0 to 1 in percent, to three figures and in plain digits."""
    return np.format_float_positional(100 * share, 3, fractional=False, trim="-") + "%"


def _get_rows(table: Measures) -> int:
    """Return the rows of a table, or those to have where symbols decide how many."""
    by_symbols = table["kind"] == LookupColumn.kind
    return get_usual_rows(table["attr"]) if by_symbols else table["rows"]


def _find_lookup(
    train: Vocabulary, attrs: Sequence[str], width: int, most: int
) -> Measures:
    counts = [train.count_values(attr)[1] for attr in attrs]
    for min_freq in MIN_FREQS[1:]:
        rows = [1 + int((count >= min_freq).sum()) for count in counts]
        if sum(rows) <= most:
            break
    return {"min_freq": min_freq, "rows": rows, "parameters": width * sum(rows)}


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
        f"{', '.join(f'{attr} {rows:,}' for attr, rows in least.items())}: at most "
        f"{format_bound(bound)} of the values of each share all rows with another."
    )


def _explain_seed(poor: Measures) -> str:
    reached = poor["rows_reached_by_hash"][0]
    return (
        f"With seed {DEGENERATE_SEED} hash 1 of {poor['attr']} reaches {reached:,} of "
        f"{poor['rows']:,} rows, and {poor['sharing_code']:,} of {poor['values']:,} "
        f"values can't be told apart: {poor['expected_sharing_code']:,.1f} are to be "
        f"expected. To train anew, set seed = {SOUND_SEED}: {_HASHING} has it, spaCy's "
        "embedders don't."
    )
