"""Run a trial: train a pipeline, evaluate it, record it."""

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

from .processes import locked, run_command
from .scores import score_pipeline
from .sizes import measure_sizes
from .trial import Trial, get_overrides, identify

# Characters that are shown of what spaCy says of a config.
_MAX_CAUSE = 250


def run_trial(
    trial: Trial,
    *,
    force: bool = False,
    on_output: Callable[[str], None] = lambda line: None,
) -> tuple[dict[str, Any], bool]:
    """Train, evaluate and record a trial, unless that is done: see `record_trial`."""

    def check() -> None:
        check_gpu(trial.gpu_id)
        check_config(trial)

    def train(lock: int) -> dict[str, Any]:
        seconds = _train(trial, on_output, lock)
        model, split = trial.output / "model-best", list(trial.corpus)[-1]
        docs = list(read_docs(trial.corpus[split], Vocab()))
        speeds = measure_speeds({"model": partial(load_model, model)}, docs, rounds=3)
        words_per_second = speeds["model"].median
        return measure_model(
            trial, {"train_seconds": seconds, "words_per_second": words_per_second}
        )

    return record_trial(
        trial,
        identify=partial(identify, trial),
        check=check,
        train=train,
        force=force,
        on_output=on_output,
    )


def record_trial(
    trial: Trial,
    *,
    identify: Callable[[], dict[str, Any]],
    check: Callable[[], object],
    train: Callable[[int], dict[str, Any]],
    force: bool,
    on_output: Callable[[str], None],
) -> tuple[dict[str, Any], bool]:
    """Train and record a trial, unless that is done; return whether it was not.

    Results are written last, and whole, and earlier ones are removed before training: a
    trial that was interrupted leaves none, and starts again. A second process that is
    told to run the same trial waits for the first to end.

    identify: Returns what results depend on.
    check: Finds what is wrong before anything is replaced.
    train: Trains, given the lock to be held, and measures what it has trained.
    """
    wait = partial(on_output, "Another process runs this trial: waiting for its end.")
    identify()  # or there would be a folder for a trial that can't be run
    with locked(trial.output / "trial.lock", on_wait=wait) as lock:
        identity = identify()
        results, differences = read_recorded(trial, identity, force=force)
        if results is not None:
            return results, False
        check()
        if differences:
            on_output(f"Replaces earlier results: {'; '.join(differences)}.")
        trial.metrics.unlink(missing_ok=True)  # their pipeline is about to go
        metrics = {**identity, **train(lock)}
        if identify()["corpus_hashes"] != identity["corpus_hashes"]:
            raise RuntimeError(
                f"The corpus {trial.dataset} changed while the trial ran. Run it again."
            )
        write_json(trial.metrics, metrics)
        return metrics, True


def read_recorded(
    trial: Trial, identity: Mapping[str, Any], *, force: bool = False
) -> tuple[dict[str, Any] | None, list[str]]:
    """Read the results of a trial if it is done, else how those that are there differ.

    Results of other settings may be replaced with `force` only, those that came from
    other versions of packages always: a sweep goes on after an upgrade.
    """
    try:
        results = read_json(trial.metrics)
    except FileNotFoundError:
        return None, []
    except ValueError as e:
        differences = [f"they can't be read ({e})"]
    else:
        differences = list(_compare(results, identity))
        if not differences:
            return results, []
    is_upgrade = all(name.startswith("versions.") for name in differences)
    if not (is_upgrade or force):
        raise FileExistsError(
            f"'{trial.metrics}' has results of other settings: "
            f"{'; '.join(differences)}. A run would replace them and their pipelines. "
            "Give your settings another variant, or replace what is there with --force."
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
            # a hash says nothing, and of long values what is shown may be alike
            is_long = "hash" in key or len(before) + len(after) > _MAX_CAUSE
            what = "another" if is_long else f"{before}, and is {after}"
            yield f"{key} was {what}"


def _train(trial: Trial, on_output: Callable[[str], None], lock: int) -> float:
    """Run `spacy train` in a process of its own, and return its time in seconds.

    It holds the lock too: should our process be killed, nobody else writes to the same
    folder before `spacy train` has noticed.
    """
    overrides = {
        "paths.train": trial.corpus["train"],
        "paths.dev": trial.corpus["dev"],
        **get_overrides(trial),
    }
    command = [sys.executable, "-m", "spacy", "train", str(trial.config)]
    command += ["--output", str(trial.output), "--gpu-id", str(trial.gpu_id)]
    for key, value in overrides.items():
        # Text too: spaCy would take "10" for a number, and "--x" for another setting.
        command += [f"--{key}", json.dumps(value, default=str)]
    path = trial.output / "train.log"
    start = perf_counter()
    with path.open("w", encoding="utf8") as log:
        cause = run_command(command, log, on_output=on_output, pass_fds=(lock,))
    if cause is not None:
        raise RuntimeError(f"`spacy train` failed: {cause}. Its output is in '{path}'.")
    return perf_counter() - start


def measure_model(trial: Trial, timings: Mapping[str, float]) -> dict[str, Any]:
    """Score the best pipeline and measure its size."""
    model = trial.output / "model-best"
    train, *held_out = trial.corpus.values()
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
        "timings": dict(timings),
        "sizes": measure_sizes(model, train),
    }


def check_gpu(gpu_id: int) -> None:
    """Check that there is a GPU, if one is to be used."""
    if gpu_id >= 0 and not gpu_is_available():
        raise ValueError(
            f"'gpu_id' is {gpu_id}, but CuPy is not installed here or finds no GPU. "
            "Install it for your version of CUDA, e.g. pip install 'spacy[cuda12x]', "
            "or train on the CPU: --gpu-id -1."
        )


def check_config(trial: Trial) -> None:
    """Make the pipeline of a trial, untrained, to find what is wrong with it."""
    try:
        _check_parts(trial)
    except (ValueError, ImportError) as e:  # the latter for an unknown language
        overrides = ", ".join(trial.overrides)[:_MAX_CAUSE] or "nothing"
        cause = " ".join(str(e).split())[:_MAX_CAUSE]  # of spaCy, holds the config
        raise ValueError(
            f"The config {trial.embedder}, which overrides {overrides}, can't be used. "
            f"{cause}"
        ) from e


def _check_parts(trial: Trial) -> None:
    paths = {f"paths.{split}": str(path) for split, path in trial.corpus.items()}
    config = load_config(trial.config, {**paths, **get_overrides(trial)})
    own = {"paths": load_config(trial.config)["paths"].keys() | trial.corpus.keys()}
    for section in ("nlp", "training", "initialize", "paths"):
        # spaCy itself drops a setting that it doesn't know
        known = DEFAULT_CONFIG[section].keys() | own.get(section, set())
        for key in config.get(section, {}).keys() - known:
            raise ValueError(f"There is no setting '{section}.{key}'.")
    nlp = load_model_from_config(config, auto_fill=True)
    config = nlp.config.interpolate()
    registry.resolve(config["training"], schema=ConfigSchemaTraining)
    registry.resolve(config["initialize"], schema=ConfigSchemaInit)
    registry.resolve({"corpora": config["corpora"]})
    if find_task(nlp) == TEXTCAT:
        find_classes(nlp)  # the only ones, or scores would come out as errors
    nodes = (node for _, model in find_models(nlp) for node in model.walk())
    uses_vectors = any(node.name == "static_vectors" for node in nodes)
    if uses_vectors and not config["initialize"]["vectors"]:
        raise ValueError("It has include_static_vectors = true, but no paths.vectors.")
