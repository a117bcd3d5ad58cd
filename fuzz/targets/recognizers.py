"""A trained `token_ner`, over words that are embedded by their characters."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import spacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import fix_random_seed

from ..damage_text import damage_json
from ..target import Part, Target
from . import weights
from .material import get_texts, make_docs

_WIDTH = 8
_KEY = "found"
_MODEL = {
    "@architectures": "spacy-hashembeds.TokenClassifier.v1",
    "tok2vec": {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy-hashembeds.CharCNNEmbed.v1",
            "width": _WIDTH,
            "char_width": 5,
            "num_kernels": 4,
            "ngram_size": 2,
            "include_static_vectors": False,
        },
        "encode": {
            "@architectures": "spacy-hashembeds.MaxoutWindowEncoder.v1",
            "width": _WIDTH,
            "depth": 1,
            "window_size": 1,
            "maxout_pieces": 2,
        },
    },
}


@dataclass(frozen=True)
class Answer:
    """What a pipeline finds in some texts.

    ents (list[list[tuple[int, int, str]]]): The entities.
    scores (list[NDArray]): Their scores.
    again (list[NDArray]): For the second time.
    """

    ents: list[list[tuple[int, int, str]]]
    scores: list[Any]
    again: list[Any]


def _make(folder: Path) -> None:
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("token_ner", config={"model": _MODEL, "spans_key": _KEY})
    docs = make_docs(nlp.vocab)
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(folder)


def _load(folder: Path, part: Part) -> Language:
    return spacy.load(folder)


def _use(nlp: Language) -> Answer:
    docs, again = (list(nlp.pipe(get_texts())) for _ in range(2))
    return Answer(
        ents=[[(e.start, e.end, e.label_) for e in doc.ents] for doc in docs],
        scores=[doc.spans[_KEY].attrs["scores"] for doc in docs],
        again=[doc.spans[_KEY].attrs["scores"] for doc in again],
    )


def _is_same(a: Answer, b: Answer) -> bool:
    return (
        a.ents == b.ents
        and all(map(_are_close, a.scores, b.scores))
        and all(map(_are_close, b.scores, b.again))
    )


def _are_close(X: Any, Y: Any) -> bool:
    return X.shape == Y.shape and bool(numpy.allclose(X, Y, rtol=1e-3, atol=1e-3))


def _find_fault(
    part: Part, original: bytes, damaged: bytes, answer: Answer
) -> str | None:
    find = weights.find_fault if part.path.endswith("model") else _find_fault_of_labels
    fault = find(original, damaged)
    if fault is not None:
        return fault
    scores = numpy.concatenate(answer.scores)
    if not ((scores >= 0) & (scores <= 1)).all():
        return "the scores are no probabilities"
    if not all(map(_are_close, answer.scores, answer.again)):
        return "the same texts get other scores"
    return None


def _find_fault_of_labels(original: bytes, damaged: bytes) -> str | None:
    """Say why labels can't be those of a pipeline. Others than they were can."""
    try:
        good, bad = (json.loads(data)["labels"] for data in (original, damaged))
    except (KeyError, TypeError, ValueError):
        return "there are no labels"
    return next(_find_faults_of_labels(good, bad), None)


def _find_faults_of_labels(good: list[str], bad: Any) -> Iterator[str]:
    if not isinstance(bad, list) or len(bad) != len(good):
        yield "another number of labels"
    elif not all(isinstance(label, str) and label for label in bad):
        yield "a label that is no text"
    elif len(set(bad)) < len(bad):
        yield "a label that is there twice"


RECOGNIZER = Target(
    name="token_ner",
    parts=[
        Part(path="token_ner/model", structured=weights.damage, weight=10),
        Part(path="token_ner/cfg", structured=damage_json, weight=3),
    ],
    make=_make,
    load=_load,
    use=_use,
    find_fault=_find_fault,
    is_same=_is_same,
    names_file=False,
)
