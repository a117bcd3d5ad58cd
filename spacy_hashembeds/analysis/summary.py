"""An analysis as `spacy hashembeds analyze` prints it and a notebook shows it."""

from collections.abc import Callable, Iterator

from ..display import Part, Sentence, Table, format_fields
from ..hashing.murmur import MAX_HASHES
from ..layers.hashembed import HashColumn
from ..layers.hybridembed import HybridColumn
from ..layers.symbolembed import LookupColumn
from ..layers.weightedhashembed import WeightedColumn
from .advice import format_bound
from .lengths import tell_lengths
from .measures import Measures
from .options import MAX_ROWS
from .statistics import warn_of_whitespace
from .tabulation import Records, compare_size, expect, make_shares, tabulate

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
_OF_HASHING = ("attr", "seed", "rows", "num_hashes", "values", "load")


def summarize(data: Measures) -> Iterator[Part]:
    """Say what `analyze` counted, what there is to choose from, and advice."""
    yield from _show_corpus(data)
    for embedder in data["embedders"]:
        yield from _show_embedder(embedder)
    yield from _show_codes(data["codes"])
    for advice in data["advice"]:
        yield from _show_options(advice)
    yield Sentence("Advice", "divider")
    if data["lengths"] is not None:
        yield Sentence(tell_lengths(data["lengths"]), "info")
    for advice in data["advice"]:
        if len(data["advice"]) > 1:
            yield Sentence(f"For '{advice['component']}':")
        for reason in advice["reasons"]:
            yield Sentence(reason, "info")
        if not advice["reasons"]:
            yield Sentence("There is not a token in the training corpus.", "warn")


