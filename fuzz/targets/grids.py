"""Grids of trials (.yml)."""

import json
import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from lab.trials.grid import Grid, read_grid
from lab.trials.sweep import plan_sweep

from ..damage_bytes import damage_lines, one_of
from ..damage_text import damage_yaml
from ..target import Part, Target
from .material import make_docs

_FILE = "grid.yml"
#: So many trials of a damaged grid are planned, and those that were are left out.
_MAX_PLANNED = 4
_FINE: set[str] = set()

_GRID = """\
# two embedders, and one wider
datasets: [demo]
seeds: [0, 1]
overrides: {training.patience: 100}
vectors:
  none:
    demo: assets/none
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


def _make(folder: Path) -> None:
    (folder / "corpus/demo").mkdir(parents=True)
    for split in ("train", "dev"):
        path = folder / f"corpus/demo/{split}.spacy"
        DocBin(docs=make_docs(Vocab())).to_disk(path)
    (folder / _FILE).write_text(_GRID, encoding="utf8")


def _load(folder: Path, part: Part) -> tuple[Grid, Path]:
    return read_grid(folder / _FILE), folder


def _use(loaded: tuple[Grid, Path]) -> Any:
    """Plan the sweep, but for the trials that were fine before: each takes a while."""
    grid, folder = loaded
    trials = grid.expand(root=folder)
    keys = {f"{trial.config} {trial.overrides}": trial for trial in reversed(trials)}
    new = [key for key in keys if key not in _FINE][:_MAX_PLANNED]
    plan_sweep([keys[key] for key in new])
    _FINE.update(new)
    return [(trial.name, dict(trial.overrides)) for trial in trials]


def _find_fault(part: Part, original: bytes, damaged: bytes, answer: Any) -> str | None:
    for _, overrides in answer:
        try:
            json.dumps(overrides)
        except (TypeError, ValueError, RecursionError):
            return "a setting that no config can have"
        if any(
            isinstance(v, float) and not math.isfinite(v) for v in overrides.values()
        ):
            return "a setting that is not finite"
    try:
        expected = list(_expand(srsly.yaml_loads(damaged.decode("utf8"))))
    except (TypeError, AttributeError, KeyError) as error:
        return f"another structure than a grid has ({type(error).__name__})"
    return None if answer == expected else "other trials than the file has"


def _expand(data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Do what `Grid.expand` does, for grids like this one."""
    known = data["datasets"]
    for seed, dataset, entry in product(data.get("seeds", [0]), known, data["trials"]):
        if dataset not in entry.get("datasets", known):
            continue
        settings = {
            **data.get("overrides", {}),
            **entry.get("overrides", {}),
            **entry.get("per_dataset", {}).get(dataset, {}),
        }
        if "vectors" in entry:
            settings["paths.vectors"] = data["vectors"][entry["vectors"]][dataset]
            settings["components.tok2vec.model.embed.include_static_vectors"] = True
        variant = entry.get("variant", "default")
        name = f"{dataset}/{entry['embedder']}/{variant}/seed{seed}"
        yield name, dict(_flatten(settings))


def _flatten(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


GRID = Target(
    name="grid",
    parts=[
        Part(
            path=_FILE,
            structured=one_of(damage_yaml, damage_lines),
        )
    ],
    make=_make,
    load=_load,
    use=_use,
    find_fault=_find_fault,
)
