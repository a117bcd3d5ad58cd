"""Your own texts with labels, in CSV or JSON, read lazily, a row at a time."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from ..files import load_json, parse_json, quote
from .labels import (
    ANSWER,
    ELSEWHERE,
    find_joined,
    is_answer,
    is_text,
    load_cell,
    parse_answer,
    parse_label,
)
from .lines import (
    MAX_LINE,
    QUOTED,
    check_encoding,
    check_length,
    fail,
    read_lines,
    read_rows,
)

JSONL = (".jsonl", ".ndjson")

# The rows below a first one that tell whether labels recur.
_ENOUGH_ROWS = 9

#: Takes the documents of a split and the split's name, and hands the documents on.
Progress = Callable[[Iterator[Any], str], Iterable[Any]]

#: A row of a file: the line that it begins on, or its place in an array, and what its
#: columns hold.
_Row = tuple[int | str, Mapping[str, Any]]

_REMEDY = (
    "Say which has the texts and which the labels: --text-column and --label-column, "
    "or text_columns and label_column in a config"
)
_QUOTES = (
    "If such marks stand around fields, to be taken off, say --quotes, or quotes = true"
    " in a config; if they are part of the texts, --no-quotes, or quotes = false"
)


class LabelledText(NamedTuple):
    """A text, and 1.0 or 0.0 for each label of the corpus, as in `Doc.cats`; without
    labels that annotators were not asked for.
    """

    text: str
    cats: dict[str, float]


@dataclass(frozen=True)
class TextFormat:
    """The settings of `spacy-hashembeds.LabelledTextsCorpus.v1`, checked."""

    text: Sequence[str] = ("text",)
    label: str = "label"
    separator: str | None = None
    encoding: str = "utf-8"
    quotes: bool | None = None

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
    for record in _read_records(path, layout):
        unknown = [label for label in record.cats if label not in none]
        if unknown:
            fail(
                path,
                record.line,
                f"the label {quote(unknown[0])} is not among 'labels', "
                f"{quote(list(none))}. Add it, or leave 'labels' out, for those of "
                "the file",
            )
        cats = {**none, **record.cats}
        if record.is_answer:
            cats = {label: cats[label] for label in none if label in record.cats}
        yield LabelledText(record.text, cats)


def gather_labels(
    paths: Mapping[str, Path],
    layout: TextFormat,
    progress: Progress = lambda rows, split: rows,
) -> list[str]:
    """List the labels of files, by their splits, in the order of the alphabet."""
    labels: dict[str, tuple[Path, int | str]] = {}
    for split, path in paths.items():
        rows = _read_records(path, layout)
        for record in progress(rows, f"the labels of {split}"):
            for label in record.cats:
                labels.setdefault(label, (path, record.line))
    for label, place in labels.items():
        if parts := find_joined(label, labels):
            fail(
                *place,
                f"the label {quote(label)} seems to be several in one, {_list(parts)}, "
                "which other rows have. Write several as JSON, in CSV too: "
                f"{json.dumps(parts, ensure_ascii=False)}; or, if it is one, rename it",
            )
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


class _Record(NamedTuple):
    line: int | str
    text: str
    cats: dict[str, float]
    #: Whether labels that are not in `cats` are unknown.
    is_answer: bool


def _read_records(path: Path, layout: TextFormat) -> Iterator[_Record]:
    """Read what rows say, those of Prodigy about one text together, at the end."""
    is_json = path.suffix.lower() in (*JSONL, ".json")
    rows = (_read_objects if is_json else _read_csv)(path, layout)
    if ANSWER not in (*layout.text, layout.label):
        rows = _refuse_answers(path, rows)
    asked: dict[str, _Record] = {}
    is_empty = True
    for line, row in rows:
        try:
            record = _parse_row(line, row, layout, is_json=is_json)
            if record.is_answer and record.cats:
                _merge(asked.setdefault(record.text, record), record)
        except ValueError as err:
            fail(path, line, err)
        check_length(path, line, record.text)
        if not record.is_answer:
            is_empty = False
            yield record
    yield from asked.values()
    if is_empty and not asked:
        raise ValueError(f"{path}: expected texts with labels, but there are none.")


def _refuse_answers(path: Path, rows: Iterator[_Row]) -> Iterator[_Row]:
    """Refuse, at the end, answers that are none of Prodigy's beside some that are."""
    unknown: tuple[int | str, Any] | None = None
    is_asked = False
    for line, row in rows:
        yield line, row
        if is_answer(row):
            is_asked = True
        elif ANSWER in row and unknown is None:
            unknown = line, row[ANSWER]
    if unknown and is_asked:
        fail(
            path,
            unknown[0],
            f"expected {ANSWER!r} to be 'accept', 'reject' or 'ignore', as in other "
            f"rows, got {quote(unknown[1])}. Correct the row, or remove it",
        )


