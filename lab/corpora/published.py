"""Published files of the text classification corpora of Zhang et al., "Character-level
Convolutional Networks for Text Classification" (2015): CSV without a header, with the
number of the class and one to three texts.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from spacy_hashembeds.files import quote
from spacy_hashembeds.tools.prepare.labelled import LabelledText
from spacy_hashembeds.tools.prepare.rows import read_rows
from spacy_hashembeds.training.lines import check_length, fail

#: The file of the names of classes, one a line, beside the file of rows.
CLASSES = "classes.txt"


def _unescape(text: str) -> str:
    return text.replace(r"\n", "\n").replace(r"\"", '"')


def _unescape_ag_news(text: str) -> str:
    # Most line breaks of the published file lack the n after the backslash.
    return text.replace(r"\$", "$").replace("\\", "\n")


class Published(NamedTuple):
    """Layout of the files of a corpus."""

    n_texts: int  # columns after the class
    labels: tuple[str, ...] = ()  # in order; empty if `classes.txt` has them
    unescape: Callable[[str], str] = _unescape  # of a field


_POLARITY = ("negative", "positive")
_STARS = ("1", "2", "3", "4", "5")

#: Layouts by the names of corpora.
PUBLISHED = {
    "ag_news": Published(2, unescape=_unescape_ag_news),
    "dbpedia": Published(2),
    "yelp_polarity": Published(1, _POLARITY),
    "yelp_full": Published(1, _STARS),
    "yahoo_answers": Published(3),
    "amazon_full": Published(2, _STARS),
    "amazon_polarity": Published(2, _POLARITY),
}


def read_published(path: Path, layout: Published) -> Iterator[LabelledText]:
    """Read a file of rows lazily. Join the texts of a row, and skip empty rows."""
    labels = layout.labels
    if not labels:
        lines = path.with_name(CLASSES).read_text("utf8").splitlines()
        labels = tuple(line.strip() for line in lines if line.strip())
    numbers = [str(i + 1) for i in range(len(labels))]
    width = 1 + layout.n_texts
    for line, row in read_rows(path):
        if len(row) != width or row[0] not in numbers:
            expected = f"{width} columns, first the number of a class"
            fail(path, line, f"expected {expected}, got {len(row)}: {quote(row)}")
        label = labels[numbers.index(row[0])]
        text = " ".join(filter(None, map(layout.unescape, row[1:])))
        check_length(path, line, text)
        if text:
            yield LabelledText(text, {name: float(name == label) for name in labels})
