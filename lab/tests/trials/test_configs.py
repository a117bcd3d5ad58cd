import shutil
from pathlib import Path

import pytest

from lab.trials.configs import CONFIGS, find_config, locate_grid


def copy(name: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(CONFIGS / name, folder))


def test_ours_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_config("multi_embed") == CONFIGS / "multi_embed.cfg"
    assert locate_grid("main") == CONFIGS / "grids/main.yml"


def test_those_of_the_project_win(tmp_path):
    config = copy("multi_embed.cfg", tmp_path / "configs")
    grid = copy("grids/main.yml", tmp_path / "configs/grids")
    assert find_config("multi_embed", tmp_path) == config
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
    (tmp_path / "configs/grids/own.yml").touch()
    names = ", ".join(sorted(["my", *(path.stem for path in CONFIGS.glob("*.cfg"))]))
    with pytest.raises(FileNotFoundError, match=rf"configs/mine.cfg'.* are: {names}\."):
        find_config("mine", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"grids/mine\.yml'.* noise, .*own, "):
        locate_grid("mine", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no 'configs/grids/\.yml'"):
        locate_grid("")