def _parse_row(
    line: int | str, row: Mapping[str, Any], layout: TextFormat, *, is_json: bool
) -> _Record:
    text = _join_texts(row, layout.text)
    if not is_json:
        row = {**row, layout.label: load_cell(row[layout.label])}
    if ANSWER not in (*layout.text, layout.label) and is_answer(row):
        return _Record(line, text, parse_answer(row, layout.label), True)
    return _Record(line, text, parse_label(row[layout.label]), False)


def _merge(first: _Record, record: _Record) -> None:
    """Add what another row says of a text; annotators may be asked label by label."""
    for label, value in record.cats.items():
        if first.cats.setdefault(label, value) != value:
            raise ValueError(
                f"expected one answer on the label {quote(label)} of this text, but "
                f"an earlier row has another ({quote(first.line)}). Remove one, or "
                "decide by Prodigy's recipe 'review'"
            )


def _read_csv(path: Path, layout: TextFormat) -> Iterator[_Row]:
    separator = layout.separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    quotes = separator != "\t" if layout.quotes is None else layout.quotes
    rows = read_rows(path, separator=separator, quotes=quotes, encoding=layout.encoding)
    columns = [*layout.text, layout.label]
    line, first = next(rows)
    width = len(first)
    numbers = {str(i): i % width for i in range(-width, width)}
    places = {column: numbers[column] for column in columns if column in numbers}
    if len({*places.values()}) == len(columns):
        _check_is_no_header(path, line, first)
        rows = _refuse_names(path, chain([(line, first)], rows), places[layout.label])
    elif all(first.count(column) == 1 for column in columns):
        names = [*columns, *[ANSWER] * (first.count(ANSWER) == 1)]
        places = {name: first.index(name) for name in names}
    else:
        fail(
            path,
            line,
            f"expected the columns {_list(columns)}, each once, got {quote(first)}. "
            f"{_REMEDY}; where this line has no names, by their numbers, from 0; and "
            f"--separator or separator says what stands between, here {separator!r}"
            + _hint_at_quotes(first),
        )
    if layout.quotes is None and quotes:
        rows = _refuse_joined(path, rows, separator, places[layout.label])
    elif layout.quotes is None:
        rows = _refuse_quoted(path, rows)
    for line, row in rows:
        if len(row) != width:
            fail(
                path,
                line,
                f"expected {width} columns, as in the first row, with {separator!r} "
                f"between them, got {len(row)}: {quote(row)}" + _hint_at_quotes(row),
            )
        yield line, {name: row[place] for name, place in places.items()}


def _hint_at_quotes(row: Sequence[str]) -> str:
    return f". {_QUOTES}" if any('"' in cell for cell in row) else ""


def _refuse_joined(
    path: Path, rows: Iterator[tuple[int, list[str]]], separator: str, label: int
) -> Iterator[tuple[int, list[str]]]:
    """Refuse, at the end, a row over several lines that each would be a row: either all
    lines of the file would be, or these have labels that other rows have.
    """
    labels: set[str] = set()
    joined: dict[int, set[str]] = {}
    is_plain = True
    for line, row in rows:
        yield line, row
        labels.add(row[label].strip())
        lines = [each.split(separator) for each in separator.join(row).split("\n")]
        are_rows = all(len(cells) == len(row) for cells in lines)
        is_plain = is_plain and are_rows
        if are_rows and len(lines) > 1:
            joined[line] = {cells[label].strip() for cells in lines}
    for line, found in joined.items():
        if is_plain or labels.issuperset(found):
            fail(
                path,
                line,
                "between two quotation marks that begin here there are several lines, "
                f"each with the columns of a row. {_QUOTES}",
            )


