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

from ...files import load_json, quote
from ...training.lines import check_length, fail, is_text
from .rows import (
    QUOTED,
    SAY_QUOTES,
    check_encoding,
    check_separator,
    is_json,
    read_objects,
    read_rows,
)

# With more labels, each of which every text gets a value for, these should recur: a
# tenth of them at least in more rows than two.
_MANY_LABELS, _FEW_ROWS = 1000, 2
# The rows below a first one that tell whether labels recur.
_ENOUGH_ROWS = 9
# What columns hold that say whether a text has their label, as pandas writes it too.
_NUMBERS = {"0": 0, "0.0": 0, "False": 0, "1": 1, "1.0": 1, "True": 1}

#: The values of Prodigy's rows for "answer".
ANSWERS = ("accept", "reject", "ignore")

#: Takes the documents of a split and the split's name, and hands the documents on.
Progress = Callable[[Iterator[Any], str], Iterable[Any]]

_Rows = Iterator[tuple[int | str, Mapping[str, Any]]]
_Places = Mapping[str, tuple[Path, int | str]]

_SAY_COLUMNS = (
    "Say which has the texts and which the labels: --text-column and --label-column "
    "(text_columns, label_column)"
)


class LabelledText(NamedTuple):
    """A text, and 1.0 or 0.0 for each label of the corpus, as in `Doc.cats`."""

    text: str
    cats: dict[str, float]


@dataclass(frozen=True)
class TextFormat:
    """The settings of `spacy-hashembeds.LabelledTextsCorpus.v1`, checked."""

    text: Sequence[str] = ("text",)
    label: str | Sequence[str] = "label"
    separator: str | None = None
    encoding: str = "utf-8"
    quotes: bool | None = None

    def __post_init__(self) -> None:
        columns = self.columns
        is_list = not isinstance(self.text, str) and self.text and self.labels
        if not is_list or not all(columns) or len({*columns}) < len(columns):
            raise ValueError(
                "'text' should be the names of one or more columns, and 'label' one or "
                f"more others, but they are {self.text!r} and {self.label!r}."
            )
        check_separator(self.separator)
        check_encoding(self.encoding)

    @property
    def labels(self) -> list[str]:
        """The columns of labels: of several, each has 1 or 0 for the label it names."""
        return [self.label] if isinstance(self.label, str) else [*self.label]

    @property
    def columns(self) -> list[str]:
        """The columns of texts and labels."""
        return [*self.text, *self.labels]


def read_labelled(
    path: Path, layout: TextFormat, labels: Iterable[str] | None = None
) -> Iterator[LabelledText]:
    """Read texts with labels, by default those in the file, then read twice."""
    if labels is None:
        labels = gather_labels({"train": path}, layout)
    none = dict.fromkeys(labels, 0.0)
    for record in _read_records(path, layout):
        for label in record.cats:
            if label not in none:
                message = f"the label {quote(label)} is not among 'labels'"
                fail(path, record.place, f"{message}, {quote(list(none))}")
        yield LabelledText(record.text, {**none, **record.cats})


def gather_labels(
    paths: Mapping[str, Path],
    layout: TextFormat,
    progress: Progress = lambda rows, split: rows,
) -> list[str]:
    """List the labels of files, by their splits, in the order of the alphabet."""
    places: dict[str, tuple[Path, int | str]] = {}
    counts: Counter[str] = Counter()
    firsts: Counter[str] = Counter()
    for split, path in paths.items():
        rows = enumerate(_read_records(path, layout))
        for number, record in progress(rows, f"the labels of {split}"):
            for label in record.cats:
                places.setdefault(label, (path, record.place))
            counts.update(record.cats.keys())
            firsts.update(() if number else record.cats.keys())
    n_recurring = sum(n > _FEW_ROWS for n in counts.values())
    if not places or (len(places) > _MANY_LABELS and 10 * n_recurring < len(places)):
        raise ValueError(
            f"{', '.join(map(str, paths.values()))}: expected labels that recur, but "
            f"of {len(places):,} in {quote(layout.label)} {n_recurring:,} are in more "
            f"than {_FEW_ROWS} rows. {_SAY_COLUMNS}."
        )
    below = counts - firsts
    recur = below.total() >= _ENOUGH_ROWS and min(below.values()) > 1
    if recur and all(name.lstrip("-").isdecimal() for name in layout.labels):
        for label in firsts.keys() - below:
            message = f"{quote(label)} seems the name of a column, and no label"
            fail(*places[label], f"{message}. Give names, or put another row first")
    _check_joined(places)
    return sorted(places)


