"""How many parameters embedding tables have, beside those of standard embeddings."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from thinc.api import Model

from ..architectures.classifiers.hash_ngram_textcat import KEY as NGRAMS
from ..corpora.docbin import read_examples
from ..layers.sumngrams import forward as sum_ngrams_forward
from .embedders import Table, WeightedTable, find_embedders, make_table
from .features import collect_vocabulary


@dataclass(frozen=True, kw_only=True)
class TableSize:
    """How many parameters a table has.

    attr (str): What it embeds: an attribute, or "n-grams" of words.
    kind (str): "hash", "lookup", "weighted" or "hybrid".
    rows (int): Its rows; of a weighted table those of component vectors.
    width (int): Their width.
    parameters (int): Its parameters.
    parts (dict[str, int]): The same by its parts: "rows", or of a weighted table the
        "components" (B·d) and "weights" (K·k), or of a hybrid table the rows that are
        symbols' "own" and those that are "hashed".
    standard (dict[str, int]): The parameters that a standard embedding of this width
        would have, which has a row for each value: "vocabulary", one of the training
        vocabulary, unless of n-grams, which nobody counts; for a weighted table
        "importance_rows", one with as many rows as there are of weights (K·d), with
        which Svenstrup et al. (2017, §3) compare.
    """

    attr: str
    kind: str
    rows: int
    width: int
    parameters: int
    parts: dict[str, int]
    standard: dict[str, int]


def measure_size(table: Table, n_values: int | None) -> TableSize:
    """Count the parameters of a table.

    n_values (int, optional): How many distinct values the training corpus has for it,
        if that is known.
    """
    standard = {} if n_values is None else {"vocabulary": n_values * table.width}
    if isinstance(table, WeightedTable):
        standard["importance_rows"] = table.importance_rows * table.width
    return TableSize(
        attr=table.attr,
        kind=table.kind,
        rows=table.rows,
        width=table.width,
        parameters=sum(table.parts.values()),
        parts=table.parts,
        standard=standard,
    )


def measure_sizes(nlp: Language, train: Path) -> list[dict[str, Any]]:
    """Count the parameters of each embedding table of a trained pipeline.

    train (Path): The training corpus, a `.spacy` file or a folder of them. It is read
        if there is a table.
    RETURNS (list[dict[str, Any]]): For each table its "component" and `TableSize`,
        ready for JSON: those that `find_embedders` finds, and those of n-grams.
    """
    of_ngrams = [
        {"component": name, **asdict(measure_size(table, None))}
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
        {"component": embedder.component, **asdict(size)}
        for embedder in embedders
        for size in (measure_size(t, n_values[t.attr]) for t in embedder.tables)
    ]


def _find_ngram_tables(nlp: Language) -> Iterator[tuple[str, Table]]:
    """Find the tables of n-gram classifiers, with the names of their components."""
    for name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        for node in model.walk() if isinstance(model, Model) else ():
            if node._func is sum_ngrams_forward:
                yield name, make_table(node.layers[0], NGRAMS)
