"""Tables of "HashFormers" (2022).

Huiyin Xue and Nikolaos Aletras: "HashFormers: Towards Vocabulary-independent
Pre-trained Transformers". Its figures are of other tasks than ours: none are compared.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy.util import walk_dict

from spacy_hashembeds.loading import load_config

from ..trials.configs import find_config
from ..trials.ratios import compute_ratios, count_table_parameters
from ..trials.results import Estimate, Groups, Result
from .filling import Blank, Measured, fill_table, make_overview, sort_trials
from .paper import Paper
from .tables import Cell, Row, Sections, Source, Table, divide

_EMBEDDER = "hash_former_embed"

#: What ours are compared with: the hash embedding of the default size.
BASELINE = "multi_fewer_hash_embed/default"

#: What the paper's models have in common: their width.
_WIDTH = 768

#: The config of the paper's size, whose settings stand beside its own.
_CONFIG = "glue_base"

NONE = "\N{EN DASH}"

_SIZES = ("pipeline_parameters", "embedding_parameters", "mixing_parameters")


def select_trials(paper: Paper, groups: Groups) -> Groups:
    """Keep HashFormers, and on their datasets the other trials that have names here."""
    datasets = {key.dataset for key in groups if key.embedder == _EMBEDDER}
    datasets.update(paper.datasets)
    return {
        key: results
        for key, results in groups.items()
        if key.embedder == _EMBEDDER
        or (key.trials in paper.trials and key.dataset in datasets)
    }


def fill(paper: Paper, measured: Measured, results: Path) -> Sections:
    """Set our trials beside each other, and above what the paper prints."""
    blanks: dict[str, list[Blank]] = {
        table: [((paper.models[m],), m, None) for m in paper.get_rows(table)]
        for table in "123"
    }
    return {
        "Our trials": [
            make_overview(paper, measured),
            make_ratio_table(paper, measured),
        ],
        "The paper's tables": [
            *(fill_table(paper, table, Measured(), blanks[table]) for table in "123"),
            make_count_table(paper),
            *make_hyperparameter_tables(paper),
        ],
    }


def make_ratio_table(paper: Paper, measured: Measured) -> Table:
    """Set our trials beside the hash embedding of the default size.

    What the paper prints of the same model stands beside it, and is of other tasks.
    """
    columns = paper.columns["ratios"]
    rows = []
    for key in sort_trials(paper, measured.groups):
        trials = key.trials
        model = paper.same.get(trials, "")
        sizes = [
            _get_sizes(measured.get_results(key.dataset, each))
            for each in (trials, BASELINE)
        ]
        counts = {"tables": count_table_parameters(sizes[0])}
        ours = {
            name: None if value is None else Estimate(mean=value)
            for name, value in (compute_ratios(*sizes) | counts).items()
        }
        cells = {}
        for column in columns:
            source = {**column.source, "dataset": key.dataset, "trials": trials}
            if "score" in source or "size" in source:
                ours[column.key] = _divide(measured, source)
            printed = paper.get_printed("2", model, source.get("printed", ""))
            cells[column.key] = Cell(ours=ours[column.key], printed=printed)
        stub = (paper.name_dataset(key.dataset), paper.trials.get(trials, key.variant))
        rows.append(Row(stub=stub, cells=cells))
    return paper.make_table("ratios", rows, columns)


def make_count_table(paper: Paper) -> Table:
    """Set the parameters of embeddings by formula beside those printed."""
    rows = []
    for name, model in paper.get_rows("counts").items():
        printed = paper.get_printed("2", model["model"], "embedding")
        assert printed is not None
        millions = printed.mean
        found = find_rows(millions)
        stub = (
            name,
            model["formula"],
            f"{model['rows']:,}",
            f"{_WIDTH * model['rows']:,}",
            f"{millions:g}M" if millions >= 1 else f"{1000 * millions:g}K",
            f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}",
        )
        rows.append(Row(stub=stub))
    return paper.make_table("counts", rows)


def find_rows(millions: float) -> range:
    """Find the numbers of rows that a printed number of parameters may stand for.

    Below a million it is printed to a tenth of a thousand, above to one of a million.
    """
    half = 50 if millions < 1 else 50_000
    low, high = (millions * 1e6 + sign * half for sign in (-1, 1))
    return range(math.ceil(low / _WIDTH), math.floor(high / _WIDTH) + 1)


def make_hyperparameter_tables(paper: Paper) -> list[Table]:
    """Make tables 4 and 5: the paper's hyperparameters beside those of our config."""
    config = load_config(find_config(_CONFIG)).interpolate()
    settings = {".".join(keys): value for keys, value in walk_dict(config)}
    tables = []
    for table in "45":
        stubs = (
            (name, row["printed"], _describe(settings, row["setting"]), row["setting"])
            for name, row in paper.get_rows(table).items()
        )
        tables.append(paper.make_table(table, [Row(stub=stub) for stub in stubs]))
    return tables


def _divide(measured: Measured, source: Source) -> Estimate | None:
    """Divide a score or a speed by the baseline's."""
    own = measured.find(source)
    baseline = measured.find({**source, "trials": BASELINE})
    if own is None or baseline is None or baseline.mean <= 0:
        return None
    if "score" in source and source["trials"] == BASELINE:
        # which no chance keeps from being all of itself
        return Estimate(mean=1)
    return divide(own, baseline)


def _get_sizes(results: Sequence[Result]) -> dict[str, int | None]:
    """Get the sizes of trials that differ by their seed alone, where known."""
    known = {
        name: [size for r in results if (size := getattr(r, name)) is not None]
        for name in _SIZES
    }
    return {"score": None, **{name: next(iter(of), None) for name, of in known.items()}}


def _describe(settings: Mapping[str, Any], key: str) -> str:
    """Describe a setting, or all that are below its name, as those of a function."""
    below = {k: v for k, v in settings.items() if k.startswith(f"{key}.")}
    inner = (f"{k.removeprefix(f'{key}.')} = {v}" for k, v in below.items())
    return str(settings[key]) if key in settings else ", ".join(inner) or NONE