def _check_joined(places: _Places) -> None:
    """Refuse labels that join others, such as Doccano's "x#y"."""
    for label, place in places.items():
        for mark in "#|,;":
            parts = [part.strip() for part in label.split(mark)]
            if len(parts) > 1 and all(part in places for part in parts):
                several = json.dumps(parts, ensure_ascii=False)
                message = f"the label {quote(label)} seems to be several"
                fail(*place, f"{message}: write {several}, in CSV too, or rename it")


def load_cell(cell: str) -> Any:
    """Load what a cell of CSV has of labels: a name, or what is in brackets as JSON."""
    if not re.fullmatch(r"\s*(\[.*\]|\{.*\})\s*", cell, re.DOTALL):
        return cell
    try:
        return load_json(cell)
    except ValueError:
        message = 'expected a label, or in brackets JSON, such as ["x", "y"], got '
        raise ValueError(message + quote(cell)) from None


def parse_label(label: Any) -> dict[str, float]:
    """Parse labels, 1.0 or 0.0 for each: a name, a list of names, or an object."""
    if isinstance(label, dict) and list(label) == ["choices"]:
        label = label["choices"]  # of Label Studio, where there may be several
    listed = label if isinstance(label, list | dict) else [label]
    names = [str(x) if type(x) is int else x for x in listed]
    if not all(is_text(name) and name.strip() for name in names):
        raise ValueError(
            "expected a label, which is a text or a whole number; or, in JSON, a list "
            f"of such, or an object with 1 or 0 for each label; got {quote(label)}. A "
            "text without any has an empty list, []. Entities are for 'prepare spans'"
        )
    chosen = {name.strip(): 1.0 for name in names}
    for name, value in label.items() if isinstance(label, dict) else ():
        if value not in (0, 1) or len(chosen) < len(names):
            message = "expected 1 or 0, true or false, once for the label"
            raise ValueError(f"{message} {quote(name)}, got {quote(value)}")
        chosen[name.strip()] = float(value)
    return chosen


def has_one_label(cats: Mapping[str, float]) -> bool:
    """True if a text has one label and no other, as spaCy's `textcat` learns it."""
    values = list(cats.values())
    return values.count(1.0) == 1 and values.count(0.0) == len(values) - 1


def find_labels(labelled: LabelledText) -> list[str]:
    """Find the labels that a text has."""
    return [label for label, value in labelled.cats.items() if value]


def make_text_doc(nlp: Language, labelled: LabelledText) -> Doc:
    """Make the annotated `Doc` of a text, tokenized by a pipeline."""
    doc = nlp.make_doc(labelled.text)
    doc.cats = dict(labelled.cats)
    return doc


class _Record(NamedTuple):
    place: int | str
    text: str
    cats: dict[str, float]


