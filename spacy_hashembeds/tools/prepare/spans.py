"""Your own texts with entities by the places of their characters."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ...arguments import check_choice
from ...files import quote
from ...training.lines import check_length, fail, is_text
from .labelled import ANSWERS
from .rows import check_encoding, is_json, read_objects

#: The most bytes of a file in Python: to parse it may take four hundred times as many.
MAX_PYTHON = 1_000_000

_N_SHOWN = 20

#: The keys that annotation tools put entities at.
_KEYS = ("entities", "spans", "label", "labels")

_EXPECTED = (
    'expected {"text": …, "entities": [[start, end, label], …]}, or "spans" or "label" '
    "in the place of these"
)


class SpanText(NamedTuple):
    """A text, the start, end and label of each entity, and where it stands."""

    text: str
    spans: list[tuple[int, int, str]]
    place: str


@dataclass(frozen=True)
class SpanFormat:
    """The settings of `prepare spans`, checked, and what was found as Docs were made.

    text (Sequence[str]): The key of the text.
    key (Sequence[str]): The key of the entities, or none: the one that is there.
    misaligned (str): What becomes of entities that begin or end within tokens.
    overlapping (str): What becomes of those that share tokens with longer ones.
    """

    text: Sequence[str] = ("text",)
    key: Sequence[str] = ()
    encoding: str = "utf-8"
    misaligned: str = "refuse"
    overlapping: str = "refuse"
    #: The number of each problem, and the first of all.
    problems: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_encoding(self.encoding)
        choices = ("refuse", "leave-out", "contract", "expand")
        check_choice(choices, misaligned=self.misaligned)
        check_choice(choices[:2], overlapping=self.overlapping)
        if len(self.text) != 1 or len(self.key) > 1:
            raise ValueError(
                "'text' and 'label' should be a key each, but are "
                f"{quote(list(self.text))} and {quote(list(self.key))}."
            )

    def note(self, problem: str, item: SpanText, span: tuple[int, int, str]) -> None:
        """Note an entity that has no place among tokens."""
        self.problems[problem] += 1
        if len(self.examples) < _N_SHOWN:
            text = quote(item.text[span[0] : span[1]])
            self.examples.append(f"{item.place}: {problem}: {text}, {quote(span)}")

    def check(self) -> None:
        """Refuse what was noted, unless it is to be left out."""
        modes = {"misaligned": self.misaligned, "overlapping": self.overlapping}
        refused = [
            problem for problem in self.problems if modes[problem] != "leave-out"
        ]
        if refused:
            counts = " and ".join(f"{self.problems[x]:,} {x}" for x in refused)
            remedy = " ".join(f"--{problem} leave-out" for problem in refused)
            raise ValueError(
                f"{counts} entities. Correct them, or say {remedy}; --misaligned expand"
                " or contract puts them on tokens.\n" + "\n".join(self.examples)
            )


def read_spans(path: Path, layout: SpanFormat) -> Iterator[SpanText]:
    """Read texts with entities: JSON, an object a line or in an array, or the tuples of
    spaCy v2, in JSON or Python. Of Prodigy's rows only those accepted are read.

    Refuses, with its line or item, what has another form.
    """
    rows = read_objects(path, layout.encoding) if is_json(path) else _read_python(path)
    for place, row in rows:
        is_pair = isinstance(row, list | tuple) and len(row) == 2
        first, row = row if is_pair else (None, row)
        text: Any = row.get(layout.text[0], first) if isinstance(row, dict) else None
        if not is_text(text):
            fail(path, place, f"{_EXPECTED}, got {quote(row)}")
        check_length(path, place, text)
        answer = row.get("answer")
        if answer in ANSWERS and answer != "accept":
            continue
        found = [
            row[key] for key in layout.key or _KEYS if isinstance(row.get(key), list)
        ]
        if len(found) != 1 and not (answer and not found):
            remedy = "Say which key has the entities: --label-column"
            fail(path, place, f"{_EXPECTED}, got {quote(list(row))}. {remedy}")
        spans = set()
        for item in chain(*found):
            span = _parse_span(item)
            if span is None or not 0 <= span[0] < span[1] <= len(text):
                expected = (
                    f"the start and end of an entity within {len(text)} characters"
                )
                fail(
                    path, place, f"expected {expected}, and a label, got {quote(item)}"
                )
            spans.add(span)
        yield SpanText(text, sorted(spans), f"{path}:{place}")


def _read_python(path: Path) -> Iterator[tuple[int, Any]]:
    """Read the items of the list that a file in Python holds, without running it."""
    expected = f"{path}: expected JSON (.jsonl, .json), or a list of tuples in Python"
    if path.stat().st_size > MAX_PYTHON:
        raise ValueError(f"{expected} of {MAX_PYTHON:,} bytes at most. Write JSON.")
    try:
        values = [
            getattr(node, "value", None) for node in ast.parse(path.read_bytes()).body
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as err:
        raise ValueError(f"{expected}, but {err}.") from None
    lists = [value for value in values if isinstance(value, ast.List)]
    if len(lists) != 1:
        raise ValueError(f"{expected}, got {len(lists)} lists.")
    for node in lists[0].elts:
        try:
            yield node.lineno, ast.literal_eval(node)
        except (ValueError, TypeError, RecursionError, MemoryError):
            fail(
                path, node.lineno, "expected nothing but texts, numbers, lists and such"
            )


def _parse_span(span: Any) -> tuple[int, int, str] | None:
    if isinstance(span, dict):
        places = (span.get(key, span.get(f"{key}_offset")) for key in ("start", "end"))
        span = (*places, span.get("label"))
    if not isinstance(span, list | tuple) or len(span) != 3:
        return None
    start, end, label = span
    is_right = type(start) is type(end) is int and is_text(label) and label.strip()
    return (start, end, label.strip()) if is_right else None


def find_labels(item: SpanText) -> list[str]:
    """Find the labels of a text's entities."""
    return sorted({label for _, _, label in item.spans})


def make_span_doc(nlp: Language, item: SpanText, layout: SpanFormat) -> Doc:
    """Make the annotated `Doc` of a text, tokenized by a pipeline. What is left out as
    misaligned is unknown, and not outside of entities, wherever no other is.
    """
    doc = nlp.make_doc(item.text)
    mode = (
        layout.misaligned if layout.misaligned in ("contract", "expand") else "strict"
    )
    spans: dict[tuple[int, int, str], Span] = {}
    unknown: set[int] = set()
    for start, end, label in item.spans:
        span = doc.char_span(start, end, label, alignment_mode=mode)
        if span is None:
            touched = doc.char_span(start, end, alignment_mode="expand")
            unknown.update(token.i for token in touched or ())
            layout.note("misaligned", item, (start, end, label))
        else:
            spans[span.start, span.end, label] = span
    kept = filter_spans(spans.values())
    for span in spans.values():
        if span not in kept:
            place = (span.start_char, span.end_char, span.label_)
            layout.note("overlapping", item, place)
    unknown.difference_update(token.i for span in kept for token in span)
    doc.set_ents(kept, missing=[doc[i : i + 1] for i in unknown], default="outside")
    return doc