def _refuse_quoted(
    path: Path, rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """Refuse, at the end, a file whose every quotation mark stands as in CSV."""
    quoted = 0
    for line, row in rows:
        yield line, row
        marked = [cell for cell in row if '"' in cell]
        if not all(map(QUOTED.fullmatch, marked)):
            yield from rows
            return
        quoted = quoted or (line if marked else 0)
    if quoted:
        fail(
            path,
            quoted,
            "quotation marks stand around a whole field, here and wherever there are "
            f"any in this file, which has tabs between its columns. {_QUOTES}",
        )


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


def _refuse_names(
    path: Path, rows: Iterator[tuple[int, list[str]]], label: int
) -> Iterator[tuple[int, list[str]]]:
    """Refuse, at the end, a first row whose label is none of a row below, where labels
    recur: such are the names of columns.
    """
    line, first = next(rows)
    yield line, first
    counts: Counter[str] = Counter()
    for below in rows:
        yield below
        counts[below[1][label].strip()] += 1
    is_unique = first[label].strip() not in counts
    if is_unique and counts.total() >= _ENOUGH_ROWS and min(counts.values()) > 1:
        fail(
            path,
            line,
            f"the label {quote(first[label])} is in no other row, where each label is "
            "in several, so that these seem the names of columns, which are given by "
            f"numbers: {quote(first)}. Give the names; or, if it is a text, put "
            "another row before it",
        )


def _read_objects(path: Path, layout: TextFormat) -> Iterator[_Row]:
    for line, row in _parse_objects(path, layout.encoding):
        has_choice = is_answer(row) and "options" in row
        missing = [key for key in (*layout.text, layout.label) if key not in row]
        if missing and not (has_choice and missing == [layout.label]):
            here = [text for key, text in ELSEWHERE.items() if key in row]
            fail(
                path,
                line,
                f"expected the key {quote(missing[0])}, got {quote(list(row))}. "
                + (here or [_REMEDY])[0],
            )
        yield line, row


def _parse_objects(
    path: Path, encoding: str
) -> Iterator[tuple[int | str, dict[str, Any]]]:
    """Parse the objects of a file, one a line, or those of an array."""
    lines = read_lines(path, encoding)
    filled = ((number, line) for number, line in lines if line.strip())
    first = next(filled, (0, ""))
    if first[1].lstrip().startswith("["):
        # as many ends of lines as there are before it, so that errors count them
        above = "\n" * (first[0] - 1)
        yield from _parse_array(path, chain([above + first[1]], (x for _, x in lines)))
        return
    for number, line in chain([first] * (first[0] > 0), filled):
        try:
            yield number, parse_json(line)
        except ValueError as err:
            fail(path, number, f"expected a JSON object on this line, but {err}")


def _parse_array(
    path: Path, lines: Iterable[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.stat().st_size > MAX_LINE:
        raise ValueError(
            f"{path}: a JSON array of more than {MAX_LINE:,} bytes, all of which would "
            "be in memory. Write an object on each line, without the array: JSONL."
        )
    try:
        items = load_json("\n".join(lines))
    except ValueError as err:
        raise ValueError(f"{path}: expected a JSON array, but {err}.") from None
    for number, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            fail(path, f"item {number}", f"expected an object, got {quote(item)}")
        yield f"item {number}", item


def _join_texts(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    texts = [row[column] for column in columns]
    if not all(map(is_text, texts)) or not "".join(texts).strip():
        raise ValueError(
            f"expected text in {_list(columns)}, got {quote(texts)}. Correct the row, "
            "or remove it"
        )
    return " ".join(filter(None, texts))


def _list(columns: Sequence[str]) -> str:
    return ", ".join(quote(column) for column in columns[:20])
