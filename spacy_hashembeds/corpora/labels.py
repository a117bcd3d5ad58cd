"""The labels of a row, in the forms that people and annotation tools write them."""

import re
from collections.abc import Container, Mapping
from typing import Any

from ..files import load_json, quote

# Half a character and NUL, which JSON can write, and no text has.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")

#: The key of Prodigy's rows, and what it says of the label beside it.
ANSWER = "answer"
_ANSWERS = {"accept": 1.0, "reject": 0.0, "ignore": None}

_ENTITIES = (
    "entities: 'prepare texts' takes labels of whole texts. Convert entities with spaCy"
    " (Doc.char_span, DocBin), or write one token a line, for 'prepare iob'"
)

#: Keys of annotation tools, where the label's own is missing, and what they hold.
ELSEWHERE = {
    "spans": f"'spans' holds {_ENTITIES}",
    "entities": f"'entities' holds {_ENTITIES}",
    "annotations": "'annotations' holds what annotators did, label by label. Export "
    "the labels in a key of their own: JSON-MIN or CSV of Label Studio, JSONL of "
    "Doccano",
}


def is_answer(row: Mapping[str, Any]) -> bool:
    """Find Prodigy's answer in a row: such rows say nothing of labels not asked for."""
    return _fold_answer(row) in _ANSWERS


def _fold_answer(row: Mapping[str, Any]) -> str:
    answer = row.get(ANSWER)
    return answer.strip().casefold() if isinstance(answer, str) else ""


def parse_answer(row: Mapping[str, Any], column: str) -> dict[str, float]:
    """Parse what a row of Prodigy's says of labels, nothing where it is ignored: of one
    label, which is accepted or rejected, or of the options of a choice.
    """
    value = _ANSWERS[_fold_answer(row)]
    if value is None:
        return {}
    if "options" in row:
        options, chosen = _parse_options(row), parse_label(row.get("accept", []))
        labels = {**dict.fromkeys(options, 0.0), **chosen}
    else:
        labels = parse_label(row[column])
    if value:
        return labels
    if len(labels) != 1 or "options" in row or isinstance(row[column], dict):
        raise ValueError(
            f"expected one label where the {ANSWER!r} is 'reject', got "
            f"{quote(list(labels))}, so that it may mean any of them, or the text. "
            "Accept the row with the labels that the text has, which may be none, or "
            "ignore it, and it is left out"
        )
    return dict.fromkeys(labels, value)


def _parse_options(row: Mapping[str, Any]) -> dict[str, float]:
    options = row["options"]
    is_list = isinstance(options, list)
    if not is_list or not all(isinstance(o, dict) and "id" in o for o in options):
        raise ValueError(
            "expected 'options' to be a list of objects with an 'id' each, as in "
            f"Prodigy's choices, got {quote(options)}"
        )
    return parse_label([option["id"] for option in options])


def load_cell(cell: str) -> Any:
    """Load what a cell of CSV has of labels: a name, or what is in brackets as JSON."""
    if not re.fullmatch(r"\s*(\[.*\]|\{.*\})\s*", cell, re.DOTALL):
        return cell
    try:
        return load_json(cell)
    except ValueError:
        raise ValueError(
            "expected a label, or in brackets JSON, such as a list of labels, "
            f'["x", "y"], got {quote(cell)}. Write it as JSON, or a label without the '
            "brackets"
        ) from None


def parse_label(label: Any) -> dict[str, float]:
    """Parse labels, 1.0 or 0.0 for each: a name, a list of names, or an object."""
    if isinstance(label, dict) and list(label) == ["choices"]:
        label = label["choices"]  # of Label Studio, where there may be several
    names = [*map(_name, label if isinstance(label, list | dict) else [label])]
    if any(isinstance(name, list | dict) for name in names):
        raise ValueError(
            f"expected a label, or several, got {quote(label)}, as there are of "
            + _ENTITIES
        )
    if not all(is_text(name) and name.strip() for name in names):
        raise ValueError(
            "expected a label, which is a text or a whole number; or, in JSON, a list "
            f"of such, or an object with 1 or 0 for each label; got {quote(label)}"
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


def find_joined(label: str, labels: Container[str]) -> list[str]:
    """Find the labels that one joins, such as Doccano's 'x#y', if each is among all."""
    for mark in "#|,":
        parts = [part.strip() for part in label.split(mark)]
        if len(parts) > 1 and all(part in labels for part in parts):
            return parts
    return []


def _name(label: Any) -> Any:
    is_number = isinstance(label, int) and not isinstance(label, bool)
    return str(label) if is_number else label


def is_text(value: Any) -> bool:
    """Tell text from what else JSON may hold, half a character and NUL included."""
    return isinstance(value, str) and not _NO_TEXT.search(value)
