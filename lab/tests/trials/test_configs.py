import re
import shutil
from pathlib import Path

import pytest

from lab.trials.configs import (
    CONFIGS,
    find_config,
    locate_config,
    locate_grid,
)


def copy(name: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(CONFIGS / name, folder))


def test_ours_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_config("multi_embed") == CONFIGS / "multi_embed.cfg"
    assert locate_config("multi_embed").is_file()
    assert locate_grid("main") == CONFIGS / "grids/main.yml"


def test_those_of_the_project_win(tmp_path):
    config = copy("multi_embed.cfg", tmp_path / "configs")
    grid = copy("grids/main.yml", tmp_path / "configs/grids")
    assert find_config("multi_embed", tmp_path) == config
    assert locate_config("multi_embed", tmp_path) == config
    assert locate_grid("main", tmp_path) == grid
    assert find_config("multi_hash_embed", tmp_path).parent == CONFIGS


@pytest.mark.parametrize("path", ["main.yml", "grids/main", "/grids/main.yml"])
def test_paths_are_taken_as_they_are(tmp_path, path):
    copy("grids/main.yml", tmp_path / "configs/grids")
    assert locate_grid(path, tmp_path) == Path(path)


def test_what_there_is_is_named(tmp_path):
    (tmp_path / "configs/grids").mkdir(parents=True)
    (tmp_path / "configs/my.cfg").touch()
    (tmp_path / "configs/.my-2f97y87q.cfg").touch()  # what a killed run leaves
    (tmp_path / "configs/grids/my.yml").touch()
    names = ", ".join(sorted(["my", *(path.stem for path in CONFIGS.glob("*.cfg"))]))
    missing = re.escape(f"no file '{tmp_path}/configs/mine.cfg', and none of this name")
    with pytest.raises(FileNotFoundError, match=f"{missing}.* are: {names}\\."):
        find_config("mine", tmp_path)
    grids = [path.stem for path in (CONFIGS / "grids").glob("*.yml")]
    names = ", ".join(sorted(["my", *grids]))
    message = rf"no file '.*configs/grids/mine\.yml'.* There are: {names}\."
    with pytest.raises(FileNotFoundError, match=message):
        locate_grid("mine", tmp_path)


def test_what_is_empty_is_no_name():
    with pytest.raises(ValueError, match=r"'config' should be a name or a .cfg file"):
        locate_config("")
    with pytest.raises(
        ValueError, match=r"'grid' should be a name or a .yml file, but"
    ):
        locate_grid("")
