"""Trained text classifiers of n-grams, one with a dictionary, and an ensemble."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import spacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_hashembeds.architectures.classifiers.dictionary import (
    NGRAM_SOURCE,
    NgramKind,
)
from spacy_hashembeds.layers.source import Source

from ..target import Part, Target
from . import weights
from .material import get_texts, make_docs

_HASHED = {
    "@architectures": "spacy-hashembeds.HashNgramTextCat.v1",
    "exclusive_classes": True,
    "ngram_size": 2,
    "rows": 31,
    "width": 8,
    "importance_rows": 99,
}
_DICTIONARY = {**_HASHED, "importance_rows": None}
_ENSEMBLE = {
    "@architectures": "spacy-hashembeds.TextCatVotingEnsemble.v1",
    "num_models": 2,
    "*": {"member": {**_HASHED, "hidden_layers": 1, "hidden_width": 6}},
}


@dataclass(frozen=True)
class Answer:
    """What a pipeline makes of some texts.

    scores (NDArray): The scores, for the first time.
    again (NDArray): For the second time.
    """

    scores: Any
    again: Any


def _make(model: dict[str, Any], folder: Path) -> None:
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    pipe: Any = nlp.add_pipe("textcat", config={"model": model})
    examples = []
    for doc in make_docs(nlp.vocab):
        is_there = bool(doc.ents)
        doc.cats = {"name": float(is_there), "none": float(not is_there)}
        examples.append(Example(nlp.make_doc(doc.text), doc))
    for node in pipe.model.walk():
        if NGRAM_SOURCE in node.attrs:
            node.attrs[NGRAM_SOURCE] = Source(partial(_read, nlp))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(folder)


def _read(nlp: Language, kind: NgramKind) -> Any:
    return numpy.unique(kind.read(make_docs(nlp.vocab)))


def _load(folder: Path, part: Part) -> Language:
    return spacy.load(folder)


def _use(nlp: Language) -> Answer:
    return Answer(scores=_score(nlp), again=_score(nlp))


def _score(nlp: Language) -> Any:
    cats = [doc.cats for doc in nlp.pipe(get_texts())]
    return numpy.array([list(scores.values()) for scores in cats])


def _is_same(a: Answer, b: Answer) -> bool:
    return _are_close(a.scores, b.scores) and _are_close(b.scores, b.again)


def _are_close(X: Any, Y: Any) -> bool:
    return X.shape == Y.shape and bool(numpy.allclose(X, Y, rtol=1e-3, atol=1e-3))


def _find_fault(
    part: Part, original: bytes, damaged: bytes, answer: Answer
) -> str | None:
    fault = weights.find_fault(original, damaged)
    if fault is not None:
        return fault
    if not numpy.isfinite(answer.scores).all():
        return "the scores are not finite"
    if not _are_close(answer.scores, answer.again):
        return "the same texts get other scores"
    return None


def _make_target(name: str, model: dict[str, Any]) -> Target:
    return Target(
        name=name,
        parts=[Part(path="textcat/model", structured=weights.damage)],
        make=partial(_make, model),
        load=_load,
        use=_use,
        find_fault=_find_fault,
        is_same=_is_same,
        names_file=False,
    )


NGRAM_CLASSIFIER = _make_target("ngram_classifier", _HASHED)
DICTIONARY_CLASSIFIER = _make_target("dictionary_classifier", _DICTIONARY)
ENSEMBLE = _make_target("ensemble", _ENSEMBLE)
