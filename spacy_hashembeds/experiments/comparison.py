"""Trials side by side: one table, one JSON, one chart."""

import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from spacy.util import load_model
from spacy.vocab import Vocab

from ..acceleration.timing import measure_words_per_second
from ..corpora.docbin import read_docs
from ..evaluation.scorer import KINDS
from ..files import quote
from .metrics import read_metrics

Rows = list[dict[str, Any]]


def compare_trials(metrics: Sequence[Path], corpus: Path) -> Rows:
    """Compare trials on one corpus, and time their pipelines against each other.

    metrics (Sequence[Path]): The results of the trials, as `run_trial` writes them.
        The pipelines that they name must still be there.
    corpus (Path): The corpus to time the pipelines on, all in one run, in turns.
    RAISES (FileNotFoundError): If a file or a pipeline is missing.
    RAISES (ValueError): If a file holds something else, or if the trials are of
        different corpora, or none are given.
    RETURNS (list[dict[str, Any]]): For each trial a "name" that tells it from the
        others, its "embedder", "variant" and "seed"; for "all", "seen" and "unseen"
        entities of the last split the scores "p", "r", "f" (0 to 1, None where there
        are no entities) and their number "support"; "embedding_parameters",
        "bytes_on_disk" and "words_per_second".
    """
    trials = [_read_metrics(path) for path in metrics]
    _check_corpora(metrics, trials)
    speeds = _measure_speeds(trials, corpus)
    rows = [
        _make_row(trial, speed) for trial, speed in zip(trials, speeds, strict=True)
    ]
    return _name_rows(rows)


def _check_corpora(
    metrics: Sequence[str | Path], trials: Sequence[dict[str, Any]]
) -> None:
    """Refuse trials of several corpora, naming a file of each."""
    if not trials:
        raise ValueError("There should be trials to compare, but there are none.")
    files = {
        json.dumps(trial["corpus_hashes"]): f"'{path}' ({trial['dataset']})"
        for path, trial in zip(metrics, trials, strict=True)
    }
    if len(files) > 1:
        raise ValueError(
            "Only trials of one corpus can be compared, but these are of "
            f"{len(files)}: {', '.join(files.values())}."
        )


def _read_metrics(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no '{path}': run `spacy hashembeds trial` first."
        )
    metrics = read_metrics(path)
    model = metrics["model"]
    # Unlike Path.is_dir, this is false of what can't be a path at all.
    if not os.path.isdir(model):
        raise FileNotFoundError(
            f"The pipeline {quote(model)} of '{path}' is gone. Remove the file "
            "and run its trial again."
        )
    return metrics


def _measure_speeds(trials: Sequence[Mapping[str, Any]], corpus: Path) -> list[float]:
    loaders = {
        str(i): partial(load_model, trial["model"]) for i, trial in enumerate(trials)
    }
    speeds = measure_words_per_second(loaders, list(read_docs(corpus, Vocab())))
    return [speeds[name] for name in loaders]


def _make_row(trial: Mapping[str, Any], speed: float) -> dict[str, Any]:
    *_, scores = trial["scores"].values()
    row = {key: trial[key] for key in ("dataset", "embedder", "variant", "seed")}
    for kind, prefix in KINDS.items():
        row[kind] = {key: scores[f"{prefix}_{key}"] for key in "prf"}
        row[kind]["support"] = scores[f"{prefix}_support"]
    row["embedding_parameters"] = trial["sizes"]["embedding_parameters"]
    row["bytes_on_disk"] = trial["sizes"]["bytes_on_disk"]
    row["words_per_second"] = speed
    return row


def _name_rows(rows: Rows) -> Rows:
    """Name trials by their embedder, and by variant and seed where these differ."""
    differs = {key: len({row[key] for row in rows}) > 1 for key in ("variant", "seed")}
    for row in rows:
        row["name"] = row["embedder"]
        row["name"] += f" {row['variant']}" if differs["variant"] else ""
        row["name"] += f" seed {row['seed']}" if differs["seed"] else ""
    return rows
