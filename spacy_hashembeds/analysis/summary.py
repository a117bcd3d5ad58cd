"""An analysis as `spacy hashembeds analyze` prints it and a notebook shows it."""

from collections.abc import Iterator, Sequence
from typing import Any

from ..display import Heading, Part, Sentence, Table, format_fields, format_percent
from .reasons import format_bound, name_out_of_reach


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Say what an analysis counted, what there is to choose from, and advice.

    data (dict[str, Any]): From `analyze_corpus`.
    """
    yield from _show_corpus(data)
    for embedder in data["embedders"]:
        yield from _show_embedder(embedder)
    for advice in data["advice"]:
        yield _show_attributes(advice)
        yield _show_hash_options(advice)
        yield _show_lookup_options(advice)
    yield from _show_advice(data["advice"])


def _show_corpus(data: dict[str, Any]) -> Iterator[Part]:
    is_default = data["lang"] == "xx" and not data["embedders"]
    yield Table(
        "Corpus",
        "Vocabulary: distinct tokens. Unknown: those that the vectors don't have.",
        (
            *("Split", "Documents", "Tokens", "Vocabulary", "Unknown", "Entities"),
            *("Classes", "Entities/doc", "Tokens/doc", "Tokens/entity"),
        ),
        [
            (
                split,
                *format_fields(counts, "documents", "tokens", "vocabulary", "unknown"),
                *format_fields(counts, "entities", "classes", "entities_per_document"),
                *format_fields(counts, "document_length", "entity_length"),
            )
            for split, counts in data["splits"].items()
        ],
    )
    yield Table(
        "Token attributes",
        f"In the training corpus. Norms are those of the language '{data['lang']}'"
        + (", unless --nlp.lang is given." if is_default else "."),
        ("Attribute", "Distinct values", "Seen once", "Seen 10 times or more"),
        [
            (attr, *format_fields(counts, "values", "once", "at_least_10"))
            for attr, counts in data["features"].items()
        ],
    )
    entities = [
        (split, label, *format_fields(counts, "seen", "unseen"))
        for split, total in data["entities"].items()
        for label, counts in {"all": total, **total["per_type"]}.items()
    ]
    if entities:
        yield Table(
            "Entities seen in training",
            "Seen: the same text is an entity, of any type, in the training corpus.",
            ("Split", "Type", "Seen", "Unseen"),
            entities,
            aligns="ll",
        )


def _show_embedder(embedder: dict[str, Any]) -> Iterator[Part]:
    tables = embedder["tables"]
    hashed = [table for table in tables if table["kind"] == "hash"]
    if hashed:
        yield Table(
            f"Hash tables of '{embedder['component']}'",
            "On the training corpus; in brackets what to expect of ideal hashing. "
            "Values that share all rows, in any order, can't be told apart.",
            (
                *("Attribute", "Seed", "Rows", "Hashes", "Values", "Values/row"),
                *("Unused rows", "Reached by hash 1", "Share row of hash 1"),
                "Share all rows",
            ),
            [row for table in hashed for row in _format_hash_table(table)],
        )
    looked_up = [table for table in tables if table["kind"] == "lookup"]
    if looked_up:
        splits = list(looked_up[0]["unknown_share"])
        yield Table(
            f"Lookup tables of '{embedder['component']}'",
            "Unknown values of the training corpus share one row; so do this many of "
            "the tokens of each split.",
            (
                *("Attribute", "Rows", "Parameters", "Values", "Unknown values"),
                *(f"Tokens in {split}" for split in splits),
            ),
            [
                (
                    table["attr"],
                    *format_fields(
                        table, "rows", "parameters", "values", "unknown_values"
                    ),
                    *(
                        format_percent(table["unknown_share"][split])
                        for split in splits
                    ),
                )
                for table in looked_up
            ],
        )
    yield _show_words(embedder)


def _format_hash_table(table: dict[str, Any]) -> list[tuple[str, ...]]:
    """Make the row of a table, and one for another seed if its own is poor."""
    other = table["with_sound_seed"]
    row = (
        table["attr"],
        *format_fields(table, "seed", "rows", "num_hashes", "values", "load"),
        _expect(table["rows_never_reached"], table["expected_rows_never_reached"]),
        f"{table['rows_reached_by_hash'][0]:,}",
        _expect(table["sharing_row_by_hash"][0], table["expected_sharing_row"]),
        _expect(table["sharing_code"], table["expected_sharing_code"]),
    )
    if other is None:
        return [row]
    (instead,) = _format_hash_table(other)
    return [row, ("  instead:", *instead[1:])]


def _show_words(embedder: dict[str, Any]) -> Sentence:
    words = embedder["words"]
    more = " Word vectors may tell some of them apart." * embedder["has_vectors"]
    return Sentence(
        f"Of {words['words']:,} distinct words, {words['sharing_codes']:,} share all "
        f"rows of all tables with another, {words['same_attributes']:,} of them since "
        f"they agree in all attributes.{more}"
    )


def _show_attributes(advice: dict[str, Any]) -> Table:
    uses = advice["attributes"]
    splits = list(uses[0]["known_of_new"]) if uses else []
    return Table(
        _title("Attributes", advice),
        "What each adds to the others: words that nothing else tells apart, and words "
        "new in a split whose value is known from training.",
        (
            *("Attribute", "Values", "Only it tells apart"),
            *(f"Known of new in {split}" for split in splits),
        ),
        [
            (
                use["attr"],
                *format_fields(use, "values", "merged_without"),
                *(format_percent(use["known_of_new"][split]) for split in splits),
            )
            for use in uses
        ],
    )


def _show_hash_options(advice: dict[str, Any]) -> Table:
    found = [option["num_hashes"] for option in advice["hash_options"]]
    return Table(
        _title("Options for hashing", advice),
        f"The smallest tables of width {advice['width']} in which at most "
        f"{format_bound(advice['bound'])} of the values share all rows with another. "
        f"Tables: {', '.join(advice['attrs'])}. * is the lower limit."
        f"{name_out_of_reach(found)}",
        (
            "Hashes",
            "Rows",
            "Parameters",
            "Values/row",
            "Share all rows",
            "Words that do",
        ),
        [
            (
                _mark(option, advice["hashing"], "num_hashes"),
                _join(option["rows"]),
                *format_fields(option, "parameters"),
                " ".join(f"{load:,.1f}" for load in option["load"]),
                _join(option["sharing_code"]),
                *format_fields(option, "words_sharing_codes"),
            )
            for option in advice["hash_options"]
        ],
    )


def _show_lookup_options(advice: dict[str, Any]) -> Table:
    options = advice["lookup_options"]
    splits = list(options[0]["unknown_share"][0]) if options else []
    first = "".join(advice["attrs"][:1])
    return Table(
        _title("Options for lookup", advice),
        f"A row for each value seen min_freq times. Unknown: values and tokens of "
        f"{first} that share one row. * is advised; with 1, nothing trains that row.",
        (
            *("min_freq", "Rows", "Parameters", "Unknown values"),
            *(f"Tokens in {split}" for split in splits),
        ),
        [
            (
                _mark(option, advice["lookup"], "min_freq"),
                _join(option["rows"]),
                *format_fields(option, "parameters"),
                f"{option['unknown_values'][0]:,}",
                *(
                    format_percent(option["unknown_share"][0][split])
                    for split in splits
                ),
            )
            for option in options
        ],
    )


def _show_advice(advices: list[dict[str, Any]]) -> Iterator[Part]:
    yield Heading("Advice")
    for advice in advices:
        if len(advices) > 1:
            yield Sentence(f"For '{advice['component']}':")
        for reason in advice["reasons"]:
            yield Sentence(reason, "info")
        if not advice["reasons"]:
            yield Sentence("There is not a token in the training corpus.", "warn")


def _title(title: str, advice: dict[str, Any]) -> str:
    of = advice["component"]
    return title if of is None else f"{title} in '{of}'"


def _join(numbers: Sequence[int]) -> str:
    return " ".join(f"{number:,}" for number in numbers)


def _expect(measured: int, expected: float) -> str:
    return f"{measured:,} ({expected:,.1f})"


def _mark(option: dict[str, Any], chosen: dict[str, Any] | None, key: str) -> str:
    return f"{option[key]} *" if option == chosen else str(option[key])
