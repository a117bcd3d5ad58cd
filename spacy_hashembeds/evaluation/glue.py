"""The metrics of GLUE's tasks, as scikit-learn and SciPy compute them.

The main one of each task is that of Xue and Aletras, "HashFormers" (2022), §4.3.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from spacy.training import Example

from ..checks import check_choice
from ..files import quote

_Metric = Callable[[np.ndarray, np.ndarray], float]

#: The one label of STS-B. Its value in `Doc.cats` is a fifth of the published score.
SIMILARITY = "similarity"

_ENTAILMENT = ("not_entailment", "entailment")

#: The labels of each task in `Doc.cats`; of two, the positive one is last.
LABELS: Mapping[str, tuple[str, ...]] = {
    "cola": ("unacceptable", "acceptable"),
    "sst2": ("negative", "positive"),
    "mrpc": ("not_equivalent", "equivalent"),
    "qqp": ("not_duplicate", "duplicate"),
    "stsb": (SIMILARITY,),
    "mnli": ("entailment", "neutral", "contradiction"),
    "qnli": _ENTAILMENT,
    "rte": _ENTAILMENT,
    "wnli": _ENTAILMENT,
}

#: The metrics of each task; first the one that results are compared by.
METRICS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(LABELS, ("accuracy",)),
    "cola": ("matthews",),
    "mrpc": ("accuracy", "f1"),
    "qqp": ("f1", "accuracy"),
    "stsb": ("spearman", "pearson"),
}


def make_glue_scorer(*, task: str) -> Callable[..., dict[str, float | None]]:
    """Score a task of GLUE by its own metrics.

        [components.textcat.scorer]
        @scorers = "spacy-hashembeds.glue_scorer.v1"
        task = "cola"

        [training.score_weights]
        glue_score = 1.0
        cats_score = null

    task (str): "cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte" or "wnli".
    RETURNS (Callable): The scorer, `score_glue`, called with examples. It needs the
        extra `glue` when it scores, and not before, so that a trained pipeline loads
        without it. `spacy train` scores first after its first step.
    """
    check_choice(tuple(METRICS), task=task)
    return partial(score_glue, task=task)


def score_glue(
    examples: Iterable[Example], task: str, **kwargs: Any
) -> dict[str, float | None]:
    """Score predictions, the class with the highest number in `Doc.cats`, by a task's
    metrics: "glue_score", its first one, and each as "glue_accuracy" and so on, None
    if there was nothing to score. Gold docs without any `cats` are left out.
    """
    compute = _import_metrics()
    pairs = [_read(example, task) for example in examples if example.reference.cats]
    golds, predictions = np.array(pairs, dtype="float64").reshape(-1, 2).T
    scores = {
        f"glue_{name}": float(compute[name](golds, predictions)) if pairs else None
        for name in METRICS[task]
    }
    return {"glue_score": next(iter(scores.values())), **scores}


def _read(example: Example, task: str) -> tuple[float, float]:
    """Give the gold and the predicted class as numbers; of STS-B, the numbers."""
    gold = _pick(example.reference.cats, task, "gold")
    predicted = _pick(example.predicted.cats, task, "predicted")
    if task == "stsb":
        return gold[0], predicted[0]
    chosen = [i for i, value in enumerate(gold) if value > 0]
    if len(chosen) != 1:
        raise ValueError(
            f"A gold doc should have one of the classes {quote(list(LABELS[task]))}, "
            f"but has {len(chosen)}: their numbers in doc.cats are {quote(gold)}."
        )
    return chosen[0], int(np.argmax(predicted))


def _pick(cats: Mapping[str, float], task: str, kind: str) -> list[float]:
    labels = LABELS[task]
    missing = [label for label in labels if label not in cats]
    if missing:
        raise ValueError(
            f"The {kind} docs of the task {task!r} should have the labels "
            f"{quote(list(labels))} in doc.cats, but one lacks {missing[0]!r}, and has "
            f"{quote(list(cats))}. Is 'task' of the scorer that of the corpus?"
        )
    values = [cats[label] for label in labels]
    most = sys.float_info.max  # an integer may be beyond
    if not all(isinstance(x, int | float) and abs(x) <= most for x in values):
        raise ValueError(
            f"The numbers in doc.cats of {kind} docs should be finite, but are "
            f"{quote(values)}. Look at the loss in training, which may have diverged."
        )
    return values


def _import_metrics() -> dict[str, _Metric]:
    try:
        from scipy.stats import pearsonr, spearmanr
        from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef
    except ImportError as e:
        raise ImportError(
            "The metrics of GLUE need scikit-learn: "
            "pip install 'spacy-hashembeds[glue]'."
        ) from e
    return {
        "accuracy": accuracy_score,
        "f1": lambda golds, found: f1_score(golds, found, zero_division=0.0),
        "matthews": _zero_if_constant(matthews_corrcoef),
        "pearson": _zero_if_constant(lambda *both: pearsonr(*both).statistic),
        "spearman": _zero_if_constant(lambda *both: spearmanr(*both).statistic),
    }


def _zero_if_constant(compute: _Metric) -> _Metric:
    """Give 0 where a correlation is undefined, and would come with a warning."""

    def compute_or_zero(golds: np.ndarray, predictions: np.ndarray) -> float:
        is_constant = np.ptp(golds) == 0 or np.ptp(predictions) == 0
        return 0.0 if is_constant else compute(golds, predictions)

    return compute_or_zero
