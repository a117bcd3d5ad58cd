"""The corpora for text classification of Zhang et al. (2015), as they were published.

"Character-level Convolutional Networks for Text Classification": CSV without a header,
the number of the class first, then one to three texts.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from spacy_hashembeds.files import quote
from spacy_hashembeds.tools.prepare.labelled import LabelledText
from spacy_hashembeds.tools.prepare.rows import read_rows
from spacy_hashembeds.training.lines import check_length, fail, read_lines

#: Names the classes, a line each, in a file beside those of the rows.
CLASSES = "classes.txt"


def _unescape(text: str) -> str:
    return text.replace(r"\n", "\n").replace(r"\"", '"')


def _unescape_ag_news(text: str) -> str:
    # The published file has lost the n of most line breaks: what follows a backslash is
    # the next word, but for a dollar sign.
    return text.replace(r"\$", "$").replace("\\", "\n")


class Published(NamedTuple):
    """Layout of a corpus as it was published."""

    n_texts: int  # columns after the class
    n_classes: int
    labels: tuple[str, ...] = ()  # in order; empty if `classes.txt` has them
    unescape: Callable[[str], str] = _unescape  # undoes it in a field


_POLARITY = ("negative", "positive")
_STARS = ("1", "2", "3", "4", "5")

#: By the names of the corpora here.
PUBLISHED = {
    "ag_news": Published(2, 4, unescape=_unescape_ag_news),
    "dbpedia": Published(2, 14),
    "yelp_polarity": Published(1, 2, _POLARITY),
    "yelp_full": Published(1, 5, _STARS),
    "yahoo_answers": Published(3, 10),
    "amazon_full": Published(2, 5, _STARS),
    "amazon_polarity": Published(2, 2, _POLARITY),
}


def read_published(path: Path, layout: Published) -> Iterator[LabelledText]:
    """Read a file of rows, one at a time, with `classes.txt` beside it if there is one.

    Texts of a row are joined by blanks. Rows without any text are passed over, as
    `spacy.Corpus.v1` passes over docs without tokens.
    """
    labels = layout.labels or _read_classes(path.with_name(CLASSES), layout.n_classes)
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


def _read_classes(path: Path, n_classes: int) -> tuple[str, ...]:
    lines = (line.strip() for _, line in read_lines(path, "utf-8"))
    labels = tuple(filter(None, lines))
    if len(labels) != n_classes or len(set(labels)) < n_classes:
        raise ValueError(
            f"{path}: expected the names of {n_classes} classes, one a line, got "
            f"{len(labels)}: {quote(list(labels))}."
        )
    return labels
