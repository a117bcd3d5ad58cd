"""Text files: one token a line, OntoNotes, and raw text.

Nearly any text is one that somebody might have written. So what is read is compared
with what a second, plain reader finds in the file.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from seqeval.metrics.sequence_labeling import get_entities  # type: ignore[import-untyped]
from spacy.tokens import Doc
from spacy.vocab import Vocab

from lab.corpora.datasets import WNUT17
from lab.corpora.ontonotes import read_ontonotes
from lab.vectors.rawtext import RAW_FILES, write_raw_text
from spacy_hashembeds.corpora.columns import ColumnFormat, make_doc, read_documents

from ..damage_bytes import damage_lines
from ..target import Part, Target
from .material import get_texts, read_sentences

#: Words and tags of a sentence.
Pairs = list[tuple[str, str]]

_BLANKS = " \t"
_BIOES = str.maketrans("LU", "ES")
_LAYOUTS: Mapping[str, ColumnFormat] = {
    "wnut17.conll": WNUT17,
    "own.iob": ColumnFormat(),
    "conll2002.nl": ColumnFormat(group="document"),
}


def _make_columns(folder: Path) -> None:
    sentences = [list(zip(*sentence, strict=True)) for sentence in read_sentences()]
    blocks = {
        "wnut17.conll": "\t".join,
        "own.iob": lambda pair: f"{pair[0]} NN {pair[1]}",
        "conll2002.nl": lambda pair: f"{pair[0]} N {pair[1]}",
    }
    for name, write in blocks.items():
        texts = ["".join(f"{write(pair)}\n" for pair in pairs) for pairs in sentences]
        if name == "conll2002.nl":
            texts[::3] = [f"-DOCSTART- -DOCSTART- O\n{text}" for text in texts[::3]]
        if name == "own.iob":
            texts[::2] = [f"# id = {i}\n{text}" for i, text in enumerate(texts[::2])]
        (folder / name).write_text("\n".join(texts), encoding="utf8")


def _load_columns(folder: Path, part: Part) -> list[Doc]:
    documents = read_documents(folder / part.path, _LAYOUTS[part.path])
    return [make_doc(Vocab(), document) for document in documents]


def _find_fault_of_columns(
    part: Part, original: bytes, damaged: bytes, answer: Any
) -> str | None:
    separator = "\t" if part.path == "wnut17.conll" else None
    sentences = _read_columns(damaged, separator, comments=part.path == "own.iob")
    return _compare(damaged, sentences, answer)


def _read_columns(
    data: bytes, separator: str | None, *, comments: bool
) -> Iterator[Pairs]:
    pairs: Pairs = []
    for line in data.decode("utf-8-sig").split("\n"):
        line = line.rstrip("\r")
        columns = (
            line.split(separator)
            if separator
            else re.split("[ \t]+", line.strip(_BLANKS))
        )
        tag = columns[-1].strip(_BLANKS)
        starts_document = re.search(r"(?i)(?<![\w-])-+DOCSTART(?!\w)", line)
        if starts_document or not "".join(columns).strip(f"{_BLANKS}\ufeff"):
            yield pairs
            pairs = []
        elif pairs or not (comments and _is_comment(line, tag)):
            pairs.append((columns[0], tag))
    yield pairs


def _is_comment(line: str, tag: str) -> bool:
    is_setting = line.split()[2:3] == ["="]
    is_tag = tag == "O" or re.fullmatch("[BILUES]-.+", tag)
    return bool(re.match(r"#\s", line)) and (is_setting or not is_tag)


def _make_ontonotes(folder: Path) -> None:
    lines = []
    for i, (words, tags) in enumerate(read_sentences()):
        names = [f"({tag[2:]})" if tag != "O" else "*" for tag in tags]
        if i == 1:
            names[-3:] = ["(DATE*", "*", "*)"]
        lines += [f"#begin document (bc/x/00/x_0000); part {i:03}"]
        lines += [
            f"bc/x/00/x_0000 {i} {n} {word} NN (NP* - - - Ann#1 {name} * -"
            for n, (word, name) in enumerate(zip(words, names, strict=True))
        ]
        lines += ["", "#end document"]
    text = "\n".join(lines) + "\n"
    (folder / "x.v4_gold_conll").write_text(text, encoding="utf8")


def _load_ontonotes(folder: Path, part: Part) -> list[Doc]:
    documents = read_ontonotes(folder / part.path)
    return [make_doc(Vocab(), document) for document in documents]


def _find_fault_of_ontonotes(
    part: Part, original: bytes, damaged: bytes, answer: Any
) -> str | None:
    return _compare(damaged, _read_ontonotes(damaged), answer)


def _read_ontonotes(data: bytes) -> Iterator[Pairs]:
    pairs: Pairs = []
    label = ""
    for line in data.decode("utf-8-sig").split("\n"):
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


def _use_docs(docs: list[Doc]) -> Any:
    return [
        (
            [(token.text, bool(token.is_sent_start)) for token in doc],
            [(e.start, e.end, e.label_) for e in doc.ents],
        )
        for doc in docs
    ]


def _compare(damaged: bytes, sentences: Iterator[Pairs], answer: Any) -> str | None:
    if b"\x00" in damaged:
        return "there are NUL characters in the text"
    words: list[str] = []
    labels: list[tuple[str, str]] = []
    for pairs in sentences:
        if pairs:
            doc = Doc(Vocab(), words=[word for word, _ in pairs])
            words += [word for word, _ in pairs]
            tags = [tag[0].translate(_BIOES) + tag[1:] for _, tag in pairs]
            labels += [(doc[i : j + 1].text, x) for x, i, j in get_entities(tags)]
    found = [text for doc, _ in answer for text, _ in doc]
    if found != words:
        return "other words than the file has"
    texts = [
        (Doc(Vocab(), words=[text for text, _ in doc])[start:end].text, label)
        for doc, ents in answer
        for start, end, label in ents
    ]
    return None if texts == labels else "other entities than the file has"


def _make_raw(folder: Path) -> None:
    for name in RAW_FILES:
        text = "\n".join(
            [*get_texts(), "don't see https://x.org/a, 12é \U0001f600\u2019"]
        )
        (folder / name).write_text(text + "\n", encoding="utf8")


def _load_raw(folder: Path, part: Part) -> Path:
    output = folder / "output.txt"
    write_raw_text(folder, output)
    return output


def _use_raw(output: Path) -> list[str]:
    return output.read_bytes().decode("utf8").split("\n")


def _find_fault_of_raw(
    part: Part, original: bytes, damaged: bytes, answer: Any
) -> str | None:
    if b"\x00" in damaged:
        return "there are NUL characters in the text"
    lines = ["".join(line.split()) for line in damaged.decode("utf8").split("\n")]
    # the same text stands in the other files
    others = ["".join(line.split()) for line in original.decode("utf8").split("\n")]
    before = list(RAW_FILES).index(part.path) * others
    after = (len(RAW_FILES) - 1) * others
    expected = [line for line in (*before, *lines, *after[len(before) :]) if line]
    found = [line.replace(" ", "") for line in answer if line]
    return None if found == expected else "other text than the file has"


def _make_target(
    name: str,
    files: tuple[str, ...],
    make: Callable[[Path], None],
    load: Callable[[Path, Part], Any],
    use: Callable[[Any], Any],
    find_fault: Callable[[Part, bytes, bytes, Any], str | None],
) -> Target:
    return Target(
        name=name,
        parts=[Part(path=file, structured=damage_lines) for file in files],
        make=make,
        load=load,
        use=use,
        find_fault=find_fault,
    )


COLUMNS = _make_target(
    "columns",
    tuple(_LAYOUTS),
    _make_columns,
    _load_columns,
    _use_docs,
    _find_fault_of_columns,
)
ONTONOTES = _make_target(
    "ontonotes",
    ("x.v4_gold_conll",),
    _make_ontonotes,
    _load_ontonotes,
    _use_docs,
    _find_fault_of_ontonotes,
)
RAW_TEXT = _make_target(
    "raw_text",
    ("gurez.10000", "redd.tok.uniq"),
    _make_raw,
    _load_raw,
    _use_raw,
    _find_fault_of_raw,
)
