"""Corpora in spaCy's own format (.spacy)."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy
import srsly
from spacy.attrs import DEP, ENT_IOB, ENT_TYPE, LEMMA, ORTH, TAG
from spacy.strings import StringStore
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from lab.corpora.misspellings import misspell
from spacy_hashembeds.analysis.statistics import StatisticsCounter
from spacy_hashembeds.corpora.docbin import entity_texts, read_docs

from ..damage_values import damage_value
from ..target import Part, Target
from .material import make_docs

_FILE = "train.spacy"
_ARRAYS = {"tokens": "uint64", "spaces": "bool", "lengths": "int32"}

# Attributes whose values are the hashes of strings that have always been in the file.
_STRINGS = (ORTH, LEMMA, TAG, DEP, ENT_TYPE)


def _make(folder: Path) -> None:
    docs = make_docs(Vocab())
    for i, doc in enumerate(docs):
        doc.cats = {"news": i / 4}
        doc.user_data["source"] = f"line {i}"
    docs[0].spans["rivers"] = [docs[0][1:3]]
    DocBin(docs=docs, store_user_data=True).to_disk(folder / _FILE)


def _load(folder: Path, part: Part) -> list[Doc]:
    return list(read_docs(folder / _FILE, Vocab()))


def _use(docs: list[Doc]) -> Any:
    StatisticsCounter(docs).get_statistics()
    entity_texts(docs)
    _check_copies(docs)
    return [
        (
            [(t.text, t.whitespace_, t.norm_, t.lemma_, t.is_sent_start) for t in doc],
            [(e.start, e.end, e.label_) for e in doc.ents],
            doc.cats,
            {
                key: [(s.start, s.end) for s in group]
                for key, group in doc.spans.items()
            },
            dict(doc.user_data),
        )
        for doc in docs
    ]


def _check_copies(docs: list[Doc]) -> None:
    for doc, copy in zip(docs, misspell(docs), strict=True):
        if [e.label for e in doc.ents] != [e.label for e in copy.ents]:
            raise AssertionError("a misspelt copy has other entities")


def find_fault(part: Part, original: bytes, damaged: bytes, answer: Any) -> str | None:
    """Say what in a corpus can't be: see `Target`."""
    data = srsly.msgpack_loads(zlib.decompress(damaged))
    return next(_find_faults(data), None)


def _find_faults(data: Any) -> Iterator[str]:
    lengths = numpy.frombuffer(data["lengths"], "int32")
    attrs = data["attrs"]
    size = len(data["tokens"]) // 8
    if size % len(attrs) or size // len(attrs) != lengths.sum() or lengths.min() < 0:
        yield "the lengths are not those of the tokens"
        return
    if len(data["spaces"]) != lengths.sum():
        yield "the lengths are not those of the spaces"
    if len(set(attrs)) < len(attrs):
        yield "an attribute is there twice"
    for key in ("cats", "flags", "span_groups", "user_data"):
        if len(data.get(key, lengths)) != len(lengths):
            yield f"another number of {key} than of docs"
    if not all(isinstance(cats, dict) for cats in data["cats"]):
        yield "the categories are no mapping"
    tokens = numpy.frombuffer(data["tokens"], "uint64").reshape(-1, len(attrs))
    yield from _find_faulty_tokens(attrs, tokens, data["strings"])


def _find_faulty_tokens(attrs: Any, tokens: Any, strings: Any) -> Iterator[str]:
    store = StringStore(strings)
    for attr, column in zip(attrs, tokens.T, strict=True):
        values = set(column.tolist())
        if attr in _STRINGS and not all(
            value == 0 or value in store for value in values
        ):
            yield "a string is missing"
        if attr == ENT_IOB and not values <= {0, 1, 2, 3}:
            yield "no tag of an entity"


def damage(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage a value in the packed data, arrays among them."""
    content = srsly.msgpack_loads(zlib.decompress(data))
    for key, dtype in _ARRAYS.items():
        content[key] = numpy.frombuffer(content[key], dtype)
    content["tokens"] = content["tokens"].reshape(-1, len(content["attrs"]))
    key = rng.choice(list(content))
    content[key], how = damage_value(content[key], rng)
    for name in _ARRAYS:
        if isinstance(content.get(name), numpy.ndarray):
            content[name] = content[name].tobytes()
    return zlib.compress(srsly.msgpack_dumps(content)), f"{key}/{how}"


DOCBIN = Target(
    name="docbin",
    parts=[Part(path=_FILE, structured=damage, is_ours=True)],
    make=_make,
    load=_load,
    use=_use,
    find_fault=find_fault,
)
