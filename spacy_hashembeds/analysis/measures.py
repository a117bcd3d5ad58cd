"""How large the tables of an embedder are, and how they would serve a vocabulary."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.vocab import Vocab
from thinc.api import Model

from ..architectures.classifiers.hash_ngram_textcat import KEY as NGRAMS
from ..architectures.embedders.descriptions import find_table_kinds
from ..architectures.embedders.distinct_words import Words
from ..architectures.embedders.hash_former_embed import WordColumn
from ..architectures.embedders.table_kinds import (
    HashTable,
    HybridTable,
    LookupTable,
    Table,
    WeightedTable,
)
from ..corpora.docbin import read_examples
from ..hashing.collisions import (
    expected_colliding,
    expected_rows_reached,
    expected_sharing_codes,
)
from ..layers.lshhasher import takes_ngrams
from ..layers.sumngrams import forward as sum_ngrams_forward
from .codes import (
    DEGENERATE_SEED,
    SOUND_SEED,
    count_sharing,
    count_sharing_sums,
    join_codes,
)
from .embedders import find_embedders
from .features import Vocabulary, collect_vocabulary
from .sizes import count_parameters, find_models

#: What was measured, by its names, ready for JSON.
Measures = dict[str, Any]
#: For each split what it holds, "train" among them, whose values are counted.
Vocabularies = Mapping[str, Vocabulary]


@dataclass(frozen=True, kw_only=True)
class WordMeasures:
    """Whole tokens that the tables of an embedder can't tell apart.

    words (int): Distinct words, by ORTH and the attributes of the tables.
    same_attributes (int): Words all of whose attributes equal those of another.
    sharing_codes (int): Words that all tables give the vectors of another. The former
        are among them.
    """

    words: int
    same_attributes: int
    sharing_codes: int


def measure_size(table: Table, n_values: int | None) -> Measures:
    """Count the parameters of a table.

    n_values (int, optional): How many distinct values the training corpus has for it,
        if that is known.
    RETURNS (Measures): "attr": what it embeds, an attribute, or "n-grams" of words.
        "kind". "rows" and their "width". "parameters", and these by its "parts".
        "standard": the parameters that a standard embedding of this width would have,
        which has a row for each value: "vocabulary", one of the training vocabulary,
        unless of n-grams, which nobody counts; for a weighted table "importance_rows",
        one with as many rows as there are of weights (K·d), with which Svenstrup et al.
        (2017, §3) compare.
    """
    standard = {} if n_values is None else {"vocabulary": n_values * table.width}
    if isinstance(table, WeightedTable):
        standard["importance_rows"] = table.importance_rows * table.width
    return {
        **_get(table, "attr", "kind", "rows", "width"),
        "parameters": sum(table.parts.values()),
        "parts": table.parts,
        "standard": standard,
    }


def measure_sizes(nlp: Language, train: Path) -> list[Measures]:
    """Count the parameters of each embedding table of a trained pipeline.

    train (Path): The training corpus, a `.spacy` file or a folder of them. It is read
        if there is a table.
    RETURNS (list[Measures]): For each table its "component" and what `measure_size`
        tells: those that `find_embedders` finds, and those of n-grams.
    """
    of_ngrams = [
        {"component": name, **measure_size(table, None)}
        for name, table in _find_ngram_tables(nlp)
    ]
    embedders = find_embedders(nlp)
    attrs = {table.attr for embedder in embedders for table in embedder.tables}
    if not attrs:
        return of_ngrams
    docs = (example.predicted for example in read_examples(train, nlp))
    vocabulary = collect_vocabulary(docs, sorted(attrs))
    n_values = {attr: len(vocabulary.count_values(attr)[0]) for attr in attrs}
    return of_ngrams + [
        {"component": embedder.component, **measure_size(table, n_values[table.attr])}
        for embedder in embedders
        for table in embedder.tables
    ]


def _find_ngram_tables(nlp: Language) -> Iterator[tuple[str, Table]]:
    """Find the tables of n-gram classifiers, with the names of their components."""
    kinds = find_table_kinds()
    for name, model in find_models(nlp):
        for node in model.walk():
            if node._func is sum_ngrams_forward:
                yield name, kinds[node.layers[0].name].read(node.layers[0], NGRAMS)


def measure_table(table: Table, vocabularies: Vocabularies) -> Measures:
    """Measure a table, which has its symbols, on the splits of a corpus.

    RETURNS (Measures): What `measure_size` tells, and what the function of its kind, or
        that for any kind.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    measure = _MEASURES.get(table.kind, measure_any_table)
    return {**measure_size(table, len(values)), **measure(table, vocabularies)}


