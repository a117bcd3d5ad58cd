"""Read texts with labels from CSV and JSON."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from ...files import load_json, quote
from ...training.lines import check_is_regular, check_length, fail, is_text
from .rows import QUOTED, USE_QUOTES, is_json, quote_all, read_objects, read_rows

# Values of columns of a single label, including those of pandas.
_NUMBERS = {"0": 0, "0.0": 0, "False": 0, "1": 1, "1.0": 1, "True": 1}

#: Values of "answer" in rows that were rejected in Prodigy.
REJECTED = ("reject", "ignore")

#: Function that yields a split's documents, and may show progress.
Progress = Callable[[Iterator[Any], str], Iterable[Any]]

#: A row's line or item, its text, and the row or its parsed labels.
_Record = tuple[int | str, str, dict[str, Any]]


class LabelledText(NamedTuple):
    """A text, with 1.0 or 0.0 for each label of the corpus."""

    text: str
    cats: dict[str, float]


@dataclass(frozen=True)
class TextFormat:
    """Settings of LabelledTextsCorpus. Several label columns have 1 or 0 each."""

    text: Sequence[str] = ("text",)
    label: Sequence[str] = ("label",)
    separator: str | None = None
    encoding: str = "utf-8"
    quotes: bool | None = None


def read_labelled(
    path: Path, layout: TextFormat, labels: Iterable[str] | None = None
) -> Iterator[LabelledText]:
    """Read texts with labels. Without `labels`, read the file twice to list them."""
    if labels is None:
        labels = gather_labels({"train": path}, layout)
    none = dict.fromkeys(labels, 0.0)
    for place, text, cats in _read_cats(path, layout):
        if new := cats.keys() - none.keys():
            among = f"is not among 'labels', {quote_all(none)}"
            fail(path, place, f"the label {quote(min(new))} {among}")
        yield LabelledText(text, {**none, **cats})


def gather_labels(
    paths: Mapping[str, Path],
    layout: TextFormat,
    progress: Progress = lambda rows, split: rows,
) -> list[str]:
    """List the labels of all splits, sorted."""
    places: dict[str, tuple[Path, int | str]] = {}
    for split, path in paths.items():
        check_is_regular(path)
        records = progress(_read_cats(path, layout), f"the labels of {split}")
        for place, _, cats in records:
            places |= dict.fromkeys(cats.keys() - places.keys(), (path, place))
    if not places:
        raise ValueError(
            f"{', '.join(map(str, paths.values()))}: expected labels, but "
            f"{quote_all(layout.label)} has none. Use --label-column."
        )
    for label, (path, place) in places.items():
        parts = {part.strip() for part in re.split("[#|,;]", label)}
        if len(parts) > 1 and parts <= places.keys():  # from Doccano
            fail(path, place, f"{quote(label)} seems several labels. Use a JSON list")
    return sorted(places)


def _read_cats(path: Path, layout: TextFormat) -> Iterator[_Record]:
    """Read rows, with 1.0 or 0.0 for each of their labels."""
    place: int | str = 0
    columns = [*layout.text, *layout.label]
    for place, text, row in read_text_rows(path, layout, columns):
        answers = ("accept", *REJECTED)
        if "answer" not in columns and row.get("answer") in answers:
            message = "rows of Prodigy may repeat a text"
            fail(path, place, f"{message}. Merge them by `prodigy data-to-spacy`")
        label = row[layout.label[0]]
        try:
            if len(layout.label) > 1:
                cells = ((name, row[name]) for name in layout.label)
                label = {x: _NUMBERS.get(str(y).strip(), y) for x, y in cells}
            elif not is_json(path) and re.fullmatch(r"(?s)\s*[\[{].*[\]}]\s*", label):
                label = load_json(label)
            cats = parse_label(label)
        except ValueError as err:
            fail(path, place, f"expected a label, or JSON in brackets: {err}")
        yield place, text, cats
    if not place:
        raise ValueError(f"{path}: expected texts with labels, but there are none.")


def parse_label(label: Any) -> dict[str, float]:
    """Parse a name, a list of names, or an object with 1 or 0 for each label."""
    if isinstance(label, dict) and list(label) == ["choices"]:
        label = label["choices"]  # of Label Studio
    listed = label if isinstance(label, list | dict) else [label]
    names = [str(x) if type(x) is int else x for x in listed]
    if not all(is_text(name) and name.strip() for name in names):
        kinds = "a name, a list of names, [] for none, or an object"
        remedy = "For entities, use 'prepare spans'"
        raise ValueError(f"{kinds}, got {quote(label)}. {remedy}")
    values = [*label.values()] if isinstance(label, dict) else [1] * len(names)
    chosen = dict(zip(map(str.strip, names), values, strict=True))
    for name, value in chosen.items():
        if value not in (0, 1):
            raise ValueError(f"1 or 0 for {quote(name)}, got {quote(value)}")
    return {name: float(value) for name, value in chosen.items()}


def read_text_rows(
    path: Path, layout: TextFormat, columns: Sequence[str]
) -> Iterator[_Record]:
    """Yield each row with its place and text. `columns`: keys that each row has."""
    rows: Iterator[tuple[int | str, Any]] = read_objects(path, layout.encoding)
    if not is_json(path):
        rows = _read_csv(path, layout, columns)
    for place, row in rows:
        if isinstance(row, list) and len(row) == 2 and isinstance(row[1], dict):
            row = {**row[1], layout.text[0]: row[0]}
        if not isinstance(row, dict):
            fail(path, place, f"expected a JSON object, got {quote(row)}")
        if not row.keys() >= {*columns}:
            message = f"expected the keys {quote_all(columns)}, got {quote_all(row)}"
            fail(path, place, f"{message}. Use --text-column or --label-column")
        texts = [row[column] for column in layout.text]
        if not all(map(is_text, texts)) or not "".join(texts).strip():
            message = f"expected text in {quote_all(layout.text)}"
            fail(path, place, f"{message}, got {quote(texts)}")
        text = " ".join(filter(None, texts))
        check_length(path, place, text)
        yield place, text, row


def _read_csv(
    path: Path, layout: TextFormat, columns: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    separator = layout.separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    quotes = separator != "\t" if layout.quotes is None else layout.quotes
    rows = read_rows(path, separator=separator, quotes=quotes, encoding=layout.encoding)
    top, names = next(rows, (1, []))
    if not all(names.count(column) == 1 for column in columns):
        message = f"expected the names {quote_all(columns)} in the first row, once"
        message += f", got {quote_all(names)}. Use --text-column, --label-column"
        fail(path, top, f"{message}, --separator or --quotes, or insert a row of names")
    for line, row in rows:
        # an unmatched quotation mark joins rows to one field
        lines = separator.join(row).split("\n") if quotes else []
        widths = {1 + x.count(separator) for x in lines}
        is_joined = len(lines) > 1 and widths == {len(names)}
        is_quoted = not quotes and any(map(QUOTED.fullmatch, row))
        is_unsure = layout.quotes is None and (is_joined or is_quoted)
        if len(row) != len(names) or is_unsure:
            message = f"expected {len(names)} columns and unambiguous quotation marks"
            fail(path, line, f"{message}, got {len(row)}: {quote(row)}. {USE_QUOTES}")
        yield line, dict(zip(names, row, strict=True))


def has_one_label(cats: Mapping[str, float]) -> bool:
    """True if a text has exactly one label, as `textcat` requires."""
    values = list(cats.values())
    return values.count(1.0) == 1 and values.count(0.0) == len(values) - 1


def find_labels(labelled: LabelledText) -> list[str]:
    """Find the labels of a text."""
    return [label for label, value in labelled.cats.items() if value]


def make_text_doc(nlp: Language, labelled: LabelledText) -> Doc:
    """Make the annotated `Doc` of a text, tokenized by a pipeline."""
    doc = nlp.make_doc(labelled.text)
    doc.cats = dict(labelled.cats)
    return doc
