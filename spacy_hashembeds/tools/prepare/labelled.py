"""Read texts with labels or entities from CSV and JSON."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ...arguments import EXTENSION, check_choice
from ...files import load_json, quote
from ...training.features import keep_features, store_values
from ...training.lines import check_is_regular, check_length, fail, is_text
from .rows import (
    QUOTED,
    USE_QUOTES,
    check_encoding,
    check_separator,
    is_json,
    quote_all,
    read_objects,
    read_rows,
)

# Values of columns of a single label, including those of pandas.
_NUMBERS = {"0": 0, "0.0": 0, "False": 0, "1": 1, "1.0": 1, "True": 1}

#: Function that yields a split's documents, and may show progress.
Progress = Callable[[Iterator[Any], str], Iterable[Any]]

#: The start, end and label of an entity.
_Entity = tuple[int, int, str]
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

    def __post_init__(self) -> None:
        columns = [*self.text, *self.label]
        is_list = not isinstance(self.text, str) and self.text and self.label
        if not is_list or not all(columns) or len({*columns}) < len(columns):
            message = "'text' and 'label' should be lists of different names, but are"
            raise ValueError(f"{message} {self.text!r} and {self.label!r}.")
        check_separator(self.separator)
        check_encoding(self.encoding)


@dataclass(frozen=True)
class SpanFormat(TextFormat):
    """The settings of `prepare spans`, and the entities that were left out or refused.

    label (Sequence[str]): Keys, one of which has the entities.
    features (Mapping[str, str]): Keys of lists of token values, by feature.
    misaligned (str): How to treat entities that begin or end inside tokens.
    overlapping (str): How to treat entities that overlap longer ones.
    """

    label: Sequence[str] = ("entities", "spans", "label", "labels")
    misaligned: str = "refuse"
    overlapping: str = "refuse"
    left_out: list[str] = field(default_factory=list)
    features: Mapping[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        choices = ("refuse", "leave-out", "contract", "expand")
        check_choice(choices, misaligned=self.misaligned)
        check_choice(choices[:2], overlapping=self.overlapping)
        if len(self.text) != 1:
            raise ValueError(f"'text' should be one key, but is {list(self.text)}.")

    def check_refused(self) -> None:
        """Raise an error that counts the refused entities, and lists the first."""
        if self.refused:
            raise ValueError(
                f"Misaligned or overlapping entities: {len(self.refused):,}. The first "
                f"are {'; '.join(self.refused[:5])}. Correct them, or use --misaligned "
                "leave-out or --overlapping leave-out."
            )


class SpanText(NamedTuple):
    """A text, its entities, file and line, the settings, and the row."""

    text: str
    spans: list[_Entity]
    place: str
    layout: SpanFormat
    row: dict[str, Any]


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
    is_data = "answer" in (*layout.text, *layout.label)
    for place, text, row in _read_texts(path, layout):
        if not is_data and row.get("answer") in ("accept", "reject", "ignore"):
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
    is_twice = isinstance(label, dict) and len(chosen) < len(names)
    for name, value in chosen.items():
        if value not in (0, 1) or is_twice:
            raise ValueError(f"1 or 0, once, for {quote(name)}, got {quote(value)}")
    return {name: float(value) for name, value in chosen.items()}


def read_spans(path: Path, layout: SpanFormat) -> Iterator[SpanText]:
    """Read texts with entities from JSON, except rows rejected in Prodigy."""
    if not is_json(path):
        raise ValueError(f"'{path}' should be JSON with entities, .json or .jsonl.")
    for place, text, row in _read_texts(path, layout):
        if row.get("answer") in ("reject", "ignore"):
            continue
        lists = [row[key] for key in layout.label if isinstance(row.get(key), list)]
        if len(lists) != 1 and (lists or row.get("answer") != "accept"):
            message = f"expected one list of entities among {quote_all(layout.label)}"
            fail(path, place, f"{message}, got {quote_all(row)}. Use --label-column")
        try:
            spans = {_parse_span(item, len(text)) for item in chain(*lists)}
        except ValueError as err:
            fail(path, place, err)
        yield SpanText(text, sorted(spans), f"{path}:{place}", layout, row)


def _parse_span(item: Any, n_characters: int) -> _Entity:
    span = item
    if isinstance(item, dict):
        places = (item.get(key, item.get(f"{key}_offset")) for key in ("start", "end"))
        labels = item.get("labels")  # of Label Studio
        label = labels[0] if isinstance(labels, list) and len(labels) == 1 else None
        span = [*places, item.get("label", label)]
    if isinstance(span, list) and len(span) == 3:
        start, end, label = span
        are_right = type(start) is type(end) is int and is_text(label) and label.strip()
        if are_right and 0 <= start < end <= n_characters:
            return start, end, label.strip()
    expected = f"the start and end of an entity within {n_characters} characters"
    keys = "as a list of three or the keys start, end and label"
    raise ValueError(f"expected {expected}, and a label, {keys}, got {quote(item)}")


def _read_texts(path: Path, layout: TextFormat) -> Iterator[_Record]:
    """Yield each row with its place and text."""
    is_spans = isinstance(layout, SpanFormat)
    columns = [*layout.text, *(() if is_spans else layout.label)]
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
        message = f"expected the columns {quote_all(columns)} in the first row, once"
        remedy = "Use --text-column, --label-column, --separator or --quotes"
        fail(path, top, f"{message}, got {quote_all(names)}. {remedy}")
    for line, row in rows:
        # an unmatched quotation mark joins rows to one field
        lines = separator.join(row).split("\n") if quotes else []
        widths = {1 + x.count(separator) for x in lines}
        is_joined = len(lines) > 1 and widths == {len(names)}
        is_quoted = not quotes and any(map(QUOTED.fullmatch, row))
        is_unsure = layout.quotes is None and (is_joined or is_quoted)
        if len(row) != len(names) or is_unsure:
            message = f"expected {len(names)} columns with unambiguous quotation marks"
            fail(path, line, f"{message}, got {len(row)}: {quote(row)}. {USE_QUOTES}")
        yield line, dict(zip(names, row, strict=True))


def has_one_label(cats: Mapping[str, float]) -> bool:
    """True if a text has exactly one label, as `textcat` requires."""
    values = list(cats.values())
    return values.count(1.0) == 1 and values.count(0.0) == len(values) - 1


def find_labels(labelled: LabelledText) -> list[str]:
    """Find the labels of a text."""
    return [label for label, value in labelled.cats.items() if value]


def find_span_labels(item: SpanText) -> list[str]:
    """Find the labels of a text's entities."""
    return sorted({label for _, _, label in item.spans})


