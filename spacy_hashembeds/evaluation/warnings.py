"""Warnings for the reader of an evaluation, before its figures and beside them."""

from collections.abc import Mapping
from typing import Any

from .groups import LONG

#: The share of documents of training from which on scores are not to be trusted.
_SHARED = 0.01

#: The difference of F1 on whole texts that is said, if it is no chance.
_OTHERWISE, _CHANCE = 0.01, 0.05


def find_warnings(evaluation: Mapping[str, Any]) -> list[str]:
    """Say why figures are missing, 0, or too good, the most important first."""
    setting, comparison = evaluation["setting"], evaluation["comparison"]
    found = [_find_nothing(evaluation) or _find_unknown(evaluation)]
    if setting.get("train_entities") == 0:
        found.append(
            f"The training corpus '{setting['train']}' has no entities, so that all "
            "count as unseen."
        )
    shared, text = _find_shared(setting)
    found.append(text if shared >= _SHARED else None)
    if comparison is not None and evaluation.get("ents_support") == 0:
        found.append(
            f"There is no comparison with '{comparison['model']}', since there are no "
            "gold entities."
        )
    found.append(_find_unknown_to_other(comparison))
    found.append(_find_otherwise(evaluation))
    if setting["documents"]:
        found += map(_tell_assumed, setting.get("assumed", ()))
    return [text for text in found if text is not None]


def find_notes(evaluation: Mapping[str, Any]) -> list[str]:
    """Say what changes figures so little that it is no warning."""
    shared, text = _find_shared(evaluation["setting"])
    return [text] if 0 < shared < _SHARED else []


def _find_nothing(evaluation: Mapping[str, Any]) -> str | None:
    setting = evaluation["setting"]
    test, n_read = setting["test"], setting["documents_read"]
    if not n_read:
        return f"The gold corpus '{test}' holds no documents."
    documents = "1 document" if n_read == 1 else f"{n_read:,} documents"
    if not setting["documents"]:
        annotation = "entity" if "schemes" in evaluation else "category"
        return f"None of the {documents} in '{test}' has {annotation} annotation."
    if evaluation.get("ents_support") == 0:
        return f"There is not one gold entity in the {documents} of '{test}'."
    return None


def _find_unknown_to_other(comparison: Mapping[str, Any] | None) -> str | None:
    """Look for another pipeline that finds nothing, and is no match."""
    if comparison is None or not comparison.get("all"):
        return None
    if comparison["all"]["r"]["other"]:
        return None
    return (
        f"'{comparison['model']}' finds not one gold entity, as one that knows other "
        "types of them: differences from it say little."
    )


def _find_unknown(evaluation: Mapping[str, Any]) -> str | None:
    """Look for labels that can't be found, as those spelt otherwise in training."""
    setting, errors = evaluation["setting"], evaluation["confusions"]
    model, test = setting["model"], setting["test"]
    if "schemes" not in evaluation:
        known = setting["labels"]
        if missed := sorted(evaluation["cats_per_type"].keys() - set(known)):
            return (
                f"'{test}' has labels that '{model}' does not know, so that all their "
                f"documents are missed: {', '.join(missed)}. It knows "
                f"{', '.join(known) or 'none'}."
            )
    elif not evaluation["ents_r"]:  # so that all predictions are errors
        gold, predicted = (
            {error[key] for error in errors} - {None} for key in ("gold", "predicted")
        )
        if not predicted:
            return (
                f"'{model}' predicts not one entity. A component that sets doc.ents, "
                "such as 'ner', should be in the pipeline, and trained on such texts."
            )
        if not gold & predicted:
            return (
                "The pipeline and the gold corpus have no type of entity in common: "
                f"'{model}' predicts {', '.join(sorted(predicted))}, and '{test}' has "
                f"{', '.join(sorted(gold))}."
            )
    return None


def _find_shared(setting: Mapping[str, Any]) -> tuple[float, str]:
    """Give the share of documents of training, and say so. Less than half of short ones
    may be chance.
    """
    shared, of = setting["shared"], setting["documents_read"]
    if shared is None or not of:
        return 0, ""
    n_shared, length = shared["documents"], ""
    if shared["long_documents"]:
        n_shared, of = shared["long_documents"], shared["of_long_documents"]
        length = f" of {LONG} tokens or more"
    elif n_shared * 2 < of:
        return 0, ""
    return n_shared / of, (
        f"{n_shared:,} of the {of:,} documents{length} in '{setting['test']}' "
        f"({n_shared / of:.1%}) stand word for word in the training corpus "
        f"'{setting['train']}' too: scores are better than they would be on documents "
        "that the pipeline was not trained on."
    )


def _find_otherwise(evaluation: Mapping[str, Any]) -> str | None:
    """Look for scores that whole texts would not have."""
    joined = evaluation.get("joined") or {}
    tested = joined.get("difference") or {"difference": 0.0, "p_value": 1.0}
    if abs(tested["difference"]) <= _OTHERWISE or tested["p_value"] >= _CHANCE:
        return None
    said = (
        f"In texts of {joined['sentences']} sentences F1 is {joined['ents_f']:.1%}, "
        f"and {evaluation['ents_f']:.1%} as the corpus has them "
        f"(p = {tested['p_value']:.3f})."
    )
    if tested["difference"] > 0 or joined["is_trained_so"]:
        return said
    return (
        f"{said} A pipeline is best served as it was trained: train it on both, by "
        "`spacy-hashembeds.JoinedCorpus.v1`, or serve it sentence by sentence."
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
