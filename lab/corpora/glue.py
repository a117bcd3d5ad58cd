"""The nine tasks of GLUE, read from the files that the benchmark distributes.

Wang et al., "GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language
Understanding" (2018). Tabs stand between columns, and nothing is quoted: a quotation
mark is a character like any other.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spacy_hashembeds.corpora.labelled import LabelledText
from spacy_hashembeds.corpora.lines import check_length, decode_lines, fail
from spacy_hashembeds.evaluation.glue import LABELS, SIMILARITY
from spacy_hashembeds.files import quote

#: Stands between the sentences of a pair: a token of its own to spaCy's tokenizers, and
#: in no sentence, as each row is a line.
PAIR_SEPARATOR = "\n"

#: The most lines without all columns that are passed over, where a published file is
#: known to have some. A file with more is another one, or damaged.
_MAX_BROKEN = 100

_MAX_SCORE = 5

_HIDDEN = "GLUE keeps the labels of test.tsv: read dev.tsv in its place"


@dataclass(frozen=True, kw_only=True)
class GlueTask:
    """A task, and how its files are laid out."""

    folder: str
    sentences: tuple[str, ...] = ("sentence1", "sentence2")  # columns
    gold: str = "label"  # the column of what to predict
    # the labels, by what the column has in their place; empty for numbers from 0 to 5
    classes: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()  # of a file without a header, else none
    has_broken_lines: bool = False


def _by_number(task: str) -> dict[str, str]:
    return {str(i): label for i, label in enumerate(LABELS[task])}


def _by_name(task: str) -> dict[str, str]:
    return {label: label for label in LABELS[task]}


#: The tasks by their usual names.
GLUE: Mapping[str, GlueTask] = {
    "cola": GlueTask(
        folder="CoLA",
        sentences=("sentence",),
        classes=_by_number("cola"),
        columns=("source", "label", "original label", "sentence"),
    ),
    "sst2": GlueTask(
        folder="SST-2", sentences=("sentence",), classes=_by_number("sst2")
    ),
    "mrpc": GlueTask(
        folder="MRPC",
        sentences=("#1 String", "#2 String"),
        gold="Quality",
        classes=_by_number("mrpc"),
    ),
    "qqp": GlueTask(
        folder="QQP",
        sentences=("question1", "question2"),
        gold="is_duplicate",
        classes=_by_number("qqp"),
        has_broken_lines=True,
    ),
    "stsb": GlueTask(folder="STS-B", gold="score"),
    "mnli": GlueTask(folder="MNLI", gold="gold_label", classes=_by_name("mnli")),
    "qnli": GlueTask(
        folder="QNLI", sentences=("question", "sentence"), classes=_by_name("qnli")
    ),
    "rte": GlueTask(folder="RTE", classes=_by_name("rte")),
    "wnli": GlueTask(folder="WNLI", classes=_by_number("wnli")),
}


def read_glue(path: Path, task: str) -> Iterator[LabelledText]:
    """Read a file of a task, a line at a time.

    Each label is 1.0 or 0.0; of STS-B there is a fifth of the score. Up to 100 broken
    lines of QQP are passed over, with a warning after the last row.
    """
    layout = GLUE[task]
    broken: list[int] = []
    is_empty = True
    for line, row in _read_rows(path, layout, broken):
        is_empty = False
        text = PAIR_SEPARATOR.join(row[column].strip() for column in layout.sentences)
        check_length(path, line, text)
        yield LabelledText(text, _parse_gold(path, line, row[layout.gold], layout))
    if is_empty:
        raise ValueError(f"{path}: expected rows of {task}, but there are none.")
    if broken:
        warnings.warn(
            f"{path}: {len(broken)} lines were passed over that have no two questions "
            f"and a label, first line {broken[0]}. Some releases of QQP have a few.",
            stacklevel=2,
        )


def _read_rows(
    path: Path, layout: GlueTask, broken: list[int]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the line of each row and its columns by their names; note broken lines."""
    columns = layout.columns
    for number, line in decode_lines(path, "utf-8"):
        fields = line.rstrip("\r\n").split("\t")
        if fields == [""]:
            continue
        if not columns:
            _check_header(path, number, fields, layout)
            columns = tuple(fields)
            continue
        is_short = len(fields) < len(columns)
        row = dict(zip(columns, fields, strict=False))
        empty = [name for name in layout.sentences if not row.get(name, "").strip()]
        if layout.has_broken_lines and (is_short or empty):
            broken.append(number)
            if len(broken) <= _MAX_BROKEN:
                continue
        if len(fields) != len(columns):
            where = (
                "in this order" if layout.columns else "as the first line names them"
            )
            hint = f". {_HIDDEN}" if number == 1 else ""
            names = f"{len(columns)} columns of {layout.folder}, {', '.join(columns)}"
            got = f"{len(fields)}: {quote(fields)}{hint}"
            fail(
                path, number, f"expected {names}, {where}, with tabs between, got {got}"
            )
        if empty:
            fail(path, number, f"expected text in the column {quote(empty[0])}, got ''")
        yield number, row


def _check_header(path: Path, number: int, fields: list[str], layout: GlueTask) -> None:
    needed = (*layout.sentences, layout.gold)
    wrong = [name for name in needed if fields.count(name) != 1]
    if wrong:
        hint = f". {_HIDDEN}" if wrong == [layout.gold] else ""
        fail(
            path,
            number,
            f"expected the columns {', '.join(map(quote, needed))} of {layout.folder}, "
            f"each once, with tabs between, got {quote(fields)}{hint}",
        )


def _parse_gold(path: Path, line: int, text: str, layout: GlueTask) -> dict[str, float]:
    if layout.classes:
        is_valid = text in layout.classes
        expected = " or ".join(map(quote, layout.classes))
    else:
        is_number = re.fullmatch(r"[0-9](\.[0-9]{1,20})?", text, re.ASCII) is not None
        is_valid = is_number and float(text) <= _MAX_SCORE
        expected = f"a number from 0 to {_MAX_SCORE}"
    if not is_valid:
        column = quote(layout.gold)
        fail(
            path, line, f"expected {expected} in the column {column}, got {quote(text)}"
        )
    if not layout.classes:
        return {SIMILARITY: float(text) / _MAX_SCORE}
    label = layout.classes[text]
    return {name: float(name == label) for name in layout.classes.values()}
