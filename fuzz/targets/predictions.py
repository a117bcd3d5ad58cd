"""Predictions with scores in `doc.spans` (.spacy), as `evaluate` reads them."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy
import srsly
from spacy.tokens import Doc, DocBin, SpanGroup
from spacy.vocab import Vocab

from spacy_hashembeds.corpora.docbin import read_docs
from spacy_hashembeds.evaluation.evaluate import evaluate

from ..damage_values import damage_value
from ..target import Part, Target
from . import docbins
from .material import make_docs

_FILE, _KEY = "predictions.spacy", "ents"


def _make(folder: Path) -> None:
    docs = make_docs(Vocab())
    for doc in docs:
        doc.ents = doc.ents[1:] if len(doc.ents) > 2 else doc.ents
        scores = [0.25 * (i + 1) for i in range(len(doc.ents))]
        doc.spans[_KEY] = SpanGroup(
            doc, name=_KEY, spans=doc.ents, attrs={"scores": scores}
        )
    DocBin(docs=docs).to_disk(folder / _FILE)


def _load(folder: Path, part: Part) -> list[Doc]:
    return list(read_docs(folder / _FILE, Vocab()))


def _use(docs: list[Doc]) -> Any:
    gold = make_docs(Vocab())
    found = evaluate(docs, gold, train=gold, samples=1, show_progress=False)
    return found["ents_f"], found["calibration"], list(_read_scores(docs))


def _read_scores(docs: list[Doc]) -> Iterator[Any]:
    for doc in docs:
        yield from (group.attrs.get("scores") for group in doc.spans.values())


def _find_fault(part: Part, original: bytes, damaged: bytes, answer: Any) -> str | None:
    _, calibration, scores = answer
    if calibration is not None:
        given = numpy.concatenate([each for each in scores if each is not None])
        if not ((given >= 0) & (given <= 1)).all():
            return "scores are no probabilities"
    return docbins.find_fault(part, original, damaged, answer)


def _damage(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage a group of spans, of which the file has the packed bytes."""
    content = srsly.msgpack_loads(zlib.decompress(data))
    number = rng.randrange(len(content["span_groups"]))
    (packed,) = srsly.msgpack_loads(content["span_groups"][number])
    group, how = damage_value(srsly.msgpack_loads(packed), rng)
    groups = srsly.msgpack_dumps({srsly.msgpack_dumps(group): [_KEY]})
    content["span_groups"][number] = groups
    return zlib.compress(srsly.msgpack_dumps(content)), how


PREDICTIONS = Target(
    name="predictions",
    parts=[Part(path=_FILE, structured=_damage)],
    make=_make,
    load=_load,
    use=_use,
    find_fault=_find_fault,
)
