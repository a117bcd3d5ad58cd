"""The classifier of texts that is recommended, put into a config, with its training."""

import re
from collections.abc import Iterable

from ..analysis.recommendation import CLASSIFIER, CLASSIFIER_TRAINING
from .draft import Draft, check_block, get_name

_BAG = re.compile(r"spacy(?:-legacy)?\.TextCatBOW\.v[123]")
_ADAM = re.compile(r"(?:spacy-hashembeds\.)?Adam\.v1")

#: What was measured (configs/hash_ngram_textcat.cfg).
_BLOCK = {
    "@architectures": "spacy-hashembeds.HashNgramTextCat.v1",
    "ngram_size": 2,
    "rows": 10_000,
    "width": 20,
    "importance_rows": 100_000,
}
_BATCHER = {"@batchers": "spacy.batch_by_sequence.v1", "size": 128}


def find_bags_of_words(draft: Draft) -> list[str]:
    """Find the places of spaCy's bags of words, if nothing else of the pipeline learns:
    `[training]` is of all components.
    """
    found = []
    frozen = draft.resolve("training.frozen_components") or []
    for name, component in draft.resolve("components").items():
        if name in frozen:
            continue
        block = component.get("model") or {}
        is_bag = _BAG.fullmatch(get_name(block, "@architectures"))
        is_ours_to_replace = name not in draft.left and not block.get("no_output_layer")
        if is_bag and is_ours_to_replace:
            found.append(f"components.{name}.model")
        elif block or "source" in component:
            return []
    return found


def put_in_classifiers(draft: Draft, places: Iterable[str]) -> None:
    """Put ours in the place of bags of words, and train as it was measured."""
    for place in places:
        old = draft.resolve(place)
        check_block(place, old)
        block = {**_BLOCK, "exclusive_classes": old["exclusive_classes"]}
        draft.replace(place, block, {"@architectures": CLASSIFIER})
    draft.set("training", "dropout", 0.0, CLASSIFIER_TRAINING)
    draft.replace("training.batcher", _BATCHER, {"@batchers": CLASSIFIER_TRAINING})
    optimizer = draft.resolve("training.optimizer") or {"@optimizers": "Adam.v1"}
    if _ADAM.fullmatch(get_name(optimizer, "@optimizers")):
        raw = draft.get("training.optimizer")
        plain = raw if isinstance(raw, dict) else optimizer
        plain = {**plain, "L2": 0.0, "grad_clip": 0.0}
        reasons: dict[str | None, str] = dict.fromkeys(plain, CLASSIFIER_TRAINING)
        draft.replace("training.optimizer", plain, reasons)
