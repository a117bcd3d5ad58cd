"""What a reader of an evaluation should know before its figures."""

from collections.abc import Mapping
from typing import Any


def find_warnings(evaluation: Mapping[str, Any]) -> list[str]:
    """Say why figures are missing or 0, where it may be a mistake.

    evaluation (Mapping[str, Any]): What `evaluate_in_depth` returns,
        in which warnings are not looked at.
    RETURNS (list[str]): Sentences, the most important first.
    """
    setting = evaluation["setting"]
    found = _find_in_gold(evaluation) or _find_in_predictions(evaluation)
    if not setting["train_entities"]:
        found.append(
            f"The training corpus '{setting['train']}' has no entities, so that all "
            "count as unseen."
        )
    comparison = evaluation["comparison"]
    if comparison is not None and not evaluation["ents_support"]:
        found.append(
            f"There is no comparison with '{comparison['model']}', since there are no "
            "gold entities."
        )
    return found


def _find_in_gold(evaluation: Mapping[str, Any]) -> list[str]:
    setting = evaluation["setting"]
    test, n_read = setting["test"], setting["documents_read"]
    documents = "1 document" if n_read == 1 else f"{n_read:,} documents"
    if not n_read:
        return [f"The gold corpus '{test}' holds no documents."]
    if not setting["documents"]:
        return [f"None of the {documents} in '{test}' has entity annotation."]
    if not evaluation["ents_support"]:
        return [f"There is not one gold entity in the {documents} of '{test}'."]
    return []


def _find_in_predictions(evaluation: Mapping[str, Any]) -> list[str]:
    """Look at the labels, if no entity was found.

    All predictions are errors then, and stand in the confusions.
    """
    setting, errors = evaluation["setting"], evaluation["confusions"]
    if evaluation["ents_r"]:
        return []
    gold = {error["gold"] for error in errors} - {None}
    predicted = {error["predicted"] for error in errors} - {None}
    if not predicted:
        return [
            f"'{setting['model']}' predicts not one entity. A component that sets "
            "doc.ents, such as 'ner', should be in the pipeline."
        ]
    if gold & predicted:
        return []
    return [
        "The pipeline and the gold corpus have no type of entity in common: "
        f"'{setting['model']}' predicts {', '.join(sorted(predicted))}, and "
        f"'{setting['test']}' has {', '.join(sorted(gold))}."
    ]
