"""Trials side by side: one table, one JSON."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import get_current_ops, set_current_ops

from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.conversion import find_convertible
from spacy_hashembeds.acceleration.machine import find_disturbances, watch_machine
from spacy_hashembeds.acceleration.timing import Speed, measure_speeds
from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.categories import EXCLUSIVE, SUPPORT, name_accuracy
from spacy_hashembeds.evaluation.scorer import KINDS
from spacy_hashembeds.evaluation.tasks import NER, TEXTCAT
from spacy_hashembeds.files import bytes_on_disk, quote, temporary_folder
from spacy_hashembeds.loading import load_config, load_trained

from .metrics import SIZES, get_task, read_metrics
from .ratios import compute_ratios

Rows = list[dict[str, Any]]

#: What a row has of the scores of a text classifier, by their names in a trial.
_CATEGORIES = {
    "accuracy": "cats_acc",
    "macro_f": "cats_macro_f",
    "micro_f": "cats_micro_f",
    "documents": SUPPORT,
    "exclusive": EXCLUSIVE,
}

#: Hands the rounds of timing on, and shows how far they are.
ShowProgress = Callable[[Sequence[int]], Iterable[int]]


def compare_trials(
    metrics: Sequence[Path],
    corpus: Path,
    *,
    accelerated: bool = False,
    progress: ShowProgress = lambda rounds: rounds,
) -> dict[str, Any]:
    """Compare trials on one corpus, and time their pipelines against each other.

    Scores are those of the last split, of entities or `_CATEGORIES`.

    metrics: The files of the trials, whose pipelines must still be there.
    corpus: The corpus to time the pipelines on, all in one run, in turns.
    accelerated: Adds each pipeline with spaCy's layers once more, accelerated, and
        checked for equal predictions on this corpus.
    """
    trials = [_read_metrics(path) for path in metrics]
    _check_alike(metrics, trials)
    docs = list(read_docs(corpus, Vocab()))
    rows = _name_rows([_make_row(trial) for trial in trials], metrics)
    models = [Path(trial["model"]) for trial in trials]
    with temporary_folder() as folder:
        if accelerated:
            rows, models = _add_accelerated(rows, models, docs, folder)
        with watch_machine() as machine:
            speeds = _measure_models(models, docs, progress)
    _add_measures(rows, speeds)
    return {
        "dataset": rows[0]["dataset"],
        "machine": machine,
        "disturbances": find_disturbances(machine, {rows[0]["name"]: speeds[0]}),
        "rows": rows,
    }


def find_models(metrics: Sequence[Path]) -> list[Path]:
    """Give the pipelines of trials, checked as `compare_trials` does."""
    return [Path(_read_metrics(path)["model"]) for path in metrics]


def _check_alike(metrics: Sequence[Path], trials: Sequence[dict[str, Any]]) -> None:
    if not trials:
        raise ValueError("There should be trials to compare, but there are none.")
    # a file of each
    corpora: dict[str, str] = {}
    tasks: dict[str, Path] = {}
    for path, trial in zip(metrics, trials, strict=True):
        corpora[json.dumps(trial["corpus_hashes"])] = f"'{path}' ({trial['dataset']})"
        tasks[get_task(trial)] = path
    if len(corpora) > 1:
        raise ValueError(
            "Only trials of one corpus can be compared, but these are of "
            f"{len(corpora)}: {', '.join(corpora.values())}."
        )
    if len(tasks) > 1:
        raise ValueError(
            "Only trials with the same scores can be compared, but those of "
            f"'{tasks[NER]}' are of entities, and those of '{tasks[TEXTCAT]}' of "
            "categories."
        )


def _read_metrics(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file '{path}': run `python -m lab trial`, and give its file."
        )
    metrics = read_metrics(path)
    # unlike Path.is_dir, this is false of what can't be a path at all
    if not os.path.isdir(metrics["model"]):
        raise FileNotFoundError(
            f"The pipeline {quote(metrics['model'])} of '{path}' is gone. Remove the "
            "file and run its trial again."
        )
    return metrics


def _add_accelerated(
    rows: Rows, models: Sequence[Path], docs: Sequence[Doc], folder: Path
) -> tuple[Rows, list[Path]]:
    all_rows: Rows = []
    all_models = []
    for number, (row, model) in enumerate(zip(rows, models, strict=True)):
        all_rows.append(row)
        all_models.append(model)
        if find_convertible(load_config(model / "config.cfg")):
            fast = folder / str(number)
            accelerate_folder(model, fast, docs, rounds=1)
            all_rows.append(
                {
                    **row,
                    "name": f"{row['name']} accelerated",
                    "accelerated": True,
                    "bytes_on_disk": bytes_on_disk(fast),
                }
            )
            all_models.append(fast)
    if len(all_rows) == len(rows):
        raise ValueError(
            "There should be a pipeline with spaCy's layers to accelerate, but there "
            f"is none among {', '.join(row['name'] for row in rows)}. Train one, such "
            "as spacy_stock, or leave out --accelerate."
        )
    return all_rows, all_models


def _measure_models(
    models: Sequence[Path], docs: Sequence[Doc], progress: ShowProgress
) -> list[Speed]:
    """Measure how fast saved pipelines annotate, side by side: see `measure_speeds`."""
    ops = get_current_ops()

    def load(model: Path) -> Language:
        # one that was loaded before may have chosen a BLAS for the whole process
        set_current_ops(ops)
        return load_trained(model)

    loaders = {str(i): partial(load, model) for i, model in enumerate(models)}
    try:
        speeds = measure_speeds(loaders, docs, progress=progress)
    finally:
        set_current_ops(ops)
    return [speeds[name] for name in loaders]


def _make_row(trial: Mapping[str, Any]) -> dict[str, Any]:
    *_, scores = trial["scores"].values()
    row = {key: trial[key] for key in ("dataset", "embedder", "variant", "seed")}
    row["accelerated"] = False
    if get_task(trial) == TEXTCAT:
        row |= {key: scores.get(name) for key, name in _CATEGORIES.items()}
    else:
        for kind, prefix in KINDS.items():
            keys = ("p", "r", "f", "support")
            row[kind] = {key: scores.get(f"{prefix}_{key}") for key in keys}
    return row | {key: trial["sizes"].get(key) for key in SIZES}


def is_of_categories(comparison: Mapping[str, Any]) -> bool:
    """Say whether what `compare_trials` returned is of text classifiers."""
    return "accuracy" in comparison["rows"][0]


def name_accuracies(comparison: Mapping[str, Any]) -> str:
    """Say what the "accuracy" of text classifiers is, as `name_accuracy` does."""
    # of documents that have one label each, accuracy is an exact match too
    exclusive = all(row["exclusive"] for row in comparison["rows"])
    return name_accuracy({EXCLUSIVE: exclusive})


def _add_measures(rows: Rows, speeds: Sequence[Speed]) -> None:
    """Add its speed to each row, and its ratios to the first one."""
    scores = [r["accuracy"] if "accuracy" in r else r["all"]["f"] for r in rows]
    measured = [{**r, "score": score} for r, score in zip(rows, scores, strict=True)]
    for row, own, speed in zip(rows, measured, speeds, strict=True):
        row["words_per_second"] = speed.median
        row["words_per_second_quartiles"] = list(speed.quartiles)
        row["times_as_fast"] = speed.median / speeds[0].median
        row |= compute_ratios(own, measured[0])


def _name_rows(rows: Rows, metrics: Sequence[Path]) -> Rows:
    differs = {key: len({row[key] for row in rows}) > 1 for key in ("variant", "seed")}
    trials = {(row["embedder"], row["variant"], row["seed"]) for row in rows}
    for row, path in zip(rows, metrics, strict=True):
        row["name"] = row["embedder"]
        row["name"] += f" {row['variant']}" if differs["variant"] else ""
        row["name"] += f" seed {row['seed']}" if differs["seed"] else ""
        row["name"] += f" ({path})" if len(trials) < len(rows) else ""
    return rows
