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
from spacy_hashembeds.training.docbin import read_docs

from ..machine import find_disturbances, watch_machine
from .ratios import compute_ratios
from .results import SIZES, get_task, parse_metrics
from .sizes import bytes_on_disk

Rows = list[dict[str, Any]]

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

    Scores are those of the last split.

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
            f"scores, can be compared: {', '.join(map(str, metrics))}."
        )
    docs = list(read_docs(corpus, Vocab()))
    rows = _make_rows(trials)
    with TemporaryDirectory() as folder:
        if accelerated:
            rows = _add_accelerated(rows, docs, Path(folder))
        with watch_machine() as machine:
            # a pipeline that was loaded before may have chosen a BLAS for the process
            ops = get_current_ops()

            def load(model: str) -> Language:
                set_current_ops(ops)
                return load_trained(model)

            loaders = {
                str(i): partial(load, row["model"]) for i, row in enumerate(rows)
            }
            try:
                timed = measure_speeds(loaders, docs, progress=progress)
            finally:
                set_current_ops(ops)
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


def read_trial(path: Path) -> dict[str, Any]:
    """Read the file of a trial, whose pipeline should be there."""
    metrics = parse_metrics(path.read_text(encoding="utf8"), f"'{path}'")
    if not Path(metrics["model"]).is_dir():
        raise FileNotFoundError(
            f"The pipeline '{metrics['model']}' of '{path}' is gone. Remove the file "
            "and run its trial again."
        )
    return metrics


def _make_rows(trials: Sequence[Mapping[str, Any]]) -> Rows:
    """Make a row of each trial, with a name that tells it from the others."""
    rows = []
    differing = [
        key for key in ("variant", "seed") if len({trial[key] for trial in trials}) > 1
    ]
    for trial in trials:
        *_, scores = trial["scores"].values()
        shown = ("dataset", "embedder", "variant", "seed", "model")
        more = "".join(f" {key} {trial[key]}" for key in differing)
        rows.append(
            {
                "name": trial["embedder"] + more,
                **{key: trial[key] for key in shown},
                "accelerated": False,
                "score": scores.get("cats_acc", scores.get("ents_f")),
                "scores": scores,
                **{key: trial["sizes"].get(key) for key in SIZES},
            }
        )
    return rows


def _add_accelerated(rows: Rows, docs: Sequence[Doc], folder: Path) -> Rows:
    found = []
    for number, row in enumerate(rows):
        found.append(row)
        model, fast = Path(row["model"]), folder / str(number)
        places, _ = find_convertible(load_config(model / "config.cfg"))
        if places:
            accelerate_folder(model, fast, docs, rounds=1)
            own = {"name": f"{row['name']} accelerated", "accelerated": True}
            size = bytes_on_disk(fast)
            found.append({**row, **own, "model": str(fast), "bytes_on_disk": size})
    if len(found) == len(rows):
        names = ", ".join(row["name"] for row in rows)
        raise ValueError(
            f"None of {names} has spaCy's layers to accelerate. Leave out --accelerate."
        )
    return found
