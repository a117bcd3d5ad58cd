"""Run a trial: train a pipeline, evaluate it, record it."""

import json
import os
import platform
import re
import sys
import textwrap
from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any

from spacy.language import DEFAULT_CONFIG, Language
from spacy.schemas import ConfigSchemaInit, ConfigSchemaTraining
from spacy.util import load_model, load_model_from_config, registry
from thinc.api import ConfigValidationError
from thinc.util import gpu_is_available

from spacy_hashembeds.acceleration.timing import measure_words_per_second
from spacy_hashembeds.analysis.measures import measure_sizes
from spacy_hashembeds.analysis.sizes import (
    bytes_on_disk,
    count_embedding_parameters,
    count_mixing_parameters,
    count_pipeline_parameters,
)
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.evaluate import evaluate_pipeline
from spacy_hashembeds.evaluation.tasks import TEXTCAT, find_classes, find_task
from spacy_hashembeds.files import write_json
from spacy_hashembeds.loading import load_config

from .processes import locked, run_command
from .recorded import check_settings, find_upgrades, read_done
from .trial import (
    Trial,
    get_overrides,
    hash_corpus,
    identify,
    load_trial_config,
)

# What is kept of the output of `spacy train`, to find in it why it failed.
_N_LAST_LINES = 100

# Characters of it that are shown, or of what spaCy says of a config.
_MAX_CAUSE = 500


def run_trial(
    trial: Trial,
    *,
    force: bool = False,
    on_output: Callable[[str], None] = lambda line: None,
) -> tuple[dict[str, Any], bool]:
    """Train, evaluate and record a trial, unless that is done.

    Pipelines go to `training/`, results to `metrics/`. Earlier results of the same
    name are removed before training, which overwrites their pipeline, unless they are
    of other settings or can't be read. The new ones are written last, and whole: a
    trial that was interrupted leaves none, and starts again. A second process that is
    told to run the same trial waits for the first to end.

    force (bool): Replace such results too, and their pipeline.
    on_output (Callable[[str], None]): Called with each line that `spacy train` prints,
        and before with why we wait, or run what was done under other versions.
    RAISES (FileNotFoundError): If the config or a split of the corpus is missing.
    RAISES (FileExistsError): If there are results that are not to be replaced (see
        `check_settings`).
    RAISES (ValueError): If the language of the corpus is unknown, if the config can't
        be used (see `check_config`), or if there is no GPU for it.
    RAISES (RuntimeError): If training fails; says why, and in a note where its log is.
        Or if the corpus changed meanwhile.
    RETURNS (tuple[dict[str, Any], bool]): The results: what identifies the trial, the
        scores on each split but train (see `evaluate_pipeline`), timings and sizes,
        those of each embedding table among them (see `TableSize`). And whether they
        are new: False if the trial was done before.
    """
    identity = identify(trial)
    wait = partial(on_output, "Another process runs this trial: waiting for its end.")
    with locked(trial.output / "trial.lock", on_wait=wait) as lock:
        done = read_done(trial, identity)
        if done is not None:
            return done, False
        identity = identify(trial)  # anew: we may have waited for hours
        check_gpu(trial.gpu_id)
        if not force:
            check_settings(trial, identity)
        check_config(trial)
        if upgrades := find_upgrades(trial, identity):
            on_output(f"Done before, under other versions: {upgrades}.")
        trial.metrics.unlink(missing_ok=True)  # their pipeline is about to go
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
    lines: deque[str] = deque(maxlen=_N_LAST_LINES)

    def note(line: str) -> None:
        lines.append(line.strip())
        on_output(line)

    start = perf_counter()
    returncode = run_command(command, log=log, on_output=note, pass_fds=(lock,))
    if returncode != 0:
        cause = _find_cause(returncode, lines).rstrip(".")
        error = RuntimeError(f"`spacy train` failed: {cause}.")
        error.add_note(f"Its output is in '{log}'.")
        raise error
    return perf_counter() - start


