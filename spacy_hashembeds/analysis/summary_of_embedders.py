"""The embedding tables of a pipeline as `spacy hashembeds analyze` prints them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..architectures.embedders.table_kinds import (
    HashTable,
    HybridTable,
    LookupTable,
    WeightedTable,
)
from ..display import Part, Sentence, Table, format_fields, format_percent

_PARTS = ("hasher", "compressor")
_OF_CODES = ("bits", "rows", "width", "parameters", "values", "sharing_code")

#: What is shown of each table that is hashed, and where it stands.
_OF_HASHING = ("Attribute", "Seed", "Rows", "Hashes", "Values", "Values/row")
_HASHING = ("seed", "rows", "num_hashes", "values", "load")


def show_embedder(embedder: dict[str, Any]) -> Iterator[Part]:
    """Say how large the tables of an embedder are, and how they serve a corpus.

    embedder (dict[str, Any]): One of the "embedders" of `analyze`.
    """
    yield from _show_sizes(embedder)
    kinds = [table["kind"] for table in embedder["tables"]]
    for kind in dict.fromkeys([*_SHOW, *kinds]):
        tables = [table for table in embedder["tables"] if table["kind"] == kind]
        if tables:
            show_tables = _SHOW.get(kind, _show_any_tables)
            yield from show_tables(embedder["component"], tables)
    yield _show_words(embedder)


def show_codes(codes: Sequence[dict[str, Any]]) -> Iterator[Table]:
    """Say how large what has codes in the place of rows is, and how it serves a corpus.

    codes (Sequence[dict[str, Any]]): The "codes" of `analyze`.
    """
    for component in dict.fromkeys(column["component"] for column in codes):
        yield Table(
            f"Codes of '{component}'",
            "Parameters: of the compressor. Shared: values of the training corpus that "
            "share all bits with another, or their row, and can't be told apart.",
            (
                *("Attribute", "Hasher", "Compressor", "Bits", "Rows", "Width"),
                *("Parameters", "Values", "Shared"),
            ),
            [
                (
                    column["attr"],
                    *(column[part].removesuffix(part) for part in _PARTS),
                    *format_fields(column, *_OF_CODES),
                )
                for column in codes
                if column["component"] == component
            ],
            aligns="lll",
        )


def _show_sizes(embedder: dict[str, Any]) -> Iterator[Table]:
    tables = embedder["tables"]
    total = sum(table["parameters"] for table in tables)
    standard = sum(table["standard"]["vocabulary"] for table in tables)
    yield Table(
        f"Parameters of '{embedder['component']}'",
        "Standard: a table of this width with a row for each value of the training "
        "corpus. Share: of its parameters.",
        ("Attribute", "Kind", "Rows", "Width", "Parameters", "Standard", "Share"),
        [
            *(
                (
                    table["attr"],
                    table["kind"],
                    *format_fields(table, "rows", "width", "parameters"),
                    *_compare(table["parameters"], table["standard"]["vocabulary"]),
                )
                for table in tables
            ),
            ("all", "", "", "", f"{total:,}", *_compare(total, standard)),
        ],
        aligns="ll",
    )


def _compare(parameters: int, standard: int) -> tuple[str, str]:
    share = format_percent(parameters / standard if standard else None)
    return f"{standard:,}", share


def _show_any_tables(
    component: str, tables: Sequence[dict[str, Any]]
) -> Iterator[Table]:
    yield Table(
        f"Tables of '{component}', of kind '{tables[0]['kind']}'",
        "Shared: values of the training corpus that have the vector of another.",
        ("Attribute", "Rows", "Values", "Shared"),
        [
            (table["attr"], *format_fields(table, "rows", "values", "sharing_code"))
            for table in tables
        ],
    )


def _show_hash_tables(
    component: str, tables: Sequence[dict[str, Any]]
) -> Iterator[Table]:
    named = _name_seeds(tables)
    yield Table(
        f"Hash tables of '{component}'",
        "On the training corpus; in brackets what to expect of ideal hashing.",
        (*_OF_HASHING, "Unused rows"),
        [
            (
                name,
                *format_fields(table, *_HASHING),
                _expect(
                    table["rows_never_reached"], table["expected_rows_never_reached"]
                ),
            )
            for name, table in named
        ],
    )
    yield Table(
        f"Collisions in '{component}'",
        "Values that share all rows, in any order, can't be told apart.",
        ("Attribute", "Rows of hash 1", "Share row of hash 1", "Share all rows"),
        [
            (
                name,
                f"{table['rows_reached_by_hash'][0]:,}",
                _expect(table["sharing_row_by_hash"][0], table["expected_sharing_row"]),
                _expect(table["sharing_code"], table["expected_sharing_code"]),
            )
            for name, table in named
        ],
    )


def _name_seeds(tables: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Name tables, and after one whose seed is poor what it would be with another."""
    return [
        (name, measures)
        for table in tables
        for name, measures in (
            (table["attr"], table),
            ("  instead:", table["with_sound_seed"]),
        )
        if measures is not None
    ]


