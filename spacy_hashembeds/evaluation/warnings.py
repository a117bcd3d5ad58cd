"""What a reader of an evaluation should know before its figures."""

from collections.abc import Iterator, Mapping
from typing import Any

from .groups import LONG


def find_warnings(evaluation: Mapping[str, Any]) -> list[str]:
    """Say why figures are missing or 0, or too good, where it may be a mistake.

    evaluation (Mapping[str, Any]): What `evaluate` returns, without warnings.
    RETURNS (list[str]): Sentences, the most important first.
    """
    find = _find_of_entities if "schemes" in evaluation else _find_of_categories
    return list(find(evaluation))


def _find_of_entities(evaluation: Mapping[str, Any]) -> Iterator[str]:
    setting = evaluation["setting"]
    test, n_read = setting["test"], setting["documents_read"]
    nothing = list(_find_nothing(setting, "entity"))
    if not nothing and not evaluation["ents_support"]:
        nothing = [f"There is not one gold entity in the {_count(n_read)} of '{test}'."]
    yield from nothing or _find_in_predictions(evaluation)
    if not setting["train_entities"]:
        yield (
            f"The training corpus '{setting['train']}' has no entities, so that all "
            "count as unseen."
        )
    yield from _find_shared(setting)
    comparison = evaluation["comparison"]
    if comparison is not None and not evaluation["ents_support"]:
        yield (
            f"There is no comparison with '{comparison['model']}', since there are no "
            "gold entities."
        )


def _find_of_categories(evaluation: Mapping[str, Any]) -> Iterator[str]:
    setting = evaluation["setting"]
    yield from list(_find_nothing(setting, "category")) or _find_in_labels(evaluation)
    if setting["shared"] is not None:
        yield from _find_shared(setting)
    if setting["documents"]:
        yield from map(_tell_assumed, setting["assumed"])


def _find_nothing(setting: Mapping[str, Any], annotation: str) -> Iterator[str]:
    test, n_read = setting["test"], setting["documents_read"]
    if not n_read:
        yield f"The gold corpus '{test}' holds no documents."
    elif not setting["documents"]:
        yield f"None of the {_count(n_read)} in '{test}' has {annotation} annotation."


def _count(n_documents: int) -> str:
    return "1 document" if n_documents == 1 else f"{n_documents:,} documents"


def _find_in_predictions(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Look at the labels, if no entity was found.

    All predictions are errors then, and stand in the confusions.
    """
    setting, errors = evaluation["setting"], evaluation["confusions"]
    gold, predicted = (
        {error[key] for error in errors} - {None} for key in ("gold", "predicted")
    )
    if evaluation["ents_r"] or gold & predicted:
        return
    if predicted:
        yield (
            "The pipeline and the gold corpus have no type of entity in common: "
            f"'{setting['model']}' predicts {', '.join(sorted(predicted))}, and "
            f"'{setting['test']}' has {', '.join(sorted(gold))}."
        )
    else:
        yield (
            f"'{setting['model']}' predicts not one entity. A component that sets "
            "doc.ents, such as 'ner', should be in the pipeline."
        )


def _find_in_labels(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Look for labels that can't be found, as those spelt otherwise in training."""
    setting, per_type = evaluation["setting"], evaluation["cats_per_type"]
    unknown = set(per_type).difference(setting["labels"])
    missed = sorted(label for label in unknown if per_type[label]["support"])
    if missed:
        yield (
            f"'{setting['test']}' has labels that '{setting['model']}' does not know, "
            f"so that all their documents are missed: {', '.join(missed)}. It knows "
            f"{', '.join(setting['labels']) or 'none'}."
        )


def _find_shared(setting: Mapping[str, Any]) -> Iterator[str]:
    """Look for documents that the pipeline was trained on.

    Short ones may be equal by chance, unless they are half of the corpus.
    """
    shared, n_read = setting["shared"], setting["documents_read"]
    n_shared, of = shared["long_documents"], shared["of_long_documents"]
    length = f" of {LONG} tokens or more"
    if not n_shared:
        n_shared, of, length = shared["documents"], n_read, ""
        if not n_read or n_shared * 2 < n_read:
            return
    yield (
        f"{n_shared:,} of the {of:,} documents{length} in '{setting['test']}' "
        f"({n_shared / of:.1%}) stand word for word in the training corpus "
        f"'{setting['train']}' too: scores are better than they would be on documents "
        "that the pipeline was not trained on."
    )


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