def _find_cause(returncode: int, lines: Iterable[str]) -> str:
    """Find the line of a log that says why the process ended."""
    if returncode < 0:
        return f"it was killed by signal {-returncode}"
    told = [line for line in lines if line]
    # Warnings may follow an exception, and its message may have several lines.
    exceptions = [line for line in told if re.match(r"[\w.]+(Error|Exception)\b", line)]
    last = (exceptions or told or [f"its exit code is {returncode}"])[-1]
    return textwrap.shorten(last, _MAX_CAUSE)


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
            "mixing_parameters": count_mixing_parameters(nlp),
            "tables": measure_sizes(nlp, corpus["train"]),
            "pipeline_parameters": count_pipeline_parameters(nlp),
            "bytes_on_disk": bytes_on_disk(model),
        },
    }


def check_gpu(gpu_id: int) -> None:
    """Check that there is a GPU, if one is to be used.

    RAISES (ValueError): If there is none.
    """
    if gpu_id >= 0 and not gpu_is_available():
        raise ValueError(
            f"'gpu_id' is {gpu_id}, but CuPy is not installed here or finds no GPU. "
            "Install it for your version of CUDA, e.g. pip install 'spacy[cuda12x]', "
            "or train on the CPU: --gpu-id -1."
        )


def check_config(trial: Trial) -> None:
    """Make the pipeline of a trial, untrained, to find what is wrong with its config.

    RAISES (ValueError): If a setting is unknown, a value or the language can't be used,
        vectors are to be used but not given, or it is not to be told what to score.
        Names the trial and its overrides.
    """
    try:
        _check_paths(trial)
        _check_parts(trial)
    except (ValueError, ImportError) as e:  # the latter for an unknown language
        overrides = ", ".join(trial.overrides)
        which = f", which overrides {overrides}," if overrides else ""
        cause = _describe(e)[:_MAX_CAUSE]
        message = f"The config of {trial.name}{which} can't be used. {cause}"
        raise ValueError(message) from e


def _describe(error: Exception) -> str:
    if isinstance(error, ConfigValidationError) and error.errors:
        # Its own text holds the whole config.
        return " ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}."
            for fault in error.errors
        )
    return str(error).strip()


def _check_paths(trial: Trial) -> None:
    config = load_config(trial.config)
    if "paths" not in config:
        raise ValueError("It has no section [paths], in which a trial sets the corpus.")
    known = config["paths"].keys() | DEFAULT_CONFIG["paths"].keys()
    for key in trial.overrides:
        # Another one would be set, and nothing would use it.
        if key.startswith("paths.") and key.removeprefix("paths.") not in known:
            raise ValueError(f"It has no '{key}', only {', '.join(sorted(known))}.")


def _check_parts(trial: Trial) -> None:
    config = load_trial_config(trial)
    config["paths"] |= {split: str(path) for split, path in trial.corpus.items()}
    for section in ("nlp", "training", "initialize"):
        # spaCy itself drops a setting that it doesn't know.
        for key in config.get(section, {}).keys() - DEFAULT_CONFIG[section].keys():
            raise ValueError(f"spaCy has no setting '{section}.{key}'.")
    nlp = load_model_from_config(config, auto_fill=True)
    config = nlp.config.interpolate()
    registry.resolve(config["training"], schema=ConfigSchemaTraining)
    registry.resolve(config["initialize"], schema=ConfigSchemaInit)
    registry.resolve({"corpora": config["corpora"]})
    if find_task(nlp) == TEXTCAT:
        find_classes(nlp)  # the only ones, or scores would come out as errors
    if _uses_vectors(nlp) and not config["initialize"]["vectors"]:
        raise ValueError("It has include_static_vectors = true, but no paths.vectors.")


def _uses_vectors(nlp: Language) -> bool:
    models = [getattr(pipe, "model", None) for _, pipe in nlp.pipeline]
    nodes = [node for model in models if model is not None for node in model.walk()]
    return any(node.name == "static_vectors" for node in nodes)
