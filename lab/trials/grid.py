"""A grid of trials: datasets, embedders and seeds, read from a YAML file."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any

import srsly
from pydantic import BaseModel, ConfigDict, Field
from spacy.util import walk_dict

from .trial import Trial

_VECTORS = "paths.vectors"
_USE_VECTORS = "components.tok2vec.model.embed.include_static_vectors"

Overrides = dict[str, Any]

_Names = Annotated[list[str], Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Entry(_Part):
    """An item of `trials`. See lab/sweep.md for its settings."""

    embedder: str
    variant: str = "default"
    datasets: _Names | None = None
    overrides: Overrides = {}
    per_dataset: dict[str, Overrides] | None = None
    vectors: str | None = None


class _File(_Part):
    """The settings of a grid file."""

    datasets: _Names
    seeds: Annotated[list[int], Field(min_length=1)] = [0]
    overrides: Overrides = {}
    vectors: dict[str, dict[str, str]] = {}
    trials: Annotated[list[_Entry], Field(min_length=1)]


def read_grid(path: Path, *, root: Path = Path(), gpu_id: int = -1) -> list[Trial]:
    """Read the trials of a YAML file, ordered by seed and dataset. Trial overrides win
    over those of all trials; dataset overrides win over both.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no grid '{path}'.")
    try:
        file = _File.model_validate(srsly.yaml_loads(path.read_text(encoding="utf8")))
        rows = []
        for entry in file.trials:
            settings: dict[str, Any] = {"gpu_id": gpu_id, "root": root}
            settings |= {"embedder": entry.embedder, "variant": entry.variant}
            rows.append((settings, _collect_overrides(entry, file)))
        trials = [
            Trial(dataset=dataset, seed=seed, overrides=overrides[dataset], **settings)
            for seed in file.seeds
            for dataset in file.datasets
            for settings, overrides in rows
            if dataset in overrides
        ]
        (name, n), *_ = Counter(trial.name for trial in trials).most_common(1)
        if n > 1:
            raise ValueError(f"It has {name} {n} times: give one a new 'variant'.")
    except (OverflowError, RecursionError, ValueError) as e:
        message = shorten(str(e), 500)
        raise ValueError(f"'{path}' is not a grid of trials. {message}") from e
    return trials


def narrow(trials: Sequence[Trial], chosen: Mapping[str, Sequence[str]]) -> list[Trial]:
    """Keep the trials whose attributes have chosen values, if any are chosen."""
    kept = list(trials)
    for name, values in chosen.items():
        known = dict.fromkeys(str(getattr(trial, name)) for trial in trials)
        _check_known(f"{name}s", values, known)
        kept = [t for t in kept if not values or str(getattr(t, name)) in values]
    if not kept:
        raise ValueError("No trial of the grid has all chosen values.")
    return kept


def _collect_overrides(entry: _Entry, file: _File) -> dict[str, Overrides]:
    """Return the overrides of a trial for each of its datasets, with dotted keys."""
    names = entry.datasets or file.datasets
    _check_known("datasets", names, file.datasets)
    none: dict[str, Overrides] = {name: {} for name in names}
    own = none if entry.per_dataset is None else entry.per_dataset
    vectors = none
    if entry.vectors is not None:
        _check_known("vectors", [entry.vectors], file.vectors)
        paths = file.vectors[entry.vectors]
        vectors = {d: {_VECTORS: v, _USE_VECTORS: True} for d, v in paths.items()}
    if {*own} != {*names} or not vectors.keys() >= {*names}:
        raise ValueError(
            f"'per_dataset' of {entry.embedder}, {entry.variant} should have the keys "
            f"{', '.join(names)} ({{}} for none), and its 'vectors' a path for each."
        )
    return {
        name: {
            ".".join(keys): value
            for part in (file.overrides, entry.overrides, own[name], vectors[name])
            for keys, value in walk_dict(part)
        }
        for name in names
    }


def _check_known(name: str, chosen: Iterable[str], known: Iterable[str]) -> None:
    for value in chosen:
        if value not in known:
            names = ", ".join(known) or "none"
            raise ValueError(f"'{value}' is not in the grid. Its {name} are: {names}.")
