"""Damaged grids of trials."""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import DocBin
from spacy.util import walk_dict

from lab.trials.grid import Grid, read_grid
from lab.trials.sweep import plan_sweep
from tests.fuzz.damage import damage_yaml
from tests.fuzz.judgement import Reader, make_test
from tests.fuzz.sentences import make_docs

#: So many trials of a damaged grid are planned, and those that were are left out.
_MAX_PLANNED = 4
_HUGE = re.compile(r"\d{6}|\de\+?\d\d")
_GRID = """\
# two embedders, and one wider
datasets: [demo]
seeds: [0, 1]
overrides: {training.patience: 100}
trials:
  - embedder: multi_hash_embed
  - embedder: multi_hash_embed
    variant: wide
    datasets: [demo]
    overrides:
      components.tok2vec.model.encode: {width: 32, depth: 2}
      training.dropout: 0.2
    per_dataset:
      demo: {components.tok2vec.model.embed.rows: [500, 100, 100, 50]}
"""


def _find_fault_of_grid(damaged: bytes, answer: Any) -> str | None:
    json.dumps(answer, allow_nan=False)  # fails on what no config can have
    expected = [*_expand(srsly.yaml_loads(damaged.decode("utf8")))]
    return None if answer == expected else "other trials than the file has"


def _expand(data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Do what `Grid.expand` does, for grids like this one."""
    known = data["datasets"]
    for seed, dataset, entry in product(data.get("seeds", [0]), known, data["trials"]):
        if dataset in entry.get("datasets", known):
            own = entry.get("per_dataset", {}).get(dataset, {})
            every = {**data.get("overrides", {}), **entry.get("overrides", {}), **own}
            variant = entry.get("variant", "default")
            name = f"{dataset}/{entry['embedder']}/{variant}/seed{seed}"
            yield name, {".".join(path): value for path, value in walk_dict(every)}


def _make_grid(folder: Path) -> Reader:
    (folder / "corpus/demo").mkdir(parents=True)
    for split in ("train", "dev"):
        DocBin(docs=make_docs()).to_disk(folder / f"corpus/demo/{split}.spacy")
    (folder / "grid.yml").write_text(_GRID, encoding="utf8")
    planned: set[str] = set()

    def plan(grid: Grid) -> Any:
        trials = grid.expand(root=folder)
        keys = {f"{trial.config} {trial.overrides}": trial for trial in trials}
        # whoever asks for a billion layers waits for them
        new = [key for key in keys if key not in planned and not _HUGE.search(key)]
        new = new[:_MAX_PLANNED]
        for key in new:  # together they would be told at once
            plan_sweep([keys[key]])
        planned.update(new)
        return [(trial.name, dict(trial.overrides)) for trial in trials]

    return Reader(
        folder / "grid.yml", damage_yaml, read_grid, _find_fault_of_grid, plan
    )


test_grids = make_test({"grid": _make_grid}, 0.8)
