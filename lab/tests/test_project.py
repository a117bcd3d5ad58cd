"""`project.yml`: its assets and commands."""

import re
import shutil
from typing import Any

import pytest
from weasel.util.config import load_project_config

from benchmarks.published import PIPELINES
from lab.corpora.datasets import DATASETS, FETCH
from lab.corpora.rawtext import RAW_FILES
from lab.trials.configs import CONFIGS
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> dict[str, Any]:
    """The project, loaded from a copy, since loading creates folders."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", folder)
    shutil.copytree(CONFIGS, folder / "configs")
    return load_project_config(folder)


def test_assets_equal_the_files_of_datasets(config):
    files = {
        file
        for dataset in DATASETS.values()
        if dataset.remedy == FETCH
        for file in dataset.files
    }
    raw = {f"wnut17-raw/{name}" for name in RAW_FILES}
    timed = {pipeline.text for pipeline in PIPELINES}
    places = [asset["dest"].removeprefix("assets/") for asset in config["assets"]]
    assert sorted(places) == sorted(files | raw | timed)
    for asset in config["assets"]:
        assert re.fullmatch("[0-9a-f]{32}", asset["checksum"]), asset["dest"]


def test_dependencies_are_files_or_outputs(config):
    outputs = {out for c in config["commands"] for out in c.get("outputs", ())}
    for command in config["commands"]:
        for path in command.get("deps", ()):
            assert path in outputs or (ROOT / path).exists()
