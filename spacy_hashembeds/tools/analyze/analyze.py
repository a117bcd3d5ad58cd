"""Analyze a corpus, and embedding tables on the corpus."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.training import Corpus, Example

from ...architectures.features import check_registered
from ...arguments import EXTENSION, check_items, check_types
from ...training.annotation import find_settable, get_reference
from ...training.docbin import read_docs
from ...training.features import find_features
from ..display import (
    Message,
    Part,
    Table,
    format_field,
    format_percent,
    render_page,
    write_plain,
)
from .advice import ATTRS, BOUND, advise
from .corpus import StatisticsCounter, collect_vocabulary, count_features
from .embedders import (
    ConfigSource,
    Measures,
    ModelSource,
    Overrides,
    fill_symbols,
    find_embedders,
    load_pipeline,
    measure_table,
    measure_words,
)
from .stored import FeatureCounter

#: A `.spacy` file, a folder of them, or gold docs.
CorpusSource = str | Path | Iterable[Doc | Example]

#: Headers that differ from their keys.
_TITLES = {
    "vocabulary": "Words",
    "unknown": "No vector",
    "once": "Seen once",
    "at_least_10": "10 times or more",
    "attr": "Attribute",
    "share": "Of tokens",
    "num_hashes": "Hashes",
    "rows_never_reached": "Unused rows",
    "sharing_code": "Shared",
    "unknown_values": "Unknown",
}
#: Keys of tables that are not displayed.
_HIDDEN = re.compile(r"width|parts|standard|expected_\w+|\w+_by_hash")


class Analysis(dict[str, Any]):
    """Results of `analyze`: a dict of JSON types, displayed like the command's."""

    def __str__(self) -> str:
        return write_plain(make_parts(self))

    def _repr_html_(self) -> str:
        return render_page(make_parts(self))


def analyze(
    train: CorpusSource,
    *,
    dev: CorpusSource | None = None,
    test: CorpusSource | None = None,
    config: ConfigSource | None = None,
    model: ModelSource | None = None,
    overrides: Overrides | None = None,
    bound: float = BOUND,
    progress: Callable[[Iterator[Doc], str], Iterable[Doc]] | None = None,
) -> Analysis:
    """Analyze a corpus, and the embedding tables of a pipeline on it.

    See docs/analyze.md. Memory grows with the distinct words of the corpus. The
    pipeline computes attributes of words as in training.

    train (str | Path | Iterable[Doc | Example]): Gold Docs, Examples, a `.spacy` file,
        or a folder of them. Read once.
    dev, test (str | Path | Iterable[Doc | Example], optional): Other splits.
    config (Config | dict | str | Path, optional): Config for training, or its path. The
        pipeline is not initialized, so that [initialize.lookups] do not affect norms.
    model (Language | str | Path, optional): Trained pipeline, instead of `config`.
    overrides (Mapping[str, Any], optional): Settings of the config to change. Without a
        config, `{"nlp.lang": "de"}` selects the language of norms. Default: that of the
        first Doc in `train`, or "xx" for a file.
    bound (float): Maximum share, above 0 and below 1, of an attribute's values with the
        code of another value. Determines the lower limit for hash tables.
    progress (Callable, optional): Wraps the docs of each split as they are read.
    RAISES (OSError, ImportError, TypeError, ValueError): If an argument is invalid, or
        names a missing file or package.
    RETURNS (Analysis): "lang"; "splits" and "entities", see `StatisticsCounter`;
        "features", see `count_features`; "stored", see `FeatureCounter`; "needed", the
        features that the pipeline reads; "embedders" ("component"; "tables", see
        `measure_table`; "words", see `measure_words`; "has_others", True if vectors or
        n-grams are mixed in); "advice", see `advise`.
    """
    check_types(int | float, "a number above 0 and below 1", bound=bound)
    if not 0 < bound < 1:
        raise ValueError(f"'bound' should be above 0 and below 1, but is {bound}.")
    corpora = {"train": _get_golds(train, "train")}
    others = {"dev": dev, "test": test}
    corpora |= {
        name: _get_golds(x, name) for name, x in others.items() if x is not None
    }
    is_alone = config is None and model is None
    if is_alone and not overrides and isinstance(corpora["train"], Iterator):
        first = [*islice(corpora["train"], 1)]
        corpora["train"] = chain(first, corpora["train"])
        langs = [*(doc.vocab.lang for doc in first), "xx"]
        overrides = {"nlp.lang": next(filter(None, langs))}
    nlp = load_pipeline(config=config, model=model, overrides=overrides or {})
    embedders = find_embedders(nlp)
    if not (embedders or is_alone):
        raise ValueError(
            f"The pipeline (components: {', '.join(nlp.pipe_names) or 'none'}) has no "
            "embedding tables, such as those of spacy.MultiHashEmbed.v2. Omit it to "
            "analyze the corpus alone."
        )
    attrs = [*ATTRS, *(table.attr for _, tables, _ in embedders for table in tables)]
    vocabularies, counters, stored, needed = {}, {}, {}, find_features(nlp)
    for split, corpus in corpora.items():
        is_open = isinstance(corpus, Iterator)
        docs = corpus if is_open else read_docs(corpus, nlp.vocab)
        counters[split], stored[split] = StatisticsCounter(), FeatureCounter(needed)
        docs = map(counters[split].add, progress(docs, split) if progress else docs)
        examples = map(stored[split].add, Corpus("").make_examples(nlp, docs))
        vocabularies[split] = collect_vocabulary(examples, [*dict.fromkeys(attrs)])
    known = stored["train"].describe(bound)
    check_registered(attr for attr in needed if attr not in known)
    words, seen = vocabularies["train"], counters["train"].entity_texts
    vectors = nlp.vocab if nlp.vocab.vectors.size else None
    measured: list[Measures] = []
    advice = []
    for embedder in embedders:
        tables = fill_symbols(embedder, nlp, words)
        measured.append(
            {
                "component": embedder.component,
                "has_others": embedder.has_others,
                "tables": [measure_table(table, vocabularies) for table in tables],
                "words": measure_words(tables, words),
            }
        )
    for each in measured or [{"component": None, "tables": []}]:
        settable = {*find_settable(nlp.component_names, each["component"]), *needed}
        advice.append(advise(words, each, bound=bound, settable=settable))
    return Analysis(
        lang=nlp.lang,
        splits={split: c.get_statistics(vectors) for split, c in counters.items()},
        entities={s: c.count_seen(seen) for s, c in counters.items() if s != "train"},
        features=count_features(words),
        stored=known,
        needed=needed,
        embedders=measured,
        advice=advice,
    )


