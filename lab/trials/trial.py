"""A trial: a config trained on a corpus from a seed, and its results."""

import hashlib
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from spacy.training.corpus import FILE_TYPE
from spacy.util import get_package_path, is_package
from thinc.api import Config

from spacy_hashembeds.arguments import check_integers
from spacy_hashembeds.files import quote
from spacy_hashembeds.loading import load_config

from ..corpora.datasets import DATASETS
from .configs import find_config

#: Settings that are the trial's own.
_OWN_SETTINGS = {"training.seed", "system.seed", "paths.train", "paths.dev"} | {
    f"corpora.{split}.path" for split in ("train", "dev")
}

PACKAGES = ("spacy-hashembeds", "spacy", "thinc", "numpy")

HashFiles = Callable[[Sequence[Path]], str]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A config to train, a corpus, and a seed."""

    dataset: str  # the folder corpus/<dataset> with a file or folder for each split
    embedder: str
    seed: int = 0
    # of the config, as `spacy train` takes them
    overrides: Mapping[str, Any] = field(default_factory=dict)
    variant: str = "default"  # names the overrides, and keeps results apart
    gpu_id: int = -1
    root: Path = Path()  # the folder of the project

    def __post_init__(self) -> None:
        for name in ("dataset", "embedder", "variant"):
            value = getattr(self, name)
            if not re.fullmatch(r"\w[\w.-]{0,99}", value):
                raise ValueError(
                    f"'{name}' should be up to 100 letters, digits, '_', '-' and '.', "
                    f"since files are named after it, but is {quote(value)}."
                )
        check_integers(0, 2**32 - 1, seed=self.seed)
        check_integers(-1, gpu_id=self.gpu_id)
        if own := _OWN_SETTINGS & self.overrides.keys():
            names = ", ".join(sorted(own))
            raise ValueError(f"'seed' and 'dataset' set {names}: do not override them.")

    @property
    def name(self) -> str:
        """Its name among all trials: DATASET/EMBEDDER/VARIANT/seedSEED."""
        return f"{self.dataset}/{self.embedder}/{self.variant}/seed{self.seed}"

    @property
    def config(self) -> Path:
        """The config file."""
        return find_config(self.embedder, self.root)

    @property
    def corpus(self) -> dict[str, Path]:
        """The file of each split, train first."""
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
        """The JSON file of results, which is there once the trial is done."""
        return self.root / "metrics" / f"{self.name}.json"


def get_overrides(trial: Trial) -> dict[str, Any]:
    """Get all config settings that the trial changes but the paths of its corpus."""
    overrides = {"training.seed": trial.seed, **trial.overrides}
    if "nlp.lang" not in overrides:
        if trial.dataset not in DATASETS:
            raise ValueError(
                f"The language of corpus '{trial.dataset}' is unknown. Say which it "
                "is with the override nlp.lang, e.g. --nlp.lang de."
            )
        overrides["nlp.lang"] = DATASETS[trial.dataset].lang
    return overrides


def hash_files(paths: Sequence[Path]) -> str:
    """Hash files, one after the other."""
    hashed = hashlib.sha256()
    for path in paths:
        hashed.update(path.read_bytes())
    return hashed.hexdigest()


def identify(trial: Trial, hash_files: HashFiles = hash_files) -> dict[str, Any]:
    """Collect all that the results of a trial depend on, as JSON data.

    hash_files: One that remembers, where many trials have the same files.
    """
    inputs = identify_inputs(trial, hash_files)
    config = load_config(trial.config, overrides=get_overrides(trial))
    plain = config.interpolate()
    named = {"vectors_hash": _list_vectors(plain), "weights_hash": _list_weights(plain)}
    text = config.to_str(interpolate=False)
    return {
        **inputs,
        "config_hash": hashlib.sha256(text.encode("utf8")).hexdigest(),
        **{key: hash_files(files) for key, files in named.items() if files},
    }


def identify_inputs(trial: Trial, hash_files: HashFiles = hash_files) -> dict[str, Any]:
    """Collect what the results of a trial depend on, but for its config."""
    corpus = {split: _list_split(trial, split) for split in trial.corpus}
    return {
        "dataset": trial.dataset,
        "embedder": trial.embedder,
        "variant": trial.variant,
        "seed": trial.seed,
        "gpu_id": trial.gpu_id,
        "overrides": dict(trial.overrides),
        "corpus_hashes": {split: hash_files(files) for split, files in corpus.items()},
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
    }


def _list_split(trial: Trial, split: str) -> tuple[Path, ...]:
    """List the files of a split: a large one is a folder."""
    path = trial.corpus[split]
    files = [path] if path.is_file() else sorted(path.glob(f"*{FILE_TYPE}"))
    if not files:
        ours = f"python -m lab prepare {trial.dataset} -o {path.parent}"
        command = ours if trial.dataset in DATASETS else "spacy hashembeds prepare"
        raise FileNotFoundError(f"There is no '{path.absolute()}': run `{command}`.")
    return tuple(files)


def _list_vectors(config: Config) -> tuple[Path, ...]:
    """List the files of the vectors that a config uses, if it does."""
    if not (name := config.get("initialize", {}).get("vectors")):
        return ()
    path = get_package_path(name) if is_package(name) else Path(name)
    # a package has its pipeline in a folder of its own
    files = sorted([*path.glob("vocab/*"), *path.glob("*/vocab/*")])
    # spaCy would only warn of a pipeline that has none
    if not any(np.load(file).size for file in files if file.name == "vectors"):
        raise ValueError(
            "'paths.vectors' should be a folder made by `spacy init vectors`, or a "
            f"package installed by `spacy download`, but '{name}' has no vectors."
        )
    return tuple(files)


def _list_weights(config: Config) -> tuple[Path, ...]:
    """List the file of the weights that training begins with, if there are any."""
    if not (name := config.get("initialize", {}).get("init_tok2vec")):
        return ()
    if not (config.get("pretraining") and Path(name).is_file()):
        # without the section, spaCy would leave the weights out without a word
        raise ValueError(
            f"'initialize.init_tok2vec' is '{name}', but should be a file made by "
            "`spacy pretrain` (docs/pretraining.md), and the config should have the "
            "section [pretraining] that it was run with."
        )
    return (Path(name),)