def measure_any_table(table: Table, vocabularies: Vocabularies) -> Measures:
    """Measure a table of any kind.

    RETURNS (Measures): "values": distinct values. "sharing_code": those that have the
        vector of another.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    return {
        "values": len(values),
        "sharing_code": count_sharing(table.identify(values)),
    }


def measure_hash_table(table: HashTable, vocabularies: Vocabularies) -> Measures:
    """Measure a table whose rows are chosen by hashing.

    RETURNS (Measures): "values": distinct values. "load": values for each row.
        "rows_never_reached": rows that no value gets. "rows_reached_by_hash": rows that
        any value gets, from each hash. "sharing_row_by_hash": values that share their
        row with another, under each hash alone. "sharing_code": values that share all
        their rows with another, in any order, so that the table can't tell them apart.
        What to expect of uniform hash functions begins with "expected_".
        "with_sound_seed": if the seed is the degenerate one, what the same table would
        give with another, or None.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    code, rows, num_hashes = table.find_code(values), table.rows, table.num_hashes
    reached = expected_rows_reached(len(values), rows, num_hashes)
    return {
        **_describe_hashing(table, values, code),
        "parameters": rows * table.width,
        "expected_rows_never_reached": rows - reached,
        "sharing_row_by_hash": [count_sharing(c.reshape(-1, 1)) for c in code.T],
        "expected_sharing_row": expected_colliding(len(values), rows, 1),
        "sharing_code": count_sharing_sums(code),
        "expected_sharing_code": expected_colliding(len(values), rows, num_hashes),
        "with_sound_seed": _measure_with_sound_seed(table, vocabularies),
    }


def measure_weighted_table(
    table: WeightedTable, vocabularies: Vocabularies
) -> Measures:
    """Measure a table of component vectors, and of weights for them.

    RETURNS (Measures): As of a hash table: "values", and of component vectors "load",
        "rows_never_reached" and "rows_reached_by_hash". "sharing_components": values
        that share all component vectors with another, in any order, so that only
        weights tell them apart. "sharing_weights": values that share their row of
        weights with another. "sharing_code": values that share both, the component
        vectors in the same order, so that the table can't tell them apart; and what to
        expect of uniform hash functions. "unknown_share": if symbols have rows of
        weights, what `measure_unknown` tells. "with_sound_seed".
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    code = table.find_code(values)
    components, weights = code[:, :-1], code[:, -1:]
    has_symbols = table.hashed_weights is None
    return {
        **_describe_hashing(table, values, components),
        **_get(table, "same_hash", "importance_rows"),
        "sharing_components": count_sharing_sums(components),
        "sharing_weights": count_sharing(weights),
        "sharing_code": count_sharing(code),
        "expected_sharing_code": _expect_sharing(table, weights),
        "unknown_share": measure_unknown(table, vocabularies) if has_symbols else {},
        "with_sound_seed": _measure_with_sound_seed(table, vocabularies),
    }


def measure_lookup_table(table: LookupTable, vocabularies: Vocabularies) -> Measures:
    """Measure a table with a row for each known symbol.

    RETURNS (Measures): "values": distinct values. "unknown_values": those that share
        the row for unknown ones. "unknown_share": what `measure_unknown` tells.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    return {
        "values": len(values),
        "unknown_values": int(_are_unknown(table, values).sum()),
        "unknown_share": measure_unknown(table, vocabularies),
    }


def measure_hybrid_table(table: HybridTable, vocabularies: Vocabularies) -> Measures:
    """Measure a table with rows of their own for frequent symbols.

    RETURNS (Measures): "values": distinct values. "hashed_values": those that have no
        row of their own. "rows_never_reached": rows that no value gets. "sharing_code":
        hashed values that share all rows with another, in any order, so that the table
        can't tell them apart; and what to expect of uniform hash functions.
        "hashed_share": for each split, the share of its tokens whose value is hashed, 0
        to 1.
    """
    values, _ = vocabularies["train"].count_values(table.attr)
    code, is_hashed = table.find_code(values), table.are_hashed(values)
    n_hashed = int(is_hashed.sum())
    return {
        **_get(table, "own_rows", "num_hashes", "seed"),
        "values": len(values),
        "hashed_values": n_hashed,
        "rows_never_reached": table.rows - len(np.unique(code[code < table.rows])),
        "sharing_code": count_sharing_sums(code[is_hashed]),
        "expected_sharing_code": expected_colliding(
            n_hashed, table.rows - table.own_rows, table.num_hashes
        ),
        "hashed_share": _share_tokens(table, vocabularies, table.are_hashed),
    }


_MEASURES: dict[str, Callable[[Any, Vocabularies], Measures]] = {
    HashTable.kind: measure_hash_table,
    HybridTable.kind: measure_hybrid_table,
    LookupTable.kind: measure_lookup_table,
    WeightedTable.kind: measure_weighted_table,
}


