"""Measure how trained pipelines are calibrated, for the table in ner.md.

    python -m lab.pages.calibration FOLDER

FOLDER is where trials or sweeps were run, with their `corpus`, `metrics` and
`training`. Each recommended pipeline that is done is measured on development data,
where each fifth of the documents is scored by what was fitted to the others, divided at
random twenty times; and on test data, by what was fitted to all of it. Both are written
to calibration.json, in place of those of the same corpus, variant and seed.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc

from spacy_hashembeds.components.decoding import calibrate
from spacy_hashembeds.components.token_ner import TokenNER
from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.tools.evaluate.measures import measure_calibration
from spacy_hashembeds.training.calibration import fit_calibration, judge_entities

from .page import (
    DOCS,
    fill_all,
    find_models,
    name_trial,
    read_splits,
    record,
    to_markdown,
)
from .results import CORPORA

PAGE = DOCS / "ner.md"
CALIBRATION = Path(__file__).with_suffix(".json")

#: The recommended pipeline, of the grid `joined`.
TRIAL = "subword_token_ner/joined"
#: Documents are divided into so many parts, and these into fifths, so often.
N_PARTS = 20
N_FOLDS = 5
N_DIVISIONS = 20

#: Scores of entities, and whether these are right.
Judged = tuple[NDArray, NDArray]


def measure(root: Path) -> Iterator[dict[str, Any]]:
    """Measure all recommended pipelines that are done: on "dev" and "test"."""
    for dataset in CORPORA:
        if not (models := find_models(root, dataset, TRIAL)):
            continue
        dev, test = read_splits(root, dataset, "dev", "test")
        for model in models:
            nlp = load_trained(model)
            parts = [judge(nlp, dev[i::N_PARTS]) for i in range(N_PARTS)]
            of_test = judge(nlp, test)
            after = calibrate(np.log(of_test[0]), fit_calibration(*join(parts)))
            yield {
                **name_trial(model),
                "dev": cross_validate(parts),
                "test": _compare(of_test, [after] * N_DIVISIONS),
            }


def judge(nlp: Language, golds: Sequence[Doc], bias: float = 0.0) -> Judged:
    """Judge the entities that are found with a bias of O, with scores as they were."""
    (name,) = (name for name, pipe in nlp.pipeline if isinstance(pipe, TokenNER))
    pipe: Any = nlp.get_pipe(name)
    pipe.cfg["calibration"] = None
    (judged,), _, _ = judge_entities(nlp, name, golds, [bias])
    scores, is_right = np.array(judged).reshape(-1, 2).T
    return scores, is_right.astype(bool)


def join(parts: Sequence[Judged]) -> Judged:
    """Put parts one after the other."""
    scores, is_right = zip(*parts, strict=True)
    return np.concatenate(scores), np.concatenate(is_right)


def cross_validate(parts: Sequence[Judged]) -> dict[str, Any]:
    """Calibrate parts by what is fitted to others, in each of many divisions."""
    afters = []
    rng = np.random.default_rng(0)
    for _ in range(N_DIVISIONS):
        folds = rng.permutation(len(parts)) % N_FOLDS
        fitted = [
            fit_calibration(*join([*compress(parts, folds != k)]))
            for k in range(N_FOLDS)
        ]
        each = zip(parts, folds, strict=True)
        afters.append(
            np.concatenate([calibrate(np.log(p[0]), fitted[k]) for p, k in each])
        )
    return _compare(join(parts), afters)


def _compare(judged: Judged, afters: Sequence[NDArray]) -> dict[str, Any]:
    """Measure calibration errors before and, on average, after; and by chance."""
    before, is_right = judged
    measured = [measure_calibration(a.tolist(), is_right.tolist()) for a in afters]
    return {
        "entities": len(before),
        "precision": float(is_right.mean()),
        "before": measure_calibration(before.tolist(), is_right.tolist())["error"],
        "after": fmean(each["error"] for each in measured),
        "chance": fmean(each["chance"] for each in measured),
    }


def make_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Make the table that has a row for each corpus: means over its pipelines."""
    header = ["corpus", "seeds", "entities", "development", "chance", "test", "chance"]
    table = [header]
    for dataset, corpus in CORPORA.items():
        if of_corpus := [row for row in rows if row["dataset"] == dataset]:
            dev, test = ([row[key] for row in of_corpus] for key in ("dev", "test"))
            cells = [f"{fmean(part['entities'] for part in dev):,.0f}"]
            for parts in (dev, test):
                before, after, chance = (
                    f"{100 * fmean(part[key] for part in parts):.1f}"
                    for key in ("before", "after", "chance")
                )
                cells += [f"{before} → {after}", chance]
            table.append([corpus, str(len(of_corpus)), *cells])
    return to_markdown(table)


if __name__ == "__main__":
    rows = record(measure(Path(sys.argv[1])), CALIBRATION)
    fill_all({PAGE: {"calibration": make_table(rows)}})