def _read_records(path: Path, layout: TextFormat) -> Iterator[_Record]:
    """Read what rows say."""
    rows = _read_json(path, layout) if is_json(path) else _read_csv(path, layout)
    place: int | str = 0
    for place, row in rows:
        if row.get("answer") in ANSWERS and "answer" not in layout.columns:
            message = "a row of Prodigy's, where several may be about one text"
            fail(path, place, f"{message}. Have `prodigy data-to-spacy` join them")
        texts = [row[column] for column in layout.text]
        if not all(map(is_text, texts)) or not "".join(texts).strip():
            message = f"expected text in {_list(layout.text)}, got {quote(texts)}"
            fail(path, place, f"{message}. Correct the row, or remove it")
        text = " ".join(filter(None, texts))
        check_length(path, place, text)
        first, *others = layout.labels
        label = row[first]
        if others:
            cells = {label: row[label] for label in layout.labels}
            label = {x: _NUMBERS.get(str(y).strip(), y) for x, y in cells.items()}
        try:
            yield _Record(place, text, parse_label(label))
        except ValueError as err:
            fail(path, place, err)
    if not place:
        raise ValueError(f"{path}: expected texts with labels, but there are none.")


def _read_json(path: Path, layout: TextFormat) -> _Rows:
    for place, row in read_objects(path, layout.encoding):
        if not isinstance(row, dict):
            fail(path, place, f"expected a JSON object, got {quote(row)}")
        for key in layout.columns:
            if key not in row:
                message = f"expected the key {quote(key)}, got {quote(list(row))}"
                remedy = "Entities ('spans', 'entities') are for 'prepare spans'; from "
                remedy = f"{_SAY_COLUMNS}. {remedy}Label Studio export JSON-MIN or CSV"
                fail(path, place, f"{message}. {remedy}")
        yield place, row


def _read_csv(path: Path, layout: TextFormat) -> _Rows:
    separator = layout.separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    quotes = separator != "\t" if layout.quotes is None else layout.quotes
    rows = read_rows(path, separator=separator, quotes=quotes, encoding=layout.encoding)
    top, first = next(rows, (1, []))
    places, has_names = _find_places(path, top, first, layout)
    for line, row in chain([] if has_names else [(top, first)], rows):
        if len(row) != len(first):
            message = f"expected {len(first)} columns, as in the first row, got "
            remedy = f"{SAY_QUOTES}; --separator says what separates them"
            fail(path, line, f"{message}{len(row)}: {quote(row)}. {remedy}")
        lines = separator.join(row).split("\n") if quotes else []
        are_rows = all(len(x.split(separator)) == len(row) for x in lines)
        is_joined = len(lines) > 1 and are_rows
        is_quoted = not quotes and any(map(QUOTED.fullmatch, row))
        if layout.quotes is None and (is_joined or is_quoted):
            message = "quotation marks stand around a whole field, or around several"
            fail(path, line, f"{message} rows: {quote(row)}. {SAY_QUOTES}")
        found: dict[str, Any] = {name: row[place] for name, place in places.items()}
        if len(layout.labels) == 1:
            try:
                found[layout.labels[0]] = load_cell(found[layout.labels[0]])
            except ValueError as err:
                fail(path, line, err)
        yield line, found


def _find_places(
    path: Path, line: int, first: list[str], layout: TextFormat
) -> tuple[dict[str, int], bool]:
    """Find columns by the first row, and whether it names them."""
    columns = layout.columns
    width = len(first)
    numbers = [x for x in columns if re.fullmatch("-?(0|[1-9][0-9]{0,8})", x)]
    places = {x: int(x) % width for x in numbers if -width <= int(x) < width}
    if len({*places.values()}) == len(columns):
        named = sorted(filter(None, first))  # as pandas does where nobody else has
        if len(layout.labels) > 1 or named == sorted(map(str, range(len(named)))):
            message = f"expected a text and its label, got {quote(first)}"
            fail(path, line, f"{message}. Name columns, or remove a line of numbers")
        return places, False
    if not all(first.count(column) == 1 for column in columns):
        message = f"expected the columns {_list(columns)}, once, got {quote(first)}"
        remedy = "; by numbers, where this line has no names; --separator separates"
        fail(path, line, f"{message}. {_SAY_COLUMNS}{remedy} them. {SAY_QUOTES}")
    columns += ["answer"] * (first.count("answer") == 1)
    return {column: first.index(column) for column in columns}, True


def _list(columns: Sequence[str]) -> str:
    return ", ".join(quote(column) for column in columns[:20])
