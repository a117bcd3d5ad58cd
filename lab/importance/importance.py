"""The symbols that a trained pipeline weighs up, and those that it weighs down.

Table 4 of Tito Svenstrup et al., "Hash Embeddings for Efficient Word Representations"
(2017): the symbols whose importance weights are the largest and the smallest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc

from spacy_hashembeds.checks import check_integers
from spacy_hashembeds.layers.weightedhashembed import WeightedColumn

from .tables import ImportanceTable, KeyCounter, KeyReader, choose_tables, name_value

#: The row of weights that all keys share that a dictionary does not have.
_UNKNOWN = 0


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """The keys that are looked at, the most frequent first, and their weights."""

    keys: NDArray  # *Shape:* `(n,)`, uint64
    counts: NDArray | None  # in the texts. *Shape:* `(n,)`, int64
    names: Sequence[str | None]
    rows: NDArray  # of weights. *Shape:* `(n,)`
    weights: NDArray  # all rows, the paper's P. *Shape:* `(K, k)`, float32

    def count(self, chosen: NDArray) -> int | None:
        """Count the occurrences of some keys. *Shape:* `(m,)`, their indices."""
        return None if self.counts is None else int(self.counts[chosen].sum())


def list_importance(
    nlp: Language,
    docs: Iterable[Doc] | None = None,
    *,
    attr: str | None = None,
    top: int = 10,
    min_count: int = 1,
) -> dict[str, Any]:
    """List what has the largest and the smallest importance in a trained pipeline.

    It is the root mean square of the weights of a row: see docs/importance.md, also for
    what comes back.

    docs: Texts whose values to look at. None: the symbols of dictionaries.
    attr: Look only at the tables of this token attribute.
    top: How many rows to list of either end.
    min_count: Leave out rows of weights of which the texts have no value so often. What
        else has a row that is listed is always named.
    """
    check_integers(1, top=top, min_count=min_count)
    tables = choose_tables(nlp, attr)
    counters: dict[KeyReader, KeyCounter] = {}
    n_docs = None
    if docs is None:
        _check_needs_no_texts(tables, min_count)
    else:
        counters = {table.reader: KeyCounter(table.reader) for table in tables}
        n_docs = 0
        for doc in docs:
            n_docs += 1
            for counter in counters.values():
                counter.add(doc)
    described = []
    for table in tables:
        weighed = _weigh(table, nlp, counters.get(table.reader))
        if weighed.counts is not None and not (weighed.counts >= min_count).any():
            often = f" {min_count} times or more" * (min_count > 1)
            raise ValueError(
                f"The texts should hold words, but have no value of "
                f"{table.reader.attr}{often}. Give others (--texts), or look at rarer "
                "values too (--min-count)."
            )
        described.append(_describe(table, weighed, top, min_count))
    return {"texts": n_docs, "min_count": min_count, "tables": described}


def _check_needs_no_texts(tables: Sequence[ImportanceTable], min_count: int) -> None:
    if min_count > 1:
        raise ValueError(
            f"'min_count' is {min_count}, but there are no texts to count in. Give "
            "some (--texts), or leave it out."
        )
    hashed = {table.reader.attr: None for table in tables if not table.has_dictionary}
    if hashed:
        raise ValueError(
            f"The weights for {', '.join(hashed)} are chosen by hashing, so that the "
            "pipeline does not know what they are the weights of. Give texts whose "
            "words to look at (--texts), such as the training corpus."
        )


def _weigh(
    table: ImportanceTable, nlp: Language, counter: KeyCounter | None
) -> Weighed:
    """Find the weights of the keys that the texts, or else the dictionary, have."""
    layer, attr = table.layer, table.reader.attr
    names: dict[int, str] = {}
    counts = None
    if counter is None:
        keys = layer.attrs["symbols"]
    else:
        counted = counter.counts.most_common()
        keys = np.array([key for key, _ in counted], dtype="uint64")
        counts = np.array([count for _, count in counted], dtype="int64")
        names = counter.names
    rows = np.zeros((0, 1), dtype="uint32")
    if len(keys):
        ids: Any = layer.ops.asarray(keys)
        _, found = WeightedColumn(layer).find_pairs(layer.ops, ids)
        rows = layer.ops.to_numpy(found)
    strings = nlp.vocab.strings
    return Weighed(
        keys=keys,
        counts=counts,
        names=[names.get(k) or name_value(attr, k, strings) for k in keys.tolist()],
        rows=rows[:, 0],
        weights=layer.ops.to_numpy(layer.get_param("P")),
    )


def _describe(
    table: ImportanceTable, weighed: Weighed, top: int, min_count: int
) -> dict[str, Any]:
    is_known = np.ones(len(weighed.rows), dtype=bool)
    if table.has_dictionary:
        is_known = weighed.rows != _UNKNOWN
    groups = _group(weighed.rows, is_known.nonzero()[0])
    sizes = [len(group) for group in groups]
    counts = weighed.counts
    frequent = [g for g in groups if counts is None or counts[g[0]] >= min_count]
    rows = [weighed.rows[group[0]] for group in frequent]
    importance = _get_importance(weighed.weights[rows])
    largest, smallest = _find_ends(importance, top)
    return {
        "component": table.component,
        "number": table.number,
        "attr": table.reader.attr,
        "ngram_size": table.reader.ngram_size,
        "chosen_by": "dictionary" if table.has_dictionary else "hash",
        "num_hashes": weighed.weights.shape[1],
        "rows": len(weighed.weights),
        "rows_reached": len(groups),
        "values": sum(sizes),
        "values_sharing_row": sum(size for size in sizes if size > 1),
        "median_importance": float(np.median(importance)) if len(frequent) else None,
        "unknown": _describe_unknown(table, weighed, (~is_known).nonzero()[0]),
        "largest": [_describe_row(table, weighed, frequent[i]) for i in largest],
        "smallest": [_describe_row(table, weighed, frequent[i]) for i in smallest],
    }


def _group(rows: NDArray, chosen: NDArray) -> list[NDArray]:
    """Put indices of keys with the same row together, in order of the first."""
    if len(chosen) == 0:
        return []
    order = chosen[rows[chosen].argsort(kind="stable")]
    starts = np.flatnonzero(np.diff(rows[order])) + 1
    return sorted(np.split(order, starts), key=lambda group: group[0])


def _find_ends(importance: NDArray, top: int) -> tuple[NDArray, NDArray]:
    """Find the largest, downwards, and of the others the smallest, upwards."""
    largest = (-importance).argsort(kind="stable")[:top]
    upwards = importance.argsort(kind="stable")
    return largest, upwards[~np.isin(upwards, largest)][:top]


def _get_importance(weights: NDArray) -> NDArray:
    return np.sqrt(np.square(weights, dtype="float64").mean(axis=1))


def _describe_unknown(
    table: ImportanceTable, weighed: Weighed, unknown: NDArray
) -> dict[str, Any] | None:
    if not (table.has_dictionary and table.reader.has_unknown):
        return None
    return {
        **_describe_weights(weighed, _UNKNOWN),
        "values": None if weighed.counts is None else len(unknown),
        "count": weighed.count(unknown),
    }


def _describe_row(
    table: ImportanceTable, weighed: Weighed, group: NDArray
) -> dict[str, Any]:
    norms = _measure_vectors(table, weighed.keys[group])
    return {
        **_describe_weights(weighed, int(weighed.rows[group[0]])),
        "count": weighed.count(group),
        "values": [
            {
                "name": weighed.names[i],
                # JSON's numbers are exact up to 2**53 only
                "key": str(weighed.keys[i]),
                "count": weighed.count(group[place : place + 1]),
                "vector_norm": float(norms[place]),
            }
            for place, i in enumerate(group)
        ],
    }


def _describe_weights(weighed: Weighed, row: int) -> dict[str, Any]:
    weights = weighed.weights[row]
    return {
        "row": row,
        "importance": float(_get_importance(weights[np.newaxis])[0]),
        "weights": [float(weight) for weight in weights],
    }


def _measure_vectors(table: ImportanceTable, keys: NDArray) -> NDArray:
    """Measure the vectors of keys, without weights put beside them. *Shape:* `(n,)`."""
    layer = table.layer
    ids: Any = layer.ops.asarray(keys)  # type: ignore[arg-type]
    vectors = layer.ops.to_numpy(layer.predict(ids))
    if layer.attrs["append_weights"]:
        vectors = vectors[:, : -layer.attrs["num_hashes"]]
    return np.linalg.norm(vectors, axis=1)