def _show_corpus(data: Measures) -> Iterator[Part]:
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
    if warning := warn_of_whitespace(splits):
        yield Sentence(warning, "warn")
    is_default = data["lang"] == "xx" and not data["embedders"] and not data["codes"]
    yield tabulate(
        "Token attributes",
        f"In the training corpus. Norms are those of the language '{data['lang']}'"
        + (", unless --nlp.lang is given." if is_default else "."),
        [
            {"attr": attr, "distinct values": counts["values"], **counts}
            for attr, counts in data["features"].items()
        ],
        ("attr", "distinct values", "once", "at_least_10"),
    )
    yield tabulate(
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


def _show_embedder(embedder: Measures) -> Iterator[Part]:
    component, tables, words = (embedder[k] for k in ("component", "tables", "words"))
    total = {
        "attr": "all",
        "kind": "",
        "rows": "",
        "width": "",
        "parameters": sum(table["parameters"] for table in tables),
        "standard": {"vocabulary": sum(t["standard"]["vocabulary"] for t in tables)},
    }
    yield tabulate(
        f"Parameters of '{component}'",
        "Standard: a table of this width with a row for each value of the training "
        "corpus. Share: of its parameters.",
        compare_size([*tables, total], "vocabulary"),
        ("attr", "kind", "rows", "width", "parameters", "standard", "share"),
        aligns="ll",
    )
    for kind in dict.fromkeys([*_SHOW, *(table["kind"] for table in tables)]):
        of_kind = [table for table in tables if table["kind"] == kind]
        if of_kind:
            yield from _SHOW.get(kind, _show_any_tables)(component, of_kind)
    more = " Word vectors may tell some of them apart." * embedder["has_vectors"]
    if embedder["subword_parameters"]:
        more += (
            f" So may their character n-grams, {embedder['subword_parameters']:,} "
            "parameters more."
        )
    yield Sentence(
        f"Of {words['words']:,} distinct words, {words['sharing_codes']:,} share all "
        f"rows of all tables with another, {words['same_attributes']:,} of them since "
        f"they agree in all attributes.{more}"
    )


def _show_any_tables(component: str, tables: Records) -> Iterator[Table]:
    yield tabulate(
        f"Tables of '{component}', of kind '{tables[0]['kind']}'",
        "Shared: values of the training corpus that have the vector of another.",
        tables,
        ("attr", "rows", "values", "sharing_code"),
    )


def _add_sound_seeds(tables: Records) -> Iterator[Measures]:
    """Give tables, and after one whose seed is poor what it would be with another."""
    for table in tables:
        yield table
        if table["with_sound_seed"] is not None:
            yield {**table["with_sound_seed"], "attr": "  instead:"}


def _show_hash_tables(component: str, tables: Records) -> Iterator[Table]:
    yield tabulate(
        f"Hash tables of '{component}'",
        "On the training corpus; in brackets what to expect of ideal hashing.",
        _add_sound_seeds(tables),
        _OF_HASHING,
        {"Unused rows": expect("rows_never_reached")},
    )
    yield tabulate(
        f"Collisions in '{component}'",
        "Values that share all rows, in any order, can't be told apart.",
        [
            {
                **table,
                "rows of hash 1": table["rows_reached_by_hash"][0],
                "sharing_row": table["sharing_row_by_hash"][0],
            }
            for table in _add_sound_seeds(tables)
        ],
        ("attr", "rows of hash 1"),
        {
            "Share row of hash 1": expect("sharing_row"),
            "Share all rows": expect("sharing_code"),
        },
    )


def _show_lookup_tables(component: str, tables: Records) -> Iterator[Table]:
    yield tabulate(
        f"Lookup tables of '{component}'",
        "Unknown values of the training corpus share one row; so does this share of "
        "the tokens of each split.",
        tables,
        ("attr", "rows", "parameters", "values", "unknown_values"),
        make_shares("unknown_share", tables),
    )


def _show_weighted_tables(component: str, tables: Records) -> Iterator[Table]:
    yield tabulate(
        f"Component vectors and weights in '{component}'",
        "Parameters of both. Standard: a table of this width with as many rows as "
        "there are of weights.",
        [{**t, **t["parts"]} for t in compare_size(tables, "importance_rows")],
        ("attr", "importance_rows", "components", "weights", "standard", "share"),
    )
    yield tabulate(
        f"Weighted tables of '{component}'",
        "On the training corpus. Rows are those of component vectors.",
        _add_sound_seeds(tables),
        (*_OF_HASHING, "rows_never_reached"),
    )
    shares = make_shares("unknown_share", tables)
    yield tabulate(
        f"Collisions in '{component}'",
        "Values that share all component vectors with another, in any order; the row "
        "of weights; and both, the vectors in the same order, so that they can't be "
        "told apart (in brackets what to expect of ideal hashing)."
        + " And the share of tokens without weights of their own."
        * bool(shares),
        _add_sound_seeds(tables),
        ("attr", "sharing_components", "sharing_weights"),
        {"Both": expect("sharing_code"), **shares},
    )


def _show_hybrid_tables(component: str, tables: Records) -> Iterator[Table]:
    yield tabulate(
        f"Hybrid tables of '{component}'",
        "Rows: of frequent symbols, and of all others. Values: of the training corpus, "
        "hashed to the latter; those of them that share all rows with another can't be "
        "told apart (in brackets what to expect of ideal hashing). And the share of "
        "tokens that are hashed.",
        [{**table, "others": table["rows"] - table["own_rows"]} for table in tables],
        ("attr", "own_rows", "others", "num_hashes", "hashed_values"),
        {"Share all": expect("sharing_code"), **make_shares("hashed_share", tables)},
    )


_SHOW: dict[str, Callable[[str, Records], Iterator[Table]]] = {
    HashColumn.kind: _show_hash_tables,
    LookupColumn.kind: _show_lookup_tables,
    WeightedColumn.kind: _show_weighted_tables,
    HybridColumn.kind: _show_hybrid_tables,
}


def _show_codes(codes: Records) -> Iterator[Table]:
    parts = ("hasher", "compressor")
    for component in dict.fromkeys(column["component"] for column in codes):
        yield tabulate(
            f"Codes of '{component}'",
            "Parameters: of the compressor. Shared: values of the training corpus that "
            "share all bits with another, or their row, and can't be told apart.",
            [
                {**column, **{part: column[part].removesuffix(part) for part in parts}}
                for column in codes
                if column["component"] == component
            ],
            (
                *("attr", *parts, "bits", "rows", "width", "parameters"),
                *("values", "sharing_code"),
            ),
            aligns="lll",
        )


def _show_options(advice: Measures) -> Iterator[Table]:
    of = "" if advice["component"] is None else f" in '{advice['component']}'"
    uses = advice["attributes"]
    yield tabulate(
        f"Attributes{of}",
        "What each adds to the others: words that nothing else tells apart. And of the "
        "words new in a split, those whose value is known from training.",
        uses,
        ("attr", "values", "merged_without"),
        make_shares("known_of_new", uses, "Known in {}"),
    )
    found = {option["num_hashes"] for option in advice["hash_options"]}
    missing = [str(n) for n in range(1, MAX_HASHES + 1) if n not in found]
    out_of_reach = (
        f" Out of reach, with more than {MAX_ROWS:,} rows in a table: "
        f"{', '.join(missing)} hash{'es' * (missing != ['1'])}."
        if missing
        else ""
    )
    options = _mark(advice["hash_options"], advice["hashing"], "num_hashes")
    yield tabulate(
        f"Options for hashing{of}",
        f"The smallest tables of width {advice['width']} in which at most "
        f"{format_bound(advice['bound'])} of the values share all rows with another. "
        f"Tables: {', '.join(advice['attrs'])}. * takes the least memory; rows are "
        f"lower limits.{out_of_reach}",
        options,
        ("num_hashes", "rows", "parameters", "words_sharing_codes"),
    )
    lookups = [
        {**option, **{k: option[k][0] for k in ("unknown_values", "unknown_share")}}
        for option in _mark(advice["lookup_options"], advice["lookup"], "min_freq")
    ]
    yield tabulate(
        f"Options for lookup{of}",
        "A row for each value seen min_freq times. Unknown values of "
        f"{''.join(advice['attrs'][:1])} share one row; so does this share of the "
        "tokens of each split. * is advised; with 1, nothing trains that row.",
        lookups,
        ("min_freq", "rows", "parameters", "unknown_values"),
        make_shares("unknown_share", lookups),
    )


def _mark(options: Records, chosen: Measures | None, key: str) -> Records:
    return [{**o, key: f"{o[key]}{' *' * (o == chosen)}"} for o in options]
