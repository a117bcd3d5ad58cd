"""What a reader of an evaluation should know before its figures."""

from collections.abc import Mapping
from typing import Any

from .groups import LONG


def find_warnings_of_entities(evaluation: Mapping[str, Any]) -> list[str]:
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


def find_warnings_of_categories(evaluation: Mapping[str, Any]) -> list[str]:
    """Say the same of an evaluation of categories.

    evaluation (Mapping[str, Any]): What `evaluate` returns, without warnings.
    RETURNS (list[str]): Sentences, the most important first.
    """
    setting = evaluation["setting"]
    found = _find_in_documents(setting, "category") or _find_in_labels(evaluation)
    if setting["shared"] is not None:
        found += _find_shared(setting)
    if setting["documents"]:
        found += map(_tell_assumed, setting["assumed"])
    return found


def _tell_assumed(assumed: Mapping[str, Any]) -> str:
    """Say what was concluded of predictions, which the pipeline would have said."""
    if assumed["exclusive"]:
        what = (
            "labels are taken to exclude each other, as they do in all gold documents, "
            "and the one with the highest score counts. If the pipeline has "
            "'textcat_multilabel'"
        )
    else:
        what = (
            f"a label counts from a score of {assumed['threshold']} on, since not all "
            "gold documents have just one. If the pipeline has another threshold, or "
            "'textcat'"
        )
    return (
        f"'{assumed['model']}' is without the pipeline that predicted it: {what}, "
        "evaluate the pipeline itself."
    )


def _find_in_labels(evaluation: Mapping[str, Any]) -> list[str]:
    """Look for labels that can't be found, as those spelt otherwise in training."""
    setting, per_type = evaluation["setting"], evaluation["cats_per_type"]
    unknown = set(per_type).difference(setting["labels"])
    missed = sorted(label for label in unknown if per_type[label]["support"])
    if not missed:
        return []
    return [
        f"'{setting['test']}' has labels that '{setting['model']}' does not know, so "
        f"that all their documents are missed: {', '.join(missed)}. It knows "
        f"{', '.join(setting['labels']) or 'none'}."
    ]


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
    found = _find_in_documents(setting, "entity")
    if not found and not evaluation["ents_support"]:
        documents = _count_documents(setting)
        return [
            f"There is not one gold entity in the {documents} of '{setting['test']}'."
        ]
    return found


def _find_in_documents(setting: Mapping[str, Any], annotation: str) -> list[str]:
    test = setting["test"]
    if not setting["documents_read"]:
        return [f"The gold corpus '{test}' holds no documents."]
    if not setting["documents"]:
        documents = _count_documents(setting)
        return [f"None of the {documents} in '{test}' has {annotation} annotation."]
    return []


def _count_documents(setting: Mapping[str, Any]) -> str:
    n_read = setting["documents_read"]
    return "1 document" if n_read == 1 else f"{n_read:,} documents"


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
