"""Configs and grids by name: those of the project, and ours."""

from pathlib import Path

#: Ours. Those in the folder of this name in a project win over them.
CONFIGS = Path(__file__).parents[2] / "configs"


def find_config(name: str, root: Path = Path()) -> Path:
    """Find the config of an embedder: `configs/NAME.cfg` of the project, else ours."""
    return _find(f"{name}.cfg", root / "configs", CONFIGS)


def locate_grid(grid: str | Path, root: Path = Path()) -> Path:
    """Find `configs/grids/NAME.yml` likewise; a folder or `.yml` makes it a path."""
    path = Path(grid)
    if path.suffix == ".yml" or len(path.parts) > 1:
        return path
    return _find(f"{grid}.yml", root / "configs/grids", CONFIGS / "grids")


def _find(file: str, theirs: Path, ours: Path) -> Path:
    for folder in (theirs, ours):
        if (folder / file).is_file():
            return folder / file
    # hidden files are what a run that was killed had not written to the end
    files = [f for of in (theirs, ours) for f in of.glob(f"[!.]*{Path(file).suffix}")]
    raise FileNotFoundError(
        f"There is no '{theirs / file}', and none of this name in '{ours}'. There "
        f"are: {', '.join(sorted({path.stem for path in files}))}."
    )
