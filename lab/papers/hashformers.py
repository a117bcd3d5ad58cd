"""Tables of "HashFormers: Towards Vocabulary-independent Pre-trained Transformers" (Xue
and Aletras 2022). Figures are not compared, since the tasks differ.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spacy.util import walk_dict

from spacy_hashembeds.loading import load_config

from ..trials.configs import find_config
from ..trials.ratios import compute_ratios, count_table_parameters
from ..trials.results import SIZES, Estimate, Groups, Result
from .filling import Blank, Measured, fill_table, make_overview, sort_trials
from .tables import Cell, Paper, Row, Sections, Source, Table, divide

_EMBEDDER = "hash_former_embed"

#: The baseline of our trials.
BASELINE = "multi_fewer_hash_embed/default"

#: Our config of the paper's size.
_CONFIG = "glue_base"


def select_trials(paper: Paper, groups: Groups) -> Groups:
    """Keep HashFormers, and trials with names on their datasets."""
    datasets = {key.dataset for key in groups if key.embedder == _EMBEDDER}
    datasets.update(paper.datasets)
    return {
        key: results
        for key, results in groups.items()
        if key.embedder == _EMBEDDER
        or (key.trials in paper.trials and key.dataset in datasets)
    }


def fill(paper: Paper, measured: Measured, results: Path) -> Sections:
    """Tabulate our trials, and the figures of the paper."""
    printed = []
    for table in "123":
        blanks: list[Blank] = [
            ((paper.models[model],), model, None) for model in paper.get_rows(table)
        ]
        printed.append(fill_table(paper, table, measured.find, blanks))
    # parameters of embeddings, by formula and printed
    counts = paper.tables["counts"]["rows"].items()
    rows = [Row(stub=(name, *of)) for name, of in counts]
    hyperparameters = make_hyperparameter_tables(paper)
    ours = [make_overview(paper, measured), make_ratio_table(paper, measured)]
    theirs = [*printed, paper.make_table("counts", rows), *hyperparameters]
    return {"Our trials": ours, "The paper's tables": theirs}


def make_ratio_table(paper: Paper, measured: Measured) -> Table:
    """Compare our trials with the baseline, beside the paper's ratios of the model."""
    rows = []
    for key in sort_trials(paper, measured.groups):
        model = paper.same.get(key.trials, "")
        own, baseline = (
            _get_sizes(measured.get_results(key.dataset, each))
            for each in (key.trials, BASELINE)
        )
        found = compute_ratios(own, baseline) | {"tables": count_table_parameters(own)}
        cells = {}
        for column in paper.columns["ratios"]:
            source = {**column.source, "dataset": key.dataset, "trials": key.trials}
            if "score" in source or "size" in source:
                ours = _divide(measured, source)
            else:
                value = found[column.key]
                ours = None if value is None else Estimate(mean=value)
            printed = paper.get_printed("2", model, source.get("printed", ""))
            cells[column.key] = Cell(ours=ours, printed=printed)
        name = paper.trials.get(key.trials, key.variant)
        rows.append(Row(stub=(paper.name_dataset(key.dataset), name), cells=cells))
    return paper.make_table("ratios", rows)


def make_hyperparameter_tables(paper: Paper) -> list[Table]:
    """Make tables 4 and 5, with the hyperparameters of the paper and of our config."""
    config = load_config(find_config(_CONFIG)).interpolate()
    settings = {".".join(keys): value for keys, value in walk_dict(config)}
    tables = []
    for table in "45":
        rows = []
        for name, row in paper.get_rows(table).items():
            key = row["setting"]
            # settings below the key are those of a function
            below = (
                f"{k.removeprefix(f'{key}.')} = {v}"
                for k, v in settings.items()
                if k.startswith(f"{key}.")
            )
            value = settings.get(key, ", ".join(below))
            rows.append(Row(stub=(name, row["printed"], str(value), key)))
        tables.append(paper.make_table(table, rows))
    return tables


def _divide(measured: Measured, source: Source) -> Estimate | None:
    """Divide a score or a speed by the baseline's."""
    own = measured.find(source)
    baseline = measured.find({**source, "trials": BASELINE})
    if own is None or baseline is None or baseline.mean <= 0:
        return None
    if "score" in source and source["trials"] == BASELINE:
        return Estimate(mean=1)  # without a deviation
    return divide(own, baseline)


def _get_sizes(results: Sequence[Result]) -> dict[str, Any]:
    """Return the known sizes of trials that differ only by their seed."""
    found: dict[str, Any] = {"score": None}
    for name in SIZES:
        known = (size for r in results if (size := r.get_size(name)) is not None)
        found[name] = next(known, None)
    return found
