"""Values with the largest and smallest importance weights in a pipeline: Svenstrup et
al., "Hash Embeddings for Efficient Word Representations" (2017), table 4.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IDS
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc, Token
from thinc.api import Model, to_numpy

from spacy_hashembeds.papers.hash_embeddings.ngrams import extract_words, hash_ngrams
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import WeightedColumn
from spacy_hashembeds.tools.analyze.embedders import find_embedders, find_models
from spacy_hashembeds.tools.display import Message, Part, Table, format_field

#: Attributes whose values are hashes of text. Other attributes have numbers.
_TEXTS = {name for name in IDS if hasattr(Token, f"{name.lower()}_")} - {"ENT_IOB"}

#: The row of weights of all keys that are not in the dictionary.
_UNKNOWN = 0

_LEGEND = (
    "Left: importance, the root mean square of a row of weights. Vector: the length of "
    "the first value's vector."
)


@dataclass(frozen=True)
class KeyReader:
    """Reader of a table's keys: values of a token attribute, or hashes of n-grams."""

    attr: str
    ngram_size: int = 1  # the largest number of words of a key
    include_punctuation: bool = True  # also white space
    has_unknown: bool = True  # True if keys outside the dictionary share weights

    def read(self, doc: Doc) -> NDArray:
        """Read the keys of a Doc. *Shape:* `(n,)`, uint64."""
        words = self._extract(doc)
        return hash_ngrams(words, np.array([len(words)]), self.ngram_size).keys

    def spell(self, doc: Doc) -> list[str]:
        """Return the words of each key of `read`, joined by spaces."""
        strings = doc.vocab.strings
        keys = self._extract(doc).tolist()
        words = [name_value(self.attr, key, strings) or "" for key in keys]
        return [
            " ".join(words[start:end])
            for start in range(len(words))
            for end in range(start + 1, min(start + self.ngram_size, len(words)) + 1)
        ]

    def _extract(self, doc: Doc) -> Any:
        extract = extract_words(self.attr, include_punctuation=self.include_punctuation)
        return extract.predict([doc]).dataXd


def name_value(attr: str, value: int, strings: StringStore) -> str | None:
    """Return the text of an attribute's value, or None if it is unknown."""
    if attr not in _TEXTS:
        return str(value)
    try:
        return strings[value]
    except KeyError:
        return None


def find_tables(nlp: Language) -> Iterator[tuple[str, KeyReader, WeightedColumn]]:
    """Yield the tables of importance weights, with their components."""
    for embedder in find_embedders(nlp):
        for table in embedder.tables:
            if isinstance(table, WeightedColumn):
                yield embedder.component, KeyReader(table.attr), table
    for name, model in find_models(nlp):
        for node in model.walk():
            layers = {layer.name.partition("(")[0]: layer for layer in node.layers}
            if "extract_words" in layers and "sum_ngrams" in layers:
                summing, attrs = layers["sum_ngrams"], layers["extract_words"].attrs
                reader = KeyReader(
                    attr=attrs["attr"],
                    ngram_size=summing.attrs["ngram_size"],
                    include_punctuation=attrs["include_punctuation"],
                    has_unknown=False,
                )
                tables = (x for x in summing.walk() if x.name == "weightedhashembed")
                yield from ((name, reader, WeightedColumn(table)) for table in tables)


def list_importance(
    nlp: Language,
    docs: Iterable[Doc] | None = None,
    *,
    attr: str | None = None,
    top: int = 10,
) -> dict[str, Any]:
    """List the values with the largest and smallest importance in a trained pipeline.

    Importance is the root mean square of a row of weights.

    docs: Texts whose values are listed. None: the symbols of dictionaries.
    """
    found = [*find_tables(nlp)]
    tables = [each for each in found if attr is None or each[1].attr == attr.upper()]
    if not tables:
        known = ", ".join(sorted({reader.attr for _, reader, _ in found}))
        raise ValueError(
            "The pipeline should have an embedding with importance weights (of 'attr', "
            f"if given), but has them for: {known or 'none'}. MultiWeightedHashEmbed "
            "and HashNgramTextCat have such weights."
        )
    for _, _, table in tables:
        table.check_weights()
    hashed = [reader.attr for _, reader, table in tables if not table.has_symbols]
    if docs is None and hashed:
        raise ValueError(
            f"Weights of {', '.join(hashed)} are chosen by hashing, so that the "
            "pipeline does not store their values. Give texts (--texts)."
        )
    counts, names, n_docs = _count_keys({reader for _, reader, _ in tables}, docs or ())
    described = []
    for component, reader, table in tables:
        of: Mapping[int, int | None] = dict(counts[reader].most_common())
        if docs is None:
            of = dict.fromkeys(table.model.attrs["symbols"].tolist())
        strings, spelt = nlp.vocab.strings, names[reader]
        named = {k: spelt.get(k) or name_value(reader.attr, k, strings) for k in of}
        about = _describe(reader, table.model, of, named, top)
        described.append({"component": component, **about})
    return {"texts": None if docs is None else n_docs, "tables": described}


