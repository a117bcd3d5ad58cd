"""A grid of trials: datasets, embedders and seeds, read from a YAML file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, NamedTuple, cast

import srsly
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from spacy_hashembeds.files import quote

from .trial import Trial

_VECTORS = "paths.vectors"
_USE_VECTORS = "components.tok2vec.model.embed.include_static_vectors"

Overrides = dict[str, Any]


class Row(NamedTuple):
    """A config that a grid trains with each seed, and its overrides by dataset."""

    embedder: str
    variant: str
    overrides: dict[str, Overrides]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The trials that a grid file plans."""

    datasets: Sequence[str]
    seeds: Sequence[int]
    rows: Sequence[Row]

    def expand(self, *, root: Path = Path(), gpu_id: int = -1) -> list[Trial]:
        """Make the trials, seed by seed, and dataset by dataset in each.

        When a sweep is interrupted, whole comparisons of the first seeds are there.
        """
        return [
            Trial(
                dataset=dataset,
                embedder=row.embedder,
                variant=row.variant,
                seed=seed,
                overrides=row.overrides[dataset],
                gpu_id=gpu_id,
                root=root,
            )
            for seed in self.seeds
            for dataset in self.datasets
            for row in self.rows
            if dataset in row.overrides
        ]

    def narrow(
        self,
        *,
        datasets: Sequence[str] = (),
        embedders: Sequence[str] = (),
        variants: Sequence[str] = (),
        seeds: Sequence[int | str] = (),
    ) -> "Grid":
        """Keep a part. What is empty is not narrowed."""
        known = [row.embedder for row in self.rows]
        _check_choice("datasets", datasets, self.datasets)
        _check_choice("embedders", embedders, known)
        _check_choice("variants", variants, [row.variant for row in self.rows])
        _check_choice("seeds", seeds, self.seeds)
        grid = Grid(
            datasets=[name for name in self.datasets if name in (datasets or [name])],
            seeds=[seed for seed in self.seeds if seed in (seeds or [seed])],
            rows=[
                row
                for row in self.rows
                if row.embedder in (embedders or known)
                and row.variant in (variants or [row.variant])
            ],
        )
        if not grid.expand():
            raise ValueError("No trial of the grid is all that was chosen.")
        return grid


def _check_once(values: list[Any]) -> list[Any]:
    for value, n in Counter(values).items():
        if n > 1:
            raise ValueError(f"{quote(value)} is there {n} times")
    return values


_Names = Annotated[list[str], Field(min_length=1), AfterValidator(_check_once)]
_Seeds = Annotated[list[int], Field(min_length=1), AfterValidator(_check_once)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Entry(_Part):
    """One of the trials of a grid file: docs/sweep.md describes its settings."""

    embedder: str
    variant: str = "default"
    # not given: what is there may not be null
    datasets: _Names = cast(Any, None)
    overrides: Overrides = {}
    per_dataset: dict[str, Overrides] = cast(Any, None)
    vectors: str = cast(Any, None)


class _File(_Part):
    """The keys of a grid file."""

    datasets: _Names
    seeds: _Seeds = [0]
    overrides: Overrides = {}
    vectors: dict[str, dict[str, str]] = {}
    trials: Annotated[list[_Entry], Field(min_length=1)]


def read_grid(path: str | Path) -> Grid:
    """Read a grid from a YAML file; docs/sweep.md describes what it holds."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no grid '{path}'.")
    try:
        content = srsly.yaml_loads(path.read_text(encoding="utf8"))
        file = _File.model_validate(content)
        rows = [_read_row(entry, file) for entry in file.trials]
        names = Counter((r.embedder, r.variant, d) for r in rows for d in r.overrides)
        for (embedder, variant, dataset), n in names.items():
            if n > 1:
                raise ValueError(
                    f"{embedder} has the variant '{variant}' {n} times for {dataset}. "
                    "Give other overrides another 'variant'."
                )
    except (OverflowError, RecursionError, ValueError) as e:
        message = str(e)
        if isinstance(e, ValidationError):
            fault = e.errors()[0]
            message = f"'{'.'.join(map(str, fault['loc']))}': {fault['msg']}"
        # YAML's own errors quote whatever is wrong
        message = shorten(message.replace("Value error, ", ""), 500)
        raise ValueError(f"'{path}' is no grid of trials. {message}") from e
    return Grid(datasets=file.datasets, seeds=file.seeds, rows=rows)


def _read_row(entry: _Entry, file: _File) -> Row:
    where = f"{entry.embedder}, {entry.variant}"
    names = entry.datasets or file.datasets
    _check_choice("datasets", names, file.datasets)
    own = entry.per_dataset
    if own is None:
        own = {name: {} for name in names}
    _check_keys(f"'per_dataset' of {where}", own, names)
    vectors: dict[str, Overrides] = {name: {} for name in names}
    if entry.vectors is not None:
        _check_choice("vectors", [entry.vectors], list(file.vectors))
        chosen = {d: v for d, v in file.vectors[entry.vectors].items() if d in names}
        _check_keys(f"'vectors.{entry.vectors}' of {where}", chosen, names)
        vectors = {d: {_VECTORS: v, _USE_VECTORS: True} for d, v in chosen.items()}
    overrides = {
        name: _flatten(
            where, [file.overrides, entry.overrides, own[name], vectors[name]]
        )
        for name in names
    }
    return Row(entry.embedder, entry.variant, overrides)


def _check_keys(what: str, given: dict[str, Any], names: Sequence[str]) -> None:
    if given.keys() != {*names}:
        raise ValueError(
            f"{what} should have the keys {', '.join(names)}, but has "
            f"{quote(list(given))}."
        )


def _flatten(where: str, parts: Sequence[Overrides]) -> Overrides:
    pairs = [pair for part in parts for pair in _walk(where, part)]
    for key, n in Counter(key for key, _ in pairs).items():
        if "." not in key:
            raise ValueError(f"{where}: '{key}' is no setting; 'training.dropout' is.")
        if n > 1:
            raise ValueError(f"{where} sets {key} {n} times.")
    return dict(pairs)


def _walk(
    where: str, settings: Overrides, prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if value == {}:
            raise ValueError(f"{where}: '{prefix}{key}' is {{}}, which sets nothing.")
        if isinstance(value, dict):
            yield from _walk(where, value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _check_choice(name: str, chosen: Sequence[Any], known: Sequence[Any]) -> None:
    for value in chosen:
        if value not in known:
            names = ", ".join(map(str, dict.fromkeys(known))) or "none"
            raise ValueError(
                f"{quote(value)} is not in the grid. Its {name} are: {names}."
            )
