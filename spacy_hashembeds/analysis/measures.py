"""Sizes of an embedder's tables, and their collisions on a vocabulary."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.vocab import Vocab
from thinc.api import Model

from ..architectures.embedders.distinct_words import Words
from ..architectures.embedders.hash_former_embed import WordColumn
from ..hashing.collisions import (
    expected_colliding,
    expected_rows_reached,
    expected_sharing_codes,
)
from ..layers.hashembed import HashColumn
from ..layers.hashers import takes_ngrams
from ..layers.hybridembed import HybridColumn
from ..layers.symbolembed import LookupColumn
from ..layers.tableembed import TableColumn
from ..layers.weightedhashembed import WeightedColumn
from .codes import (
    DEGENERATE_SEED,
    SOUND_SEED,
    count_sharing,
    count_sharing_sums,
    join_codes,
)
from .features import Vocabulary

#: What was measured, by its names, ready for JSON.
Measures = dict[str, Any]
#: For each split what it holds, "train" among them, whose values are counted.
Vocabularies = Mapping[str, Vocabulary]

#: Gives the share of each split's tokens with values that a function tells.
_Share = Callable[[Callable[[NDArray], NDArray]], dict[str, float]]


def measure_size(table: TableColumn, n_values: int) -> Measures:
    """Count the parameters of a table, and of "standard" embeddings of its width: with
    a row for each value of the "vocabulary"; beside a weighted table also one with as
    many as the "importance_rows" (K·d of Svenstrup et al. 2017, §3).
    """
    standard = {"vocabulary": n_values * table.row_width}
    if isinstance(table, WeightedColumn):
        standard["importance_rows"] = table.weight_rows * table.row_width
    return {
        **_get(table, "attr", "kind"),
        "rows": table.n_rows,
        "width": table.row_width,
        "parameters": sum(table.parts.values()),
        "parts": table.parts,
        "standard": standard,
    }


def measure_table(table: TableColumn, vocabularies: Vocabularies) -> Measures:
    """Measure a table, which has its symbols, on the splits of a corpus.

    RETURNS (Measures): What `measure_size` tells. "values": those of the training
        corpus. What to expect of uniform hash functions begins with "expected_". Shares
        are of the tokens of each split, 0 to 1. "sharing_code", but of lookup tables:
        values that have the vector of another.
        hash, weighted: "load": values for each row. "with_sound_seed": what the same
        table would give with another seed if its own is the degenerate one, or None.
        hash: "sharing_row_by_hash": under each hash alone.
        weighted, whose rows are component vectors: values "sharing_components", all of
        these in any order, and "sharing_weights". "unknown_share", if symbols have any.
        lookup: "unknown_values" share a row, which is that of the "unknown_share".
        hybrid: "hashed_values" have no row of their own; nor has the "hashed_share".
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    share = partial(_share_tokens, vocabularies, table.attr)
    return {
        **measure_size(table, len(values)),
        **_measure_kind(table, values, share),
    }


def _measure_kind(table: TableColumn, values: NDArray, share: _Share) -> Measures:
    found: Measures = {"values": len(values)}
    if table.kind not in _MEASURES:
        return found | {"sharing_code": count_sharing(table.identify(values))}
    return found | _MEASURES[table.kind](table, values, share)


def _measure_hashing(
    table: HashColumn | WeightedColumn, values: NDArray, share: _Share
) -> Measures:
    code = table.find_code(values)[:, : table.num_hashes]
    sound = table.reseed(SOUND_SEED) if table.seed == DEGENERATE_SEED else None
    return {
        **_get(table, "attr", "num_hashes", "seed"),
        "rows": table.n_rows,
        "load": len(values) / table.n_rows,
        "rows_never_reached": table.n_rows - len(np.unique(code)),
        "rows_reached_by_hash": [len(np.unique(column)) for column in code.T],
        "with_sound_seed": _measure_kind(sound, values, share) if sound else None,
    }


def _measure_hash(table: HashColumn, values: NDArray, share: _Share) -> Measures:
    n, rows, num_hashes = len(values), table.n_rows, table.num_hashes
    code = table.find_code(values)
    return {
        **_measure_hashing(table, values, share),
        "parameters": rows * table.row_width,
        "expected_rows_never_reached": rows
        - expected_rows_reached(n, rows, num_hashes),
        "sharing_row_by_hash": [count_sharing(c.reshape(-1, 1)) for c in code.T],
        "expected_sharing_row": expected_colliding(n, rows, 1),
        "sharing_code": count_sharing_sums(code),
        "expected_sharing_code": expected_colliding(n, rows, num_hashes),
    }


