"""Table 2 of the paper, counted in the prepared corpora."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from spacy.vocab import Vocab

from spacy_hashembeds.corpora.docbin import read_docs

from ...trials.results import Estimate
from ..corpus_tables import compare_counts
from ..layouts import Column
from ..printed import get_printed, get_rows
from ..tables import Cell, Row, Table, make_table
from .layouts import DATASETS, PAPER

#: Of each dataset, what was counted in each split: tokens and entities. {} for splits
#: that are not there.
Counted = Mapping[str, Mapping[str, Mapping[str, int]]]

_KINDS = ("tokens", "entities")
_COLUMNS = [
    Column(key=f"{dataset}_{kind}", label=f"K {kind}", group=name, kind="thousands")
    for dataset, name in DATASETS.items()
    for kind in _KINDS
]


def count_corpora(
    root: str | Path, *, on_progress: Callable[[str], None] = lambda line: None
) -> Counted:
    """Count the tokens and the entities of the corpora.

    root (str | Path): The folder of prepared corpora, with `<dataset>/train.spacy`,
        `dev.spacy` and `test.spacy`.
    on_progress (Callable[[str], None]): Called with each file that is read.
    RAISES (ValueError): If a file can't be read.
    RETURNS (Counted): The figures of each dataset and split.
    """
    return {
        dataset: {
            split: _count_split(Path(root) / dataset / f"{split}.spacy", on_progress)
            for split in get_rows(2, PAPER)
        }
        for dataset in DATASETS
    }


def make_corpus_table(counted: Counted) -> Table:
    """Fill table 2.

    counted (Counted): From `count_corpora`.
    RETURNS (Table): A row for each split.
    """
    rows = []
    for split in get_rows(2, PAPER):
        cells = {
            f"{dataset}_{kind}": _compare(
                counted[dataset][split].get(kind),
                get_printed(2, split, f"{dataset}_{kind}", PAPER),
            )
            for dataset in DATASETS
            for kind in _KINDS
        }
        rows.append(Row(stub=(split,), cells=cells))
    return make_table(2, ("",), _COLUMNS, rows, PAPER)


def _count_split(path: Path, on_progress: Callable[[str], None]) -> dict[str, int]:
    if not path.exists():
        return {}
    on_progress(f"Counting {path}")
    figures = dict.fromkeys(_KINDS, 0)
    for doc in read_docs(path, Vocab()):
        figures["tokens"] += len(doc)
        figures["entities"] += len(doc.ents)
    return figures


def _compare(ours: int | None, printed: Estimate | None) -> Cell:
    """Compare thousands as the paper has them: cut off after a tenth, not rounded."""
    if ours is None:
        return Cell(printed=printed)
    cell = compare_counts(ours // 100 / 10, printed)
    return replace(cell, ours=Estimate(mean=ours / 1000))
