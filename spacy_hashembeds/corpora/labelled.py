"""Your own texts with labels, in CSV or JSONL, read lazily, a row at a time."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from ..files import parse_json, quote
from .lines import check_encoding, check_length, fail, read_lines, read_rows

JSONL = (".jsonl", ".ndjson")

# Half a character, which JSON can write, but no encoding.
_SURROGATE = re.compile("[\ud800-\udfff]")

#: Takes the documents of a split and the split's name, and hands the documents on.
Progress = Callable[[Iterator[Any], str], Iterable[Any]]

#: A row of a file: the line that it begins on, and what its columns hold.
_Row = tuple[int, Mapping[str, Any]]

_REMEDY = (
    "Say which has the texts and which the labels: --text-column and --label-column, "
    "or text_columns and label_column in a config"
)


class LabelledText(NamedTuple):
    """A text, and 1.0 or 0.0 for each label of the corpus, as in `Doc.cats`."""

    text: str
    cats: dict[str, float]


@dataclass(frozen=True)
class TextFormat:
    """The settings of `spacy-hashembeds.LabelledTextsCorpus.v1`, checked."""

    text: Sequence[str] = ("text",)
    label: str = "label"
    separator: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if isinstance(self.text, str) or not all([*self.text, self.label, self.text]):
            raise ValueError(
                "'text' should be the names of one or more columns, and 'label' that "
                f"of another, but they are {self.text!r} and {self.label!r}."
            )
        if len({*self.text, self.label}) <= len(self.text):
            raise ValueError(
                "'text' and 'label' should be columns that differ, but are "
                f"{quote(list(self.text))} and {quote(self.label)}."
            )
        if self.separator is not None and not re.fullmatch('[^"\r\n]', self.separator):
            raise ValueError(
                "'separator' should be one character, and no quotation mark or end of "
                f"a line, but is {self.separator!r}. Leave it out for a comma, or a "
                "tab in .tsv files."
            )
        check_encoding(self.encoding)


def read_labelled(
    path: Path, layout: TextFormat, labels: Iterable[str] | None = None
) -> Iterator[LabelledText]:
    """Read texts with labels, by default those in the file, then read twice."""
    if labels is None:
        labels = gather_labels({"train": path}, layout)
    none = dict.fromkeys(labels, 0.0)
    for line, text, chosen in _read_records(path, layout):
        unknown = [label for label in chosen if label not in none]
        if unknown:
            fail(
                path,
                line,
                f"the label {quote(unknown[0])} is not among 'labels', "
                f"{quote(list(none))}. Add it, or leave 'labels' out, for those of "
                "the file",
            )
        yield LabelledText(text, {**none, **chosen})


def gather_labels(
    paths: Mapping[str, Path],
    layout: TextFormat,
    progress: Progress = lambda rows, split: rows,
) -> list[str]:
    """List the labels of files, by their splits, in the order of the alphabet."""
    labels: set[str] = set()
    for split, path in paths.items():
        rows = _read_records(path, layout)
        for _, _, chosen in progress(rows, f"the labels of {split}"):
            labels.update(chosen)
    if not labels:
        raise ValueError(
            f"{', '.join(map(str, paths.values()))}: expected texts with labels, but "
            f"not one has any. {_REMEDY}."
        )
    return sorted(labels)


def make_text_doc(nlp: Language, labelled: LabelledText) -> Doc:
    """Make the annotated `Doc` of a text, tokenized by a pipeline."""
    doc = nlp.make_doc(labelled.text)
    doc.cats = dict(labelled.cats)
    return doc


def _read_records(
    path: Path, layout: TextFormat
) -> Iterator[tuple[int, str, dict[str, float]]]:
    is_json = path.suffix.lower() in JSONL
    is_empty = True
    for line, row in (_read_objects if is_json else _read_csv)(path, layout):
        try:
            text = _join_texts(row, layout.text)
            labels = _parse_label(row[layout.label])
        except ValueError as err:
            fail(path, line, err)
        check_length(path, line, text)
        is_empty = False
        yield line, text, labels
    if is_empty:
        raise ValueError(f"{path}: expected texts with labels, but there are none.")


def _read_csv(path: Path, layout: TextFormat) -> Iterator[_Row]:
    separator = layout.separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    rows = read_rows(path, separator=separator, encoding=layout.encoding)
    columns = [*layout.text, layout.label]
    line, first = next(rows)
    width = len(first)
    numbers = {str(i): i % width for i in range(-width, width)}
    places = [numbers[column] for column in columns if column in numbers]
    if len(set(places)) == len(columns):
        _check_is_no_header(path, line, first)
        rows = chain([(line, first)], rows)
    elif all(first.count(column) == 1 for column in columns):
        places = [first.index(column) for column in columns]
    else:
        fail(
            path,
            line,
            f"expected the columns {_list(columns)}, each once, got {quote(first)}. "
            f"{_REMEDY}; where this line has no names, by their numbers, from 0",
        )
    for line, row in rows:
        if len(row) != width:
            fail(
                path,
                line,
                f"expected {width} columns, as in the first row, with {separator!r} "
                f"between them, got {len(row)}: {quote(row)}",
            )
        yield line, {c: row[i] for c, i in zip(columns, places, strict=True)}


def _check_is_no_header(path: Path, line: int, first: list[str]) -> None:
    """Refuse the numbers that pandas names columns by: they would pass for a text."""
    names = sorted(field for field in first if field)
    if names and names == sorted(map(str, range(len(names)))):
        fail(
            path,
            line,
            "expected a text and its label, as columns are given by numbers, got the "
            f"numbers of columns, as pandas writes them: {quote(first)}. Remove this "
            "line; or, if it is a text, put another row before it",
        )


def _read_objects(path: Path, layout: TextFormat) -> Iterator[_Row]:
    for line, text in read_lines(path, layout.encoding):
        if not text.strip():
            continue
        try:
            row = parse_json(text)
        except ValueError as err:
            fail(path, line, f"expected a JSON object, but {err}")
        missing = [key for key in (*layout.text, layout.label) if key not in row]
        if missing:
            fail(
                path,
                line,
                f"expected the key {quote(missing[0])}, got {quote(list(row))}. "
                + _REMEDY,
            )
        yield line, row


def _join_texts(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    texts = [row[column] for column in columns]
    if not all(map(_is_text, texts)) or not "".join(texts).strip():
        raise ValueError(
            f"expected text in {_list(columns)}, got {quote(texts)}. Correct the row, "
            "or remove it"
        )
    return " ".join(filter(None, texts))


def _parse_label(label: Any) -> dict[str, float]:
    is_number = isinstance(label, int) and not isinstance(label, bool)
    one = [str(label) if is_number else label]
    names = list(label) if isinstance(label, list | dict) else one
    if not all(_is_text(name) and name.strip() for name in names):
        raise ValueError(
            "expected a label, which is a text or a whole number; or, in JSONL, a list "
            f"of texts, or an object with 1 or 0 for each label; got {quote(label)}"
        )
    values = label if isinstance(label, dict) else dict.fromkeys(names, 1)
    for name, value in values.items():
        if value not in (0, 1):
            raise ValueError(
                f"expected 1 or 0, true or false, for the label {quote(name)}, got "
                f"{quote(value)}. spaCy's text classifiers learn from nothing between: "
                "say 1 of the labels that the text is to have, and 0 of others"
            )
    chosen = {name.strip(): float(value) for name, value in values.items()}
    if isinstance(label, dict) and len(chosen) < len(label):
        raise ValueError(
            "expected labels that differ, without the blanks around them, got "
            + quote(label)
        )
    return chosen


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not _SURROGATE.search(value)


def _list(columns: Sequence[str]) -> str:
    return ", ".join(quote(column) for column in columns[:20])
