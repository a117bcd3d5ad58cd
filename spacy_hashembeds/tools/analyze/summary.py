"""An analysis as `spacy hashembeds analyze` prints it and a notebook shows it."""

from collections.abc import Iterator, Sequence

from ..display import Part, Sentence, Table, format_fields, format_percent
from .advice import format_bound
from .measures import Measures
from .options import MAX_ROWS

Records = Sequence[Measures]

#: How columns are called, if not as what is in them.
_TITLES = {
    "vocabulary": "Words",
    "unknown": "No vector",
    "once": "Seen once",
    "at_least_10": "10 times or more",
    "attr": "Attribute",
    "num_hashes": "Hashes",
    "rows_never_reached": "Unused rows",
    "rows_reached_by_hash": "Rows of hash 1",
    "sharing_code": "Shared",
    "unknown_values": "Unknown",
    "unknown_share": "Unknown in",
    "known_of_new": "Known in",
    "merged_without": "Only it tells apart",
    "words_sharing_codes": "Shared by words",
    "min_freq": "min_freq",
}
#: Shares of the tokens or words of each split.
_SHARES = ("known_of_new", "unknown_share")
#: What hashed tables have beside all others.
_OF_HASHING = ("seed", "num_hashes", "rows_never_reached", "rows_reached_by_hash")


def summarize(data: Measures) -> Iterator[Part]:
    """Show what `analyze` counted, what there is to choose from, and advice."""
    yield from _show_corpus(data)
    for embedder in data["embedders"]:
        yield from _show_embedder(embedder)
    for component in dict.fromkeys(column["component"] for column in data["codes"]):
        columns = [c for c in data["codes"] if c["component"] == component]
        yield _tabulate(
            f"Codes of '{component}'",
            "Shared: values of the training corpus that have the code of another.",
            columns,
            [key for key in columns[0] if key != "component"],
            aligns="lll",
        )
    for advice in data["advice"]:
        yield from _show_options(advice)
    yield from _show_advice(data)


def _tabulate(
    title: str, legend: str, records: Records, keys: Sequence[str], aligns: str = "l"
) -> Table:
    """Make a table with a row for each record, and a column for each key that it has,
    or where it has shares of splits, for each of these, and what is expected in
    brackets.
    """
    first = records[0] if records else {}
    columns = [
        (key, split)
        for key in keys
        if key in first
        for split in (first[key] if key in _SHARES else [""])
    ]
    header = [
        _TITLES.get(key, key.replace("_", " ").capitalize()) + f" {split}" * bool(split)
        for key, split in columns
    ]
    rows = [[_format(record, *column) for column in columns] for record in records]
    return Table(title, legend, header, rows, aligns)


def _format(record: Measures, key: str, split: str) -> str:
    if split:
        return format_percent(record.get(key, {}).get(split))
    value = record.get(key, "")
    if key == "rows_reached_by_hash":
        value = value[0]
    shown = format_fields({key: value}, key)[0]
    expected = record.get(f"expected_{key}")
    return shown if expected is None else f"{shown} ({expected:,.1f})"


def _show_corpus(data: Measures) -> Iterator[Table]:
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


def _show_embedder(embedder: Measures) -> Iterator[Part]:
    component, tables, words = (embedder[k] for k in ("component", "tables", "words"))
    for kind in dict.fromkeys(table["kind"] for table in tables):
        records = []
        for table in tables:
            if table["kind"] == kind:
                sound = table.get("with_sound_seed")
                records += (
                    [table, {**sound, "attr": "  instead:"}] if sound else [table]
                )
        parts = [key for key in records[0] if key.startswith("sharing_")]
        yield _tabulate(
            f"Tables of '{component}', of kind '{kind}'",
            "Shared: values of the training corpus that have the vector of another. "
            "In brackets: what to expect of ideal hashing.",
            records,
            [
                *("attr", "rows", "parameters", "values", *_OF_HASHING),
                *(key for key in parts if not key.endswith("by_hash")),
                *("unknown_values", "unknown_share"),
            ],
        )
    n, subwords = sum(t["parameters"] for t in tables), embedder["subword_parameters"]
    yield Sentence(
        f"The tables have {n:,} parameters, {4 * n / 1e6:,.1f} MB. Of "
        f"{words['words']:,} distinct words, {words['sharing_codes']:,} share all "
        f"rows of all tables with another, {words['same_attributes']:,} of them since "
        "they agree in all attributes."
        + " Word vectors may tell some of them apart." * embedder["has_vectors"]
        + f" So may their character n-grams, {subwords:,} parameters more."
        * bool(subwords)
    )


def _show_options(advice: Measures) -> Iterator[Table]:
    of = "" if advice["component"] is None else f" in '{advice['component']}'"
    yield _tabulate(
        f"Attributes{of}",
        "What each adds to the others: words that nothing else tells apart. And of the "
        "words new in a split, those whose value is known from training.",
        advice["attributes"],
        ("attr", "values", "merged_without", "known_of_new"),
    )
    yield _tabulate(
        f"Options for hashing{of}",
        f"The smallest tables of width {advice['width']} in which at most "
        f"{format_bound(advice['bound'])} of the values share all rows with another. "
        f"Tables: {', '.join(advice['attrs'])}. * takes the least memory; rows are "
        f"lower limits. No table has more than {MAX_ROWS:,} rows.",
        _mark(advice["hash_options"], advice["hashing"], "num_hashes"),
        ("num_hashes", "rows", "parameters", "words_sharing_codes"),
    )
    firsts = ("unknown_values", "unknown_share")
    options = _mark(advice["lookup_options"], advice["lookup"], "min_freq")
    yield _tabulate(
        f"Options for lookup{of}",
        "A row for each value seen min_freq times. Unknown values of "
        f"{''.join(advice['attrs'][:1])} share one row; so does this share of the "
        "tokens of each split. * is advised; with 1, nothing trains that row.",
        [{**option, **{key: option[key][0] for key in firsts}} for option in options],
        ("min_freq", "rows", "parameters", *firsts),
    )


def _show_advice(data: Measures) -> Iterator[Sentence]:
    yield Sentence("Advice", "divider")
    if data["lengths"] is not None:
        yield Sentence(_explain_lengths(**data["lengths"]), "info")
    for advice in data["advice"]:
        if len(data["advice"]) > 1:
            yield Sentence(f"For '{advice['component']}':")
        for reason in advice["reasons"]:
            yield Sentence(reason, "info")
        if not advice["reasons"]:
            yield Sentence("There is not a token in the training corpus.", "warn")


def _mark(options: Records, chosen: Measures | None, key: str) -> Records:
    return [{**o, key: f"{o[key]}{' *' * (o == chosen)}"} for o in options]


def _explain_lengths(train: Measures, text: Measures, longer: float) -> str:
    served, trained = (
        f"{n['median']:,} ({n['lower']:,} to {n['upper']:,})" for n in (text, train)
    )
    remedy = (
        " Have sentences joined in training, by `spacy-hashembeds.JoinedCorpus.v1`, as "
        "`spacy hashembeds config` does."
    )
    return (
        f"Texts to be served have {served} tokens (median and quartiles), Docs of "
        f"training {trained}; {longer:.0%} of the texts are longer than 19 of 20 of "
        f"these.{remedy * (longer > 0.05)}"
    )
