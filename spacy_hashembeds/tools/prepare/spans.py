"""Read texts with entities by character offsets from JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ...arguments import EXTENSION, check_choice
from ...files import quote
from ...training.features import keep_features, store_values
from ...training.lines import fail, is_text
from .labelled import REJECTED, TextFormat, read_text_rows
from .rows import is_json, quote_all

#: The start, end and label of an entity.
_Entity = tuple[int, int, str]


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


def read_spans(path: Path, layout: SpanFormat) -> Iterator[SpanText]:
    """Read texts with entities from JSON, except rows rejected in Prodigy."""
    if not is_json(path):
        raise ValueError(f"'{path}' should be JSON with entities, .json or .jsonl.")
    for place, text, row in read_text_rows(path, layout, layout.text):
        if row.get("answer") in REJECTED:
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


def find_span_labels(item: SpanText) -> list[str]:
    """Find the labels of a text's entities."""
    return sorted({label for _, _, label in item.spans})


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
