"""Run a trial: train a pipeline, evaluate it, and record the results."""

import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any

from spacy.language import DEFAULT_CONFIG
from spacy.schemas import ConfigSchemaInit, ConfigSchemaTraining
from spacy.util import load_model, load_model_from_config, registry, walk_dict
from spacy.vocab import Vocab

from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.files import read_json, write_json
from spacy_hashembeds.loading import load_config
from spacy_hashembeds.thinc_internals import gpu_is_available
from spacy_hashembeds.tools.analyze.embedders import find_models
from spacy_hashembeds.tools.evaluate.sources import TEXTCAT, find_classes, find_task
from spacy_hashembeds.training.docbin import read_docs

from .processes import run_command
from .scores import score_pipeline
from .sizes import measure_sizes
from .trial import Trial, get_overrides, identify

# Maximum length of quoted errors and values.
_MAX_CAUSE = 250


def run_trial(
    trial: Trial,
    *,
    force: bool = False,
    on_output: Callable[[str], None] = lambda line: None,
) -> tuple[dict[str, Any], bool]:
    """Train, evaluate and record a trial by `record_trial`."""

    def check() -> None:
        check_gpu(trial.gpu_id)
        check_config(trial)

    def train(lock: int) -> dict[str, Any]:
        return measure_model(trial, {"train_seconds": _train(trial, on_output, lock)})

    settings: Any = {"force": force, "on_output": on_output}
    return record_trial(trial, partial(identify, trial), check, train, **settings)


