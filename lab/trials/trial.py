"""What a trial is: a config trained on a corpus from a seed, and its results."""

import hashlib
import json
import platform
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from spacy.training.corpus import FILE_TYPE
from spacy.util import get_package_path, is_package
from thinc.api import Config

from spacy_hashembeds.files import quote
from spacy_hashembeds.loading import load_config

from ..corpora.datasets import DATASETS
from .configs import find_config

#: Settings that are the trial's own, and what to give instead.
_OWN_SETTINGS = {
    "training.seed": "'seed'",
    "system.seed": "'seed'",  # which training.seed would win over
    "paths.train": "another 'dataset'",
    "paths.dev": "another 'dataset'",
    "corpora.train.path": "another 'dataset'",
    "corpora.dev.path": "another 'dataset'",
}

PACKAGES = ("spacy-hashembeds", "spacy", "thinc", "numpy")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one trial trains, on what.

    dataset (str): A prepared corpus: the folder `corpus/<dataset>` with the files, or
        folders of files, `train.spacy`, `dev.spacy` and, if there is one, `test.spacy`.
    embedder (str): The name of a config: see `find_config`.
    seed (int): The seed of initial weights and of training.
    overrides (Mapping[str, Any]): Config settings to change, as `spacy train` takes
        them, e.g. `{"training.max_steps": 400}`.
    variant (str): A name for the overrides, which keeps their results apart.
    gpu_id (int): The GPU, or -1 for the CPU.
    root (Path): The folder of the project.
    RAISES (ValueError): If a name can't be that of a file, if the seed is none that
        numpy takes, if the GPU has no possible number, or if an override is a setting
        that the trial makes itself.
    """

    dataset: str
    embedder: str
    seed: int = 0
    overrides: Mapping[str, Any] = field(default_factory=dict)
    variant: str = "default"
    gpu_id: int = -1
    root: Path = Path()

    def __post_init__(self) -> None:
        for name in ("dataset", "embedder", "variant"):
            value = getattr(self, name)
            if not re.fullmatch(r"\w[\w.-]{0,99}", value):
                raise ValueError(
                    f"'{name}' should be up to 100 letters, digits, '_', '-' and '.', "
                    f"since files are named after it, but is {quote(value)}."
                )
        if not 0 <= self.seed < 2**32:
            raise ValueError(
                f"'seed' should be from 0 to {2**32 - 1}, but is {self.seed}."
            )
        if self.gpu_id < -1:
            raise ValueError(
                f"'gpu_id' should be the number of a GPU, or -1 for the CPU, but is "
                f"{self.gpu_id}."
            )
        for setting, instead in _OWN_SETTINGS.items():
            if setting in self.overrides:
                raise ValueError(
                    f"The trial itself sets {setting}: give {instead} instead."
                )

    @property
    def name(self) -> str:
        """What tells it from other trials: DATASET/EMBEDDER/VARIANT/seedSEED."""
        return f"{self.dataset}/{self.embedder}/{self.variant}/seed{self.seed}"

    @property
    def config(self) -> Path:
        """The config file.

        RAISES (FileNotFoundError): If there is none of this name.
        """
        return find_config(self.embedder, self.root)

    @property
    def corpus(self) -> dict[str, Path]:
        """The file of each split."""
        folder = self.root / "corpus" / self.dataset
        splits = {split: folder / f"{split}.spacy" for split in ("train", "dev")}
        test = folder / "test.spacy"
        return {**splits, "test": test} if test.exists() else splits

    @property
    def output(self) -> Path:
        """The folder for pipelines and the log of `spacy train`."""
        return self.root / "training" / self.name

    @property
    def metrics(self) -> Path:
        """The JSON file of results, which is there once the trial is done."""
        return self.root / "metrics" / f"{self.name}.json"


def identify(trial: Trial) -> dict[str, Any]:
    """Say all that the results of a trial depend on, as JSON data.

    RAISES (FileNotFoundError): If the config or a split of the corpus is missing.
    RAISES (ValueError): If the language of the corpus is unknown, if there are no such
        vectors, or none in them, or if there are no such weights to begin with, or they
        would not be used.
    """
    return Identifier().identify(trial)


class _Config(NamedTuple):
    """What matters of a config, whatever the seed: a mark stands for that.

    text (str): The config, with variables.
    vectors (str, optional): The vectors to use, if any.
    weights (str, optional): The weights to begin with, if any.
    """

    text: str
    vectors: str | None
    weights: str | None


class Identifier:
    """Does what `identify` does, for many trials of few configs and corpora.

    What it has read it does not read again, though it may have changed.
    """

    def __init__(self) -> None:
        self._mark = uuid4().hex  # is in no config
        self._known: dict[tuple, Any] = {}
        self._versions = {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        }

    def identify(self, trial: Trial) -> dict[str, Any]:
        """Say all that the results of a trial depend on: see `identify`."""
        corpus_hashes = self._know(_identify_corpus, trial, trial.root, trial.dataset)
        overrides = json.dumps(trial.overrides, default=str)
        about = (trial, trial.config, trial.dataset, overrides)
        text, vectors, weights = self._know(self._read_config, *about)
        text = text.replace(json.dumps(self._mark), str(trial.seed))
        return {
            "dataset": trial.dataset,
            "embedder": trial.embedder,
            "variant": trial.variant,
            "seed": trial.seed,
            "gpu_id": trial.gpu_id,
            "overrides": dict(trial.overrides),
            "config_hash": hashlib.sha256(text.encode("utf8")).hexdigest(),
            "corpus_hashes": corpus_hashes,
            **self._identify_files(_hash_vectors, vectors, trial.seed),
            **self._identify_files(_hash_weights, weights, trial.seed),
            "versions": self._versions,
        }

    def _know(self, find: Callable[[Any], Any], about: Any, *key: Any) -> Any:
        """Find something out, unless that was done for something of the same key."""
        if (find, *key) not in self._known:
            self._known[find, *key] = find(about)
        return self._known[find, *key]

    def _read_config(self, trial: Trial) -> _Config:
        config = load_config(
            trial.config, {**get_overrides(trial), "training.seed": self._mark}
        )
        plain = config.interpolate()
        initialize = plain.get("initialize", {})
        weights = initialize.get("init_tok2vec")
        if weights and not plain.get("pretraining"):
            raise ValueError(
                f"'initialize.init_tok2vec' is '{weights}', but the config has no "
                "section [pretraining]: spaCy would leave the weights out without a "
                "word. Take the config that `spacy pretrain` was run with."
            )
        text = config.to_str(interpolate=False)
        return _Config(text, initialize.get("vectors"), weights)

    def _identify_files(
        self, hash_files: Callable[[str], dict[str, str]], name: str | None, seed: int
    ) -> dict[str, str]:
        """Hash the files that a config names, if it names any."""
        if not name:
            return {}
        name = str(name).replace(self._mark, str(seed))
        return self._know(hash_files, name, name)


def _identify_corpus(trial: Trial) -> dict[str, str]:
    for path in trial.corpus.values():
        if not list_files(path):
            raise FileNotFoundError(
                f"There is no '{path}'. Make it with "
                f"`python -m lab prepare {trial.dataset} -o {path.parent}`. "
                f"{say_where(trial)}"
            )
    return hash_corpus(trial)


def say_where(trial: Trial) -> str:
    """Say where files of a trial are looked for: its folder may be a wrong one."""
    return (
        f"It was looked for in '{trial.root.absolute()}': run the command in the "
        "folder that corpus/ is in."
    )


def hash_corpus(trial: Trial) -> dict[str, str]:
    """Hash the files of each split."""
    return {
        split: _hash_files(list_files(path)) for split, path in trial.corpus.items()
    }


def list_files(split: Path) -> list[Path]:
    """List the files of a split: a large one is a folder, a missing one has none."""
    return [split] if split.is_file() else sorted(split.glob(f"*{FILE_TYPE}"))


def _hash_vectors(name: str) -> dict[str, str]:
    """Hash the vectors of a config: they may change under their name."""
    path = get_package_path(name) if is_package(name) else Path(name)
    # A package has its pipeline in a folder of its own.
    files = sorted([*path.glob("vocab/*"), *path.glob("*/vocab/*")])
    if not files:
        raise ValueError(
            "'paths.vectors' should be a folder made by `spacy init vectors`, or a "
            f"package installed by `spacy download`, but '{name}' is neither. Make it "
            "(docs/vectors.md), or leave out the variants with vectors."
        )
    # spaCy would only warn of a pipeline that has none.
    tables = [np.load(file, mmap_mode="r") for file in files if file.name == "vectors"]
    if not any(table.size for table in tables):
        raise ValueError(f"'paths.vectors' is '{name}', which has no vectors.")
    return {"vectors_hash": _hash_files(files)}


def _hash_weights(name: str) -> dict[str, str]:
    """Hash the weights that a config has training begin with."""
    path = Path(name)
    if not path.is_file():
        raise ValueError(
            "'initialize.init_tok2vec' should be a file of weights, but there is no "
            f"file '{name}'. Make it with `spacy pretrain` (docs/pretraining.md)."
        )
    return {"weights_hash": _hash_files([path])}


def _hash_files(paths: Iterable[Path]) -> str:
    hashed = hashlib.sha256()
    for path in paths:
        hashed.update(path.read_bytes())
    return hashed.hexdigest()


def load_trial_config(trial: Trial) -> Config:
    """Load the config of a trial with its overrides, as `spacy train` does.

    RAISES (ValueError): If the language of the corpus is unknown, or if a section that
        an override names is not there.
    """
    return load_config(trial.config, overrides=get_overrides(trial))


def get_overrides(trial: Trial) -> dict[str, Any]:
    """Get all config settings that the trial changes but the paths of its corpus.

    RAISES (ValueError): If the language of the corpus is unknown.
    """
    overrides = {"training.seed": trial.seed, **trial.overrides}
    if "nlp.lang" not in overrides:
        if trial.dataset not in DATASETS:
            raise ValueError(
                f"The language of corpus '{trial.dataset}' is unknown. Say which it "
                "is with the override --nlp.lang, e.g. --nlp.lang de."
            )
        overrides["nlp.lang"] = DATASETS[trial.dataset].lang
    return overrides
