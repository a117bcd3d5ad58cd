"""Fixtures shared by all tests of the lab."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lab.corpora.datasets import prepare_dataset
from lab.tests.trial import make_trial
from lab.trials.results import Groups, read_results
from lab.trials.run_trial import run_trial
from tests.configs import CONFIGS
from tests.conftest import ROOT, data_dir, quick, tiny_corpus, with_contractions  # noqa: F401 pytest finds its fixtures here


@pytest.fixture(scope="session")
def prepare_real(data_dir, tmp_path_factory) -> Callable[[str], Path]:  # noqa: F811
    """Return a function that prepares a real corpus once, and returns its folder."""

    @cache
    def prepare(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        with with_contractions():
            prepare_dataset(name, data_dir, folder)
        return folder

    return prepare


@pytest.fixture(scope="session")
def groups() -> Groups:
    """The results in lab/results."""
    return read_results(ROOT / "lab" / "results")


@pytest.fixture(scope="session")
def trained_root(tiny_corpus, tmp_path_factory) -> Path:  # noqa: F811
    """A project with the results of a small trial, which tests must not change."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(CONFIGS, root / "configs")
    shutil.copytree(tiny_corpus, root / "corpus" / "demo")
    run_trial(make_trial(root))
    return root


@pytest.fixture
def project(trained_root, tmp_path) -> Path:
    """A copy of `trained_root`, which tests may change."""
    return shutil.copytree(trained_root, tmp_path / "project")
