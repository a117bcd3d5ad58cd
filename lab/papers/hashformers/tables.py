"""Tables 1 to 3 as printed, and the same figures of our trials."""

from collections.abc import Mapping, Sequence
from itertools import product

from spacy_hashembeds.comparison.ratios import Measures, compute_ratios, divide
from spacy_hashembeds.evaluation.scorer import KINDS

from ...trials.results import (
    Estimate,
    Groups,
    Result,
    TrialKey,
    estimate_score,
)
from ..findings import average, make_pipeline_overview
from ..layouts import Column, Trials
from ..printed import get_printed, get_rows
from ..tables import Cell, Row, Table, make_table
from ..tables import divide as divide_estimates
from .layouts import (
    AVERAGE,
    BASELINE,
    DATASETS,
    EMBEDDER,
    MODELS,
    NAMES,
    PAPER,
    PRINTED,
    TASKS,
    name_dataset,
    name_trials,
)

_TASKS = {**TASKS, AVERAGE: "Avg."}

#: The columns of the paper's tables.
_COLUMNS = {
    1: [Column(key=key, label=name, kind="exact") for key, name in _TASKS.items()],
    2: [
        *(
            Column(key=key, label=name, group="PRR", kind="exact")
            for key, name in _TASKS.items()
        ),
        Column(key="pipeline", label="All", group="M parameters", kind="tenths"),
        Column(key="embedding", label="Emb", group="M parameters", kind="decimal"),
        Column(key="pcr_all", label="All", group="PCR", kind="exact"),
        Column(key="pcr_emb", label="Emb", group="PCR", kind="exact"),
        Column(key="poep", label="PoEP", kind="exact"),
    ],
    3: [
        Column(key=f"{key}_{unit}", label=label, group=group, kind="tenths")
        for (key, group), (unit, label) in product(
            {
                "pretraining": "Pre-training",
                "inference": "Inference",
                "best": "Inference at best",
            }.items(),
            {"ms": "ms/sample", "times": "Times"}.items(),
        )
    ],
}

#: What our trials have of tables 2 and 3, under which figures of the paper.
_RATIOS = (
    *(
        Column(key=kind, label=kind.title(), group="PRR", kind="exact")
        for kind in KINDS
    ),
    Column(key="tables", label="Parameters of tables", kind="count"),
    Column(key="pcr_all", label="All", group="PCR", kind="exact"),
    Column(key="pcr_emb", label="Emb", group="PCR", kind="exact"),
    Column(key="pcr_tables", label="Tables", group="PCR", kind="exact"),
    Column(key="poep", label="PoEP", kind="exact"),
    Column(key="speed", label="Times as fast", kind="decimal"),
)
_PRINTED_RATIOS = {
    "all": AVERAGE,
    **{key: key for key in ("pcr_all", "pcr_emb", "poep")},
}


def make_paper_tables() -> dict[int, Table]:
    """Make tables 1 to 3, which have nothing but the paper's figures: they are of GLUE.

    RETURNS (dict[int, Table]): The tables by their numbers.
    """
    tables = {}
    for number, columns in _COLUMNS.items():
        rows = []
        for model in get_rows(number, PAPER):
            cells = {
                column.key: Cell(printed=get_printed(number, model, column.key, PAPER))
                for column in columns
            }
            rows.append(Row(stub=(MODELS[model],), cells=cells, has_ours=False))
        tables[number] = make_table(number, ("Model",), columns, rows, PAPER)
    return tables


def make_overview(groups: Groups) -> Table:
    """Set our trials side by side.

    groups (Groups): The trials.
    RETURNS (Table): A row for each dataset, embedder and variant.
    """
    return make_pipeline_overview(groups, sort_trials(groups), name_dataset)