def _show_lookup_tables(
    component: str, tables: Sequence[dict[str, Any]]
) -> Iterator[Table]:
    splits = list(tables[0]["unknown_share"])
    yield Table(
        f"Lookup tables of '{component}'",
        "Unknown values of the training corpus share one row; so does this share of "
        "the tokens of each split.",
        ("Attribute", "Rows", "Parameters", "Values", "Unknown", *splits),
        [
            (
                table["attr"],
                *format_fields(table, "rows", "parameters", "values", "unknown_values"),
                *_show_shares(table, "unknown_share"),
            )
            for table in tables
        ],
    )


def _show_shares(table: dict[str, Any], key: str) -> list[str]:
    return [format_percent(share) for share in table[key].values()]


def _show_weighted_tables(
    component: str, tables: Sequence[dict[str, Any]]
) -> Iterator[Table]:
    named = _name_seeds(tables)
    splits = list(tables[0]["unknown_share"])
    yield Table(
        f"Component vectors and weights in '{component}'",
        "Parameters of both. Standard: a table of this width with as many rows as "
        "there are of weights.",
        ("Attribute", "Weight rows", "Components", "Weights", "Standard", "Share"),
        [
            (
                table["attr"],
                *format_fields(table, "importance_rows"),
                *format_fields(table["parts"], "components", "weights"),
                *_compare(table["parameters"], table["standard"]["importance_rows"]),
            )
            for table in tables
        ],
    )
    yield Table(
        f"Weighted tables of '{component}'",
        "On the training corpus. Rows are those of component vectors.",
        (*_OF_HASHING, "Unused rows"),
        [
            (name, *format_fields(table, *_HASHING, "rows_never_reached"))
            for name, table in named
        ],
    )
    yield Table(
        f"Collisions in '{component}'",
        "Values that share all component vectors with another, in any order; the row "
        "of weights; and both, the vectors in the same order, so that they can't be "
        "told apart (in brackets what to expect of ideal hashing)."
        + " And the share of tokens without weights of their own."
        * bool(splits),
        ("Attribute", "Components", "Weights", "Both", *splits),
        [
            (
                name,
                *format_fields(table, "sharing_components", "sharing_weights"),
                _expect(table["sharing_code"], table["expected_sharing_code"]),
                *_show_shares(table, "unknown_share"),
            )
            for name, table in named
        ],
    )


def _show_hybrid_tables(
    component: str, tables: Sequence[dict[str, Any]]
) -> Iterator[Table]:
    splits = list(tables[0]["hashed_share"])
    yield Table(
        f"Hybrid tables of '{component}'",
        "Rows: of frequent symbols, and of all others. Values: of the training corpus, "
        "hashed to the latter; those of them that share all rows with another can't be "
        "told apart (in brackets what to expect of ideal hashing). And the share of "
        "tokens that are hashed.",
        ("Attribute", "Own rows", "Others", "Hashes", "Values", "Share all", *splits),
        [
            (
                table["attr"],
                f"{table['own_rows']:,}",
                f"{table['rows'] - table['own_rows']:,}",
                *format_fields(table, "num_hashes", "hashed_values"),
                _expect(table["sharing_code"], table["expected_sharing_code"]),
                *_show_shares(table, "hashed_share"),
            )
            for table in tables
        ],
    )


_SHOW: dict[str, Callable[[str, Sequence[dict[str, Any]]], Iterator[Table]]] = {
    HashTable.kind: _show_hash_tables,
    LookupTable.kind: _show_lookup_tables,
    WeightedTable.kind: _show_weighted_tables,
    HybridTable.kind: _show_hybrid_tables,
}


def _show_words(embedder: dict[str, Any]) -> Sentence:
    words = embedder["words"]
    more = " Word vectors may tell some of them apart." * embedder["has_vectors"]
    return Sentence(
        f"Of {words['words']:,} distinct words, {words['sharing_codes']:,} share all "
        f"rows of all tables with another, {words['same_attributes']:,} of them since "
        f"they agree in all attributes.{more}"
    )


def _expect(measured: int, expected: float) -> str:
    return f"{measured:,} ({expected:,.1f})"
