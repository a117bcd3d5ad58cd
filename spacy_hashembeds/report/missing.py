"""Which trials of the report are still to be run."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from ..experiments.results import Groups, TrialKey
from .layouts import (
    ABLATION_DATASETS,
    ABLATIONS,
    DATASET_NAMES,
    FEWER,
    HASH,
    LAYOUTS,
    SEED_9,
)

#: How many seeds the report averages over (section 5).
SEEDS = 3

_VARIANT_GRIDS = {
    "rows20": "rows",
    "rows10": "rows",
    "min_freq5": "min_freq",
    "min_freq1": "min_freq",
    **{variant: "features" for variant in ABLATIONS if variant != "default"},
}


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A variant with fewer seeds than the report on some datasets.

    embedder (str): The config.
    variant (str): The name of its overrides.
    seeds (Mapping[str, int]): For each such dataset, how many seeds are there.
    tables (tuple[int, ...]): The tables that it fills. Empty for the comparison of
        hash seeds, which is our own.
    """

    embedder: str
    variant: str
    seeds: Mapping[str, int]
    tables: tuple[int, ...]

    @property
    def grid(self) -> str:
        """The grid that `spacy hashembeds sweep` runs it from."""
        if self.variant.endswith(("vectors", "fasttext")):
            return "vectors"
        if self.embedder == FEWER:
            return "num_hashes"
        return _VARIANT_GRIDS.get(self.variant, "main")

    @property
    def command(self) -> str:
        """The command that runs it on all of these datasets."""
        command = f"spacy hashembeds sweep {self.grid}"
        if len(self.seeds) < len(DATASET_NAMES):
            names = [name for name in DATASET_NAMES if name in self.seeds]
            command += f" --datasets {','.join(names)}"
        return f"{command} --embedders {self.embedder} --variants {self.variant}"


def find_missing(groups: Groups) -> list[Missing]:
    """Find the trials that the report has and that are not there three times.

    groups (Groups): What `read_results` returns.
    RETURNS (list[Missing]): A line for each variant, in order of the tables.
    """
    seeds: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    tables: dict[tuple[str, str], set[int]] = defaultdict(set)
    for key, numbers in _find_needed().items():
        n = len(groups.get(key, ()))
        if n < SEEDS:
            variant = (key.embedder, key.variant)
            seeds[variant][key.dataset] = n
            tables[variant] |= numbers
    return [
        Missing(
            embedder=embedder,
            variant=variant,
            seeds=counts,
            tables=tuple(sorted(tables[embedder, variant])),
        )
        for (embedder, variant), counts in seeds.items()
    ]


def _find_needed() -> dict[TrialKey, set[int]]:
    """For each trial, find the tables that need it."""
    needed: dict[TrialKey, set[int]] = defaultdict(set)
    for layout in LAYOUTS:
        for dataset, column in product(layout.datasets, layout.columns):
            key = TrialKey(dataset, column.source.embedder, column.source.variant)
            needed[key].add(layout.number)
    for number, dataset in ABLATION_DATASETS.items():
        for variant in ABLATIONS:
            needed[TrialKey(dataset, HASH, variant)].add(number)
    # our own comparison of hash seeds
    for dataset in DATASET_NAMES:
        needed[TrialKey(dataset, FEWER, SEED_9)] = set()
    return needed
