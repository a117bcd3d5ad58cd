"""Advice on the settings of an embedder, with reasons."""

from collections.abc import Collection, Mapping, Sequence
from math import inf

import numpy as np

from ...architectures import multi_embed, multi_fewer_hash_embed
from ...hashing.collisions import fewest_rows
from ...hashing.murmur import MAX_HASHES
from ...layers.tableembed import HashColumn, HashEmbed
from .corpus import Vocabulary, list_rows
from .embedders import Measures, count_sharing

#: Largest share of an attribute's values that may share their whole code.
BOUND = 0.001

#: Fewest distinct words for advice on sizes: fewer fit into any table, and tell little
#: about future words.
FEWEST_WORDS = 100

#: Values of `min_freq` to try, from 2, so that rarer values train the unknown row.
MIN_FREQS = (2, 3, 5, 10, 20)

#: Seed with which hashes are not independent: "Seed 8" in docs/analyze.md.
DEGENERATE_SEED = 8
SOUND_SEED = 9

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

    The advice is about distinguishing the words of the training corpus; only training
    shows the effect on F1. There is no advice on sizes below `FEWEST_WORDS` words.

    embedder (Measures): The "component", and the measures of its "tables". Without
        tables, the advice is about spaCy's default attributes.
    settable (Collection[str]): Attributes that components may set later, which are
        always kept.
    RETURNS (Measures): "component"; "attrs", the attributes to embed; "hashing", the
        smallest hash tables within the bound, as a lower limit, and "lookup", lookup
        tables with no more rows than now, each None without advice; "reasons", in
        words.
    """
    tables = embedder["tables"] or [{"attr": attr, "width": WIDTH} for attr in ATTRS]
    width, n_words = tables[0]["width"], len(np.unique(train.words[:, 0]))
    attrs = [*dict.fromkeys(table["attr"] for table in tables)] if n_words else []
    useless = find_useless(train, attrs, settable)
    kept = [attr for attr in attrs if attr not in useless]
    unseen = [attr for attr in kept if attr in settable and attr != "NORM"]
    hashing, lookup, reasons = None, None, []
    if 0 < n_words < FEWEST_WORDS:
        reasons.append(
            f"The training corpus is too small to advise on: it has {n_words} distinct "
            f"words, of {FEWEST_WORDS} or more."
        )
    elif kept:
        least = find_fewest_rows(train, kept, bound)
        most = sum(
            table["rows"] if "num_hashes" in table else get_usual_rows(table["attr"])
            for table in tables
            if table["attr"] not in unseen
        )
        known = [attr for attr in kept if attr not in unseen]
        min_freq, rows = find_min_freq(train, known, most)
        hashing = {"num_hashes": MAX_HASHES, **_describe([*least.values()], width)}
        lookup = {"min_freq": min_freq, **_describe(rows, width)}
        reasons += [
            "Begin with what `spacy hashembeds config` puts in.",
            _explain_hashing(least, hashing["parameters"], bound, tables),
            f"To look up: {_LOOKUP} with min_freq = {min_freq}, which makes "
            f"{sum(rows):,} rows, {lookup['parameters']:,} parameters.",
            *(f"Leave out {attr}: {why}." for attr, why in useless.items()),
        ]
    if unseen:
        reasons.append(
            f"Keep {', '.join(unseen)} with the rows there are: components ahead, or "
            "getters, may give values that are not in the corpus."
        )
    poor = [t for t in tables if n_words and t.get("seed") == DEGENERATE_SEED]
    return {
        "component": embedder["component"],
        "attrs": kept,
        "hashing": hashing,
        "lookup": lookup,
        "reasons": [*reasons, *map(_explain_seed, poor)],
    }


def find_useless(
    train: Vocabulary, attrs: Sequence[str], settable: Collection[str] = ()
) -> dict[str, str]:
    """Find attributes that could be removed without loss, except settable ones; why."""
    fixed = [attr for attr in attrs if attr not in settable]
    n_values = {attr: len(train.count_values(attr)[0]) for attr in fixed}
    useless = {}
    for index, attr in enumerate(fixed):
        if n_values[attr] == 1:
            useless[attr] = "all words have one value"
        for other in fixed[:index]:
            n_pairs = len({*list_rows(train.get_columns([other, attr]))})
            if n_pairs == n_values[attr] == n_values[other]:
                useless.setdefault(attr, f"it tells the same words apart as {other}")
    return useless


def find_fewest_rows(
    train: Vocabulary, attrs: Sequence[str], bound: float
) -> dict[str, int]:
    """Find the rows of the smallest hash tables, with `MAX_HASHES` hashes, for which
    the expected and the measured share of values that share a code are within a bound.
    Rows are rounded up to two figures.
    """
    found = {}
    for seed, attr in enumerate(attrs, start=SOUND_SEED):
        values, _ = train.count_values(attr)
        limit, n_sharing = bound * len(values), inf
        rows = fewest_rows(len(values), MAX_HASHES, limit) - 1
        while n_sharing > limit:
            unit = 10 ** max(len(str(rows + 1)) - 2, 0)
            rows = (rows // unit + 1) * unit
            table = HashColumn(HashEmbed(1, rows, seed=seed))
            n_sharing = count_sharing(table.identify(values))
        found[attr] = rows
    return found


def find_min_freq(
    train: Vocabulary, attrs: Sequence[str], most: int
) -> tuple[int, list[int]]:
    """Find the lowest `min_freq` whose lookup tables have at most `most` rows together,
    or else the highest; and the rows of each table.
    """
    counts = [train.count_values(attr)[1] for attr in attrs]
    for min_freq in MIN_FREQS:
        rows = [1 + int((count >= min_freq).sum()) for count in counts]
        if sum(rows) <= most:
            break
    return min_freq, rows


def get_usual_rows(attr: str) -> int:
    """Return the rows of an attribute's table in `spacy init config`. Attributes that
    it does not embed get as many as NORM.
    """
    return {"PREFIX": 1000, "SUFFIX": 2500, "SHAPE": 2500}.get(attr, 5000)


def _describe(rows: list[int], width: int) -> Measures:
    return {"rows": rows, "parameters": width * sum(rows)}


def _explain_hashing(
    least: Mapping[str, int], size: int, bound: float, tables: Sequence[Measures]
) -> str:
    hashed = [(t["attr"], t["rows"]) for t in tables if "num_hashes" in t]
    short = [attr for attr, rows in hashed if rows < least.get(attr, 0)]
    more = f", but more for {', '.join(short)}" * bool(short)
    return (
        f"To hash: {_HASHING} with num_hashes = {MAX_HASHES}, seed = {SOUND_SEED}, and "
        f"{'the rows there are' if hashed else 'the usual rows'}{more}. The lower "
        f"limit, with {size:,} parameters, is "
        f"{', '.join(f'{attr} {rows:,}' for attr, rows in least.items())}: at most "
        f"{100 * bound:g}% of the values of each share all rows with another."
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
