"""What a reader of an evaluation should know before its figures."""

from collections.abc import Mapping
from typing import Any

from .sharing import LONG


def find_warnings(evaluation: Mapping[str, Any]) -> list[str]:
    """Say why figures are missing or 0, or too good, where it may be a mistake.

    evaluation (Mapping[str, Any]): What `evaluate` returns, without warnings.
    RETURNS (list[str]): Sentences, the most important first.
    """
    setting = evaluation["setting"]
    found = _find_in_gold(evaluation) or _find_in_predictions(evaluation)
    if not setting["train_entities"]:
        found.append(
            f"The training corpus '{setting['train']}' has no entities, so that all "
            "count as unseen."
        )
    found += _find_shared(setting)
    comparison = evaluation["comparison"]
    if comparison is not None and not evaluation["ents_support"]:
        found.append(
            f"There is no comparison with '{comparison['model']}', since there are no "
            "gold entities."
        )
    return found


def _find_shared(setting: Mapping[str, Any]) -> list[str]:
    """Look for documents that the pipeline was trained on.

    Short ones may be equal by chance, unless they are half of the corpus.
    """
    shared, n_read = setting["shared"], setting["documents_read"]
    n_long, of_long = shared["long_documents"], shared["of_long_documents"]
    if n_long:
        documents = f"{n_long:,} of the {of_long:,} documents of {LONG} tokens or more"
        share = n_long / of_long
    elif n_read and shared["documents"] * 2 >= n_read:
        documents = f"{shared['documents']:,} of the {n_read:,} documents"
        share = shared["documents"] / n_read
    else:
        return []
    return [
        f"{documents} in '{setting['test']}' ({share:.1%}) stand word for word in the "
        f"training corpus '{setting['train']}' too: scores are better than they would "
        "be on documents that the pipeline was not trained on."
    ]


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