def measure_unknown(
    table: LookupTable | WeightedTable, vocabularies: Vocabularies
) -> dict[str, float]:
    """Measure the tokens of each split whose value is no symbol of a table.

    RETURNS (dict[str, float]): Their share of all tokens, 0 to 1.
    """
    return _share_tokens(table, vocabularies, lambda v: _are_unknown(table, v))


def measure_codes(vocab: Vocab, column: WordColumn, train: Vocabulary) -> Measures:
    """Measure what an embedder makes of an attribute by codes, and of a vocabulary.

    vocab (Vocab): That of the pipeline, which has the vocabulary's texts.
    column (WordColumn): One of the embedder's.
    train (Vocabulary): What the training corpus holds.
    RETURNS (Measures): "attr": the attribute. "hasher", "compressor": the names
        of the layers that hash it, and make vectors of codes. "bits": those of a code,
        None if it is a row. "rows": how many there are, None if a code has bits.
        "width": of a vector. "parameters": those of the compressor. "values": distinct
        values in the training corpus. "sharing_code": those that share all bits with
        another, or their row, so that they can't be told apart; None if the n-grams
        that count are not known yet.
    """
    (hasher,), compressor = column.hashing.layers, column.compressor
    values, _ = train.count_values(column.attr)
    rows = column.hashing.maybe_get_dim("nV")
    return {
        "attr": column.attr,
        "hasher": hasher.name,
        "compressor": compressor.name,
        "bits": hasher.get_dim("nO") if rows is None else None,
        "rows": rows,
        "width": compressor.get_dim("nO"),
        "parameters": _count_parameters(compressor),
        "values": len(values),
        "sharing_code": _count_sharing(vocab, hasher, values),
    }


def measure_words(tables: Sequence[Table], vocabulary: Vocabulary) -> WordMeasures:
    """Count the words of a vocabulary that tables can't tell apart."""
    attributes = vocabulary.get_words([table.attr for table in tables])[:, 1:]
    sharing = 0
    if len(attributes):
        codes = (
            table.identify(column)
            for table, column in zip(tables, attributes.T, strict=True)
        )
        sharing = count_sharing(join_codes(codes))
    return WordMeasures(
        words=len(attributes),
        same_attributes=count_sharing(attributes),
        sharing_codes=sharing,
    )


def _get(table: Table, *names: str) -> Measures:
    return {name: getattr(table, name) for name in names}


def _describe_hashing(
    table: HashTable | WeightedTable, values: NDArray, code: NDArray
) -> Measures:
    return {
        **_get(table, "attr", "rows", "num_hashes", "seed"),
        "values": len(values),
        "load": len(values) / table.rows,
        "rows_never_reached": table.rows - len(np.unique(code)),
        "rows_reached_by_hash": [len(np.unique(column)) for column in code.T],
    }


def _measure_with_sound_seed(
    table: HashTable | WeightedTable, vocabularies: Vocabularies
) -> Measures | None:
    if table.seed != DEGENERATE_SEED:
        return None
    return _MEASURES[table.kind](replace(table, seed=SOUND_SEED), vocabularies)


def _expect_sharing(table: WeightedTable, weights: NDArray) -> float:
    """Expect values to share weights and components, as many as share none for sure."""
    components = 1 if table.same_hash else table.rows**table.num_hashes
    if table.hashed_weights is None:  # a symbol shares its row with no other value
        return expected_sharing_codes(int((weights == 0).sum()), components)
    return expected_sharing_codes(len(weights), components * table.hashed_weights)


def _are_unknown(table: LookupTable | WeightedTable, values: NDArray) -> NDArray:
    is_unknown: NDArray = table.find_code(values)[:, -1] == 0
    return is_unknown


def _share_tokens(
    table: Table, vocabularies: Vocabularies, tell: Callable[[NDArray], NDArray]
) -> dict[str, float]:
    """Give the share of each split's tokens with values that a function tells."""
    shares = {}
    for split, vocabulary in vocabularies.items():
        values, counts = vocabulary.count_values(table.attr)
        shares[split] = float(counts[tell(values)].sum() / max(counts.sum(), 1))
    return shares


def _count_parameters(compressor: Model) -> int:
    """Count parameters, also where there are none yet, as in a config."""
    is_new = not any(n.has_param(p) for n in compressor.walk() for p in n.param_names)
    return count_parameters([compressor.copy().initialize() if is_new else compressor])


def _count_sharing(vocab: Vocab, hasher: Model, values: NDArray) -> int | None:
    if takes_ngrams(hasher) and hasher.attrs["ngrams"] is None:
        return None
    words = Words([vocab], values.reshape(-1, 1))
    codes: NDArray[np.integer] = hasher.predict(words.read_texts())
    return count_sharing(codes.astype("uint64"))
