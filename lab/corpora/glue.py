"""The nine tasks of GLUE, read from the files of the benchmark.

Wang et al., "GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language
Understanding" (2018). Columns are separated by tabs. There is no quoting.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from lab.glue import LABELS, SIMILARITY
from spacy_hashembeds.files import quote
from spacy_hashembeds.tools.prepare.labelled import LabelledText
from spacy_hashembeds.training.lines import check_length, decode_lines, fail

#: The separator of two sentences, which spaCy's tokenizers make a token.
PAIR_SEPARATOR = "\n"

_MAX_SCORE = 5

_PAIR = ("sentence1", "sentence2")


class GlueTask(NamedTuple):
    """The layout of a task's files."""

    folder: str
    sentences: tuple[str, ...] = _PAIR  # columns
    gold: str = "label"  # the column of labels
    is_numbered: bool = True  # True if labels are numbers
    columns: tuple[str, ...] = ()  # of a file without a header


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
    """Read a file of a task lazily. Values of labels are 1.0 or 0.0; the value of STS-B
    is a fifth of the score. Broken lines of QQP are skipped, with a warning at the end.
    """
    layout = GLUE[task]
    lines = ((n, line.rstrip("\r\n").split("\t")) for n, line in decode_lines(path))
    rows = ((number, fields) for number, fields in lines if fields != [""])
    columns = layout.columns or next(rows, (1, []))[1]
    broken: list[int] = []
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
        yield LabelledText(text, _parse_gold(path, number, row[layout.gold], task))
    if broken:
        warnings.warn(
            f"{path}: {len(broken)} lines without two questions and a label were "
            f"skipped, first line {broken[0]}.",
            stacklevel=2,
        )


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
