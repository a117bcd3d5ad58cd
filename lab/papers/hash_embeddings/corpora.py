"""Table 1 of the paper, counted in the prepared corpora."""

from collections.abc import Callable, Mapping
from pathlib import Path

from spacy_hashembeds.corpora.docbin import read_categories

from ..corpus_tables import compare_counts
from ..layouts import Column
from ..printed import get_printed
from ..tables import Row, Table, make_table
from .layouts import DATASETS, PAPER

#: What was counted in each corpus, by names of columns. {} for corpora not there.
Counted = Mapping[str, Mapping[str, int]]

_COLUMNS = [
    Column(key=key, label=label, kind="count")
    for key, label in (("train", "#Train"), ("test", "#Test"), ("classes", "#Classes"))
]


def count_corpora(
    root: str | Path, *, on_progress: Callable[[str], None] = lambda line: None
) -> Counted:
    """Count the texts and the classes of the paper's corpora.

    root (str | Path): The folder of prepared corpora, with `<dataset>/train.spacy`,
        `dev.spacy` and `test.spacy`.
    on_progress (Callable[[str], None]): Called with each corpus that is read.
    RAISES (ValueError): If a file can't be read.
    RETURNS (Counted): The figures of each dataset.
    """
    return {
        dataset: _count_corpus(Path(root) / dataset, on_progress)
        for dataset in DATASETS
    }


def make_corpus_table(counted: Counted) -> Table:
    """Fill table 1.

    counted (Counted): From `count_corpora`.
    RETURNS (Table): A row for each dataset.
    """
    rows = []
    for dataset, name in DATASETS.items():
        cells = {
            column.key: compare_counts(
                counted[dataset].get(column.key),
                get_printed(1, dataset, column.key, PAPER),
            )
            for column in _COLUMNS
        }
        rows.append(Row(stub=(name,), cells=cells))
    return make_table(1, ("",), _COLUMNS, rows, PAPER)


def _count_corpus(folder: Path, on_progress: Callable[[str], None]) -> dict[str, int]:
    """Count one corpus. What the paper trains on is for development in part."""
    figures = dict.fromkeys(("train", "test"), 0)
    labels: set[str] = set()
    splits = {"train": "train", "dev": "train", "test": "test"}
    paths = {split: folder / f"{split}.spacy" for split in splits}
    if not all(path.exists() for path in paths.values()):
        return {}
    on_progress(f"Counting {folder}")
    for split, key in splits.items():
        for cats in read_categories(paths[split]):
            figures[key] += 1
            labels.update(cats)
    return {**figures, "classes": len(labels)}
