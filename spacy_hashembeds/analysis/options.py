"""Sizes of embedding tables that a vocabulary could have: what to choose from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from thinc.api import Model

from ..hashing.collisions import fewest_rows
from ..hashing.murmur import MAX_HASHES
from ..kernels.distinct import find_distinct
from ..layers.hashembed import HashColumn, HashEmbed
from ..layers.symbolembed import LookupColumn, SymbolEmbed
from ..layers.symboltaker import Symbols, give_symbols
from .codes import SOUND_SEED, count_sharing, count_sharing_sums, find_known
from .features import Vocabulary
from .measures import Measures, Vocabularies, measure_table, measure_words

MIN_FREQS = (1, 2, 3, 5, 10, 20)

#: Larger hash tables are no option. At spaCy's width of 96 this is 384 MB of weights,
#: more than any vocabulary of a corpus needs: with one hash alone, collisions die away
#: so slowly that a few thousand words would ask for millions of rows.
MAX_ROWS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class HashOption:
    """Hash tables that keep collisions within a bound. Lists go by attributes."""

    num_hashes: int  #: How many rows each value gets, in all tables.
    rows: list[int]  #: Rows of each table.
    parameters: int  #: Rows times width, of all tables.
    values: list[int]  #: Distinct values of each attribute.
    load: list[float]  #: Values for each row.
    sharing_code: list[int]  #: Values that share all rows with another, measured.
    expected_sharing_code: list[float]  #: The same, expected.
    words_sharing_codes: int  #: Words that share all rows of all tables with another.


@dataclass(frozen=True, kw_only=True)
class LookupOption:
    """Lookup tables for one `min_freq`. Lists go by attributes."""

    min_freq: int  #: How often a value must be seen to get a row of its own.
    rows: list[int]  #: Rows of each table.
    parameters: int  #: Rows times width, of all tables.
    unknown_values: list[int]  #: Training values that share the row for unknown ones.
    #: Tokens that get this row, as a share of all in each split, 0 to 1.
    unknown_share: list[dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class AttributeUse:
    """Use of an attribute beside the others."""

    attr: str
    values: int  #: Distinct values in training.
    merged_without: int  #: Words that only this attribute tells apart from another.
    #: For each other split, how many of its words that training has not shown have a
    #: value here that it has shown, 0 to 1. None if there are no such words.
    known_of_new: dict[str, float | None]
    says_nothing: str | None  #: Why the attribute could go at no loss, None if not.


def find_hash_options(
    vocabulary: Vocabulary, attrs: Sequence[str], *, width: int, bound: float
) -> list[HashOption]:
    """Find, for each number of hashes, the smallest tables of up to `MAX_ROWS` in which
    the expected and the measured share of values with another's code are within a
    bound. Rows are rounded up to two figures.
    """
    values = [vocabulary.count_values(attr)[0] for attr in attrs]
    options = []
    for num_hashes in range(1, MAX_HASHES + 1):
        tables = [
            _find_smallest(attr, values[i], width, num_hashes, SOUND_SEED + i, bound)
            for i, attr in enumerate(attrs)
        ]
        if any(table.n_rows > MAX_ROWS for table in tables):
            continue
        measured = [measure_table(table, {"train": vocabulary}) for table in tables]
        keys = ("rows", "values", "load", "sharing_code", "expected_sharing_code")
        options.append(
            HashOption(
                num_hashes=num_hashes,
                words_sharing_codes=measure_words(tables, vocabulary)["sharing_codes"],
                **_collect(measured, *keys),
            )
        )
    return options


def _find_smallest(
    attr: str, values: NDArray, width: int, num_hashes: int, seed: int, bound: float
) -> HashColumn:
    limit = bound * len(values)
    rows = fewest_rows(len(values), num_hashes, limit) if len(values) else 1
    while True:
        unit = 10 ** max(len(str(rows)) - 2, 0)
        rows = -(-rows // unit) * unit
        layer: Model = HashEmbed(width, rows, num_hashes=num_hashes, seed=seed)
        table = HashColumn(layer, attr)
        is_hopeless = rows > MAX_ROWS
        if is_hopeless or count_sharing_sums(table.find_code(values)) <= limit:
            return table
        rows += 1


def find_lookup_options(
    vocabularies: Vocabularies, attrs: Sequence[str], *, width: int
) -> list[LookupOption]:
    """Measure the lookup tables that `cut_symbols` would make, by `min_freq`."""
    counted = {attr: vocabularies["train"].count_values(attr) for attr in attrs}
    options = []
    for min_freq in MIN_FREQS:
        tables = [
            _make_lookup(attr, width, values[counts >= min_freq])
            for attr, (values, counts) in counted.items()
        ]
        measured = [measure_table(table, vocabularies) for table in tables]
        options.append(
            LookupOption(
                min_freq=min_freq,
                **_collect(measured, "rows", "unknown_values", "unknown_share"),
            )
        )
    return options


def _make_lookup(attr: str, width: int, symbols: NDArray) -> LookupColumn:
    layer: Model = SymbolEmbed(width, key=attr)
    give_symbols(layer, Symbols(symbols))
    return LookupColumn(layer, attr)


def _collect(tables: Sequence[Measures], *keys: str) -> dict[str, Any]:
    """Give the sum of parameters, and lists of what tables have under keys."""
    lists = {key: [table[key] for table in tables] for key in keys}
    return {"parameters": sum(table["parameters"] for table in tables), **lists}


def measure_attributes(
    vocabularies: Vocabularies, attrs: Sequence[str], settable: Collection[str] = ()
) -> list[AttributeUse]:
    """Measure what each attribute adds to the others. None of the settable could go."""
    train = vocabularies["train"]
    words = train.get_words(attrs)[:, 1:]
    together = count_sharing(words)
    uses = []
    for index, attr in enumerate(attrs):
        others = words.copy()
        others[:, index] = 0
        merged = count_sharing(others)
        uses.append(
            AttributeUse(
                attr=attr,
                values=len(train.count_values(attr)[0]),
                merged_without=merged - together,
                known_of_new={
                    split: _share_known(train, vocabulary, attr)
                    for split, vocabulary in vocabularies.items()
                    if split != "train"
                },
                says_nothing=None
                if attr in settable
                else _why_useless(
                    train, attr, [a for a in attrs[:index] if a not in settable]
                ),
            )
        )
    return uses


def _share_known(train: Vocabulary, other: Vocabulary, attr: str) -> float | None:
    orths, values = other.get_words([attr]).T
    new = values[~find_known(orths, train.words[:, 0])]
    if len(new) == 0:
        return None
    return float(find_known(new, train.count_values(attr)[0]).mean())


def _why_useless(train: Vocabulary, attr: str, before: Sequence[str]) -> str | None:
    n_values = len(train.count_values(attr)[0])
    if n_values == 1:
        return "all words have one value"
    for other in before:
        pairs = find_distinct(train.get_columns([other, attr])).values
        if len(pairs) == n_values == len(train.count_values(other)[0]):
            return f"it tells the same words apart as {other}"
    return None
