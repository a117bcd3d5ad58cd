"""Your own texts with labels, in CSV or JSON, read lazily, a row at a time."""

import json
import re
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

# More labels should be in so many rows on average, or they are no labels.
_MANY_LABELS, _FEWEST_ROWS = 1000, 3
# What columns hold that say whether a text has their label, as pandas writes it too.
_NUMBERS = {"0": 0, "0.0": 0, "False": 0, "1": 1, "1.0": 1, "True": 1}

#: The values of Prodigy's rows for "answer".
ANSWERS = ("accept", "reject", "ignore")

#: Takes the documents of a split and the split's name, and hands the documents on.
Progress = Callable[[Iterator[Any], str], Iterable[Any]]

#: The line or item, the text, and 1.0 or 0.0 for each label that is named there.
_Record = tuple[int | str, str, dict[str, float]]

_SAY_COLUMNS = (
    "Name the columns of texts and of labels: --text-column and --label-column "
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

    @property
    def has_numbers(self) -> bool:
        """True if columns may be named by their numbers."""
        return all(re.fullmatch("-?[0-9]{1,9}", column) for column in self.columns)


def read_labelled(
    path: Path, layout: TextFormat, labels: Iterable[str] | None = None
) -> Iterator[LabelledText]:
    """Read texts with labels, by default those in the file, then read twice."""
    if labels is None:
        labels = gather_labels({"train": path}, layout)
    none = dict.fromkeys(labels, 0.0)
    for place, text, cats in _read_records(path, layout):
        if new := cats.keys() - none.keys():
            message = f"the label {quote(min(new))} is not among 'labels', "
            fail(path, place, message + quote(list(none)))
        yield LabelledText(text, {**none, **cats})


def gather_labels(
    paths: Mapping[str, Path],
    layout: TextFormat,
    progress: Progress = lambda rows, split: rows,
) -> list[str]:
    """List the labels of files, by their splits, in the order of the alphabet."""
    places: dict[str, tuple[Path, int | str]] = {}
    firsts: set[str] = set()
    below: set[str] = set()
    n_named = 0
    for split, path in paths.items():
        records = progress(_read_records(path, layout), f"the labels of {split}")
        for number, (place, _, cats) in enumerate(records):
            for label in cats:
                places.setdefault(label, (path, place))
            (below if number else firsts).update(cats)
            n_named += len(cats)
    is_rare = n_named < _FEWEST_ROWS * len(places)
    if not places or (len(places) > _MANY_LABELS and is_rare):
        raise ValueError(
            f"{', '.join(map(str, paths.values()))}: expected labels that recur, but "
            f"{quote(layout.label)} has {len(places):,}. {_SAY_COLUMNS}."
        )
    if layout.has_numbers and (names := firsts - below):
        message = f"{quote(min(names))} is in no other row, as the name of a column"
        fail(*places[min(names)], f"{message}. Give names, or put another row first")
    for label, of_label in places.items():
        parts = [part.strip() for part in re.split("[#|,;]", label)]
        if len(parts) > 1 and all(part in places for part in parts):  # of Doccano
            several = json.dumps(parts, ensure_ascii=False)
            fail(*of_label, f"{quote(label)} seems several labels: write {several}")
    return sorted(places)


def parse_label(label: Any) -> dict[str, float]:
    """Parse labels, 1.0 or 0.0 for each: a name, a list of names, or an object."""
    if isinstance(label, dict) and list(label) == ["choices"]:
        label = label["choices"]  # of Label Studio, where there may be several
    listed = label if isinstance(label, list | dict) else [label]
    names = [str(x) if type(x) is int else x for x in listed]
    if not all(is_text(name) and name.strip() for name in names):
        raise ValueError(
            "expected a label, a text or a whole number, or in JSON a list of such, [] "
            "for none, or an object with 1 or 0 for each; entities are for 'prepare "
            f"spans'; got {quote(label)}"
        )
    chosen = {name.strip(): 1.0 for name in names}
    for name, value in label.items() if isinstance(label, dict) else ():
        if value not in (0, 1) or len(chosen) < len(names):
            message = f"expected 1 or 0, once for the label {quote(name)}, got "
            raise ValueError(message + quote(value))
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


def _read_records(path: Path, layout: TextFormat) -> Iterator[_Record]:
    """Read what rows say."""
    read = _read_json if is_json(path) else _read_csv
    place: int | str = 0
    for place, row in read(path, layout):
        if row.get("answer") in ANSWERS and "answer" not in layout.columns:
            message = "of Prodigy's rows several may be about one text"
            fail(path, place, f"{message}: have `prodigy data-to-spacy` join them")
        texts = [row[column] for column in layout.text]
        if not all(map(is_text, texts)) or not "".join(texts).strip():
            message = f"expected text in {_list(layout.text)}, got "
            fail(path, place, message + quote(texts))
        text = " ".join(filter(None, texts))
        check_length(path, place, text)
        label = row[layout.labels[0]]
        try:
            if len(layout.labels) > 1:
                cells = ((name, row[name]) for name in layout.labels)
                label = {x: _NUMBERS.get(str(y).strip(), y) for x, y in cells}
            elif not is_json(path):
                label = _load_cell(label)
            yield place, text, parse_label(label)
        except ValueError as err:
            fail(path, place, err)
    if not place:
        raise ValueError(f"{path}: expected texts with labels, but there are none.")


def _load_cell(cell: str) -> Any:
    """Load what a cell of CSV has of labels: a name, or what is in brackets as JSON."""
    if not re.fullmatch(r"\s*(\[.*\]|\{.*\})\s*", cell, re.DOTALL):
        return cell
    try:
        return load_json(cell)
    except ValueError as err:
        message = f'expected in brackets JSON such as ["x"], but {err}'
        raise ValueError(message) from None


def _read_json(path: Path, layout: TextFormat) -> Iterator[tuple[int | str, Any]]:
    for place, row in read_objects(path, layout.encoding):
        if not isinstance(row, dict):
            fail(path, place, f"expected a JSON object, got {quote(row)}")
        if lost := [key for key in layout.columns if key not in row]:
            message = f"expected the key {quote(lost[0])}, got {quote(list(row))}"
            remedy = "Entities are for 'prepare spans'; Label Studio has JSON-MIN"
            fail(path, place, f"{message}. {_SAY_COLUMNS}. {remedy}")
        yield place, row


def _read_csv(path: Path, layout: TextFormat) -> Iterator[tuple[int, Any]]:
    separator = layout.separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    quotes = separator != "\t" if layout.quotes is None else layout.quotes
    rows = read_rows(path, separator=separator, quotes=quotes, encoding=layout.encoding)
    top, first = next(rows, (1, []))
    columns, width, has_names = layout.columns, len(first), True
    if layout.has_numbers and len(layout.labels) == 1:
        places = {int(x) % width for x in columns if -width <= int(x) < width}
        has_names = len(places) < len(columns)
    if has_names and not all(first.count(column) == 1 for column in columns):
        message = f"expected the columns {_list(columns)}, once, got {quote(first)}"
        remedy = "by numbers, where no line has names; what separates them: --separator"
        fail(path, top, f"{message}. {_SAY_COLUMNS}, {remedy}. {SAY_QUOTES}")
    for line, row in chain([] if has_names else [(top, first)], rows):
        if len(row) != width:
            message = f"expected {width} columns, as in the first row, got {len(row)}: "
            fail(path, line, f"{message}{quote(row)}. {SAY_QUOTES}; or --separator")
        # a mark too many makes one field of several rows
        lines = separator.join(row).split("\n") if quotes else []
        widths = {1 + x.count(separator) for x in lines}
        is_joined = len(lines) > 1 and widths == {width}
        is_quoted = not quotes and any(map(QUOTED.fullmatch, row))
        if layout.quotes is None and (is_joined or is_quoted):
            message = f"quotation marks stand around a field, or rows: {quote(row)}"
            fail(path, line, f"{message}. {SAY_QUOTES}")
        names = first if has_names else columns
        cells = row if has_names else [row[int(column)] for column in columns]
        yield line, dict(zip(names, cells, strict=True))


def _list(columns: Sequence[str]) -> str:
    return ", ".join(quote(column) for column in columns[:20])
