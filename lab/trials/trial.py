"""A trial: a config, a corpus and a seed; and all inputs of its results."""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from spacy.training.corpus import FILE_TYPE
from spacy.util import get_package_path, is_package
from thinc.api import Config

from spacy_hashembeds.loading import load_config

from ..corpora.datasets import DATASETS
from .configs import find_config

#: Settings that a trial sets itself.
_OWN_SETTINGS = {"training.seed", "system.seed", "paths.train", "paths.dev"} | {
    f"corpora.{split}.path" for split in ("train", "dev")
}

PACKAGES = ("spacy-hashembeds", "spacy", "thinc", "numpy")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A config to train, a corpus, and a seed."""

    dataset: str  # the folder corpus/<dataset>, with a file or folder for each split
    embedder: str  # the name of the config
    seed: int = 0
    overrides: Mapping[str, Any] = field(default_factory=dict)  # of the config
    variant: str = "default"  # a name for the overrides
    gpu_id: int = -1
    root: Path = Path()  # the folder of the project

    def __post_init__(self) -> None:
        if own := _OWN_SETTINGS & self.overrides.keys():
            names = ", ".join(sorted(own))
            raise ValueError(f"'seed' and 'dataset' set {names}: do not override them.")

    @property
    def name(self) -> str:
        """The name of the trial: DATASET/EMBEDDER/VARIANT/seedSEED."""
        return f"{self.dataset}/{self.embedder}/{self.variant}/seed{self.seed}"

    @property
    def config(self) -> Path:
        """The config file."""
        return find_config(self.embedder, self.root)

    @property
    def corpus(self) -> dict[str, Path]:
        """The file of each split, starting with train."""
        folder = self.root / "corpus" / self.dataset
        splits = {split: folder / f"{split}.spacy" for split in ("train", "dev")}
        test = folder / "test.spacy"
        return {**splits, "test": test} if test.exists() else splits

    @property
    def output(self) -> Path:
        """The folder for pipelines and logs."""
        return self.root / "training" / self.name

    @property
    def metrics(self) -> Path:
        """The JSON file of results, which exists if the trial is done."""
        return self.root / "metrics" / f"{self.name}.json"


def get_overrides(trial: Trial) -> dict[str, Any]:
    """Return the config settings that the trial changes, except paths of its corpus."""
    overrides = {"training.seed": trial.seed, **trial.overrides}
    if "nlp.lang" not in overrides:
        if trial.dataset not in DATASETS:
            raise ValueError(
                f"The language of corpus '{trial.dataset}' is unknown. Set it with the "
                "override nlp.lang, e.g. --nlp.lang de."
            )
        overrides["nlp.lang"] = DATASETS[trial.dataset].lang
    return overrides


def hash_files(paths: Sequence[Path]) -> str:
    """Return the SHA-256 of files in sequence."""
    return _hash(tuple((path, path.stat().st_mtime_ns) for path in paths))


@cache  # trials of a sweep share files
def _hash(files: Sequence[tuple[Path, int]]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path, _ in files)).hexdigest()


def identify(trial: Trial) -> dict[str, Any]:
    """Return all inputs of a trial's results, as JSON data."""
    inputs = identify_inputs(trial)
    config = load_config(trial.config, overrides=get_overrides(trial))
    plain = config.interpolate()
    named = {"vectors_hash": _list_vectors(plain), "weights_hash": _list_weights(plain)}
    text = config.to_str(interpolate=False)
    return {
        **inputs,
        "config_hash": hashlib.sha256(text.encode("utf8")).hexdigest(),
        **{key: hash_files(files) for key, files in named.items() if files},
    }


def identify_inputs(trial: Trial) -> dict[str, Any]:
    """Return the inputs of a trial's results, except its config."""
    corpus = {split: _list_split(trial, split) for split in trial.corpus}
    return {
        **{key: getattr(trial, key) for key in ("dataset", "embedder", "variant")},
        **{"seed": trial.seed, "gpu_id": trial.gpu_id},
        "overrides": dict(trial.overrides),
        "corpus_hashes": {split: hash_files(files) for split, files in corpus.items()},
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
    }


def _list_split(trial: Trial, split: str) -> tuple[Path, ...]:
    """List the files of a split, which may be a folder."""
    path = trial.corpus[split]
    files = [path] if path.is_file() else sorted(path.glob(f"*{FILE_TYPE}"))
    if not files:
        ours = f"python -m lab prepare {trial.dataset} -o {path.parent}"
        command = ours if trial.dataset in DATASETS else "spacy hashembeds prepare"
        raise FileNotFoundError(f"There is no '{path.absolute()}': run `{command}`.")
    return tuple(files)


def _list_vectors(config: Config) -> tuple[Path, ...]:
    """List the files of a config's vectors, if there are any."""
    if not (name := config.get("initialize", {}).get("vectors")):
        return ()
    path = get_package_path(name) if is_package(name) else Path(name)
    # a package has its pipeline in a subfolder
    files = sorted([*path.glob("vocab/*"), *path.glob("*/vocab/*")])
    # spaCy would only warn of a pipeline without vectors
    if not any(np.load(file).size for file in files if file.name == "vectors"):
        raise ValueError(
            "'paths.vectors' should be a folder made by `spacy init vectors`, or a "
            f"package installed by `spacy download`, but '{name}' has no vectors."
        )
    return tuple(files)


def _list_weights(config: Config) -> tuple[Path, ...]:
    """List the file of a config's pretrained weights, if there are any."""
    if not (name := config.get("initialize", {}).get("init_tok2vec")):
        return ()
    # without the section, spaCy would silently ignore the weights
    if not (config.get("pretraining") and Path(name).is_file()):
        raise ValueError(
            f"'initialize.init_tok2vec' is '{name}', but should be a file made by "
            "`spacy pretrain` from a config with this section [pretraining] "
            "(docs/pretraining.md)."
        )
    return (Path(name),)
