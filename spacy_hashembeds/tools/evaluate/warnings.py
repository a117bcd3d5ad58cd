"""Warnings for the reader of an evaluation, before its figures and beside them."""

from collections.abc import Iterator, Mapping
from typing import Any

from .groups import LONG

#: The share of documents of training from which on scores are not to be trusted.
_SHARED = 0.01


def find_warnings(data: Mapping[str, Any]) -> list[str]:
    """Explain why figures are missing, 0, or too good, the most important first."""
    is_of_entities = "schemes" in data
    setting, other = data["setting"], (data["comparison"] or {}).get("model")
    warn_of_scores = _warn_of_entities if is_of_entities else _warn_of_categories
    found = [*warn_of_scores(data), *find_notes(data, is_warning=True)]
    if not setting["documents_read"]:
        found[:0] = [f"The gold corpus '{setting['test']}' holds no documents."]
    elif not setting["documents"]:
        annotation = "entity" if is_of_entities else "category"
        found[:0] = [f"No document in '{setting['test']}' has {annotation} annotation."]
    if other and data.get("ents_support") == 0:
        found.append(f"Without gold entities, nothing is said of {other}.")
    elif other and is_of_entities and not data["comparison"]["all"]["r"]["other"]:
        found.append(
            f"'{other}' finds not one gold entity, as one that knows other types of "
            "them: differences from it say little."
        )
    return found


def find_notes(data: Mapping[str, Any], *, is_warning: bool = False) -> list[str]:
    """Say what share of documents is of training, if that is a warning, or else not.
    Less than half of short ones may be chance.
    """
    setting = data["setting"]
    if not (shared := setting["shared"]):
        return []
    n_shared, of, length = shared["documents"], setting["documents_read"], ""
    if shared["long_documents"]:
        n_shared, of = shared["long_documents"], shared["of_long_documents"]
        length = f" of {LONG} tokens or more"
    elif n_shared * 2 < of:
        return []
    if not n_shared or (n_shared / of >= _SHARED) is not is_warning:
        return []
    return [
        f"{n_shared:,} of the {of:,} documents{length} in '{setting['test']}' "
        f"({n_shared / of:.1%}) stand word for word in the training corpus "
        f"'{setting['train']}' too: scores are better than they would be on others."
    ]


def _warn_of_categories(data: Mapping[str, Any]) -> Iterator[str]:
    setting, per_type = data["setting"], data["cats_per_type"]
    if not per_type:
        return
    test, n, none = setting["test"], data["cats_support"], setting["documents_of_none"]
    if missed := sorted(per_type.keys() - {*setting["labels"]}):
        yield (
            f"'{test}' has labels that '{setting['model']}' does not know, so that all "
            f"their documents are missed: {', '.join(missed)}. It knows "
            f"{', '.join(setting['labels']) or 'none'}."
        )
    if none and data["cats_exclusive"]:
        yield (
            f"{none:,} of the {n:,} documents in '{test}' have none of the labels: as "
            "in spaCy's scorer, each counts as one of the first in its doc.cats. Leave "
            "them out, give them a label of their own, or use 'textcat_multilabel'."
        )
    if n > 1 and {score["support"] for score in per_type.values()} <= {0, n}:
        yield (
            f"Each of the {n:,} documents in '{test}' has the same categories: scores "
            "don't say if the pipeline tells texts apart."
        )
    for assumed in setting["assumed"]:
        rule = f"labels count from a score of {assumed['threshold']} on"
        if assumed["exclusive"]:
            rule = "labels are taken to exclude each other, as in all gold documents"
        yield (
            f"'{assumed['model']}' is without the pipeline that predicted it: {rule}. "
            "If the pipeline says otherwise, evaluate it itself."
        )


def _warn_of_entities(data: Mapping[str, Any]) -> Iterator[str]:
    setting, joined = data["setting"], data["joined"] or {}
    test, model = setting["test"], setting["model"]
    # where nothing is right, all predictions are errors
    gold, predicted = (
        {error[key] for error in data["confusions"]} - {None}
        for key in ("gold", "predicted")
    )
    if setting["documents"] and not data["ents_support"]:
        yield f"There is not one gold entity in '{test}'."
    elif data["ents_r"] == 0 and not predicted:
        yield (
            f"'{model}' predicts not one entity. A component that sets doc.ents, such "
            "as 'ner', should be in the pipeline, and trained on such texts."
        )
    elif data["ents_r"] == 0 and not gold & predicted:
        yield (
            f"The pipeline and the gold corpus have no type of entity in common: "
            f"'{model}' predicts {', '.join(sorted(predicted))}, and '{test}' has "
            f"{', '.join(sorted(gold))}."
        )
    if setting["train_entities"] == 0:
        yield f"'{setting['train']}' has no entities, so that all count as unseen."
    tested = joined.get("difference") or {"difference": 0.0, "p_value": 1.0}
    if abs(tested["difference"]) > 0.01 and tested["p_value"] < 0.05:
        said = (
            f"In texts of {joined['sentences']} sentences F1 is {joined['ents_f']:.1%},"
            f" and {data['ents_f']:.1%} as the corpus has them "
            f"(p = {tested['p_value']:.3f})."
        )
        if tested["difference"] < 0 and not joined["is_trained_so"]:
            said += (
                " A pipeline is best served as it was trained: train it on both, by "
                "`spacy-hashembeds.JoinedCorpus.v1`, or serve it sentence by sentence."
            )
        yield said
