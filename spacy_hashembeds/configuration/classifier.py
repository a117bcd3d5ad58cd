"""The classifier of texts that is recommended, put into a config, with its training."""

import re

from ..analysis.recommendation import CLASSIFIER, CLASSIFIER_TRAINING
from ..loading import find_architectures
from .draft import Draft, check_block

_BAG = re.compile(r"spacy(?:-legacy)?\.TextCatBOW\.v[123]")
_MODEL = re.compile(r"components\.([^.]+)\.model")

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
    """Find the places of spaCy's bags of words that are whole models of components."""
    found = []
    for place, block in find_architectures(draft.config.interpolate()).items():
        model = _MODEL.fullmatch(place)
        if (
            model
            and model[1] not in draft.left
            and _BAG.fullmatch(block["@architectures"])
        ):
            found.append(place)
    return found


def put_in_classifiers(draft: Draft) -> None:
    """Put ours in the place of bags of words, and train as it was measured."""
    for place in find_bags_of_words(draft):
        exclusive = draft.resolve(f"{place}.exclusive_classes")
        block = {**_BLOCK, "exclusive_classes": exclusive}
        check_block(place, block)
        draft.replace(place, block, {"@architectures": CLASSIFIER})
    draft.set("training", "dropout", 0.0, CLASSIFIER_TRAINING)
    draft.replace("training.batcher", _BATCHER, {"@batchers": CLASSIFIER_TRAINING})
    optimizer = draft.get("training.optimizer") or {"@optimizers": "Adam.v1"}
    if isinstance(optimizer, dict) and "Adam" in str(optimizer.get("@optimizers")):
        plain = {**optimizer, "L2": 0.0, "grad_clip": 0.0}
        reasons: dict[str | None, str] = dict.fromkeys(plain, CLASSIFIER_TRAINING)
        draft.replace("training.optimizer", plain, reasons)
