"""A grid of trials: datasets, embedders and seeds, read from a YAML file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import srsly

from spacy_hashembeds.files import quote

from .trial import Trial

_GRID_KEYS = ("datasets", "seeds", "overrides", "vectors", "trials")
_ENTRY_KEYS = ("embedder", "variant", "datasets", "overrides", "per_dataset", "vectors")

_VECTORS = "paths.vectors"
_USE_VECTORS = "components.tok2vec.model.embed.include_static_vectors"

#: Characters of an error in YAML that are shown.
_MAX_MESSAGE = 500

Overrides = dict[str, Any]


class Row(NamedTuple):
    """What a grid trains with each seed.

    embedder (str): The config.
    variant (str): The name of the overrides.
    overrides (dict[str, dict[str, Any]]): The config settings to change on each
        dataset, with dotted keys. It is not trained on others.
    """

    embedder: str
    variant: str
    overrides: dict[str, Overrides]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """What a grid file says.

    datasets (Sequence[str]): The datasets.
    seeds (Sequence[int]): The seeds.
    rows (Sequence[Row]): What is trained.
    """

    datasets: Sequence[str]
    seeds: Sequence[int]
    rows: Sequence[Row]

    def expand(self, *, root: Path = Path(), gpu_id: int = -1) -> list[Trial]:
        """Make the trials, seed by seed, and dataset by dataset in each.

        When a sweep is interrupted, whole comparisons of the first seeds are there.

        root (Path): The folder of the project.
        gpu_id (int): The GPU, or -1 for the CPU.
        RAISES (ValueError): If a name can't be that of a file, or if an override is a
            setting that the trial makes itself.
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
        """Keep a part. What is empty is not narrowed.

        RAISES (ValueError): If a name or seed is not in the grid, or nothing is left.
        """
        _check_choice("datasets", datasets, self.datasets)
        _check_choice("embedders", embedders, [row.embedder for row in self.rows])
        _check_choice("variants", variants, [row.variant for row in self.rows])
        _check_choice("seeds", seeds, self.seeds)
        grid = replace(
            self,
            datasets=[name for name in self.datasets if name in (datasets or [name])],
            seeds=[seed for seed in self.seeds if seed in (seeds or [seed])],
            rows=[
                row
                for row in self.rows
                if row.embedder in (embedders or [row.embedder])
                and row.variant in (variants or [row.variant])
            ],
        )
        if not grid.expand():
            raise ValueError("No trial of the grid is all that was chosen.")
        return grid


