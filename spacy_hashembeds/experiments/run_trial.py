"""Run a trial: train a pipeline, evaluate it, record it."""

import json
import os
import platform
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any

from spacy.util import load_model

from ..analysis.sizes import (
    bytes_on_disk,
    count_embedding_parameters,
    count_pipeline_parameters,
)
from ..corpora.docbin import read_docs
from ..files import write_json
from .evaluation import evaluate_pipeline, measure_words_per_second
from .processes import locked, run_command
from .trial import Trial, get_overrides, hash_corpus, identify, read_done


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
        if hash_corpus(trial) != identity["corpus_hashes"]:
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
