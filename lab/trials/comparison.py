"""Trials side by side: one table, one JSON."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import get_current_ops, set_current_ops

from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.conversion import find_convertible
from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.loading import load_config, load_trained
from spacy_hashembeds.tools.evaluate.categories import EXCLUSIVE, SUPPORT
from spacy_hashembeds.tools.evaluate.sources import TEXTCAT
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.scorer import KINDS

from ..machine import find_disturbances, watch_machine
from .ratios import compute_ratios
from .results import SIZES, get_task, parse_metrics
from .sizes import bytes_on_disk

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
    trials = [read_trial(path) for path in metrics]
    kinds = {json.dumps([trial["corpus_hashes"], get_task(trial)]) for trial in trials}
    if len(kinds) != 1:
        raise ValueError(
            "Only trials on the same files of one corpus, and with the same kind of "
            f"scores, can be compared, but these are of {len(kinds)} kinds: "
            f"{', '.join(map(str, metrics))}."
        )
    docs = list(read_docs(corpus, Vocab()))
    rows = _name_rows([_make_row(trial) for trial in trials], metrics)
    models = [Path(trial["model"]) for trial in trials]
    with TemporaryDirectory() as folder:
        if accelerated:
            rows, models = _add_accelerated(rows, models, docs, Path(folder))
        with watch_machine() as machine:
            # a pipeline that was loaded before may have chosen a BLAS for the process
            ops = get_current_ops()

            def load(model: Path) -> Language:
                set_current_ops(ops)
                return load_trained(model)

            loaders = {str(i): partial(load, model) for i, model in enumerate(models)}
            try:
                timed = measure_speeds(loaders, docs, progress=progress)
            finally:
                set_current_ops(ops)
    speeds = [timed[name] for name in loaders]
    first = rows[0]
    for row, speed in zip(rows, speeds, strict=True):
        row["words_per_second"] = speed.median
        row["words_per_second_quartiles"] = list(speed.quartiles)
        row["times_as_fast"] = speed.median / speeds[0].median
        row |= compute_ratios(*({**of, "score": _get_score(of)} for of in (row, first)))
    return {
        "dataset": first["dataset"],
        "machine": machine,
        "disturbances": find_disturbances(machine, {first["name"]: speeds[0]}),
        "rows": rows,
    }


def read_trial(path: Path) -> dict[str, Any]:
    """Read the file of a trial, whose pipeline should be there."""
    metrics = parse_metrics(path.read_text(encoding="utf8"), f"'{path}'")
    if not Path(metrics["model"]).is_dir():
        raise FileNotFoundError(
            f"The pipeline '{metrics['model']}' of '{path}' is gone. Remove the file "
            "and run its trial again."
        )
    return metrics


def _add_accelerated(
    rows: Rows, models: Sequence[Path], docs: Sequence[Doc], folder: Path
) -> tuple[Rows, list[Path]]:
    all_rows, all_models = [], []
    for number, (row, model) in enumerate(zip(rows, models, strict=True)):
        all_rows.append(row)
        all_models.append(model)
        places, _ = find_convertible(load_config(model / "config.cfg"))
        if places:
            fast = folder / str(number)
            accelerate_folder(model, fast, docs, rounds=1)
            name = f"{row['name']} accelerated"
            own = {"accelerated": True, "bytes_on_disk": bytes_on_disk(fast)}
            all_rows.append({**row, "name": name, **own})
            all_models.append(fast)
    if len(all_rows) == len(rows):
        raise ValueError(
            "There should be a pipeline with spaCy's layers to accelerate, but there "
            f"is none among {', '.join(row['name'] for row in rows)}. Train one, such "
            "as spacy_stock, or leave out --accelerate."
        )
    return all_rows, all_models


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


def _get_score(row: Mapping[str, Any]) -> float | None:
    return row["accuracy"] if "accuracy" in row else row["all"]["f"]


def _name_rows(rows: Rows, metrics: Sequence[Path]) -> Rows:
    differs = {key: len({row[key] for row in rows}) > 1 for key in ("variant", "seed")}
    trials = {(row["embedder"], row["variant"], row["seed"]) for row in rows}
    for row, path in zip(rows, metrics, strict=True):
        row["name"] = row["embedder"]
        row["name"] += f" {row['variant']}" if differs["variant"] else ""
        row["name"] += f" seed {row['seed']}" if differs["seed"] else ""
        row["name"] += f" ({path})" if len(trials) < len(rows) else ""
    return rows