def read_grid(path: str | Path) -> Grid:
    """Read a grid from a YAML file; docs/sweep.md describes what it holds.

    RAISES (FileNotFoundError): If there is no such file.
    RAISES (ValueError): If it is no YAML, or holds what a grid doesn't.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no grid '{path}'.")
    try:
        return _read_grid(srsly.read_yaml(path))
    except (OverflowError, RecursionError, ValueError) as e:
        # YAML's own errors quote whatever is wrong.
        message = shorten(str(e), _MAX_MESSAGE)
        raise ValueError(f"'{path}' is no grid of trials. {message}") from e


def _read_grid(data: Any) -> Grid:
    _check_keys("The file", data, known=_GRID_KEYS, required=("datasets", "trials"))
    datasets = _read_list("'datasets'", data["datasets"], str)
    seeds = _read_list("'seeds'", data.get("seeds", [0]), int)
    entries = _read_list("'trials'", data["trials"], dict)
    rows = [_read_row(f"Trial {i}", e, data) for i, e in enumerate(entries, start=1)]
    names = Counter((r.embedder, r.variant, name) for r in rows for name in r.overrides)
    for (embedder, variant, dataset), n in names.items():
        if n > 1:
            raise ValueError(
                f"{embedder} has the variant '{variant}' {n} times for {dataset}. "
                "Give other overrides another 'variant'."
            )
    return Grid(datasets=datasets, seeds=seeds, rows=rows)


def _read_row(where: str, entry: Any, grid: Mapping[str, Any]) -> Row:
    _check_keys(where, entry, known=_ENTRY_KEYS, required=("embedder",))
    embedder, variant = entry["embedder"], entry.get("variant", "default")
    if not isinstance(embedder, str) or not isinstance(variant, str):
        raise ValueError(f"{where} should have text as 'embedder' and 'variant'.")
    where = f"{where} ({embedder}, {variant})"
    known = grid["datasets"]
    names = _read_list(f"'datasets' of {where}", entry.get("datasets", known), str)
    _check_choice("datasets", names, known)
    own = entry.get("per_dataset", {name: {} for name in names})
    # a dataset that is left out is hardly meant to be
    _check_keys(f"'per_dataset' of {where}", own, known=names, required=names)
    vectors: dict[str, Overrides] = {name: {} for name in names}
    if "vectors" in entry:
        vectors = _read_vectors(where, entry["vectors"], names, grid)
    shared = [grid.get("overrides", {}), entry.get("overrides", {})]
    overrides = {
        name: _flatten(where, [*shared, own[name], vectors[name]]) for name in names
    }
    return Row(embedder, variant, overrides)


def _read_vectors(
    where: str, kind: Any, names: Sequence[str], grid: Mapping[str, Any]
) -> dict[str, Overrides]:
    kinds = grid.get("vectors", {})
    _check_mapping("'vectors'", kinds)
    _check_choice("vectors", [kind], list(kinds))
    where = f"'vectors.{kind}', which {where} uses,"
    _check_keys(where, kinds[kind], known=grid["datasets"], required=names)
    for name in names:
        _read_list(f"'vectors.{kind}.{name}'", [kinds[kind][name]], str)
    return {name: {_VECTORS: kinds[kind][name], _USE_VECTORS: True} for name in names}


def _flatten(where: str, parts: Sequence[Any]) -> Overrides:
    pairs = [pair for part in parts for pair in _walk(where, part)]
    for key, n in Counter(key for key, _ in pairs).items():
        if "." not in key:
            raise ValueError(f"{where}: '{key}' is no setting; 'training.dropout' is.")
        if n > 1:
            raise ValueError(f"{where} sets {key} {n} times.")
    return dict(pairs)


def _walk(where: str, settings: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    _check_mapping(f"{prefix.rstrip('.') or 'What overrides'} in {where}", settings)
    for key, value in settings.items():
        if value == {}:
            raise ValueError(f"{where}: '{prefix}{key}' is {{}}, which sets nothing.")
        if isinstance(value, dict):
            yield from _walk(where, value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _read_list(where: str, values: Any, kind: type) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise ValueError(
            f"{where} should be a list of one or more, but is {quote(values)}."
        )
    for value in values:
        if type(value) is not kind:  # True is no number here
            raise ValueError(
                f"{where} should hold {kind.__name__}, not {quote(value)}."
            )
        if values.count(value) > 1:
            raise ValueError(f"{where} has {quote(value)} twice.")
    return values


def _check_mapping(where: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise ValueError(f"{where} should have keys and values, but is {quote(value)}.")


def _check_keys(
    where: str, value: Any, *, known: Sequence[str], required: Sequence[str] = ()
) -> None:
    _check_mapping(where, value)
    unknown = [quote(key) for key in value if key not in known]
    missing = [key for key in required if key not in value]
    faults = [f"has {', '.join(unknown)}"] if unknown else []
    faults += [f"lacks {', '.join(missing)}"] if missing else []
    if faults:
        raise ValueError(
            f"{where} should have the keys {', '.join(known)}"
            f", but {' and '.join(faults)}."
        )


def _check_choice(name: str, chosen: Sequence[Any], known: Sequence[Any]) -> None:
    for value in chosen:
        if value not in known:
            names = ", ".join(map(str, dict.fromkeys(known))) or "none"
            raise ValueError(
                f"{quote(value)} is not in the grid. Its {name} are: {names}."
            )
