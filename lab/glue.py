"""GLUE in a config: the scorer `spacy-hashembeds.glue_scorer.v1`, and the component
`text_regressor` for STS-B.

    spacy train configs/glue_small.cfg --code lab/glue.py

This file must not import other modules of the lab, which `spacy` would not find.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline.textcat_multilabel import MultiLabel_TextCategorizer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from thinc.api import Model
from thinc.types import Floats2d

from spacy_hashembeds.arguments import check_choice

_Metric = Callable[[np.ndarray, np.ndarray], float]

#: The only label of STS-B. Its value in `Doc.cats` is a fifth of the published score.
SIMILARITY = "similarity"

_ENTAILMENT = ("not_entailment", "entailment")

#: The labels of each task in `Doc.cats`. The second of two labels is the positive one.
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

#: The metrics of each task. The first one is "glue_score", as in Xue and Aletras,
#: "HashFormers" (2022), §4.3.
METRICS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(LABELS, ("accuracy",)),
    "cola": ("matthews",),
    "mrpc": ("accuracy", "f1"),
    "qqp": ("f1", "accuracy"),
    "stsb": ("spearman", "pearson"),
}


@registry.scorers("spacy-hashembeds.glue_scorer.v1")
def make_glue_scorer(*, task: str) -> Callable[..., dict[str, float | None]]:
    """Return `score_glue` for a task of `METRICS`."""
    check_choice(tuple(METRICS), task=task)
    return partial(score_glue, task=task)


def score_glue(
    examples: Iterable[Example], task: str, **kwargs: Any
) -> dict[str, float | None]:
    """Score the class with the highest value in `Doc.cats` by the metrics of a task.

    Scores are "glue_score", and each metric, such as "glue_accuracy". They are None if
    no gold Doc has `cats`.
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
    """Return the indices of the gold and predicted class, or the values of STS-B."""
    labels, both = LABELS[task], (example.reference.cats, example.predicted.cats)
    gold, predicted = ([cats.get(label, np.nan) for label in labels] for cats in both)
    if not np.isfinite([*gold, *predicted]).all():
        raise ValueError(
            f"Docs of the task {task!r} should have numbers in doc.cats for the labels "
            f"{', '.join(labels)}, but one has {gold}, with the prediction {predicted}."
        )
    if task == "stsb":
        return gold[0], predicted[0]
    return int(np.argmax(gold)), int(np.argmax(predicted))


def _import_metrics() -> dict[str, _Metric]:
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

    def correlate(compute: Any, golds: np.ndarray, found: np.ndarray) -> float:
        # undefined correlations are 0
        is_constant = np.ptp(golds) == 0 or np.ptp(found) == 0
        return 0.0 if is_constant else compute(golds, found).statistic

    return {
        "accuracy": accuracy_score,
        "f1": partial(f1_score, zero_division=0.0),
        "matthews": matthews_corrcoef,
        "pearson": partial(correlate, pearsonr),
        "spearman": partial(correlate, spearmanr),
    }


@Language.factory(
    "text_regressor", assigns=["doc.cats"], default_config={"scorer": None}
)
def make_text_regressor(
    nlp: Language, name: str, model: Model[list[Doc], Floats2d], scorer: Callable | None
) -> "TextRegressor":
    """Build the component `text_regressor`, a `TextRegressor`."""
    if not model.attrs.get("multi_label", True):
        raise ValueError(
            f"The model of '{name}' should have exclusive_classes = false."
        )
    # the scorers of categories use the threshold
    return TextRegressor(nlp.vocab, model, name, threshold=0.5, scorer=scorer)


class TextRegressor(MultiLabel_TextCategorizer):
    """spaCy's `textcat_multilabel`, which learns numbers from 0 to 1 by squared error.

    Labels that a Doc's `cats` lack are ignored.
    """

    def _validate_categories(self, examples: Iterable[Example]) -> None:
        """Accept values between 0 and 1, which spaCy refuses."""
