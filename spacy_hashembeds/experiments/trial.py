"""One trial: train a pipeline from a config on a corpus, evaluate it, record it."""

import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from spacy.util import load_config, load_model
from thinc.api import Config

from ..analysis.sizes import (
    bytes_on_disk,
    count_embedding_parameters,
    count_pipeline_parameters,
)
from ..corpora.datasets import DATASETS
from ..corpora.docbin import read_docs
from ..files import write_json
from .evaluation import evaluate_pipeline, measure_words_per_second
from .processes import locked, run_command

#: Settings that are the trial's own, and what to give instead.
_OWN_SETTINGS = {
    "training.seed": "'seed'",
    "paths.train": "another 'dataset'",
    "paths.dev": "another 'dataset'",
}

PACKAGES = ("spacy-hashembeds", "spacy", "thinc", "numpy")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one trial trains, on what.

    dataset (str): A prepared corpus: the folder `corpus/<dataset>` with the files
        `train.spacy`, `dev.spacy` and, if there is one, `test.spacy`.
    embedder (str): A config: the file `configs/<embedder>.cfg`.
    seed (int): The seed of initial weights and of training.
    overrides (Mapping[str, Any]): Config settings to change, as `spacy train` takes
        them, e.g. `{"training.max_steps": 400}`.
    variant (str): A name for the overrides, which keeps their results apart.
    gpu_id (int): The GPU, or -1 for the CPU.
    root (Path): The folder of the project.
    RAISES (ValueError): If a name can't be that of a file, if the seed is none that
        numpy takes, or if an override is a setting that the trial makes itself.
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
            if not re.fullmatch(r"\w[\w.-]*", value):
                raise ValueError(
                    f"'{name}' should be letters, digits, '_', '-' and '.', since "
                    f"files are named after it, but is {value!r}."
                )
        if not 0 <= self.seed < 2**32:
            raise ValueError(
                f"'seed' should be from 0 to {2**32 - 1}, but is {self.seed}."
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
        """The config file."""
        return self.root / "configs" / f"{self.embedder}.cfg"

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


def run_trial(
    trial: Trial, *, on_output: Callable[[str], None] = lambda line: None
) -> tuple[dict[str, Any], bool]:
    """Train, evaluate and record a trial, unless that is done.

    Pipelines go to `training/`, results to `metrics/`. The results are written last,
    and whole: a trial that was interrupted leaves none, and starts again. A second
    process that is told to run the same trial waits for the first to end.

    on_output (Callable[[str], None]): Called with each line that `spacy train` prints.
    RAISES (FileNotFoundError): If the config or a split of the corpus is missing.
    RAISES (ValueError): If the language of the corpus is unknown.
    RAISES (RuntimeError): If training fails; names its log. Or if the corpus changed
        meanwhile.
    RETURNS (tuple[dict[str, Any], bool]): The results: what identifies the trial, the
        scores on each split but train (see `score_seen_unseen`), timings and sizes.
        And whether they are new: False if the trial was done before.
    """
    identity = identify(trial)
    wait = partial(on_output, "Another process runs this trial: waiting for its end.")
    with locked(trial.output / "trial.lock", on_wait=wait) as lock:
        done = read_done(trial, identity)
        if done is not None:
            return done, False
        identity = identify(trial)  # anew: we may have waited for hours
        train_seconds = _train(trial, on_output, lock)
        metrics = {**identity, **_measure(trial, train_seconds)}
        if _hash_corpus(trial) != identity["corpus_hashes"]:
            raise RuntimeError(
                f"The corpus {trial.dataset} changed while the trial ran. Run it again."
            )
        write_json(trial.metrics, metrics)
        return metrics, True


def read_done(trial: Trial, identity: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read the results of a trial that is done.

    identity (Mapping[str, Any]): What `identify` says of the trial now.
    RETURNS (dict[str, Any], optional): None if it has no results, or if they came from
        another config, corpus or version.
    """
    if not trial.metrics.is_file():
        return None
    try:
        metrics = json.loads(trial.metrics.read_text(encoding="utf8"))
    except ValueError:
        return None  # not ours, or damaged since: made anew
    is_same = all(metrics.get(key) == value for key, value in identity.items())
    return metrics if is_same else None


def identify(trial: Trial) -> dict[str, Any]:
    """Say all that the results of a trial depend on, as JSON data.

    RAISES (FileNotFoundError): If the config or a split of the corpus is missing.
    RAISES (ValueError): If the language of the corpus is unknown.
    """
    if not trial.config.is_file():
        raise FileNotFoundError(
            f"There is no config '{trial.config}' for the embedder '{trial.embedder}'."
        )
    for path in trial.corpus.values():
        if not path.is_file():
            raise FileNotFoundError(
                f"There is no '{path}'. Make it with "
                f"`spacy hashembeds prepare {trial.dataset} {path.parent}`."
            )
    config = load_trial_config(trial).to_str(interpolate=False)
    return {
        "dataset": trial.dataset,
        "embedder": trial.embedder,
        "variant": trial.variant,
        "seed": trial.seed,
        "gpu_id": trial.gpu_id,
        "overrides": dict(trial.overrides),
        "config_hash": hashlib.sha256(config.encode("utf8")).hexdigest(),
        "corpus_hashes": _hash_corpus(trial),
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
    }


def _hash_corpus(trial: Trial) -> dict[str, str]:
    return {
        split: hashlib.sha256(path.read_bytes()).hexdigest()
        for split, path in trial.corpus.items()
    }


def load_trial_config(trial: Trial) -> Config:
    """Load the config of a trial with its overrides, as `spacy train` does.

    RAISES (ValueError): If the language of the corpus is unknown, or if a section that
        an override names is not there.
    """
    return load_config(trial.config, overrides=_get_overrides(trial))


def _get_overrides(trial: Trial) -> dict[str, Any]:
    overrides = {"training.seed": trial.seed, **trial.overrides}
    if "nlp.lang" not in overrides:
        if trial.dataset not in DATASETS:
            raise ValueError(
                f"The language of corpus '{trial.dataset}' is unknown. Say which it "
                "is with the override --nlp.lang, e.g. --nlp.lang de."
            )
        overrides["nlp.lang"] = DATASETS[trial.dataset].lang
    return overrides


def _train(trial: Trial, on_output: Callable[[str], None], lock: int) -> float:
    """Run `spacy train` in a process of its own; give its time in seconds.

    It holds the lock too: should our process be killed, nobody else writes to the same
    folder before `spacy train` has noticed.
    """
    overrides = {
        "paths.train": trial.corpus["train"],
        "paths.dev": trial.corpus["dev"],
        **_get_overrides(trial),
    }
    command = [sys.executable, "-m", "spacy", "train", str(trial.config)]
    command += ["--output", str(trial.output), "--gpu-id", str(trial.gpu_id)]
    for key, value in overrides.items():
        # Text too: spaCy would take "10" for a number, and "--x" for another setting.
        command += [f"--{key}", json.dumps(value, default=str)]
    log = trial.output / "train.log"
    start = perf_counter()
    returncode = run_command(command, log=log, on_output=on_output, pass_fds=(lock,))
    if returncode != 0:
        raise RuntimeError(f"`spacy train` failed: its output is in '{log}'.")
    return perf_counter() - start


def _measure(trial: Trial, train_seconds: float) -> dict[str, Any]:
    """Score the best pipeline, time it and weigh it."""
    model = trial.output / "model-best"
    corpus = trial.corpus
    held_out = [split for split in corpus if split != "train"]
    scores = {
        split: evaluate_pipeline(
            model, corpus[split], corpus["train"], use_gpu=trial.gpu_id
        )
        for split in held_out
    }
    nlp = load_model(model)
    docs = list(read_docs(corpus[held_out[-1]], nlp.vocab))
    loaders = {"model": partial(load_model, model)}
    speed = measure_words_per_second(loaders, docs, rounds=3)["model"]
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "model": str(model),
        "scores": scores,
        "timings": {"train_seconds": train_seconds, "words_per_second": speed},
        "sizes": {
            "embedding_parameters": count_embedding_parameters(nlp),
            "pipeline_parameters": count_pipeline_parameters(nlp),
            "bytes_on_disk": bytes_on_disk(model),
        },
    }
