"""The symbols that a trained pipeline weighs up, and those that it weighs down.

Table 4 of Tito Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
(2017): the symbols whose importance weights are the largest and the smallest.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc

from spacy_hashembeds.arguments import check_integers
from spacy_hashembeds.papers.hash_embeddings.weightedhashembed import WeightedColumn

from .tables import ImportanceTable, KeyReader, choose_tables, name_value

#: The row of weights that all keys share that a dictionary does not have.
_UNKNOWN = 0


class KeyCounter:
    """Counts the keys of Docs. Memory grows with distinct keys only."""

    def __init__(self, reader: KeyReader) -> None:
        self._reader = reader
        self.counts: Counter[int] = Counter()
        self.names: dict[int, str] = {}

    def add(self, doc: Doc) -> None:
        """Count the keys of a Doc, and note what they stand for."""
        keys = self._reader.read(doc).tolist()
        self.counts.update(keys)
        if not self.names.keys() >= set(keys):
            self.names.update(zip(keys, self._reader.spell(doc), strict=True))


def list_importance(
    nlp: Language,
    docs: Iterable[Doc] | None = None,
    *,
    attr: str | None = None,
    top: int = 10,
    min_count: int = 1,
) -> dict[str, Any]:
    """List what has the largest and the smallest importance in a trained pipeline.

    It is the root mean square of the weights of a row.

    docs: Texts whose values to look at. None: the symbols of dictionaries.
    attr: Look only at the tables of this token attribute.
    top: How many rows to list of either end.
    min_count: Leave out rows of weights of which the texts have no value so often. What
        else has a row that is listed is always named.
    """
    check_integers(1, top=top, min_count=min_count)
    tables = choose_tables(nlp, attr)
    hashed = [table.reader.attr for table in tables if not table.has_dictionary]
    if docs is None and (hashed or min_count > 1):
        raise ValueError(
            "Texts whose words to look at (--texts) should be given with 'min_count', "
            "and where weights are chosen by hashing, so that the pipeline does not "
            f"know what they are the weights of: {', '.join(hashed) or 'none'}."
        )
    counters = {table.reader: KeyCounter(table.reader) for table in tables}
    n_docs = None if docs is None else 0
    for n_docs, doc in enumerate(docs or (), start=1):  # noqa: B007
        for counter in counters.values():
            counter.add(doc)
    described = [
        _Weighed(
            table, None if docs is None else counters[table.reader], nlp.vocab.strings
        ).describe(top, min_count)
        for table in tables
    ]
    return {"texts": n_docs, "min_count": min_count, "tables": described}


class _Weighed:
    """The keys that are looked at, the most frequent first, and their weights."""

    def __init__(
        self, table: ImportanceTable, counter: KeyCounter | None, strings: StringStore
    ) -> None:
        self.table, layer, attr = table, table.layer, table.reader.attr
        self.keys: Any = layer.attrs.get("symbols")
        self.counts: Any = None
        names: Mapping[int, str] = {}
        if counter is not None:
            counted, names = counter.counts.most_common(), counter.names
            self.keys = np.array([key for key, _ in counted], dtype="uint64")
            self.counts = np.array([count for _, count in counted], dtype="int64")
        keys = self.keys.tolist()
        self.names = [names.get(k) or name_value(attr, k, strings) for k in keys]
        self.rows = np.zeros(0, dtype="uint32")
        if keys:
            ids: Any = layer.ops.asarray(self.keys)
            _, found = WeightedColumn(layer).find_pairs(layer.ops, ids)
            self.rows = layer.ops.to_numpy(found)[:, 0]
        # all rows, the paper's P
        self.weights = layer.ops.to_numpy(layer.get_param("P"))

    def describe(self, top: int, min_count: int) -> dict[str, Any]:
        table, reader, counts = self.table, self.table.reader, self.counts
        if counts is not None and not (counts >= min_count).any():
            raise ValueError(
                f"The texts should have a value of {reader.attr} at least {min_count} "
                "times, but have none. Give others (--texts), or look at rarer values "
                "too (--min-count)."
            )
        is_known = np.ones(len(self.rows), dtype=bool)
        if table.has_dictionary:
            is_known = self.rows != _UNKNOWN
        groups = _group(self.rows, is_known.nonzero()[0])
        sizes = [len(group) for group in groups]
        frequent = [g for g in groups if counts is None or counts[g[0]] >= min_count]
        weights = self.weights[[self.rows[group[0]] for group in frequent]]
        importance = _get_importance(weights)
        upwards = importance.argsort(kind="stable")
        largest = (-importance).argsort(kind="stable")[:top]
        smallest = upwards[~np.isin(upwards, largest)][:top]
        unknown = None
        if table.has_dictionary and reader.has_unknown:
            others = (~is_known).nonzero()[0]
            unknown = {
                **self._describe_weights(_UNKNOWN),
                "values": None if counts is None else len(others),
                "count": self._count(others),
            }
        return {
            "component": table.component,
            "number": table.number,
            "attr": reader.attr,
            "ngram_size": reader.ngram_size,
            "chosen_by": "dictionary" if table.has_dictionary else "hash",
            "num_hashes": self.weights.shape[1],
            "rows": len(self.weights),
            "rows_reached": len(groups),
            "values": sum(sizes),
            "values_sharing_row": sum(size for size in sizes if size > 1),
            "median_importance": float(np.median(importance)) if frequent else None,
            "unknown": unknown,
            "largest": [self._describe_row(frequent[i]) for i in largest],
            "smallest": [self._describe_row(frequent[i]) for i in smallest],
        }

    def _count(self, chosen: NDArray) -> int | None:
        return None if self.counts is None else int(self.counts[chosen].sum())

    def _describe_row(self, group: NDArray) -> dict[str, Any]:
        """Describe a row of weights by all keys that have it."""
        layer = self.table.layer
        ids: Any = layer.ops.asarray(self.keys[group])
        vectors = layer.ops.to_numpy(layer.predict(ids))
        if layer.attrs["append_weights"]:
            vectors = vectors[:, : -layer.attrs["num_hashes"]]
        norms = np.linalg.norm(vectors, axis=1)
        return {
            **self._describe_weights(int(self.rows[group[0]])),
            "count": self._count(group),
            "values": [
                {
                    "name": self.names[i],
                    # JSON's numbers are exact up to 2**53 only
                    "key": str(self.keys[i]),
                    "count": self._count(group[place : place + 1]),
                    "vector_norm": float(norms[place]),
                }
                for place, i in enumerate(group)
            ],
        }

    def _describe_weights(self, row: int) -> dict[str, Any]:
        weights = self.weights[row]
        return {
            "row": row,
            "importance": float(_get_importance(weights[np.newaxis])[0]),
            "weights": [float(weight) for weight in weights],
        }


def _group(rows: NDArray, chosen: NDArray) -> list[NDArray]:
    """Put indices of keys with the same row together, in order of the first."""
    if len(chosen) == 0:
        return []
    order = chosen[rows[chosen].argsort(kind="stable")]
    starts = np.flatnonzero(np.diff(rows[order])) + 1
    return sorted(np.split(order, starts), key=lambda group: group[0])


def _get_importance(weights: NDArray) -> NDArray:
    return np.sqrt(np.square(weights, dtype="float64").mean(axis=1))
