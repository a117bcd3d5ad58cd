"""Find configs and grids by name, in a project or in the clone."""

from pathlib import Path

#: The folder of configs in the clone. A project's own folder `configs` has priority.
CONFIGS = Path(__file__).parents[2] / "configs"


def find_config(name: str, root: Path = Path()) -> Path:
    """Find the config NAME.cfg of an embedder."""
    return _find(f"{name}.cfg", root / "configs", CONFIGS)


def locate_grid(grid: str | Path, root: Path = Path()) -> Path:
    """Find the grid NAME.yml, or return a path that has a folder or ends in `.yml`."""
    path = Path(grid)
    if path.suffix == ".yml" or len(path.parts) > 1:
        return path
    return _find(f"{grid}.yml", root / "configs/grids", CONFIGS / "grids")


def _find(file: str, *folders: Path) -> Path:
    for folder in folders:
        if (folder / file).is_file():
            return folder / file
    # hidden files are leftovers of killed runs
    found = {f.stem for of in folders for f in of.glob(f"[!.]*{Path(file).suffix}")}
    raise FileNotFoundError(
        f"There is no '{file}' in '{folders[0]}' or '{folders[1]}'. They have: "
        f"{', '.join(sorted(found))}."
    )
