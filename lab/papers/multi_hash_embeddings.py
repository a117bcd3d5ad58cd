"""Tables of the report "Multi hash embeddings in spaCy" (2022)."""

from itertools import product
from pathlib import Path

from spacy_hashembeds.training.scorer import KINDS

from ..trials.results import Estimate, estimate_score
from . import filling, tables
from .filling import Blank, Measured
from .tables import Cell, Paper, Row, Sections, Source, Table

HASH, FEWER = "multi_hash_embed", "multi_fewer_hash_embed"

#: The variant of FEWER with hash seed 9. The default is 8.
SEED_9 = "seed9"

#: The variants of tables 2 and 3, with their features.
_ABLATIONS = {
    "default": ("NORM", "PREFIX", "SUFFIX", "SHAPE"),
    "norm_prefix_suffix": ("NORM", "PREFIX", "SUFFIX"),
    "norm_prefix": ("NORM", "PREFIX"),
    "norm": ("NORM",),
    "orth": ("ORTH",),
}


def fill(paper: Paper, measured: Measured, results: Path) -> Sections:
    """Fill the report's tables, and tables of further results."""
    numbered = []
    for number in sorted(filter(str.isdigit, paper.tables), key=int):
        is_ablation = paper.tables[number].get("kind") == "percent"
        fill = _fill_ablation if is_ablation else filling.fill_datasets
        numbered.append(fill(paper, number, measured))
    collisions = [
        ((name,), "", {"dataset": dataset})
        for dataset, name in paper.datasets.items()
        if "NORM" in measured.counted.get(dataset, {})
    ]
    return {
        "Overview": [filling.make_overview(paper, measured)],
        "Our findings": [
            make_seed_table(paper, measured),
            # collisions of training norms in a table, by hash seed
            filling.fill_table(paper, "collisions", measured.find, collisions),
        ],
        "Tables": numbered,
    }


def make_seed_table(paper: Paper, measured: Measured) -> Table:
    """Compare hash seeds 8 and 9. Mark changes of more than two deviations."""
    rows = []
    keys = [
        k
        for k in filling.sort_trials(paper, measured.groups)
        if k[1:] == (FEWER, SEED_9)
    ]
    for key, (kind, prefix) in product(keys, KINDS.items()):
        eight, nine = (
            estimate_score(measured.groups.get(each, ()), "test", f"{prefix}_f")
            for each in (key._replace(variant="default"), key)
        )
        change = tables.subtract(nine, eight)
        differs = False
        if change is not None and change.population_sd is not None:
            differs = abs(change.mean) > 2 * change.population_sd
        cells = {"seed8": Cell(ours=eight), "seed9": Cell(ours=nine)}
        cells["change"] = Cell(ours=change, differs=differs)
        rows.append(Row(stub=(paper.name_dataset(key.dataset), kind), cells=cells))
    return paper.make_table("seeds", rows)


def _fill_ablation(paper: Paper, table: str, measured: Measured) -> Table:
    """Fill table 2 or 3 with relative increases of errors over the first row."""
    features = paper.tables[table]["stub"]
    blanks: list[Blank] = []
    for variant, kept in _ABLATIONS.items():
        stub = tuple("✓" if feature in kept else "" for feature in features)
        trials = {"trials": f"{HASH}/{variant}", "baseline": f"{HASH}/default"}
        # the first row is the baseline
        blanks.append((stub, variant, trials if blanks else None))

    def find(source: Source) -> Estimate | None:
        baseline = measured.find({**source, "trials": source["baseline"]})
        return tables.relative_error_increase(measured.find(source), baseline)

    return filling.fill_table(paper, table, find, blanks)
