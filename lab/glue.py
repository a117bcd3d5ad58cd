"""GLUE in a config: the metrics of its tasks as `spacy-hashembeds.glue_scorer.v1`, and
`text_regressor`, which learns the numbers of STS-B.

    spacy train configs/glue_small.cfg --code lab/glue.py

The file imports nothing else of the lab, which `spacy` would not find.
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
from spacy_hashembeds.files import quote

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

#: The metrics of each task; first the one that results are compared by, as Xue and
#: Aletras do in "HashFormers" (2022), §4.3.
METRICS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(LABELS, ("accuracy",)),
    "cola": ("matthews",),
    "mrpc": ("accuracy", "f1"),
    "qqp": ("f1", "accuracy"),
    "stsb": ("spearman", "pearson"),
}


@registry.scorers("spacy-hashembeds.glue_scorer.v1")
def make_glue_scorer(*, task: str) -> Callable[..., dict[str, float | None]]:
    """Return `score_glue` for a task, one of `METRICS`."""
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
    """Return the gold and the predicted class as numbers; of STS-B, the numbers."""
    labels, both = LABELS[task], (example.reference.cats, example.predicted.cats)
    gold, predicted = ([cats.get(label, np.nan) for label in labels] for cats in both)
    is_right = task == "stsb" or sum(value > 0 for value in gold) == 1
    if not (is_right and np.isfinite([*gold, *predicted]).all()):
        raise ValueError(
            f"Docs of the task {task!r} should have numbers for the labels "
            f"{quote(list(labels))} in doc.cats, gold ones one class, but one has "
            f"{quote(gold)}, and {quote(predicted)} was predicted. Is 'task' of the "
            "scorer that of the corpus, or has training diverged?"
        )
    if task == "stsb":
        return gold[0], predicted[0]
    return int(np.argmax(gold)), int(np.argmax(predicted))


def _import_metrics() -> dict[str, _Metric]:
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

    def correlate(compute: Any, golds: np.ndarray, found: np.ndarray) -> float:
        # 0 where a correlation is undefined, and would come with a warning
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
    """Build the component `text_regressor`: see `TextRegressor`."""
    if not model.attrs.get("multi_label", True):
        raise ValueError(
            f"The model of component '{name}' should have exclusive_classes = false, "
            "but has true: its numbers would add up to 1."
        )
    # The threshold is only passed on to scorers of categories.
    return TextRegressor(nlp.vocab, model, name, threshold=0.5, scorer=scorer)


class TextRegressor(MultiLabel_TextCategorizer):
    """spaCy's `textcat_multilabel`, which learns any number from 0 to 1 for a label.

    The loss is the squared error. Labels that are not in a Doc's `cats` are not
    learned from.
    """

    def _validate_categories(self, examples: Iterable[Example]) -> None:
        for example in examples:
            for label, value in example.reference.cats.items():
                if not 0 <= value <= 1:
                    raise ValueError(
                        f"The component '{self.name}' should learn from numbers from 0 "
                        f"to 1 in doc.cats, but a gold document has {value!r} for "
                        f"{quote(label)}. Divide what is larger by its maximum."
                    )
