"""Texts without annotation, as the reader of `spacy pretrain` takes them."""

import json
from pathlib import Path

import spacy
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_hashembeds.corpora.rawtexts import create_raw_texts_reader

from ..damage_bytes import damage_lines
from ..target import Part, Target
from . import docbins
from .labelled import damage_object
from .material import get_texts, make_docs

_LINES, _OBJECTS, _DOCS = "raw.txt", "raw.jsonl", "raw.spacy"


def _make(folder: Path) -> None:
    texts = [*get_texts(), "don't see https://x.org/a, 12é \U0001f600\u2019"]
    objects = [json.dumps({"text": text, "id": i}) for i, text in enumerate(texts)]
    for name, lines in ((_LINES, texts), (_OBJECTS, objects)):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf8")
    DocBin(docs=make_docs(Vocab())).to_disk(folder / _DOCS)


def _load(folder: Path, part: Part) -> list[Example]:
    read = create_raw_texts_reader(
        path=folder / part.path, held_out=0, min_length=0, max_length=0
    )
    return list(read(spacy.blank("xx")))


def _use(examples: list[Example]) -> list[str]:
    return sorted(_strip(example.reference.text) for example in examples)


def _strip(text: str) -> str:
    return "".join(text.split())


def _find_fault(
    part: Part, original: bytes, damaged: bytes, answer: list[str]
) -> str | None:
    if part.path == _DOCS:
        return docbins.find_fault(part, original, damaged, answer)
    if b"\x00" in damaged:
        return "there are NUL characters in the text"
    lines = damaged.decode("utf-8-sig").split("\n")
    if part.path == _OBJECTS:
        lines = [json.loads(line)["text"] for line in lines if line.strip()]
    expected = sorted({_strip(line) for line in lines} - {""})
    return None if answer == expected else "other texts than the file has"


PRETRAIN_TEXTS = Target(
    name="pretrain_texts",
    parts=[
        Part(path=_LINES, structured=damage_lines),
        Part(path=_OBJECTS, structured=damage_object),
        Part(path=_DOCS, structured=docbins.damage),
    ],
    make=_make,
    load=_load,
    use=_use,
    find_fault=_find_fault,
)
