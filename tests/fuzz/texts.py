"""Text files, their damage, and plain readers of them, that tests compare ours with.

Nearly any text is one that somebody might have written. So what is read is compared
with what a second, plain reader finds in the file.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from seqeval.metrics.sequence_labeling import get_entities
from spacy.vocab import Vocab

from spacy_hashembeds.tools.prepare.columns import Document, make_doc

from .damage import damage_jsonl, damage_lines
from .judgement import Reader
from .sentences import SENTENCES, TEXTS

#: Words and tags of a sentence; a text, and its labels with their numbers.
Pairs = list[tuple[str, str]]
Found = tuple[str, dict[str, float]]

_BLANKS = " \t"
_BIOES = str.maketrans("LU", "ES")
CLASSES = ("World", "Sports", "Business", "Sci/Tech")
QUOTED = [text.replace("Rome", '""Rome""') for text in TEXTS]


def make_reader(
    files: Mapping[str, Iterable[str]],
    name: str,
    load: Callable[[Path], Iterable[Any]],
    read: Callable[[str], Iterable[Any]],
    folder: Path,
) -> Reader:
    """Make a folder of files, of which one is to be damaged."""
    for each, lines in files.items():
        (folder / each).write_text("\n".join(lines) + "\n", encoding="utf8")

    def find_fault(damaged: bytes, answer: list[Any]) -> str | None:
        assert b"\0" not in damaged, "NUL characters"
        is_there = answer == [*read(damaged.decode("utf-8-sig"))]
        return None if is_there else "something else than the file has"

    damage = damage_jsonl if name.endswith("jsonl") else damage_lines
    return Reader(folder / name, damage, lambda path: [*load(path)], find_fault)


def write_columns(row: str, before: str = "") -> Iterator[str]:
    for i, pairs in enumerate(SENTENCES):
        yield from [before] if before and i % 2 == 0 else []
        yield from [*(row.format(word, tag) for word, tag in pairs), ""]


def show_documents(documents: Iterable[Document]) -> list[Any]:
    docs = [make_doc(Vocab(), document) for document in documents]
    words = [token.text for doc in docs for token in doc]
    return [words, [(ent.text, ent.label_) for doc in docs for ent in doc.ents]]


def show_pairs(sentences: Iterable[Pairs]) -> list[Any]:
    shown: list[list[Any]] = [[], []]
    for pairs in filter(None, sentences):
        words = [word for word, _ in pairs]
        tags = [tag[0].translate(_BIOES) + tag[1:] for _, tag in pairs]
        shown[0] += words
        shown[1] += [(" ".join(words[i : j + 1]), x) for x, i, j in get_entities(tags)]
    return shown


def read_columns(
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


def strip(text: str) -> str:
    return "".join(text.split())


def read_rows(text: str) -> Iterator[list[str]]:
    csv.field_size_limit(10**9)
    # as files are iterated over: lines with their ends
    lines = re.findall(r"[^\n]*\n|[^\n]+\Z", text)
    return filter(None, csv.reader(lines, strict=True))
