"""The nine tasks of GLUE, read from the files that the benchmark distributes.

Wang et al., "GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language
Understanding" (2018). Tabs stand between columns, and nothing is quoted: a quotation
mark is a character like any other.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.glue import LABELS, SIMILARITY
from spacy_hashembeds.files import quote
from spacy_hashembeds.tools.prepare.labelled import LabelledText
from spacy_hashembeds.training.lines import check_length, decode_lines, fail

#: Stands between the sentences of a pair: a token of its own to spaCy's tokenizers, and
#: in no sentence, as each row is a line.
PAIR_SEPARATOR = "\n"

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

    Each label is 1.0 or 0.0; of STS-B there is a fifth of the score. Broken lines of
    QQP, of which its releases have a few, are passed over, with a warning after the
    last row.
    """
    layout = GLUE[task]
    lines = ((n, line.rstrip("\r\n").split("\t")) for n, line in decode_lines(path))
    rows = ((number, fields) for number, fields in lines if fields != [""])
    columns = layout.columns or _read_header(path, layout, rows)
    broken: list[int] = []
    is_empty = True
    for number, fields in rows:
        row = dict(zip(columns, fields, strict=False))
        sentences = [row.get(name, "").strip() for name in layout.sentences]
        if len(fields) != len(columns) or not all(sentences):
            if task != "qqp":
                names = f"{len(columns)} columns of {layout.folder}, none empty"
                fail(path, number, f"expected {names}, got {quote(fields)}")
            broken.append(number)
            continue
        text = PAIR_SEPARATOR.join(sentences)
        check_length(path, number, text)
        is_empty = False
        yield LabelledText(text, _parse_gold(path, number, row[layout.gold], task))
    if is_empty:
        raise ValueError(f"{path}: expected rows of {task}, but there are none.")
    if broken:
        warnings.warn(
            f"{path}: {len(broken)} lines were passed over that have no two questions "
            f"and a label, first line {broken[0]}.",
            stacklevel=2,
        )


def _read_header(
    path: Path, layout: GlueTask, rows: Iterator[tuple[int, list[str]]]
) -> Sequence[str]:
    number, columns = next(rows, (1, []))
    if any(columns.count(name) != 1 for name in (*layout.sentences, layout.gold)):
        expected = f"the columns of {layout.folder}, with {layout.gold!r}"
        # GLUE keeps the labels of test.tsv
        fail(path, number, f"expected {expected}, got {quote(columns)}")
    return columns


def _parse_gold(path: Path, line: int, text: str, task: str) -> dict[str, float]:
    layout, labels = GLUE[task], LABELS[task]
    if task == "stsb":
        if re.fullmatch(r"([0-4](\.[0-9]{1,20})?|5(\.0{1,20})?)", text, re.ASCII):
            return {SIMILARITY: float(text) / _MAX_SCORE}
        values = [f"0 to {_MAX_SCORE}"]
    else:
        values = [*map(str, range(len(labels)))] if layout.is_numbered else [*labels]
        if text in values:
            return {x: float(text == v) for x, v in zip(labels, values, strict=True)}
    expected = f"{' or '.join(values)} in the column {layout.gold!r}"
    return fail(path, line, f"expected {expected}, got {quote(text)}")
