"""Sizes of an embedder's tables, and their collisions on a vocabulary.

Kinds of tables are known by what they offer alone: `TableColumn`, and `Coded`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from spacy.vocab import Vocab

from ...architectures.descriptions import Coded
from ...layers.tableembed import HashedColumn, TableColumn
from .codes import count_sharing
from .features import Vocabulary

#: Measured values by their names, ready for JSON.
Measures = dict[str, Any]
#: For each split what it holds, "train" among them, whose values are counted.
Vocabularies = Mapping[str, Vocabulary]


def measure_size(table: TableColumn, n_values: int) -> Measures:
    """Count the parameters of a table, and of "standard" embeddings of its width: with
    a row for each value of the "vocabulary".
    """
    return {
        "attr": table.attr,
        "kind": table.kind,
        "rows": table.n_rows,
        "width": table.row_width,
        "parameters": sum(table.parts.values()),
        "parts": table.parts,
        "standard": {"vocabulary": n_values * table.row_width},
    }


def measure_table(table: TableColumn, vocabularies: Vocabularies) -> Measures:
    """Measure a table, which has its symbols, on the splits of a corpus.

    RETURNS (Measures): What `measure_size` counts, and "values" of the training corpus:
        "sharing_code" have the vector of another; "sharing_…" other parts of a code, of
        tables that have some. What to expect of ideal hashing begins with "expected_".
        Hashed tables: "rows_never_reached" by any hash; "rows_reached_by_hash" and
        "sharing_row_by_hash", of each hash alone.
        Tables with symbols: "unknown_values" share a row, which is that of a share of
        the tokens of each split, "unknown_in_train" and the like, 0 to 1.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    found = {**measure_size(table, len(values)), "values": len(values)}
    if isinstance(table, HashedColumn):
        hashes = table.find_code(values)[:, : table.num_hashes].T
        found |= {
            "seed": table.seed,
            "num_hashes": table.num_hashes,
            "rows_never_reached": table.n_rows - len(np.unique(hashes)),
            "rows_reached_by_hash": [len(np.unique(rows)) for rows in hashes],
            "sharing_row_by_hash": [count_sharing(r.reshape(-1, 1)) for r in hashes],
        }
    parts = {**table.split_code(values), "code": table.identify(values)}
    found |= {f"sharing_{name}": count_sharing(part) for name, part in parts.items()}
    found |= {f"expected_{k}": n for k, n in table.expect(values).items()}
    if (unknown := table.are_unknown(values)) is not None:
        found["unknown_values"] = int(unknown.sum())
        for split, vocabulary in vocabularies.items():
            values, counts = vocabulary.count_values(table.attr)
            n_unknown = counts[table.are_unknown(values)].sum()
            found[f"unknown_in_{split}"] = float(n_unknown / max(counts.sum(), 1))
    return found


def measure_words(tables: Sequence[TableColumn], vocabulary: Vocabulary) -> Measures:
    """Count the distinct words, by ORTH and attributes, and those "sharing_codes": all
    tables give them another's vectors. Some of these have the "same_attributes".
    """
    attributes = vocabulary.get_words([table.attr for table in tables])[:, 1:]
    pairs = zip(tables, attributes.T, strict=True)
    codes = [table.identify(values) for table, values in pairs]
    return {
        "words": len(attributes),
        "same_attributes": count_sharing(attributes),
        "sharing_codes": count_sharing(np.hstack(codes)),
    }


def measure_codes(column: Coded, vocab: Vocab, train: Vocabulary) -> Measures:
    """Measure what embeds an attribute by codes, in a pipeline of this vocab.

    RETURNS (Measures): How it describes itself, and of the "values" of the training
        corpus those "sharing_code", or None if codes are not known yet.
    """
    values, _ = train.count_values(column.attr)
    code = column.find_code(vocab, values)
    sharing = None if code is None else count_sharing(code)
    described = {"attr": column.attr, **column.describe()}
    return {**described, "values": len(values), "sharing_code": sharing}
