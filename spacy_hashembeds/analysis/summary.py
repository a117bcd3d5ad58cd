"""An analysis as `spacy hashembeds analyze` prints it and a notebook shows it."""

from collections.abc import Iterator, Sequence
from typing import Any

from ..display import Heading, Part, Sentence, Table, format_fields, format_percent
from .reasons import format_bound, name_out_of_reach
from .summary_of_embedders import show_codes, show_embedder

#: What is counted in each split, and how it is called.
_COUNTS = {
    "documents": "Documents",
    "tokens": "Tokens",
    "vocabulary": "Vocabulary",
    "unknown": "Unknown",
    "entities": "Entities",
    "classes": "Classes",
    "entities_per_document": "Entities/doc",
    "document_length": "Tokens/doc",
    "entity_length": "Tokens/entity",
}


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Say what an analysis counted, what there is to choose from, and advice.

    data (dict[str, Any]): From `analyze`.
    """
    yield from _show_corpus(data)
    for embedder in data["embedders"]:
        yield from show_embedder(embedder)
    yield from show_codes(data["codes"])
    for advice in data["advice"]:
        yield _show_attributes(advice)
        yield from _show_hash_options(advice)
        yield _show_lookup_options(advice)
    yield from _show_advice(data["advice"])


def _show_corpus(data: dict[str, Any]) -> Iterator[Part]:
    is_default = data["lang"] == "xx" and not data["embedders"] and not data["codes"]
    splits = data["splits"]
    yield Table(
        "Corpus",
        "Vocabulary: distinct tokens. Unknown: those that the vectors don't have.",
        ("", *splits),
        [
            (title, *(format_fields(counts, key)[0] for counts in splits.values()))
            for key, title in _COUNTS.items()
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


def _show_attributes(advice: dict[str, Any]) -> Table:
    uses = advice["attributes"]
    splits = list(uses[0]["known_of_new"]) if uses else []
    return Table(
        _title("Attributes", advice),
        "What each adds to the others: words that nothing else tells apart. And of the "
        "words new in a split, those whose value is known from training.",
        (
            *("Attribute", "Values", "Only it tells apart"),
            *(f"Known in {split}" for split in splits),
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


def _show_hash_options(advice: dict[str, Any]) -> Iterator[Table]:
    options = advice["hash_options"]
    found = [option["num_hashes"] for option in options]
    names = [_mark(option, advice["hashing"], "num_hashes") for option in options]
    yield Table(
        _title("Options for hashing", advice),
        f"The smallest tables of width {advice['width']} in which at most "
        f"{format_bound(advice['bound'])} of the values share all rows with another. "
        f"Tables: {', '.join(advice['attrs'])}. * is the lower limit."
        f"{name_out_of_reach(found)}",
        ("Hashes", "Rows", "Parameters", "Words that share all rows"),
        [
            (
                name,
                _join(option["rows"]),
                *format_fields(option, "parameters", "words_sharing_codes"),
            )
            for name, option in zip(names, options, strict=True)
        ],
    )
    yield Table(
        "Values in these tables",
        None,
        ("Hashes", "Values/row", "Values that share all rows"),
        [
            (
                name,
                " ".join(f"{load:,.1f}" for load in option["load"]),
                _join(option["sharing_code"]),
            )
            for name, option in zip(names, options, strict=True)
        ],
    )


def _show_lookup_options(advice: dict[str, Any]) -> Table:
    options = advice["lookup_options"]
    splits = list(options[0]["unknown_share"][0]) if options else []
    first = "".join(advice["attrs"][:1])
    return Table(
        _title("Options for lookup", advice),
        f"A row for each value seen min_freq times. Unknown values of {first} share "
        "one row; so does this share of the tokens of each split. * is advised; with "
        "1, nothing trains that row.",
        ("min_freq", "Rows", "Parameters", "Unknown", *splits),
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


def _mark(option: dict[str, Any], chosen: dict[str, Any] | None, key: str) -> str:
    return f"{option[key]} *" if option == chosen else str(option[key])