def _measure_weighted(
    table: WeightedColumn, values: NDArray, share: _Share
) -> Measures:
    code = table.find_code(values)
    weights = code[:, -1:]
    unknown = share(table.are_unknown) if table.has_symbols else {}
    return {
        **_measure_hashing(table, values, share),
        "same_hash": table.model.attrs["same_hash"],
        "importance_rows": table.weight_rows,
        "sharing_components": count_sharing_sums(code[:, :-1]),
        "sharing_weights": count_sharing(weights),
        "sharing_code": count_sharing(code),
        "expected_sharing_code": _expect_sharing(table, weights),
        "unknown_share": unknown,
    }


def _measure_lookup(table: LookupColumn, values: NDArray, share: _Share) -> Measures:
    return {
        "unknown_values": int(table.are_unknown(values).sum()),
        "unknown_share": share(table.are_unknown),
    }


def _measure_hybrid(table: HybridColumn, values: NDArray, share: _Share) -> Measures:
    code, n_hashed = table.find_code(values), int(table.are_hashed(values).sum())
    return {
        **_get(table, "own_rows", "num_hashes", "seed"),
        "hashed_values": n_hashed,
        "rows_never_reached": table.n_rows - len(np.unique(code[code < table.n_rows])),
        "sharing_code": count_sharing_sums(code),
        "expected_sharing_code": expected_colliding(
            n_hashed, table.n_rows - table.own_rows, table.num_hashes
        ),
        "hashed_share": share(table.are_hashed),
    }


_MEASURES: dict[str, Callable[[Any, NDArray, _Share], Measures]] = {
    HashColumn.kind: _measure_hash,
    HybridColumn.kind: _measure_hybrid,
    LookupColumn.kind: _measure_lookup,
    WeightedColumn.kind: _measure_weighted,
}


def _expect_sharing(table: WeightedColumn, weights: NDArray) -> float:
    """Expect values to share weights and components, as many as share none for sure."""
    is_same = table.model.attrs["same_hash"]
    components = 1 if is_same else table.n_rows**table.num_hashes
    if table.has_symbols:  # a symbol shares its row with no other value
        return expected_sharing_codes(int((weights == 0).sum()), components)
    return expected_sharing_codes(len(weights), components * table.weight_rows)


def _share_tokens(
    vocabularies: Vocabularies, attr: str, tell: Callable[[NDArray], NDArray]
) -> dict[str, float]:
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


def measure_codes(vocab: Vocab, column: WordColumn, train: Vocabulary) -> Measures:
    """Measure the layers that embed an attribute by codes, in a pipeline of this vocab.

    RETURNS (Measures): "bits" of a code, or else how many "rows" there are.
        "parameters": the compressor's. "sharing_code": values that share all bits with
        another, or their row; None if the n-grams that count are not known yet.
    """
    (hasher,), compressor = column.hashing.layers, column.compressor
    values, _ = train.count_values(column.attr)
    rows = column.hashing.maybe_get_dim("nV")
    sharing = None
    if not takes_ngrams(hasher) or hasher.attrs["ngrams"] is not None:
        texts = Words([vocab], values.reshape(-1, 1)).read_texts()
        codes: NDArray = hasher.predict(texts)
        sharing = count_sharing(codes.astype("uint64"))
    return {
        "attr": column.attr,
        "hasher": hasher.name,
        "compressor": compressor.name,
        "bits": hasher.get_dim("nO") if rows is None else None,
        "rows": rows,
        "width": compressor.get_dim("nO"),
        "parameters": _count_parameters(compressor),
        "values": len(values),
        "sharing_code": sharing,
    }


def _count_parameters(compressor: Model) -> int:
    """Count parameters, also where there are none yet, as in a config."""

    def count(model: Model) -> int:
        params = ((node, name) for node in model.walk() for name in node.param_names)
        return sum(n.get_param(name).size for n, name in params if n.has_param(name))

    return count(compressor) or count(compressor.copy().initialize())


def _get(table: TableColumn, *names: str) -> Measures:
    return {name: getattr(table, name) for name in names}
