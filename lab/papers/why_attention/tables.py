"""Tables 1, 3 and 4 of the paper, and all trials in one."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from spacy_hashembeds.evaluation.scorer import LENGTHS

from ...trials.results import (
    Estimate,
    Groups,
    PartScore,
    Result,
    TrialKey,
    estimate,
)
from ..findings import make_pipeline_overview
from ..layouts import Column, Source, Trials
from ..printed import get_printed, get_rows
from ..tables import Cell, Row, Table, compare, estimate_source, make_table
from .layouts import (
    BASELINE,
    CHANGES,
    CHAR_CNN,
    DATASETS,
    ENCODERS,
    FAMILIES,
    NAMES,
    PAPER,
    Family,
    name_dataset,
    name_trials,
)

_SCORES = {"p": "Prec.", "r": "Rec.", "f": "F1"}
_OVERALL = [
    Column(key=f"{dataset}_{score}", label=label, group=name, kind="fine")
    for dataset, name in DATASETS.items()
    for score, label in _SCORES.items()
]

#: The encoders that are compared with the baseline.
_COMPARED = [encoder for encoder in ENCODERS if encoder != BASELINE]
_SUPPORT = Column(key="support", label="Entities", kind="count")
_CHANGES = [
    _SUPPORT,
    *(
        Column(
            key=f"{family.key}_{encoder}",
            label=encoder.title(),
            group=family.label,
            kind="exact_change",
        )
        for family in FAMILIES
        for encoder in _COMPARED
    ),
]


def make_trial_tables(groups: Groups) -> dict[int, Table]:
    """Fill the tables that trials fill.

    groups (Groups): What `read_results` returns.
    RETURNS (dict[int, Table]): Tables 1, 3 and 4.
    """
    types = {dataset: _find_types(groups, dataset) for dataset in DATASETS}
    lengths = dict.fromkeys(DATASETS, LENGTHS)
    return {
        1: _make_overall(groups),
        3: _make_changes(3, "type", types, groups),
        4: _make_changes(4, "length", lengths, groups),
    }


def make_overview(groups: Groups, order: Sequence[Trials]) -> Table:
    """Set trials side by side.

    groups (Groups): The trials.
    order (Sequence[Trials]): What there may be, in the order of rows.
    RETURNS (Table): A row for each dataset, embedder and variant.
    """
    datasets = list(DATASETS)
    others = sorted({key.dataset for key in groups} - set(datasets))
    keys = [
        TrialKey(dataset, *trials)
        for dataset, trials in product([*datasets, *others], order)
    ]
    return make_pipeline_overview(groups, keys, name_dataset)


def _make_overall(groups: Groups) -> Table:
    """Fill table 1: the paper's rows, and those that are ours alone."""
    filled = {encoder: CHAR_CNN.get_trials(encoder) for encoder in ENCODERS}
    rows = [_make_system(key, filled.get(key), groups) for key in get_rows(1, PAPER)]
    others = [trials for trials in NAMES if trials not in filled.values()]
    rows += [_make_system("", trials, groups) for trials in others]
    return make_table(1, ("Model", "Trials"), _OVERALL, rows, PAPER)


def _make_system(key: str, trials: Trials | None, groups: Groups) -> Row:
    cells = {}
    for dataset, score in product(DATASETS, _SCORES):
        ours = trials and estimate_source(
            groups, dataset, Source(*trials, "test", f"ents_{score}")
        )
        column = f"{dataset}_{score}"
        cells[column] = compare(ours, get_printed(1, key, column, PAPER), PAPER)
    if trials is None:
        return Row(stub=(key, ""), cells=cells, has_ours=False)
    return Row(stub=(name_trials(*trials), " ".join(trials)), cells=cells)


def _make_changes(
    number: int, part: str, names: Mapping[str, Sequence[str]], groups: Groups
) -> Table:
    """Fill table 3 or 4, with a row for each type or length of each dataset."""
    rows = []
    for dataset in DATASETS:
        for name in names[dataset]:
            cells = {"support": _count(groups, dataset, part, name)}
            for family, encoder in product(FAMILIES, _COMPARED):
                ours = _estimate_change(groups, dataset, family, encoder, part, name)
                printed = None
                if family == CHAR_CNN:
                    printed = get_printed(number, f"{dataset} {name}", encoder, PAPER)
                cell = compare(ours, printed, CHANGES)
                cells[f"{family.key}_{encoder}"] = cell
            rows.append(Row(stub=(DATASETS[dataset], name), cells=cells))
    return make_table(number, ("Dataset", part.title()), _CHANGES, rows, PAPER)


def _find_types(groups: Groups, dataset: str) -> list[str]:
    """Find the types of a dataset: those that the paper prints, and all of ours."""
    printed = {
        key.removeprefix(f"{dataset} ")
        for key in get_rows(3, PAPER)
        if key.startswith(f"{dataset} ")
    }
    ours = {
        name
        for result in _iterate_results(groups, dataset)
        for name, score in _get_scores(result, "type").items()
        if score.support
    }
    return sorted(printed | ours)


def _count(groups: Groups, dataset: str, part: str, name: str) -> Cell:
    """Count entities: all trials on a dataset have the same."""
    for result in _iterate_results(groups, dataset):
        score = _get_scores(result, part).get(name)
        if score is not None:
            return Cell(ours=Estimate(mean=score.support))
    return Cell()


def _estimate_change(
    groups: Groups, dataset: str, family: Family, encoder: str, part: str, name: str
) -> Estimate | None:
    """Average how much more F1 an encoder has than the baseline with the same seed."""
    ours, baseline = (
        {
            result.seed: score.f
            for result in groups.get(TrialKey(dataset, *family.get_trials(each)), ())
            if (score := _get_scores(result, part).get(name)) and score.f is not None
        }
        for each in (encoder, BASELINE)
    )
    seeds = sorted(ours.keys() & baseline.keys())
    return estimate(ours[seed] - baseline[seed] for seed in seeds)


def _iterate_results(groups: Groups, dataset: str) -> Iterator[Result]:
    for trials in NAMES:
        yield from groups.get(TrialKey(dataset, *trials), ())


def _get_scores(result: Result, part: str) -> Mapping[str, PartScore]:
    """Get what a trial has recorded by type or by length: nothing, if it is old."""
    return result.parts.get("test", {}).get(part, {})
