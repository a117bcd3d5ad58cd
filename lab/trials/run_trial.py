"""Run a trial: train a pipeline, evaluate it, record it."""

import json
import os
import platform
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any

from spacy.language import DEFAULT_CONFIG
from spacy.schemas import ConfigSchemaInit, ConfigSchemaTraining
from spacy.util import load_model, load_model_from_config, registry
from spacy.vocab import Vocab
from thinc.api import ConfigValidationError

from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.analysis.pipelines import find_models
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.tasks import TEXTCAT, find_classes, find_task
from spacy_hashembeds.files import bytes_on_disk, write_json
from spacy_hashembeds.loading import load_config
from spacy_hashembeds.thinc_internals import gpu_is_available

from .processes import locked, run_command
from .recorded import read_recorded
from .scores import evaluate_pipeline, score_joined
from .sizes import (
    count_embedding_parameters,
    count_mixing_parameters,
    count_pipeline_parameters,
    measure_sizes,
)
from .trial import Trial, get_overrides, identify

# Characters that are shown of what spaCy says of a config.
_MAX_CAUSE = 250


def run_trial(
    trial: Trial,
    *,
    force: bool = False,
    on_output: Callable[[str], None] = lambda line: None,
) -> tuple[dict[str, Any], bool]:
    """Train, evaluate and record a trial, unless that is done; say whether it was not:
    see `record_trial`.
    """

    def check() -> None:
        check_gpu(trial.gpu_id)
        check_config(trial)

    def train(lock: int) -> dict[str, Any]:
        seconds = _train(trial, on_output, lock)
        timings = {"train_seconds": seconds, "words_per_second": time_model(trial)}
        return measure_model(trial, timings)

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
    """Train and record a trial, unless that is done; say whether it was not.

    Results are written last, and whole, and earlier ones are removed before training: a
    trial that was interrupted leaves none, and starts again. A second process that is
    told to run the same trial waits for the first to end.

    identify: Says what results depend on.
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


def _train(trial: Trial, on_output: Callable[[str], None], lock: int) -> float:
    """Run `spacy train` in a process of its own; give its time in seconds.

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


def time_model(trial: Trial) -> float:
    """Time the best pipeline on the last split: words a second."""
    model, split = trial.output / "model-best", list(trial.corpus)[-1]
    docs = list(read_docs(trial.corpus[split], Vocab()))
    loaders = {"model": partial(load_model, model)}
    return measure_speeds(loaders, docs, rounds=3)["model"].median


def measure_model(trial: Trial, timings: Mapping[str, float]) -> dict[str, Any]:
    """Score the best pipeline and weigh it.

    timings: What training has taken, and words a second.
    """
    model = trial.output / "model-best"
    corpus = trial.corpus
    held_out = [split for split in corpus if split != "train"]
    train, use_gpu = corpus["train"], trial.gpu_id
    scores, joined = (
        {
            split: score(model, corpus[split], train, use_gpu=use_gpu)
            for split in held_out
        }
        for score in (evaluate_pipeline, score_joined)
    )
    nlp = load_model(model)
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "model": str(model),
        "scores": scores,
        "joined": joined,
        "timings": dict(timings),
        "sizes": {
            "embedding_parameters": count_embedding_parameters(nlp),
            "mixing_parameters": count_mixing_parameters(nlp),
            "tables": measure_sizes(nlp, corpus["train"]),
            "pipeline_parameters": count_pipeline_parameters(nlp),
            "bytes_on_disk": bytes_on_disk(model),
        },
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
        cause = str(e).strip()
        if isinstance(e, ConfigValidationError) and e.errors:
            # its own text holds the whole config
            faults = (f"{'.'.join(map(str, x['loc']))}: {x['msg']}." for x in e.errors)
            cause = " ".join(faults)
        overrides = ", ".join(trial.overrides)[:_MAX_CAUSE] or "nothing"
        raise ValueError(
            f"The config {trial.embedder}, which overrides {overrides}, can't be used. "
            f"{cause[:_MAX_CAUSE]}"
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
