"""Tables 2 and 3 of the paper, and all trials in one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...trials.results import Groups, Result, TrialKey, estimate_score
from ..findings import SIZE_COLUMNS, make_size_cells
from ..layouts import Column
from ..printed import get_printed, get_rows
from ..tables import Cell, Row, Table, compare, estimate_source, fill_layout, make_table
from .layouts import (
    DATASETS,
    EMBEDDINGS,
    FILLED_ROWS,
    PAPER,
    SMALL_NOTE,
    TABLE_2,
    Embedding,
    get_source,
    name_trials,
    split_variant,
)

_COLUMNS = [Column(key=key, label=name, kind="exact") for key, name in DATASETS.items()]


def make_trial_tables(groups: Groups) -> dict[int, Table]:
    """Fill the tables that trials fill.

    groups (Groups): The trials of text classifiers.
    RETURNS (dict[int, Table]): Tables 2 and 3.
    """
    tables = {2: fill_layout(TABLE_2, groups, PAPER), 3: _make_systems(groups)}
    return {
        number: replace(table, notes=[*table.notes, SMALL_NOTE])
        for number, table in tables.items()
    }


def make_overview(groups: Groups) -> Table:
    """Set all trials side by side, also those on datasets that are not the paper's.

    groups (Groups): The trials of text classifiers.
    RETURNS (Table): A row for each dataset, embedder and variant.
    """
    return Table(
        title="All trials",
        caption=(
            "Accuracy and macro F1 on the test set, trained parameters of the "
            "embedding, and megabytes of the saved pipeline on disk. Where a text may "
            "have several labels, accuracy is the share of texts with just the right "
            "ones."
        ),
        stub=("Dataset", "Embedder", "Variant"),
        columns=[
            Column(key="cats_acc", label="Accuracy"),
            Column(key="cats_macro_f", label="Macro F1"),
            *SIZE_COLUMNS,
        ],
        rows=[_make_overview_row(key, groups[key]) for key in sort_trials(groups)],
    )


def sort_trials(keys: Iterable[TrialKey]) -> list[TrialKey]:
    """Order trials by dataset and embedding, as the paper has them."""
    return sorted(keys, key=_get_order)


def _make_systems(groups: Groups) -> Table:
    """Fill table 3, whose rows are systems, with a row for each that is ours alone."""
    rows = []
    for key in get_rows(3, PAPER):
        embedding = FILLED_ROWS.get(key)
        rows.append(_make_system(key, embedding, groups))
    others = {Embedding(*key[1:]): None for key in sort_trials(groups) if _is_own(key)}
    rows += [_make_system("", embedding, groups) for embedding in others]
    return make_table(3, ("System", "Trials"), _COLUMNS, rows, PAPER)


def _is_own(key: TrialKey) -> bool:
    return key.dataset in DATASETS and key[1:] not in FILLED_ROWS.values()


def _make_system(key: str, trials: Embedding | None, groups: Groups) -> Row:
    cells = {}
    for dataset in DATASETS:
        ours = trials and estimate_source(groups, dataset, get_source(trials))
        cells[dataset] = compare(ours, get_printed(3, key, dataset, PAPER), PAPER)
    if trials is None:
        return Row(stub=(key, ""), cells=cells, has_ours=False)
    return Row(stub=(name_trials(*trials), " ".join(trials)), cells=cells)


def _make_overview_row(key: TrialKey, results: Sequence[Result]) -> Row:
    cells = make_size_cells(results)
    for score in ("cats_acc", "cats_macro_f"):
        ours = estimate_score(results, "test", score)
        # how many seeds has a column of its own
        cells[score] = Cell(ours=ours and replace(ours, n=None))
    name = DATASETS.get(key.dataset, key.dataset)
    return Row(stub=(name, key.embedder, key.variant), cells=cells)


def _get_order(key: TrialKey) -> tuple[object, ...]:
    embedding, is_fifth = split_variant(key.embedder, key.variant)
    return (
        _get_place(key.dataset, list(DATASETS)),
        key.dataset,
        _get_place(embedding, list(EMBEDDINGS)),
        embedding,
        is_fifth,
        key.variant,
    )


def _get_place(item: object, order: Sequence[object]) -> int:
    return order.index(item) if item in order else len(order)
