"""Sizes of an embedder's tables, and their collisions on a vocabulary.

Kinds of tables are known by what they offer alone: `TableColumn`, and `Coded`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.vocab import Vocab

from ...architectures.descriptions import Coded
from ...layers.tableembed import HashedColumn, TableColumn
from .codes import DEGENERATE_SEED, SOUND_SEED, count_sharing, join_codes
from .features import Vocabulary

#: What was measured, by its names, ready for JSON.
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
        Hashed tables: "load", values for each row; "rows_reached_by_hash" and
        "sharing_row_by_hash", of each hash alone; "with_sound_seed", what another seed
        would give in place of the degenerate one, or None.
        Tables with symbols: "unknown_values" share a row, which is that of the
        "unknown_share" of the tokens of each split, 0 to 1.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    found = {**measure_size(table, len(values)), **_measure_values(table, values)}
    if (unknown := table.are_unknown(values)) is not None:
        found["unknown_values"] = int(unknown.sum())
        shares = share_tokens(vocabularies, table.attr, table.are_unknown)
        found["unknown_share"] = shares
    if isinstance(table, HashedColumn):
        found["with_sound_seed"] = None
        if table.seed == DEGENERATE_SEED:
            sound = table.reseed(SOUND_SEED)
            found["with_sound_seed"] = _measure_values(sound, values)
    return found


def _measure_values(table: TableColumn, values: NDArray) -> Measures:
    found: Measures = {"values": len(values)}
    if isinstance(table, HashedColumn):
        hashes = table.find_code(values)[:, : table.num_hashes].T
        found |= {
            "seed": table.seed,
            "num_hashes": table.num_hashes,
            "load": len(values) / table.n_rows,
            "rows_never_reached": table.n_rows - len(np.unique(hashes)),
            "rows_reached_by_hash": [len(np.unique(rows)) for rows in hashes],
            "sharing_row_by_hash": [count_sharing(r.reshape(-1, 1)) for r in hashes],
        }
    parts = {**table.split_code(values), "code": table.identify(values)}
    found |= {f"sharing_{name}": count_sharing(part) for name, part in parts.items()}
    return found | {f"expected_{k}": n for k, n in table.expect(values).items()}


def share_tokens(
    vocabularies: Vocabularies, attr: str, tell: Callable[[NDArray], NDArray | None]
) -> dict[str, float]:
    """Return the share of each split's tokens with values that a function tells."""
    shares = {}
    for split, vocabulary in vocabularies.items():
        values, counts = vocabulary.count_values(attr)
        shares[split] = float(counts[tell(values)].sum() / max(counts.sum(), 1))
    return shares


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
        "sharing_codes": count_sharing(join_codes(codes)) if len(attributes) else 0,
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