def record_trial(
    trial: Trial,
    identify: Callable[[], dict[str, Any]],
    check: Callable[[], object],
    train: Callable[[int], dict[str, Any]],
    *,
    force: bool,
    on_output: Callable[[str], None],
) -> tuple[dict[str, Any], bool]:
    """Train and record a trial if it is not done. Return the results, and True if new.

    Old results are removed before training. If another process runs the same trial,
    wait for its end.

    identify: Return the inputs of the results.
    check: Raise an error if the trial can't be trained.
    train: Train a pipeline, with the descriptor of the lock, and measure it.
    """
    import fcntl  # not on Windows

    trial.output.mkdir(parents=True, exist_ok=True)
    with (trial.output / "trial.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        identity = identify()
        results, differences = read_recorded(trial, identity, force=force)
        if results is not None:
            return results, False
        check()
        if differences:
            on_output(f"Replaces earlier results: {'; '.join(differences)}.")
        trial.metrics.unlink(missing_ok=True)
        metrics = {**identity, **train(lock.fileno())}
        write_json(trial.metrics, metrics)
        return metrics, True


def read_recorded(
    trial: Trial, identity: Mapping[str, Any], *, force: bool = False
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the results of a trial if it is done, else the differences of old results.

    Only `force` replaces results of other settings. Results of other versions of
    packages are always replaced.
    """
    if not trial.metrics.exists():
        return None, []
    results = read_json(trial.metrics)
    differences = list(_compare(results, identity))
    if not differences:
        return results, []
    is_upgrade = all(name.startswith("versions.") for name in differences)
    if not (is_upgrade or force):
        raise FileExistsError(
            f"'{trial.metrics}' has results of other settings: "
            f"{'; '.join(differences)}. A run would replace them and their pipelines. "
            "Give your settings another variant, or replace the results with --force."
        )
    return None, differences


def _compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    was, now = (
        {
            ".".join(keys): json.dumps(value, sort_keys=True)
            for keys, value in walk_dict({key: of[key] for key in new if key in of})
        }
        for of in (old, new)
    )
    for key in {**now, **was}:
        before, after = (each.get(key, "not set") for each in (was, now))
        if before != after:
            # hashes and long values are not shown
            is_long = "hash" in key or len(before) + len(after) > _MAX_CAUSE
            yield f"{key} differs" if is_long else f"{key} was {before}, and is {after}"


def _train(trial: Trial, on_output: Callable[[str], None], lock: int) -> float:
    """Run `spacy train`, and return its seconds.

    The process keeps the lock if this one is killed.
    """
    paths = {f"paths.{split}": trial.corpus[split] for split in ("train", "dev")}
    command = [sys.executable, "-m", "spacy", "train", str(trial.config)]
    command += ["--output", str(trial.output), "--gpu-id", str(trial.gpu_id)]
    for key, value in {**paths, **get_overrides(trial)}.items():
        # without quotes, spaCy would parse the string "10" as a number
        command += [f"--{key}", json.dumps(value, default=str)]
    path = trial.output / "train.log"
    start = perf_counter()
    with path.open("w", encoding="utf8") as log:
        cause = run_command(command, log, on_output=on_output, pass_fds=(lock,))
    if cause is not None:
        raise RuntimeError(f"`spacy train` failed: {cause}. Its output is in '{path}'.")
    return perf_counter() - start


def measure_model(trial: Trial, timings: Mapping[str, float]) -> dict[str, Any]:
    """Score the best pipeline, and measure its size and speed."""
    model = trial.output / "model-best"
    train, *held_out = trial.corpus.values()
    docs = list(read_docs(held_out[-1], Vocab()))
    speeds = measure_speeds({"model": partial(load_model, model)}, docs, rounds=3)
    scored = {
        path.stem: score_pipeline(model, path, train, use_gpu=trial.gpu_id)
        for path in held_out
    }
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "model": str(model),
        "scores": {split: scores for split, (scores, _) in scored.items()},
        "joined": {split: joined for split, (_, joined) in scored.items()},
        "timings": {**timings, "words_per_second": speeds["model"].median},
        "sizes": measure_sizes(model, train),
    }


def check_gpu(gpu_id: int) -> None:
    """Check that CuPy finds a GPU, if an ID is given."""
    if gpu_id >= 0 and not gpu_is_available():
        raise ValueError(
            f"'gpu_id' is {gpu_id}, but CuPy is not installed or finds no GPU. Run "
            "pip install 'spacy[cuda12x]', or train on the CPU: --gpu-id -1."
        )


def check_config(trial: Trial) -> None:
    """Check the config of a trial by making the untrained pipeline."""
    try:
        _check_parts(trial)
    except (ValueError, ImportError) as e:  # ImportError: an unknown language
        overrides = ", ".join(trial.overrides)[:_MAX_CAUSE] or "none"
        cause = " ".join(str(e).split())[:_MAX_CAUSE]
        raise ValueError(
            f"The config {trial.embedder} with the overrides {overrides} is invalid. "
            f"{cause}"
        ) from e


def _check_parts(trial: Trial) -> None:
    paths = {f"paths.{split}": str(path) for split, path in trial.corpus.items()}
    config = load_config(trial.config, {**paths, **get_overrides(trial)})
    own = {"paths": load_config(trial.config)["paths"].keys() | trial.corpus.keys()}
    for section in ("nlp", "training", "initialize", "paths"):
        # spaCy would silently drop unknown settings
        known = DEFAULT_CONFIG[section].keys() | own.get(section, set())
        for key in config.get(section, {}).keys() - known:
            raise ValueError(f"There is no setting '{section}.{key}'.")
    nlp = load_model_from_config(config, auto_fill=True)
    config = nlp.config.interpolate()
    registry.resolve(config["training"], schema=ConfigSchemaTraining)
    registry.resolve(config["initialize"], schema=ConfigSchemaInit)
    registry.resolve({"corpora": config["corpora"]})
    if find_task(nlp) == TEXTCAT:
        find_classes(nlp)  # raises an error if there are several classifiers
    nodes = (node for _, model in find_models(nlp) for node in model.walk())
    uses_vectors = any(node.name == "static_vectors" for node in nodes)
    if uses_vectors and not config["initialize"]["vectors"]:
        raise ValueError("It has include_static_vectors = true, but no paths.vectors.")
