"""Damaged files of published corpora."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lab.corpora.datasets import WNUT17
from lab.corpora.ontonotes import read_ontonotes
from lab.corpora.published import PUBLISHED, read_published
from lab.vectors.rawtext import RAW_FILES, write_raw_text
from spacy_hashembeds.tools.prepare.columns import read_documents
from tests.fuzz.judgement import make_test
from tests.fuzz.sentences import SENTENCES, TEXTS
from tests.fuzz.texts import (
    CLASSES,
    QUOTED,
    Found,
    Pairs,
    make_reader,
    read_columns,
    read_rows,
    show_documents,
    show_pairs,
    strip,
    write_columns,
)


def _write_ontonotes() -> Iterator[str]:
    for i, pairs in enumerate(SENTENCES):
        names = [f"({tag[2:]})" if tag != "O" else "*" for _, tag in pairs]
        if i == 1:
            names[-3:] = ["(DATE*", "*", "*)"]
        yield f"#begin document (bc/x/00/x_0000); part {i:03}"
        for n, ((word, _), name) in enumerate(zip(pairs, names, strict=True)):
            yield f"bc/x/00/x_0000 {i} {n} {word} NN (NP* - - - Ann#1 {name} * -"
        yield "\n#end document"


_FILES: dict[str, Iterable[str]] = {
    "classes.txt": CLASSES,
    "test.csv": [f'"{i % 4 + 1}","{x}","On\\{x}"' for i, x in enumerate(QUOTED)],
    **dict.fromkeys(RAW_FILES, TEXTS),
    "wnut17.conll": [*write_columns("{}\t{}")],
    "x.v4_gold_conll": [*_write_ontonotes()],
}


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


def _load_raw_files(path: Path) -> Iterable[str]:
    write_raw_text(path.parent, path.parent / "output")
    lines = (path.parent / "output").read_text(encoding="utf8").split("\n")
    return filter(None, map(strip, lines))


def _read_raw_files(name: str, text: str) -> Iterable[str]:
    # the same text stands in the other files
    texts = [text.split("\n") if each == name else TEXTS for each in RAW_FILES]
    return filter(None, (strip(line) for lines in texts for line in lines))


def _load_published(path: Path) -> Iterable[Any]:
    return read_published(path.with_name("test.csv"), layout=PUBLISHED["ag_news"])


def _read_published(text: str) -> Iterator[Found]:
    for number, *fields in read_rows(text):
        whole = " ".join(filter(None, fields)).replace(r"\$", "$").replace("\\", "\n")
        label = CLASSES[["1", "2", "3", "4"].index(number)]
        if whole:
            yield whole, {name: float(name == label) for name in CLASSES}


_READERS: list[tuple[str, Callable, Callable]] = [
    (
        "wnut17.conll",
        lambda path: show_documents(read_documents(path, WNUT17)),
        lambda text: show_pairs(read_columns(text, "\t")),
    ),
    (
        "x.v4_gold_conll",
        lambda path: show_documents(read_ontonotes(path)),
        lambda text: show_pairs(_read_ontonotes(text)),
    ),
    *(
        (name, _load_raw_files, partial(_read_raw_files, name))
        for name in ("gurez.10000", "redd.tok.uniq")
    ),
    ("test.csv", _load_published, _read_published),
    (
        "classes.txt",
        lambda path: [[*cats] for _, cats in _load_published(path)],
        lambda text: len(TEXTS) * [[x.strip() for x in text.split("\n") if x.strip()]],
    ),
]
test_texts = make_test(
    {name: partial(make_reader, _FILES, name, *more) for name, *more in _READERS}, 1
)
