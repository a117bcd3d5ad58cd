"""Comparisons of trials, as tables or JSON."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import set_current_ops

from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.blas import keeping_ops
from spacy_hashembeds.acceleration.conversion import find_convertible
from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.files import read_json
from spacy_hashembeds.loading import load_config, load_trained
from spacy_hashembeds.training.docbin import read_docs

from ..machine import find_disturbances, watch_machine
from .ratios import compute_ratios
from .results import SIZES, get_task
from .sizes import bytes_on_disk

Rows = list[dict[str, Any]]


def compare_trials(
    metrics: Sequence[Path],
    corpus: Path,
    *,
    accelerated: bool = False,
    progress: Callable[[Sequence[int]], Iterable[int]] = lambda rounds: rounds,
) -> dict[str, Any]:
    """Compare the scores of trials on the last split, and time pipelines in turns.

    metrics: The files of the trials, whose pipelines must exist.
    corpus: The corpus for timing the pipelines.
    accelerated: Add an accelerated copy of each pipeline with spaCy's layers.
    progress: Yields the rounds of timing, and shows progress.
    """
    trials = [read_json(path) for path in metrics]
    kinds = {json.dumps([trial["corpus_hashes"], get_task(trial)]) for trial in trials}
    if len(kinds) != 1:
        raise ValueError(
            "The trials to compare should have the same files of one corpus, and the "
            f"same kind of scores: {', '.join(map(str, metrics))}."
        )
    docs = list(read_docs(corpus, Vocab()))
    rows = _make_rows(trials)
    with TemporaryDirectory() as folder, keeping_ops() as ops:
        if accelerated:
            rows = [*_add_accelerated(rows, docs, Path(folder))]
        with watch_machine() as machine:
            models = {str(i): row.pop("folder") for i, row in enumerate(rows)}
            loaders = {i: partial(_load, ops, model) for i, model in models.items()}
            timed = measure_speeds(loaders, docs, progress=progress)
    speeds = [timed[name] for name in loaders]
    for row, speed in zip(rows, speeds, strict=True):
        row["words_per_second"] = speed.median
        row["words_per_second_quartiles"] = list(speed.quartiles)
        row["times_as_fast"] = speed.median / speeds[0].median
        row |= compute_ratios(row, rows[0])
    return {
        "dataset": rows[0]["dataset"],
        "machine": machine,
        "disturbances": find_disturbances(machine, {rows[0]["name"]: speeds[0]}),
        "rows": rows,
    }


def _load(ops: Any, model: str) -> Language:
    set_current_ops(ops)  # pipelines may have replaced them
    return load_trained(model)


def _make_rows(trials: Sequence[Mapping[str, Any]]) -> Rows:
    """Make a row for each trial, with a distinct name."""
    rows = []
    keys = ("variant", "seed")
    differing = [key for key in keys if len({trial[key] for trial in trials}) > 1]
    for trial in trials:
        *_, scores = trial["scores"].values()
        shown = ("dataset", "embedder", "variant", "seed", "model")
        more = "".join(f" {key} {trial[key]}" for key in differing)
        rows.append(
            {
                "name": trial["embedder"] + more,
                **{key: trial[key] for key in shown},
                "folder": trial["model"],
                "accelerated": False,
                "score": scores.get("cats_acc", scores.get("ents_f")),
                "scores": scores,
                **{key: trial["sizes"].get(key) for key in SIZES},
            }
        )
    return rows


def _add_accelerated(
    rows: Rows, docs: Sequence[Doc], folder: Path
) -> Iterable[dict[str, Any]]:
    for number, row in enumerate(rows):
        yield row
        model, fast = Path(row["model"]), folder / str(number)
        places, _ = find_convertible(load_config(model / "config.cfg"))
        if places:
            accelerate_folder(model, fast, docs, rounds=1)
            own: Any = {"name": f"{row['name']} accelerated", "accelerated": True}
            own |= {"folder": str(fast), "bytes_on_disk": bytes_on_disk(fast)}
            yield row | own