def _get_golds(corpus: CorpusSource, split: str) -> Any:
    """Return a path, or an iterator of gold docs."""
    if isinstance(corpus, str | Path):
        return corpus
    check_items("Docs or Examples, or their file", **{split: corpus})
    return (get_reference(item, split) for item in corpus)


def make_parts(data: Measures) -> Iterator[Part]:
    """Yield tables of counts and measures, and sentences of advice."""
    yield _tabulate(
        "Corpus",
        "Words: distinct tokens. No vector: words without a vector.",
        [{"split": split, **counts} for split, counts in data["splits"].items()],
        ("split", "documents", "tokens", "vocabulary", "unknown", "entities"),
    )
    yield _tabulate(
        "Entities seen in training",
        "Seen: the text is an entity, of any type, in the training corpus.",
        [
            {"split": split, "type": label, **counts}
            for split, total in data["entities"].items()
            for label, counts in {"all": total, **total["per_type"]}.items()
        ],
        ("split", "type", "seen", "unseen"),
        aligns="ll",
    )
    is_default = data["lang"] == "xx" and not data["embedders"]
    yield _tabulate(
        "Token attributes",
        f"In the training corpus. Norms are those of the language '{data['lang']}'"
        + (", unless --nlp.lang is given." if is_default else "."),
        [{"attr": attr, **counts} for attr, counts in data["features"].items()],
        ("attr", "values", "once", "at_least_10"),
    )
    yield _tabulate(
        "Features",
        "Stored in the training corpus. Rows: of a hash table.",
        [{"attr": attr, **found} for attr, found in data["stored"].items()],
        ("attr", "values", "share", "rows"),
    )
    for embedder in data["embedders"]:
        yield from _show_embedder(embedder)
    if needed := ", ".join(data["needed"]):
        yield Message(f"The pipeline needs these features of each Doc: {needed}.")
    yield Message("Advice", "divider")
    for advice in data["advice"]:
        if len(data["advice"]) > 1:
            yield Message(f"For '{advice['component']}':")
        for reason in advice["reasons"]:
            yield Message(reason, "info")
        if not advice["reasons"]:
            yield Message("The training corpus has no tokens.", "warn")
    new = [attr for attr in data["stored"] if attr not in data["needed"]]
    # span groups may be annotation to learn
    if options := [f"--feature {attr}" for attr in new if attr.startswith(EXTENSION)]:
        text = f"To embed features: `spacy hashembeds config {' '.join(options)}`."
        yield Message(text, "info")


def _show_embedder(embedder: Measures) -> Iterator[Part]:
    tables, words = embedder["tables"], embedder["words"]
    keys = dict.fromkeys(key for table in tables for key in table)
    yield _tabulate(
        f"Tables of '{embedder['component']}'",
        "Shared: training values with the vector of another. In brackets: expected for "
        "ideal hashing.",
        tables,
        [key for key in keys if not _HIDDEN.fullmatch(key)],
        aligns="ll",
    )
    n = sum(table["parameters"] for table in tables)
    more = "Word vectors or character n-grams may distinguish some of them."
    yield Message(
        f"The tables have {n:,} parameters, {4 * n / 1e6:,.1f} MB. Of "
        f"{words['words']:,} distinct words, {words['sharing_codes']:,} share all "
        f"rows of all tables with another, {words['same_attributes']:,} of them with "
        f"equal attributes. {more * embedder['has_others']}".strip()
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
    """Format a value, with the expected value in brackets."""
    if key.startswith("unknown_in_") or key == "share":
        return format_percent(record.get(key))
    shown = format_field(record.get(key))
    expected = record.get(f"expected_{key}")
    return shown if expected is None else f"{shown} ({expected:,.1f})"
