"""`project.yml`: what it fetches and what it runs."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from weasel.util.config import load_project_config

from benchmarks.published import PIPELINES
from lab.corpora.datasets import DATASETS, FETCH
from lab.trials.configs import CONFIGS
from lab.vectors.rawtext import RAW_FILES
from tests.conftest import ROOT

#: A command of the package or the lab, from its name on.
OURS = "(?:spacy hashembeds|lab) (.*)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A copy of the project, since loading it makes its folders."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", folder)
    shutil.copytree(CONFIGS, folder / "configs")
    return folder


@pytest.fixture(scope="module")
def config(folder) -> dict[str, Any]:
    return load_project_config(folder)


@pytest.fixture(scope="module")
def assets(config) -> dict[str, dict[str, Any]]:
    """The assets by their place below the folder of assets."""
    places = [Path(asset["dest"]) for asset in config["assets"]]
    assert {place.parts[0] for place in places} == {"assets"}
    names = [place.relative_to("assets").as_posix() for place in places]
    assert len(set(names)) == len(names)
    return dict(zip(names, config["assets"], strict=True))


def test_the_assets_are_the_files_of_the_datasets(assets):
    files = {
        file
        for dataset in DATASETS.values()
        if dataset.remedy == FETCH
        for file in dataset.files
    }
    raw = {f"wnut17-raw/{name}" for name in RAW_FILES}
    timed = {pipeline.text for pipeline in PIPELINES}
    assert set(assets) == files | raw | timed
    for name, asset in assets.items():
        assert re.fullmatch("[0-9a-f]{32}", asset["checksum"]), name
        assert not asset.get("extra"), name


def test_dependencies_are_files_of_the_project_or_outputs(config):
    outputs = {out for c in config["commands"] for out in c.get("outputs", ())}
    for command in config["commands"]:
        for path in command.get("deps", ()):
            assert path in outputs or (ROOT / path).exists()
