"""Tables 4, 5 and 6 of the report, counted in the prepared corpora."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

import spacy
from spacy.vocab import Vocab

from spacy_hashembeds.analysis.features import (
    Vocabulary,
    VocabularyCounter,
    count_features,
)
from spacy_hashembeds.analysis.measures import measure_hash_table
from spacy_hashembeds.analysis.statistics import SeenUnseenCounter, StatisticsCounter
from spacy_hashembeds.architectures.embedders.table_kinds import HashTable
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.corpora.entities import entity_texts

from ..corpora.datasets import DATASETS
from ..trials.results import Estimate
from .layouts import DATASET_NAMES, Column
from .printed import get_printed
from .tables import Cell, Row, Table, make_table

#: What was counted in each corpus, by names of columns. {} for corpora not there.
Counted = Mapping[str, Mapping[str, float]]

_ATTRIBUTES = ("NORM", "PREFIX", "SUFFIX", "SHAPE")

_CHARACTERISTICS = [
    Column(key="documents", label="Documents", kind="count"),
    Column(key="tokens", label="Tokens", kind="count"),
    Column(key="classes", label="Classes", kind="count"),
    Column(key="entities_per_document", label="Entities", kind="decimal"),
    Column(key="document_length", label="Doc length", kind="decimal"),
    Column(key="entity_length", label="Ent length", kind="decimal"),
    Column(key="vocabulary", label="Vocab", kind="count"),
    Column(key="unknown", label="Unknown", kind="count"),
]

_COLUMNS = {
    4: [Column(key=name, label=name, kind="count") for name in _ATTRIBUTES],
    5: _CHARACTERISTICS,
    6: [
        Column(
            key=f"{split}_{kind}", label=kind.title(), group=split.title(), kind="count"
        )
        for split in ("dev", "test")
        for kind in ("seen", "unseen")
    ],
}


_COLLISIONS = [
    Column(key="NORM", label="Norms", kind="count"),
    *(
        Column(key=f"{key}_{seed}", label=f"Seed {seed}", group=group, kind="count")
        for key, group in (
            ("reached", "Rows reached"),
            ("sharing", "Norms sharing a row"),
        )
        for seed in (8, 9)
    ),
]


def count_corpora(
    root: str | Path, *, on_progress: Callable[[str], None] = lambda line: None
) -> Counted:
    """Count what the report's corpora hold.

    Each file is read once, a doc at a time; only the distinct words and entity texts of
    one corpus stay in memory.

    root (str | Path): The folder of prepared corpora, with `<dataset>/train.spacy`,
        `dev.spacy` and `test.spacy`.
    on_progress (Callable[[str], None]): Called with each file that is read.
    RAISES (ValueError): If a file can't be read.
    RETURNS (Mapping[str, Mapping[str, float]]): The figures of each dataset.
    """
    return {
        dataset: _count_corpus(
            Path(root) / dataset, DATASETS[dataset].lang, on_progress
        )
        for dataset in DATASET_NAMES
    }


def make_corpus_tables(counted: Counted) -> dict[int, Table]:
    """Fill the tables that need no trials.

    counted (Counted): From `count_corpora`.
    RETURNS (dict[int, Table]): Tables 4, 5 and 6.
    """
    return {number: _make_table(number, counted) for number in _COLUMNS}


def make_collision_table(counted: Counted) -> Table:
    """Say how the training norms fall into a table with either hash seed.

    counted (Counted): From `count_corpora`.
    RETURNS (Table): A row for each corpus that is there.
    """
    rows = [
        Row(
            stub=(DATASET_NAMES[dataset],),
            cells={
                column.key: Cell(ours=Estimate(mean=figures[column.key]))
                for column in _COLLISIONS
            },
        )
        for dataset, figures in counted.items()
        if figures
    ]
    return Table(
        title="Collisions with seed 8 and seed 9, with one hash",
        caption=(
            "Distinct norms of the training sets in a NORM table of 5,000 rows: rows "
            "that any of them reaches, and norms that share their row with another."
        ),
        stub=("Dataset",),
        columns=_COLLISIONS,
        rows=rows,
    )


def compare_counts(ours: float | None, printed: Estimate | None) -> Cell:
    """Set a count beside the printed one: they should be equal, to its last place.

    ours (float, optional): Our count.
    printed (Estimate, optional): The paper's count.
    RETURNS (Cell): Both, and whether they differ.
    """
    if ours is None:
        return Cell(printed=printed)
    differs = False
    if printed is not None:
        exponent = Decimal(str(printed.mean)).as_tuple().exponent
        half = Decimal(5).scaleb(int(exponent) - 1)
        differs = abs(Decimal(ours) - Decimal(str(printed.mean))) > half
    return Cell(ours=Estimate(mean=ours), printed=printed, differs=differs)


def _count_corpus(
    folder: Path, lang: str, on_progress: Callable[[str], None]
) -> dict[str, float]:
    """Count one corpus; the keys are those of the columns."""
    train = folder / "train.spacy"
    if not train.is_file():
        return {}
    # norms, prefixes, suffixes and shapes are the language's own
    vocab = spacy.blank(lang).vocab
    on_progress(f"Counting {train}")
    figures, texts = _count_train(train, vocab)
    for split in ("dev", "test"):
        path = folder / f"{split}.spacy"
        if path.is_file():
            on_progress(f"Counting {path}")
            counter = SeenUnseenCounter(texts)
            for doc in read_docs(path, vocab):
                counter.add(doc)
            entities = counter.get()
            figures[f"{split}_seen"] = entities.seen
            figures[f"{split}_unseen"] = entities.unseen
    return figures


def _count_train(path: Path, vocab: Vocab) -> tuple[dict[str, float], set[str]]:
    """Count a training set; give the texts of its entities too."""
    statistics, words = StatisticsCounter(), VocabularyCounter(_ATTRIBUTES)
    texts: set[str] = set()
    for doc in read_docs(path, vocab):
        statistics.add(doc)
        words.add(doc)
        texts |= entity_texts([doc])
    counts = statistics.get()
    figures: dict[str, float] = {
        column.key: getattr(counts, column.key)
        for column in _CHARACTERISTICS
        if column.key != "unknown"
    }
    vocabulary = words.get()
    for name, feature in count_features(vocabulary).items():
        figures[name] = feature.values
    return {**figures, **_count_collisions(vocabulary)}, texts


def _count_collisions(vocabulary: Vocabulary) -> dict[str, float]:
    figures: dict[str, float] = {}
    for seed in (8, 9):
        table = HashTable(attr="NORM", rows=5000, num_hashes=1, seed=seed, width=96)
        measures = measure_hash_table(table, {"train": vocabulary})
        figures[f"reached_{seed}"] = measures["rows_reached_by_hash"][0]
        figures[f"sharing_{seed}"] = measures["sharing_row_by_hash"][0]
    return figures


def _make_table(number: int, counted: Counted) -> Table:
    rows = []
    for dataset, name in DATASET_NAMES.items():
        cells = {
            column.key: compare_counts(
                counted[dataset].get(column.key),
                get_printed(number, dataset, column.key),
            )
            for column in _COLUMNS[number]
        }
        rows.append(Row(stub=(name,), cells=cells))
    return make_table(number, ("",), _COLUMNS[number], rows)
