"""What the trials show beyond the report's own tables."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from spacy_hashembeds.evaluation.scorer import KINDS

from ..trials.results import (
    Estimate,
    Groups,
    Result,
    TrialKey,
    estimate,
    estimate_score,
)
from .layouts import (
    DATASET_NAMES,
    FEWER,
    HASH,
    LOOKUP,
    SEED_9,
    Column,
    Source,
)
from .printed import find_printed
from .tables import Cell, Row, Table, compare, estimate_source

#: F1 on the test set, of all, seen and unseen entities: see `make_f1_cells`.
F1_COLUMNS = tuple(
    Column(key=kind, label=kind.title(), group="F1-score") for kind in KINDS
)

# The endings of variants with word vectors; none comes first.
_VECTORS = ("", "vectors", "floret", "fasttext")

#: What stands beside the scores of trials: see `make_size_cells`.
SIZE_COLUMNS = (
    Column(key="seeds", label="Seeds", kind="count"),
    Column(key="parameters", label="Parameters", kind="count"),
    Column(key="megabytes", label="MB", kind="decimal"),
)

# What each trial has recorded of its whole pipeline.
_PIPELINE_COLUMNS = (
    Column(key="pipeline", label="Pipeline parameters", kind="count"),
    Column(key="speed", label="Words/s", kind="count"),
)


def make_overview(groups: Groups) -> Table:
    """Set all trials side by side: F1 on the test set, and size.

    groups (Groups): What `read_results` returns.
    RETURNS (Table): A row for each dataset, embedder and variant.
    """
    keys = sorted(groups, key=_get_order)
    return Table(
        title="All trials",
        caption=(
            "F1 on all, seen and unseen entities of the test set, trained parameters "
            "of the embedder, and megabytes of the saved pipeline on disk."
        ),
        stub=("Dataset", "Embedder", "Variant"),
        columns=[*F1_COLUMNS, *SIZE_COLUMNS],
        rows=[_make_overview_row(key, groups[key]) for key in keys],
    )


def make_pipeline_overview(
    groups: Groups, keys: Iterable[TrialKey], name_dataset: Callable[[str], str]
) -> Table:
    """Set trials side by side, with the size and the speed of whole pipelines.

    groups (Groups): The trials.
    keys (Iterable[TrialKey]): What there may be, in the order of rows.
    name_dataset (Callable[[str], str]): Names a dataset.
    RETURNS (Table): A row for each dataset, embedder and variant.
    """
    return Table(
        title="All trials",
        caption=(
            "F1 on all, seen and unseen entities of the test set, trained parameters "
            "of the embedder, megabytes of the saved pipeline on disk, trained "
            "parameters of the pipeline, encoder and all, and words a second, as each "
            "trial measured them by itself: on another machine, or beside other work, "
            "they would be others. To compare speeds, run spacy hashembeds compare."
        ),
        stub=("Dataset", "Embedder", "Variant"),
        columns=[*F1_COLUMNS, *SIZE_COLUMNS, *_PIPELINE_COLUMNS],
        rows=[
            Row(
                stub=(name_dataset(key.dataset), key.embedder, key.variant),
                cells=_make_pipeline_cells(groups[key]),
            )
            for key in keys
            if key in groups
        ],
    )


def make_seed_table(groups: Groups) -> Table:
    """Compare hash seeds 8 and 9 with one hash, on every dataset that has both.

    groups (Groups): What `read_results` returns.
    RETURNS (Table): For each kind of entities the F1 with either seed, and how much
        more it is with seed 9, marked where that is beyond two deviations.
    """
    columns = [
        Column(key="seed8", label="Seed 8"),
        Column(key="seed9", label="Seed 9"),
        Column(key="change", label="Change", kind="change"),
    ]
    rows = []
    for dataset in sorted({key.dataset for key in groups}, key=_get_dataset_order):
        if TrialKey(dataset, FEWER, SEED_9) in groups:
            rows += _make_seed_rows(dataset, groups)
    return Table(
        title="Seed 8 beside seed 9, with one hash",
        caption=(
            "F1 of multi_fewer_hash_embed on the test set. spaCy seeds the first table "
            "(NORM) with 8, the length of MurmurHash's key. The first hash is then "
            "always even, and can reach half of the table's rows: 2,500 of 5,000. Seed "
            "9 can reach all. The other tables' seeds count up from that of the first."
        ),
        stub=("Dataset", "Entities"),
        columns=columns,
        rows=rows,
    )


def make_f1_cells(
    results: Sequence[Result],
    find_printed: Callable[[str], Estimate | None] = lambda score: None,
) -> dict[str, Cell]:
    """Average F1 on the test set over seeds.

    results (Sequence[Result]): The results of one group.
    find_printed (Callable[[str], Optional[Estimate]]): Finds what the paper prints of a
        score of these trials.
    RETURNS (dict[str, Cell]): The cells of `F1_COLUMNS`, by their keys.
    """
    cells = {}
    for kind, prefix in KINDS.items():
        score = f"{prefix}_f"
        ours = estimate_score(results, "test", score)
        cell = compare(ours, find_printed(score))
        # how many seeds has a column of its own
        cells[kind] = replace(cell, ours=ours and replace(ours, n=None))
    return cells


def make_size_cells(results: Sequence[Result]) -> dict[str, Cell]:
    """Say how many seeds trials have, and how large their pipelines are on average.

    results (Sequence[Result]): The results of one group.
    RETURNS (dict[str, Cell]): The cells of `SIZE_COLUMNS`, by their keys.
    """
    return {
        "seeds": Cell(ours=Estimate(mean=len(results))),
        "parameters": average([r.embedding_parameters for r in results]),
        "megabytes": average([r.bytes_on_disk / 1e6 for r in results]),
    }


def average(values: Sequence[float | None]) -> Cell:
    """Average what needs no deviation, such as a size.

    values (Sequence[float | None]): The figure of each seed.
    RETURNS (Cell): Without a figure if one of them is None.
    """
    mean = estimate(values)
    return Cell() if mean is None else Cell(ours=Estimate(mean=mean.mean))


def _make_overview_row(key: TrialKey, results: Sequence[Result]) -> Row:
    dataset, embedder, variant = key
    f1 = make_f1_cells(
        results,
        lambda score: find_printed(dataset, Source(embedder, variant, "test", score)),
    )
    name = DATASET_NAMES.get(dataset, dataset)
    cells = {**f1, **make_size_cells(results)}
    return Row(stub=(name, embedder, variant), cells=cells)


def _make_pipeline_cells(results: Sequence[Result]) -> dict[str, Cell]:
    return {
        **make_f1_cells(results),
        **make_size_cells(results),
        "pipeline": average([result.pipeline_parameters for result in results]),
        "speed": average([result.words_per_second for result in results]),
    }


def _make_seed_rows(dataset: str, groups: Groups) -> list[Row]:
    rows = []
    for kind, prefix in KINDS.items():
        source = Source(FEWER, "default", "test", f"{prefix}_f")
        eight = estimate_source(groups, dataset, source)
        nine = estimate_source(groups, dataset, source._replace(variant=SEED_9))
        cells = {
            "seed8": Cell(ours=eight),
            "seed9": Cell(ours=nine),
            "change": _make_change(eight, nine),
        }
        rows.append(Row(stub=(DATASET_NAMES.get(dataset, dataset), kind), cells=cells))
    return rows


def _make_change(before: Estimate | None, after: Estimate | None) -> Cell:
    """Say how much more the second is, and whether that is beyond two deviations."""
    if before is None or after is None:
        return Cell()
    change = after.mean - before.mean
    n = min(before.n or 0, after.n or 0)
    if before.deviation is None or after.deviation is None:
        return Cell(ours=Estimate(mean=change, n=n))
    deviation = math.hypot(before.deviation, after.deviation)
    ours = Estimate(mean=change, deviation=deviation, n=n)
    return Cell(ours=ours, differs=abs(change) > 2 * deviation)


def _get_order(key: TrialKey) -> tuple[object, ...]:
    embedders = [HASH, FEWER, LOOKUP]
    position = (
        embedders.index(key.embedder) if key.embedder in embedders else len(embedders)
    )
    return (
        _get_dataset_order(key.dataset),
        position,
        key.embedder,
        *_get_variant_order(key.variant),
    )


def _get_variant_order(variant: str) -> tuple[object, ...]:
    """Order variants by their vectors, then numbers by their size: rows20, rows100."""
    base, _, last = variant.rpartition("_")
    vectors = last if last in _VECTORS else ""
    if vectors:
        variant = base or "default"
    name = variant.rstrip("0123456789")
    number = int(variant[len(name) :] or 0)
    return (_VECTORS.index(vectors), variant != "default", name, number, variant)


def _get_dataset_order(dataset: str) -> tuple[int, str]:
    names = list(DATASET_NAMES)
    return (names.index(dataset) if dataset in names else len(names), dataset)