def make_ratio_table(groups: Groups) -> Table:
    """Set our trials beside the hash embedding of the default size.

    groups (Groups): The trials.
    RETURNS (Table): A row for each dataset, embedder and variant.
    """
    rows = []
    for key in sort_trials(groups):
        baseline = groups.get(TrialKey(key.dataset, *BASELINE), ())
        trials = Trials(*key[1:])
        stub = (name_dataset(key.dataset), name_trials(trials))
        rows.append(Row(stub=stub, cells=_make_cells(trials, groups[key], baseline)))
    return Table(
        title="Tables 2 and 3 on named entities",
        caption=(
            "Our trials beside the hash embedding of the default size on the same "
            "dataset: how much they keep of its F1 on all, seen and unseen entities of "
            "the test set (PRR), how many parameters they do without (PCR), how many "
            "of theirs are the embedder's (PoEP), and how fast they are."
        ),
        stub=("Dataset", "Embedding"),
        columns=_RATIOS,
        rows=rows,
        notes=[
            "The paper's figures are those of table 2 for the same pair, of Emb those "
            "of 1K rows, and of PRR the average over GLUE. It is another task, another "
            "size and another baseline: nothing is marked.",
            "Emb counts all parameters of the embedder, with the Maxout layer that "
            "mixes its attributes. Tables is without that layer, which the paper's "
            "models have not. Trials of earlier versions have not recorded it.",
            "PRR is a ratio of means over seeds; its deviation is that of a quotient, "
            "to first order.",
            "Speeds are those that each trial measured by itself: see the overview.",
        ],
    )


def sort_trials(groups: Groups) -> list[TrialKey]:
    """Order trials by dataset and embedding, as the tables have them."""
    return sorted(groups, key=_get_order)


def select_trials(groups: Groups) -> Groups:
    """Keep the trials of HashFormers, and what they are compared with.

    groups (Groups): What `read_results` returns.
    RETURNS (Groups): All variants of HashFormers, and the other trials that have names
        here, on the datasets of the page and those that HashFormers were trained on.
    """
    datasets = {key.dataset for key in groups if key.embedder == EMBEDDER}
    datasets.update(DATASETS)
    return {
        key: results
        for key, results in groups.items()
        if key.embedder == EMBEDDER or (key[1:] in NAMES and key.dataset in datasets)
    }


def _make_cells(
    trials: Trials, results: Sequence[Result], baseline: Sequence[Result]
) -> Mapping[str, Cell]:
    own = _measure(results)
    ratios = compute_ratios(own, _measure(baseline))
    figures = {
        key: None if value is None else Estimate(mean=value)
        for key, value in {
            "tables": own.table_parameters,
            "pcr_all": ratios.pcr_all,
            "pcr_emb": ratios.pcr_emb,
            "pcr_tables": ratios.pcr_tables,
            "poep": ratios.poep,
            "speed": divide(_get_speed(results), _get_speed(baseline)),
        }.items()
    }
    for kind, prefix in KINDS.items():
        scores = [
            estimate_score(each, "test", f"{prefix}_f") for each in (results, baseline)
        ]
        figures[kind] = _retain(*scores, is_same=trials == BASELINE)
    return {
        column.key: Cell(
            ours=figures[column.key], printed=_find_printed(trials, column.key)
        )
        for column in _RATIOS
    }


def _measure(results: Sequence[Result]) -> Measures:
    """Give the sizes of trials that differ by their seed alone."""

    def get(name: str) -> int | None:
        values = (getattr(result, name) for result in results)
        return next((value for value in values if value is not None), None)

    return Measures(
        score=None,
        pipeline_parameters=get("pipeline_parameters"),
        embedding_parameters=get("embedding_parameters"),
        mixing_parameters=get("mixing_parameters"),
    )


def _get_speed(results: Sequence[Result]) -> float | None:
    speed = average([result.words_per_second for result in results]).ours
    return None if speed is None else speed.mean


def _retain(
    score: Estimate | None, baseline: Estimate | None, *, is_same: bool
) -> Estimate | None:
    if score is None or baseline is None or baseline.mean <= 0:
        return None
    # which no chance keeps from being all of itself
    return Estimate(mean=1) if is_same else divide_estimates(score, baseline)


def _find_printed(trials: Trials, key: str) -> Estimate | None:
    if trials not in PRINTED or key not in _PRINTED_RATIOS:
        return None
    return get_printed(2, PRINTED[trials], _PRINTED_RATIOS[key], PAPER)


def _get_order(key: TrialKey) -> tuple[object, ...]:
    return (
        _get_place(key.dataset, list(DATASETS)),
        key.dataset,
        _get_place(key[1:], list(NAMES)),
        key.embedder,
        key.variant,
    )


def _get_place(item: object, order: Sequence[object]) -> int:
    return order.index(item) if item in order else len(order)
