"""The nine tasks of GLUE, read from the files that the benchmark distributes.

Wang et al., "GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language
Understanding" (2018). Tabs stand between columns, and nothing is quoted: a quotation
mark is a character like any other.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from lab.glue import LABELS, SIMILARITY
from spacy_hashembeds.files import quote
from spacy_hashembeds.tools.prepare.labelled import LabelledText
from spacy_hashembeds.training.lines import check_length, decode_lines, fail

#: Stands between the sentences of a pair: a token of its own to spaCy's tokenizers, and
#: in no sentence, as each row is a line.
PAIR_SEPARATOR = "\n"

#: The most lines without all columns that are passed over, where a published file is
#: known to have some. A file with more is another one, or damaged.
_MAX_BROKEN = 100

_MAX_SCORE = 5

_PAIR = ("sentence1", "sentence2")


class GlueTask(NamedTuple):
    """The layout of a task's files."""

    folder: str
    sentences: tuple[str, ...] = _PAIR  # columns
    gold: str = "label"  # the column of what to predict
    is_numbered: bool = True  # True if labels are written as their numbers
    columns: tuple[str, ...] = ()  # of a file without a header, else none


#: The tasks by their usual names.
GLUE: Mapping[str, GlueTask] = {
    "cola": GlueTask(
        "CoLA", ("sentence",), columns=("source", "label", "original", "sentence")
    ),
    "sst2": GlueTask("SST-2", ("sentence",)),
    "mrpc": GlueTask("MRPC", ("#1 String", "#2 String"), "Quality"),
    "qqp": GlueTask("QQP", ("question1", "question2"), "is_duplicate"),
    "stsb": GlueTask("STS-B", _PAIR, "score"),
    "mnli": GlueTask("MNLI", _PAIR, "gold_label", is_numbered=False),
    "qnli": GlueTask("QNLI", ("question", "sentence"), is_numbered=False),
    "rte": GlueTask("RTE", is_numbered=False),
    "wnli": GlueTask("WNLI"),
}


def read_glue(path: Path, task: str) -> Iterator[LabelledText]:
    """Read a file of a task, a line at a time.

    Each label is 1.0 or 0.0; of STS-B there is a fifth of the score. Up to 100 broken
    lines of QQP are passed over, with a warning after the last row.
    """
    layout = GLUE[task]
    columns = layout.columns
    broken: list[int] = []
    is_empty = True
    for number, line in decode_lines(path, "utf-8"):
        fields = line.rstrip("\r\n").split("\t")
        if fields == [""]:
            continue
        if not columns:
            columns = tuple(fields)
            _check_header(path, number, fields, layout)
            continue
        row = dict(zip(columns, fields, strict=False))
        empty = [name for name in layout.sentences if not row.get(name, "").strip()]
        is_broken = len(fields) < len(columns) or empty
        if task == "qqp" and is_broken and len(broken) < _MAX_BROKEN:
            broken.append(number)
            continue
        if len(fields) != len(columns) or empty:
            names = f"{len(columns)} columns of {layout.folder}, {', '.join(columns)}"
            got = f"with tabs between, none empty, got {len(fields)}: {quote(fields)}"
            fail(path, number, f"expected {names}, {got}")
        text = PAIR_SEPARATOR.join(row[column].strip() for column in layout.sentences)
        check_length(path, number, text)
        is_empty = False
        yield LabelledText(text, _parse_gold(path, number, row[layout.gold], task))
    if is_empty:
        raise ValueError(f"{path}: expected rows of {task}, but there are none.")
    if broken:
        warnings.warn(
            f"{path}: {len(broken)} lines were passed over that have no two questions "
            f"and a label, first line {broken[0]}. Some releases of QQP have a few.",
            stacklevel=2,
        )


def _check_header(path: Path, number: int, fields: list[str], layout: GlueTask) -> None:
    needed = (*layout.sentences, layout.gold)
    if any(fields.count(name) != 1 for name in needed):
        fail(
            path,
            number,
            f"expected the columns {', '.join(map(quote, needed))} of {layout.folder}, "
            f"each once, with tabs between, got {quote(fields)}. GLUE keeps the labels "
            "of test.tsv: read dev.tsv in its place",
        )


def _parse_gold(path: Path, line: int, text: str, task: str) -> dict[str, float]:
    layout, labels = GLUE[task], LABELS[task]
    if task == "stsb":
        is_number = re.fullmatch(r"[0-9](\.[0-9]{1,20})?", text, re.ASCII)
        if is_number and float(text) <= _MAX_SCORE:
            return {SIMILARITY: float(text) / _MAX_SCORE}
        _refuse(path, line, text, layout, f"a number from 0 to {_MAX_SCORE}")
    values = [*map(str, range(len(labels)))] if layout.is_numbered else [*labels]
    if text not in values:
        _refuse(path, line, text, layout, " or ".join(map(quote, values)))
    return dict(zip(labels, (float(text == value) for value in values), strict=True))


def _refuse(
    path: Path, line: int, text: str, layout: GlueTask, expected: str
) -> NoReturn:
    column = quote(layout.gold)
    fail(path, line, f"expected {expected} in the column {column}, got {quote(text)}")
