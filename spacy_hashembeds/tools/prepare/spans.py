"""Your own texts with entities by the places of their characters."""

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
    #: Counts of entities that were left out, by problem, and the first of all.
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

    def leave_out(
        self, problem: str, item: SpanText, span: tuple[int, int, str]
    ) -> None:
        """Leave out an entity that has no place among tokens, or refuse it."""
        text = quote(item.text[span[0] : span[1]])
        found = f"{item.place}: {problem}: {text}, {quote(span)}"
        if getattr(self, problem) != "leave-out":
            raise ValueError(
                f"{found}. Correct it, or say --{problem} leave-out; --misaligned "
                "expand or contract puts entities on whole tokens."
            )
        self.problems[problem] += 1
        if len(self.examples) < _N_SHOWN:
            self.examples.append(found)


def read_spans(path: Path, layout: SpanFormat) -> Iterator[SpanText]:
    """Read texts with entities from JSON, an object a line or in an array, or the
    pairs of spaCy v2. Of Prodigy's rows only those accepted are read.

    Refuses, with its line or item, what has another form.
    """
    if not is_json(path):
        raise ValueError(
            f"{path}: expected JSON (.jsonl, .json). In Python `json.dump(TRAIN_DATA, "
            "file)` writes training data of spaCy v2."
        )
    for place, row in read_objects(path, layout.encoding):
        if isinstance(row, list) and len(row) == 2 and isinstance(row[1], dict):
            row = {**row[1], layout.text[0]: row[0]}
        text: Any = row.get(layout.text[0]) if isinstance(row, dict) else None
        if not is_text(text):
            fail(path, place, f"{_EXPECTED}, got {quote(row)}")
        check_length(path, place, text)
        answer = row.get("answer")
        if answer not in ANSWERS or answer == "accept":
            lists = [row.get(key) for key in layout.key or _KEYS]
            lists = [value for value in lists if isinstance(value, list)]
            if len(lists) != 1 and not (answer == "accept" and not lists):
                remedy = "Say which key has the entities: --label-column"
                fail(path, place, f"{_EXPECTED}, got {quote(list(row))}. {remedy}")
            try:
                spans = {_parse_span(item, len(text)) for item in chain(*lists)}
            except ValueError as err:
                fail(path, place, err)
            yield SpanText(text, sorted(spans), f"{path}:{place}")


def _parse_span(item: Any, n_characters: int) -> tuple[int, int, str]:
    span = item
    if isinstance(item, dict):
        places = (item.get(key, item.get(f"{key}_offset")) for key in ("start", "end"))
        span = [*places, item.get("label")]
    if isinstance(span, list) and len(span) == 3:
        start, end, label = span
        are_right = type(start) is type(end) is int and is_text(label) and label.strip()
        if are_right and 0 <= start < end <= n_characters:
            return start, end, label.strip()
    raise ValueError(
        f"expected the start and end of an entity within {n_characters} characters, "
        f"and a label, got {quote(item)}"
    )


def find_labels(item: SpanText) -> list[str]:
    """Find the labels of a text's entities."""
    return sorted({label for _, _, label in item.spans})


def make_span_doc(nlp: Language, item: SpanText, layout: SpanFormat) -> Doc:
    """Make the annotated `Doc` of a text, tokenized by a pipeline. What is left out as
    misaligned is unknown, and not outside of entities, wherever no other is.
    """
    doc = nlp.make_doc(item.text)
    is_strict = layout.misaligned in ("refuse", "leave-out")
    mode = "strict" if is_strict else layout.misaligned
    spans: dict[tuple[int, int, str], Span] = {}
    unknown: set[int] = set()
    for start, end, label in item.spans:
        span = doc.char_span(start, end, label, alignment_mode=mode)
        if span is None:
            touched = doc.char_span(start, end, alignment_mode="expand")
            unknown.update(token.i for token in touched or ())
            layout.leave_out("misaligned", item, (start, end, label))
        else:
            spans[span.start, span.end, label] = span
    kept = filter_spans(spans.values())
    for span in spans.values():
        if span not in kept:
            place = (span.start_char, span.end_char, span.label_)
            layout.leave_out("overlapping", item, place)
    unknown.difference_update(token.i for span in kept for token in span)
    doc.set_ents(kept, missing=[doc[i : i + 1] for i in unknown], default="outside")
    return doc
