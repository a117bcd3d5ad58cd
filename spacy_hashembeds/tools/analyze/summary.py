"""An analysis as `spacy hashembeds analyze` prints it and a notebook shows it."""

from collections.abc import Iterator, Sequence

from ..display import Part, Sentence, Table, format_fields, format_percent
from .measures import Measures

#: Headers of columns that are not their keys.
_TITLES = {
    "vocabulary": "Words",
    "unknown": "No vector",
    "once": "Seen once",
    "at_least_10": "10 times or more",
    "attr": "Attribute",
    "num_hashes": "Hashes",
    "rows_never_reached": "Unused rows",
    "sharing_code": "Shared",
    "unknown_values": "Unknown",
}
#: Keys of tables that are not shown.
_LEFT_OUT = ("width", "parts", "standard")


def summarize(data: Measures) -> Iterator[Part]:
    """Show what `analyze` counted and measured, and advice."""
    yield _tabulate(
        "Corpus",
        "Words: distinct tokens. No vector: those that the vectors don't have.",
        [{"split": split, **counts} for split, counts in data["splits"].items()],
        ("split", "documents", "tokens", "vocabulary", "unknown", "entities"),
    )
    yield _tabulate(
        "Entities seen in training",
        "Seen: the same text is an entity, of any type, in the training corpus.",
        [
            {"split": split, "type": label, **counts}
            for split, total in data["entities"].items()
            for label, counts in {"all": total, **total["per_type"]}.items()
        ],
        ("split", "type", "seen", "unseen"),
        aligns="ll",
    )
    is_default = data["lang"] == "xx" and not data["embedders"] and not data["codes"]
    yield _tabulate(
        "Token attributes",
        f"In the training corpus. Norms are those of the language '{data['lang']}'"
        + (", unless --nlp.lang is given." if is_default else "."),
        [{"attr": attr, **counts} for attr, counts in data["features"].items()],
        ("attr", "values", "once", "at_least_10"),
    )
    for embedder in data["embedders"]:
        yield from _show_embedder(embedder)
    yield _tabulate(
        "Codes",
        "Shared: values of the training corpus that have the code of another.",
        data["codes"],
        [key for codes in data["codes"][:1] for key in codes],
        aligns="llll",
    )
    yield Sentence("Advice", "divider")
    for advice in data["advice"]:
        if len(data["advice"]) > 1:
            yield Sentence(f"For '{advice['component']}':")
        for reason in advice["reasons"]:
            yield Sentence(reason, "info")
        if not advice["reasons"]:
            yield Sentence("There is not a token in the training corpus.", "warn")


def _show_embedder(embedder: Measures) -> Iterator[Part]:
    tables, words = embedder["tables"], embedder["words"]
    shown = [
        key
        for key in tables[0]
        if not (key in _LEFT_OUT or key[:9] == "expected_" or key[-8:] == "_by_hash")
    ]
    yield _tabulate(
        f"Tables of '{embedder['component']}'",
        "Shared: values of the training corpus that have the vector of another. In "
        "brackets: what to expect of ideal hashing.",
        tables,
        shown,
        aligns="ll",
    )
    n = sum(table["parameters"] for table in tables)
    more = "Word vectors or character n-grams may tell some of them apart."
    yield Sentence(
        f"The tables have {n:,} parameters, {4 * n / 1e6:,.1f} MB. Of "
        f"{words['words']:,} distinct words, {words['sharing_codes']:,} share all "
        f"rows of all tables with another, {words['same_attributes']:,} of them since "
        f"they agree in all attributes. {more * embedder['has_others']}".strip()
    )


def _tabulate(
    title: str,
    legend: str,
    records: Sequence[Measures],
    keys: Sequence[str],
    aligns: str = "l",
) -> Table:
    """Make a table with a row for each record and a column for each key."""
    header = [_TITLES.get(key, key.replace("_", " ").capitalize()) for key in keys]
    rows = [[_format(record, key) for key in keys] for record in records]
    return Table(title, legend, header, rows, aligns)


def _format(record: Measures, key: str) -> str:
    """Format a value, and what is expected in brackets."""
    if key.startswith("unknown_in_"):
        return format_percent(record.get(key))
    (shown,) = format_fields({key: record.get(key)}, key)
    expected = record.get(f"expected_{key}")
    return shown if expected is None else f"{shown} ({expected:,.1f})"
