"""Damaged texts: one token a line, with labels, and raw."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import spacy

from spacy_hashembeds.tools.prepare.columns import ColumnFormat, read_documents
from spacy_hashembeds.tools.prepare.labelled import TextFormat, read_labelled
from spacy_hashembeds.training.rawtexts import create_raw_texts_reader

from .judgement import make_test
from .sentences import TEXTS
from .texts import (
    CLASSES,
    QUOTED,
    Found,
    make_reader,
    read_columns,
    read_rows,
    show_documents,
    show_pairs,
    strip,
    write_columns,
)

_blank = cache(spacy.blank)
_LABELS: tuple[Any, ...] = ("a", 1, ["a", "b"], {"a": 0, "c": 1}, [])
_FILES: dict[str, Iterable[str]] = {
    "own.csv": [
        "id,text,topic",
        *(f'{i},"{x}\n{i}",{CLASSES[i % 3]}' for i, x in enumerate(QUOTED)),
    ],
    "own.jsonl": [
        json.dumps({"text": x, "label": _LABELS[i % 5]}) for i, x in enumerate(TEXTS)
    ],
    "raw.jsonl": [json.dumps({"text": text, "id": 1}) for text in TEXTS],
    "own.iob": [*write_columns("{} NN {}", "# id = 1")],
}


def _load_pretraining(path: Path) -> list[str]:
    """Read what `spacy pretrain` gets, without white space."""
    reader = create_raw_texts_reader(path=path, held_out=0, min_length=0, max_length=0)
    return sorted(strip(eg.reference.text) for eg in reader(_blank("xx")))


def _read_csv(text: str) -> Iterator[Found]:
    header, *rows = read_rows(text)
    places = header.index("text"), header.index("topic")
    found = [[row[place] for place in places] for row in rows]
    return _fill([(text, {label.strip(): 1.0}) for text, label in found])


def _read_objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _read_jsonl(text: str) -> Iterator[Found]:
    rows = [(row["text"], row["label"]) for row in _read_objects(text)]
    listed = [(x, y if isinstance(y, list | dict) else [y]) for x, y in rows]
    return _fill(
        [
            (x, y if isinstance(y, dict) else dict.fromkeys(map(str, y), 1.0))
            for x, y in listed
        ]
    )


def _fill(found: list[Found]) -> Iterator[Found]:
    labels = sorted({label for _, cats in found for label in cats})
    for text, cats in found:
        yield text, {label: float(cats.get(label, 0.0)) for label in labels}


def _read_pretraining(lines: Iterable[str]) -> list[str]:
    return sorted({*map(strip, lines)} - {""})


_READERS: list[tuple[str, Callable, Callable]] = [
    (
        "own.iob",
        lambda path: show_documents(read_documents(path, ColumnFormat())),
        lambda text: show_pairs(read_columns(text, comments=True)),
    ),
    (
        "raw.jsonl",
        _load_pretraining,
        lambda text: _read_pretraining(row["text"] for row in _read_objects(text)),
    ),
    (
        "own.csv",
        lambda path: read_labelled(path, layout=TextFormat(label="topic")),
        _read_csv,
    ),
    (
        "own.jsonl",
        lambda path: read_labelled(path, layout=TextFormat()),
        _read_jsonl,
    ),
]
test_texts = make_test(
    {name: partial(make_reader, _FILES, name, *more) for name, *more in _READERS}, 0.5
)