def make_text_doc(nlp: Language, labelled: LabelledText) -> Doc:
    """Make the annotated `Doc` of a text, tokenized by a pipeline."""
    doc = nlp.make_doc(labelled.text)
    doc.cats = dict(labelled.cats)
    return doc


def make_span_doc(nlp: Language, item: SpanText) -> Doc:
    """Make the annotated `Doc` of a text, tokenized by a pipeline. Tokens of misaligned
    entities that are left out get missing annotation, not O, unless another entity
    covers them. A token gets the features of the word in which it begins.
    """
    doc, layout = nlp.make_doc(item.text), item.layout
    is_strict = layout.misaligned in ("refuse", "leave-out")
    mode = "strict" if is_strict else layout.misaligned
    spans: dict[_Entity, Span] = {}
    problems: list[tuple[str, list[_Entity]]] = []
    unknown: set[int] = set()
    for start, end, label in item.spans:
        if span := doc.char_span(start, end, label, alignment_mode=mode):
            spans[span.start, span.end, label] = span
        else:
            problems.append(("misaligned", [(start, end, label)]))
            touched = doc.char_span(start, end, alignment_mode="expand")
            unknown.update(token.i for token in touched or ())
    kept = filter_spans(spans.values())
    owners = {token.i: span for span in kept for token in span}
    for span in spans.values():
        longer = next(owners[token.i] for token in span if token.i in owners)
        if longer != span:
            pair = [(x.start_char, x.end_char, x.label_) for x in (span, longer)]
            problems.append(("overlapping", pair))
    for problem, entities in problems:
        named = (f"{quote(item.text[x[0] : x[1]])} {quote(x)}" for x in entities)
        is_kept_out = getattr(layout, problem) == "leave-out"
        listed = layout.left_out if is_kept_out else layout.refused
        listed.append(f"{item.place}: {problem}: {' and '.join(named)}")
    missing = [doc[i : i + 1] for i in unknown.difference(owners)]
    doc.set_ents(kept, missing=missing, default="outside")
    if layout.features:
        _store_features(doc, item)
    return doc


def _store_features(doc: Doc, item: SpanText) -> None:
    """Store lists of word values as token features."""
    features = item.layout.features
    found: list[Any] = [item.row.get(key) for key in ("tokens", *features.values())]
    try:
        words = [x["text"] if isinstance(x, dict) else x for x in found[0]]
        source = Doc(doc.vocab, words=words)
        for name, values in zip(features, found[1:], strict=True):
            if not (isinstance(values, list) and all(map(_is_value, values))):
                raise ValueError("no list of values")
            store_values(source, name, values)
        keep_features(Example(doc, source), [EXTENSION + name for name in features])
    except (KeyError, TypeError, ValueError) as err:
        raise ValueError(
            f"{item.place}: expected the words of the text in 'tokens', and an "
            "integer, true, text or null for each of them in "
            f"{quote_all(features.values())}, got {quote(found)}."
        ) from err


def _is_value(value: Any) -> bool:
    is_number = isinstance(value, int) and abs(value) < 2**63
    return value is None or is_number or is_text(value)
