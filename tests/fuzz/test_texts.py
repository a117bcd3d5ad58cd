"""Damaged texts: one token a line, with labels, and raw.

Nearly any text is one that somebody might have written. So what is read is compared
with what a second, plain reader finds in the file.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import spacy
from seqeval.metrics.sequence_labeling import get_entities
from spacy.vocab import Vocab

from lab.corpora.datasets import WNUT17
from lab.corpora.ontonotes import read_ontonotes
from lab.corpora.published import PUBLISHED, read_published
from lab.vectors.rawtext import RAW_FILES, write_raw_text
from spacy_hashembeds.corpora.columns import (
    ColumnFormat,
    Document,
    make_doc,
    read_documents,
)
from spacy_hashembeds.corpora.labelled import TextFormat, read_labelled
from spacy_hashembeds.corpora.rawtexts import create_raw_texts_reader

from .damage import damage_jsonl, damage_lines
from .judgement import Reader, make_test
from .sentences import SENTENCES, TEXTS

#: Words and tags of a sentence; a text, and its labels with their numbers.
Pairs = list[tuple[str, str]]
Found = tuple[str, dict[str, float]]

_blank = cache(spacy.blank)
_BLANKS = " \t"
_BIOES = str.maketrans("LU", "ES")
_CLASSES = ("World", "Sports", "Business", "Sci/Tech")
_LABELS: tuple[Any, ...] = ("a", 1, ["a", "b"], {"a": 0, "c": 1}, [])
_QUOTED = [text.replace("Rome", '""Rome""') for text in TEXTS]
_FILES: dict[str, Iterable[str]] = {
    "classes.txt": _CLASSES,
    "test.csv": [f'"{i % 4 + 1}","{x}","On\\{x}"' for i, x in enumerate(_QUOTED)],
    "own.csv": [
        "id,text,topic",
        *(f'{i},"{x}\n{i}",{_CLASSES[i % 3]}' for i, x in enumerate(_QUOTED)),
    ],
    "own.jsonl": [
        json.dumps({"text": x, "label": _LABELS[i % 5]}) for i, x in enumerate(TEXTS)
    ],
    "raw.jsonl": [json.dumps({"text": text, "id": 1}) for text in TEXTS],
    **dict.fromkeys(("raw.txt", *RAW_FILES), TEXTS),
}


def _make(
    name: str,
    load: Callable[[Path], Iterable[Any]],
    read: Callable[[str], Iterable[Any]],
    folder: Path,
) -> Reader:
    for each, lines in _FILES.items():
        (folder / each).write_text("\n".join(lines) + "\n", encoding="utf8")

    def find_fault(damaged: bytes, answer: list[Any]) -> str | None:
        assert b"\0" not in damaged, "NUL characters"
        is_there = answer == [*read(damaged.decode("utf-8-sig"))]
        return None if is_there else "something else than the file has"

    damage = damage_jsonl if name.endswith("jsonl") else damage_lines
    return Reader(folder / name, damage, lambda path: [*load(path)], find_fault)


def _write_columns(row: str, before: str = "") -> Iterator[str]:
    for i, pairs in enumerate(SENTENCES):
        yield from [before] if before and i % 2 == 0 else []
        yield from [*(row.format(word, tag) for word, tag in pairs), ""]


def _write_ontonotes() -> Iterator[str]:
    for i, pairs in enumerate(SENTENCES):
        names = [f"({tag[2:]})" if tag != "O" else "*" for _, tag in pairs]
        if i == 1:
            names[-3:] = ["(DATE*", "*", "*)"]
        yield f"#begin document (bc/x/00/x_0000); part {i:03}"
        for n, ((word, _), name) in enumerate(zip(pairs, names, strict=True)):
            yield f"bc/x/00/x_0000 {i} {n} {word} NN (NP* - - - Ann#1 {name} * -"
        yield "\n#end document"


_FILES |= {
    "wnut17.conll": [*_write_columns("{}\t{}")],
    "own.iob": [*_write_columns("{} NN {}", "# id = 1")],
    "conll2002.nl": [*_write_columns("{} N {}", "-DOCSTART- -DOCSTART- O")],
    "x.v4_gold_conll": [*_write_ontonotes()],
}


def _show_documents(documents: Iterable[Document]) -> list[Any]:
    docs = [make_doc(Vocab(), document) for document in documents]
    words = [token.text for doc in docs for token in doc]
    return [words, [(ent.text, ent.label_) for doc in docs for ent in doc.ents]]


def _show_pairs(sentences: Iterable[Pairs]) -> list[Any]:
    shown: list[list[Any]] = [[], []]
    for pairs in filter(None, sentences):
        words = [word for word, _ in pairs]
        tags = [tag[0].translate(_BIOES) + tag[1:] for _, tag in pairs]
        shown[0] += words
        shown[1] += [(" ".join(words[i : j + 1]), x) for x, i, j in get_entities(tags)]
    return shown


def _read_columns(
    text: str, separator: str = "", *, comments: bool = False
) -> Iterator[Pairs]:
    pairs: Pairs = []
    for line in text.split("\n"):
        line = line.rstrip("\r") if separator else line.rstrip("\r").strip(_BLANKS)
        columns = re.split(separator or "[ \t]+", line)
        tag = columns[-1].strip(_BLANKS)
        starts_document = re.search(r"(?i)(?<![\w-])-+DOCSTART(?!\w)", line)
        if starts_document or not "".join(columns).strip(f"{_BLANKS}\ufeff"):
            yield pairs
            pairs = []
        elif pairs or not (comments and _is_comment(line, tag)):
            pairs.append((columns[0], tag))
    yield pairs


def _is_comment(line: str, tag: str) -> bool:
    is_tag = tag == "O" or re.fullmatch("[BILUES]-.+", tag)
    return bool(re.match(r"#\s", line)) and (line.split()[2:3] == ["="] or not is_tag)


def _read_ontonotes(text: str) -> Iterator[Pairs]:
    pairs: Pairs = []
    label = ""
    for line in text.split("\n"):
        columns = line.split()
        if line.startswith(("#begin document", "#end document")) or not columns:
            yield pairs
            pairs = []
            continue
        name = columns[10]
        if name.startswith("("):
            label = re.sub("[^()*]*$", "", name).strip("(*)") or name.strip("(*)")
        prefix = "B" if name.startswith("(") else "I"
        pairs.append((columns[3], f"{prefix}-{label}" if label else "O"))
        label = "" if name.endswith(")") else label
    yield pairs


def _strip(text: str) -> str:
    return "".join(text.split())


def _load_raw_files(path: Path) -> Iterable[str]:
    write_raw_text(path.parent, path.parent / "output")
    lines = (path.parent / "output").read_text(encoding="utf8").split("\n")
    return filter(None, map(_strip, lines))


def _read_raw_files(name: str, text: str) -> Iterable[str]:
    # the same text stands in the other files
    texts = [text.split("\n") if each == name else TEXTS for each in RAW_FILES]
    return filter(None, (_strip(line) for lines in texts for line in lines))


def _load_pretraining(path: Path) -> list[str]:
    """Read what `spacy pretrain` gets, without white space."""
    reader = create_raw_texts_reader(path=path, held_out=0, min_length=0, max_length=0)
    return sorted(_strip(eg.reference.text) for eg in reader(_blank("xx")))


def _read_rows(text: str) -> Iterator[list[str]]:
    csv.field_size_limit(10**9)
    # as files are iterated over: lines with their ends
    lines = re.findall(r"[^\n]*\n|[^\n]+\Z", text)
    return filter(None, csv.reader(lines, strict=True))


def _load_published(path: Path) -> Iterable[Any]:
    return read_published(path.with_name("test.csv"), layout=PUBLISHED["ag_news"])


def _read_published(text: str) -> Iterator[Found]:
    for number, *fields in _read_rows(text):
        whole = " ".join(filter(None, fields)).replace(r"\$", "$").replace("\\", "\n")
        label = _CLASSES[["1", "2", "3", "4"].index(number)]
        if whole:
            yield whole, {name: float(name == label) for name in _CLASSES}


def _read_csv(text: str) -> Iterator[Found]:
    header, *rows = _read_rows(text)
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
    return sorted({*map(_strip, lines)} - {""})


_READERS: list[tuple[str, Callable, Callable]] = [
    (
        "wnut17.conll",
        lambda path: _show_documents(read_documents(path, WNUT17)),
        lambda text: _show_pairs(_read_columns(text, "\t")),
    ),
    (
        "own.iob",
        lambda path: _show_documents(read_documents(path, ColumnFormat())),
        lambda text: _show_pairs(_read_columns(text, comments=True)),
    ),
    (
        "conll2002.nl",
        lambda path: _show_documents(
            read_documents(path, ColumnFormat(group="document"))
        ),
        lambda text: _show_pairs(_read_columns(text)),
    ),
    (
        "x.v4_gold_conll",
        lambda path: _show_documents(read_ontonotes(path)),
        lambda text: _show_pairs(_read_ontonotes(text)),
    ),
    *(
        (name, _load_raw_files, partial(_read_raw_files, name))
        for name in ("gurez.10000", "redd.tok.uniq")
    ),
    ("raw.txt", _load_pretraining, lambda text: _read_pretraining(text.split("\n"))),
    (
        "raw.jsonl",
        _load_pretraining,
        lambda text: _read_pretraining(row["text"] for row in _read_objects(text)),
    ),
    ("test.csv", _load_published, _read_published),
    (
        "classes.txt",
        lambda path: [[*cats] for _, cats in _load_published(path)],
        lambda text: len(TEXTS) * [[x.strip() for x in text.split("\n") if x.strip()]],
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
    {name: partial(_make, name, *more) for name, *more in _READERS}, 1
)
