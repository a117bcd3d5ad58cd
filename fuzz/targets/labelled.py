"""Texts with labels: published corpora, and one's own CSV and JSONL.

Nearly any text is one that somebody might have written. So what is read is compared
with what a second, plain reader finds in the file.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from lab.corpora.published import PUBLISHED, read_published
from spacy_hashembeds.corpora.labelled import LabelledText, TextFormat, read_labelled

from ..damage_bytes import damage_lines
from ..damage_text import damage_json
from ..target import Part, Target
from .material import get_texts

#: The text of a row, and its labels with their numbers.
Found = tuple[str, dict[str, float]]

_CLASSES = ("World", "Sports", "Business", "Sci/Tech")
_READERS: Mapping[str, Callable[[Path], Iterator[LabelledText]]] = {
    "test.csv": partial(read_published, layout=PUBLISHED["ag_news"]),
    "own.csv": partial(read_labelled, layout=TextFormat(label="topic")),
    "own.jsonl": partial(read_labelled, layout=TextFormat()),
}

# A field, in quotation marks or not, and what ends it.
_FIELD = re.compile(r'("(?:[^"]|"")*"|[^",\r\n][^,\r\n]*|)(,|[\r\n]+|\Z)')


def _make(folder: Path) -> None:
    texts = get_texts()
    quoted = [text.replace("Rome", '""Rome""') for text in texts]
    rows = [f'"{i % 4 + 1}","{t}","On\\{t}"' for i, t in enumerate(quoted)]
    own = [f'{i},"{t}\n{i}",{_CLASSES[i % 3]}' for i, t in enumerate(quoted)]
    labels: list[Any] = ["a", 1, ["a", "b"], {"a": 0, "c": 1}, []]
    lines = [
        json.dumps({"text": text, "label": labels[i % 5], "id": i})
        for i, text in enumerate(texts)
    ]
    files = {
        "classes.txt": _CLASSES,
        "test.csv": rows,
        "own.csv": ["id,text,topic", *own],
        "own.jsonl": lines,
    }
    for name, content in files.items():
        (folder / name).write_text("\n".join(content) + "\n", encoding="utf8")


def _load(folder: Path, part: Part) -> list[LabelledText]:
    name = "test.csv" if part.path == "classes.txt" else part.path
    return list(_READERS[name](folder / name))


def _use(texts: list[LabelledText]) -> list[Found]:
    return [(text, dict(cats)) for text, cats in texts]


def _find_fault(
    part: Part, original: bytes, damaged: bytes, answer: list[Found]
) -> str | None:
    if b"\x00" in damaged:
        return "there are NUL characters in the text"
    text = damaged.decode("utf-8-sig")
    if part.path == "classes.txt":
        names = [line.strip() for line in text.split("\n") if line.strip()]
        found = [list(cats) for _, cats in answer]
        return None if found == [names] * len(answer) else "other labels than it has"
    expected = list(_PLAIN_READERS[part.path](text))
    return None if answer == expected else "other texts or labels than the file has"


def _read_published(text: str) -> Iterator[Found]:
    for number, *fields in _split(text):
        whole = " ".join(field for field in fields if field)
        whole = whole.replace(r"\$", "$").replace("\\", "\n")
        (label,) = (name for i, name in enumerate(_CLASSES) if str(i + 1) == number)
        if whole:
            yield whole, {name: float(name == label) for name in _CLASSES}


def _read_own(text: str) -> Iterator[Found]:
    header, *rows = _split(text)
    found = [(row[header.index("text")], row[header.index("topic")]) for row in rows]
    yield from _fill([(text, {label.strip(): 1.0}) for text, label in found])


def _read_jsonl(text: str) -> Iterator[Found]:
    rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    found = []
    for row in rows:
        label = row["label"]
        names = label if isinstance(label, list | dict) else [str(label)]
        numbers = label if isinstance(label, dict) else dict.fromkeys(names, 1.0)
        found.append((row["text"], numbers))
    yield from _fill(found)


def _fill(found: list[tuple[str, dict[str, float]]]) -> Iterator[Found]:
    labels = sorted({label for _, cats in found for label in cats})
    for text, cats in found:
        yield text, {label: float(cats.get(label, 0.0)) for label in labels}


def _split(text: str) -> Iterator[list[str]]:
    row: list[str] = []
    place = 0
    while place < len(text):
        match = _FIELD.match(text, place)
        if match is None:
            raise ValueError("no CSV")
        field, end = match.groups()
        quoted = field.startswith('"')
        row.append(field[1:-1].replace('""', '"') if quoted else field)
        place = match.end()
        if end != ",":
            if row != [""]:
                yield row
            row = []


def damage_object(data: bytes, rng: Random) -> tuple[bytes, str]:
    """Damage a value in one of the lines of JSONL."""
    lines = data.split(b"\n")
    place = rng.randrange(len(lines) - 1)
    damaged, how = damage_json(lines[place], rng)
    lines[place] = damaged.replace(b"\n", b" ")
    return b"\n".join(lines), how


_PLAIN_READERS: Mapping[str, Callable[[str], Iterator[Found]]] = {
    "test.csv": _read_published,
    "own.csv": _read_own,
    "own.jsonl": _read_jsonl,
}

LABELLED = Target(
    name="labelled",
    parts=[
        Part(path="test.csv", structured=damage_lines, weight=3),
        Part(path="classes.txt", structured=damage_lines),
        Part(path="own.csv", structured=damage_lines, weight=3),
        Part(path="own.jsonl", structured=damage_object, weight=3),
    ],
    make=_make,
    load=_load,
    use=_use,
    find_fault=_find_fault,
)