def _count_keys(
    readers: set[KeyReader], docs: Iterable[Doc]
) -> tuple[dict[KeyReader, Counter[int]], dict[KeyReader, dict[int, str]], int]:
    """Count the keys of Docs, note their words, and count the Docs."""
    counts: dict[KeyReader, Counter[int]] = {reader: Counter() for reader in readers}
    names: dict[KeyReader, dict[int, str]] = {reader: {} for reader in readers}
    n_docs = 0
    for n_docs, doc in enumerate(docs, start=1):  # noqa: B007
        for reader in readers:
            keys = reader.read(doc).tolist()
            counts[reader].update(keys)
            names[reader].update(zip(keys, reader.spell(doc), strict=True))
    return counts, names, n_docs


def _describe(
    reader: KeyReader,
    layer: Model,
    counts: Mapping[int, int | None],
    names: Mapping[int, str | None],
    top: int,
) -> dict[str, Any]:
    """Describe the weights of keys, which are sorted by frequency if counted."""
    weights: NDArray = to_numpy(layer.get_param("P"))  # P as in the paper
    importance = np.sqrt(np.square(weights, dtype="float64").mean(axis=1))
    has_dictionary = "symbol_setter" in layer.attrs
    groups: dict[int, list[int]] = {}  # the keys of each row
    keys = layer.ops.xp.array([*counts], dtype="uint64")
    _, found = WeightedColumn(layer).find_pairs(layer.ops, keys)
    for key, row in zip(counts, to_numpy(found)[:, 0].tolist(), strict=True):
        if not (has_dictionary and row == _UNKNOWN):
            groups.setdefault(row, []).append(key)
    rows = [*groups]
    figures = importance[rows]
    largest = (-figures).argsort(kind="stable")[:top]
    upwards = figures.argsort(kind="stable")
    smallest = upwards[~np.isin(upwards, largest)][:top]

    def describe_row(row: int) -> dict[str, Any]:
        of = [counts[key] for key in groups[row]]
        norms = _measure_vectors(layer, groups[row])
        return {
            "row": row,
            "importance": float(importance[row]),
            "weights": weights[row].tolist(),
            "count": None if None in of else sum(n or 0 for n in of),
            # keys are text, since numbers in JSON are exact only up to 2**53
            "values": [
                {"name": names[k], "key": str(k), "count": count, "vector_norm": norm}
                for k, count, norm in zip(groups[row], of, norms, strict=True)
            ],
        }

    sizes = [len(keys) for keys in groups.values()]
    has_unknown = has_dictionary and reader.has_unknown
    return {
        "attr": reader.attr,
        "ngram_size": reader.ngram_size,
        "chosen_by": "dictionary" if has_dictionary else "hash",
        "rows": len(weights),
        "rows_reached": len(groups),
        "values": sum(sizes),
        "values_sharing_row": sum(size for size in sizes if size > 1),
        "median_importance": float(np.median(figures)) if rows else None,
        "unknown_importance": float(importance[_UNKNOWN]) if has_unknown else None,
        "largest": [describe_row(rows[i]) for i in largest],
        "smallest": [describe_row(rows[i]) for i in smallest],
    }


def _measure_vectors(layer: Model, keys: Sequence[int]) -> list[float]:
    """Return the lengths of the vectors of keys."""
    vectors = to_numpy(layer.predict(layer.ops.xp.array(keys, dtype="uint64")))
    if layer.attrs["append_weights"]:
        vectors = vectors[:, : -layer.attrs["num_hashes"]]
    return np.linalg.norm(vectors, axis=1).tolist()


def summarize(data: dict[str, Any]) -> Iterator[Part]:
    """Tabulate the values with the largest and smallest importance."""
    yield Message(_LEGEND)
    has_counts = data["texts"] is not None
    for table in data["tables"]:
        size = table["ngram_size"]
        words = f", 1 to {size} words," * (size > 1)
        yield Message(f"{table['attr']}{words} in '{table['component']}'", "divider")
        yield Message(_describe_table(table))
        for key in ("largest", "smallest"):
            yield Table(
                None,
                None,
                (key.title(), "Weights", "Vector", *["Count"] * has_counts, "Values"),
                [_format_row(row) for row in table[key]],
                aligns="rrrrl" if has_counts else "rrrl",
            )


def _describe_table(table: dict[str, Any]) -> str:
    keys = ("values", "rows_reached", "rows", "values_sharing_row")
    values, reached, rows, sharing = (format_field(table[key]) for key in keys)
    text = f"{values} symbols, each with its own weights."
    if table["chosen_by"] == "hash":
        text = (
            f"{values} values have {reached} of {rows} rows of weights, chosen by "
            f"hashing; {sharing} values share a row with others."
        )
    median, unknown = table["median_importance"], table["unknown_importance"]
    if median is not None:
        text += f" Median importance: {median:#.4g}."
    if unknown is not None:
        text += f" All other values share one row: {unknown:#.4g}."
    return text


def _format_row(row: dict[str, Any]) -> Sequence[str]:
    # six characters for any size
    weights = (f"{w:+.3f}" if abs(w) >= 0.001 else f"{w:+.0e}" for w in row["weights"])
    numbers = row["importance"], row["values"][0]["vector_norm"]
    importance, vector = (f"{number:#.4g}" for number in numbers)
    counts = [] if row["count"] is None else [format_field(row["count"])]
    names = (value["name"] or f"#{value['key']}" for value in row["values"])
    # quote white space and other characters that are not printable
    clear = (n if n.strip() and n.isprintable() else repr(n) for n in names)
    shown = shorten(", ".join(clear), 40, placeholder=" …")
    return importance, " ".join(weights), vector, *counts, shown
