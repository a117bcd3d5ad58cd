"""Measure the calibration of trained pipelines, for the table in ner.md.

    python -m lab.pages.calibration FOLDER

FOLDER contains the `corpus`, `metrics` and `training` of trials. On development data,
each fifth of the documents is calibrated by the others, over twenty random divisions.
On test data, pipelines are calibrated by all development data. Results replace those of
the same trial in calibration.json.
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

from spacy_hashembeds.components.decoding import apply_calibration
from spacy_hashembeds.components.token_ner import TokenNER
from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.tools.evaluate.measures import measure_calibration
from spacy_hashembeds.training.calibration import fit_calibration, judge_entities

from . import page
from .results import CORPORA

PAGE = page.DOCS / "ner.md"
CALIBRATION = Path(__file__).with_suffix(".json")

#: The recommended pipeline, of the grid `commands`.
TRIAL = "recommended/default"
#: Numbers of parts of a corpus, of folds, and of random divisions of parts into folds.
N_PARTS, N_FOLDS, N_DIVISIONS = 20, 5, 20

#: Scores of entities, and whether the entities are correct.
ScoredEntities = tuple[NDArray, NDArray]


def measure(root: Path) -> Iterator[dict[str, Any]]:
    """Measure the finished recommended pipelines on "dev" and "test"."""
    for dataset in CORPORA:
        if not (models := page.find_models(root, dataset, TRIAL)):
            continue
        dev, test = page.read_splits(root, dataset, "dev", "test")
        for model in models:
            nlp = load_trained(model)
            parts = [score_entities(nlp, dev[i::N_PARTS]) for i in range(N_PARTS)]
            of_test = score_entities(nlp, test)
            after = apply_calibration(np.log(of_test[0]), fit_calibration(*join(parts)))
            yield {
                **page.name_trial(model),
                "dev": cross_validate(parts),
                "test": _compare(of_test, [after] * N_DIVISIONS),
            }


def score_entities(nlp: Language, golds: Sequence[Doc]) -> ScoredEntities:
    """Return the uncalibrated scores of found entities, and which are correct. The
    entities are found with the fitted `outside_bias`.
    """
    (name,) = (name for name, pipe in nlp.pipeline if isinstance(pipe, TokenNER))
    (scored,), _, _ = judge_entities(nlp, name, golds)
    scores, is_right = np.array(scored).reshape(-1, 2).T
    return scores, is_right.astype(bool)


def join(parts: Sequence[ScoredEntities]) -> ScoredEntities:
    """Concatenate parts."""
    scores, is_right = zip(*parts, strict=True)
    return np.concatenate(scores), np.concatenate(is_right)


def cross_validate(parts: Sequence[ScoredEntities]) -> dict[str, Any]:
    """Calibrate each fold of parts by the other folds, over random divisions."""
    afters = []
    rng = np.random.default_rng(0)
    for _ in range(N_DIVISIONS):
        folds = rng.permutation(len(parts)) % N_FOLDS
        others = (join([*compress(parts, folds != k)]) for k in range(N_FOLDS))
        fitted = [fit_calibration(*other) for other in others]
        each = zip(parts, folds, strict=True)
        after = [
            apply_calibration(np.log(scores), fitted[k]) for (scores, _), k in each
        ]
        afters.append(np.concatenate(after))
    return _compare(join(parts), afters)


def _compare(scored: ScoredEntities, afters: Sequence[NDArray]) -> dict[str, Any]:
    """Measure mean calibration errors before and after calibration, and by chance."""
    before, is_right = scored
    measured = [measure_calibration(a.tolist(), is_right.tolist()) for a in afters]
    return {
        "entities": len(before),
        "precision": float(is_right.mean()),
        "before": measure_calibration(before.tolist(), is_right.tolist())["error"],
        "after": fmean(each["error"] for each in measured),
        "chance": fmean(each["chance"] for each in measured),
    }


def make_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Make a table of the means of each corpus."""
    header = [
        "corpus",
        "seeds",
        "entities (dev)",
        "development",
        "chance",
        "test",
        "chance",
    ]
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
    return page.to_markdown(table)


if __name__ == "__main__":
    rows = page.record(measure(Path(sys.argv[1])), CALIBRATION)
    page.fill_all({PAGE: {"calibration": make_table(rows)}})
