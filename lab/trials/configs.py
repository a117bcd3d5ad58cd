"""Configs and grids by name: those of the project, and ours."""

from pathlib import Path
from typing import NamedTuple

#: The folder of a project, and ours, over which it wins.
FOLDER = "configs"
CONFIGS = Path(__file__).parents[2] / FOLDER


class _Kind(NamedTuple):
    name: str
    folder: str
    suffix: str


_CONFIG = _Kind("config", FOLDER, ".cfg")
_GRID = _Kind("grid", f"{FOLDER}/grids", ".yml")


def find_config(name: str, root: Path = Path()) -> Path:
    """Find the config of an embedder: `configs/NAME.cfg` of the project, else ours.

    name (str): Its name, e.g. "multi_embed".
    root (Path): The folder of the project.
    RAISES (FileNotFoundError): If there is none. Lists those that there are.
    RETURNS (Path): The file.
    """
    return _find(name, _CONFIG, root)


def locate_config(config: str | Path, root: Path = Path()) -> Path:
    """Take a path of a config, or find one by its name.

    config (str | Path): What ends in `.cfg`, or names a folder, is a path.
    RAISES (FileNotFoundError): If it is a name, and there is none of this name.
    RAISES (ValueError): If it is empty.
    """
    return _locate(config, _CONFIG, root)


def locate_grid(grid: str | Path, root: Path = Path()) -> Path:
    """Take a path of a grid, or find `configs/grids/NAME.yml` as `find_config` does.

    grid (str | Path): What ends in `.yml`, or names a folder, is a path.
    RAISES (FileNotFoundError): If it is a name, and there is none of this name.
    RAISES (ValueError): If it is empty.
    """
    return _locate(grid, _GRID, root)


def _locate(value: str | Path, kind: _Kind, root: Path) -> Path:
    if not str(value):
        raise ValueError(
            f"'{kind.name}' should be a name or a {kind.suffix} file, but is empty."
        )
    path = Path(value)
    if path.suffix == kind.suffix or len(path.parts) != 1:
        return path
    return _find(str(value), kind, root)


def _find(name: str, kind: _Kind, root: Path) -> Path:
    folders = [root / kind.folder, CONFIGS.parent / kind.folder]
    paths = [folder / f"{name}{kind.suffix}" for folder in folders]
    for path in paths:
        if path.is_file():
            return path
    # hidden files are what a run that was killed had not written to the end
    names = {
        path.stem
        for folder in folders
        for path in folder.glob(f"*{kind.suffix}")
        if not path.name.startswith(".")
    }
    raise FileNotFoundError(
        f"There is no {kind.name} '{name}': no file '{paths[0]}', and none of "
        "this name that comes with spacy-hashembeds. There are: "
        f"{', '.join(sorted(names))}."
    )
