"""Advice on the settings of an embedder, with reasons."""

from collections.abc import Collection, Mapping, Sequence
from math import inf

import numpy as np

from ...architectures import multi_embed, multi_fewer_hash_embed
from ...hashing.collisions import min_rows
from ...hashing.murmur import MAX_HASHES
from ...layers.tableembed import HashColumn, HashEmbed
from .corpus import Vocabulary, list_rows
from .embedders import Measures, count_sharing

#: Maximum share of an attribute's values with the code of another value.
BOUND = 0.001

#: Minimum number of distinct words for advice on sizes.
MIN_WORDS = 100

#: Candidates for `min_freq`. Values seen once train the row of unknown values.
MIN_FREQS = (2, 3, 5, 10, 20)

#: Seed whose hashes are not independent: see "Seed 8" in docs/analyze.md.
DEGENERATE_SEED = 8
SOUND_SEED = 9

#: Attributes that spaCy embeds by default, and the width of its tables.
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

    The criterion is that words of the training corpus are distinguished; only training
    shows the effect on F1. Below `MIN_WORDS` words, there is no advice on sizes.

    embedder (Measures): "component", and the measures of its "tables". Without tables,
        spaCy's default attributes are used.
    settable (Collection[str]): Attributes that components may set; always kept.
    RETURNS (Measures): "component"; "attrs", the attributes to embed; "hashing", the
        smallest hash tables within the bound; "lookup", lookup tables with at most the
        present number of rows; "reasons", as text. Without advice, "hashing" and
        "lookup" are None.
    """
    tables = embedder["tables"] or [{"attr": attr, "width": WIDTH} for attr in ATTRS]
    width, n_words = tables[0]["width"], len(np.unique(train.words[:, 0]))
    attrs = [*dict.fromkeys(table["attr"] for table in tables)] if n_words else []
    redundant = find_redundant(train, attrs, settable)
    kept = [attr for attr in attrs if attr not in redundant]
    unseen = [attr for attr in kept if attr in settable and attr != "NORM"]
    hashing, lookup, reasons = None, None, []
    if 0 < n_words < MIN_WORDS:
        reasons.append(
            "The training corpus is too small for advice on sizes: it has "
            f"{n_words} distinct words, fewer than {MIN_WORDS}."
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
            "Start with the settings of `spacy hashembeds config`.",
            _explain_hashing(least, hashing["parameters"], bound, tables),
            f"For lookup tables: {_LOOKUP} with min_freq = {min_freq}: {sum(rows):,} "
            f"rows, {lookup['parameters']:,} parameters.",
            *(f"Leave out {attr}: {why}." for attr, why in redundant.items()),
        ]
    if unseen:
        reasons.append(
            f"Keep {', '.join(unseen)} with the present rows: earlier components or "
            "getters may set values that the corpus lacks."
        )
    poor = [t for t in tables if n_words and t.get("seed") == DEGENERATE_SEED]
    return {
        "component": embedder["component"],
        "attrs": kept,
        "hashing": hashing,
        "lookup": lookup,
        "reasons": [*reasons, *map(_explain_seed, poor)],
    }


def find_redundant(
    train: Vocabulary, attrs: Sequence[str], settable: Collection[str] = ()
) -> dict[str, str]:
    """Return redundant attributes, except settable ones, and the reason for each."""
    fixed = [attr for attr in attrs if attr not in settable]
    n_values = {attr: len(train.count_values(attr)[0]) for attr in fixed}
    redundant = {}
    for index, attr in enumerate(fixed):
        if n_values[attr] == 1:
            redundant[attr] = "all words have one value"
        for other in fixed[:index]:
            n_pairs = len({*list_rows(train.get_columns([other, attr]))})
            if n_pairs == n_values[attr] == n_values[other]:
                redundant.setdefault(attr, f"it separates the same words as {other}")
    return redundant


def find_fewest_rows(
    train: Vocabulary, attrs: Sequence[str], bound: float
) -> dict[str, int]:
    """Return the rows, rounded up to two digits, of the smallest hash tables with
    `MAX_HASHES` hashes whose expected and measured shares of colliding values are
    within the bound.
    """
    found = {}
    for seed, attr in enumerate(attrs, start=SOUND_SEED):
        values, _ = train.count_values(attr)
        limit, n_sharing = bound * len(values), inf
        rows = min_rows(len(values), MAX_HASHES, limit) - 1
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
    """Return the lowest of `MIN_FREQS` with at most `most` rows in total, or else the
    highest; and the rows of each table.
    """
    counts = [train.count_values(attr)[1] for attr in attrs]
    for min_freq in MIN_FREQS:
        rows = [1 + int((count >= min_freq).sum()) for count in counts]
        if sum(rows) <= most:
            break
    return min_freq, rows


def get_usual_rows(attr: str) -> int:
    """Return the rows of an attribute's table in `spacy init config`, by default those
    of NORM.
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
        f"For hash tables: {_HASHING} with num_hashes = {MAX_HASHES}, seed = "
        f"{SOUND_SEED}, and {'the present' if hashed else 'the usual'} rows{more}. The "
        f"lower limit, with {size:,} parameters, is "
        f"{', '.join(f'{attr} {rows:,}' for attr, rows in least.items())}: at most "
        f"{100 * bound:g}% of the values of each share all rows with another."
    )


def _explain_seed(poor: Measures) -> str:
    reached = poor["rows_reached_by_hash"][0]
    return (
        f"With seed {DEGENERATE_SEED} hash 1 of {poor['attr']} reaches {reached:,} of "
        f"{poor['rows']:,} rows, and {poor['sharing_code']:,} of {poor['values']:,} "
        f"values collide; {poor['expected_sharing_code']:,.1f} are expected. For new "
        f"training, set seed = {SOUND_SEED} of {_HASHING}; spaCy's embedders have a "
        "fixed seed."
    )
