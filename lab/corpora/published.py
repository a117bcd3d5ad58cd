"""The corpora for text classification of Zhang et al. (2015), as they were published.

"Character-level Convolutional Networks for Text Classification": CSV without a header,
the number of the class first, then one to three texts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spacy_hashembeds.corpora.labelled import LabelledText
from spacy_hashembeds.corpora.lines import check_length, fail, read_lines, read_rows
from spacy_hashembeds.files import quote

#: Names the classes, a line each, in a file beside those of the rows.
CLASSES = "classes.txt"


def _unescape(text: str) -> str:
    return text.replace(r"\n", "\n").replace(r"\"", '"')


def _unescape_ag_news(text: str) -> str:
    # The published file has lost the n of most line breaks: what follows a backslash is
    # the next word, but for a dollar sign.
    return text.replace(r"\$", "$").replace("\\", "\n")


@dataclass(frozen=True, kw_only=True)
class Published:
    """Layout of a corpus as it was published."""

    fields: tuple[str, ...]  # what the columns after the class hold
    n_classes: int
    labels: tuple[str, ...] = ()  # in order; empty if `classes.txt` has them
    unescape: Callable[[str], str] = _unescape  # undoes it in a field


_POLARITY = ("negative", "positive")
_STARS = ("1", "2", "3", "4", "5")

#: By the names of the corpora here.
PUBLISHED = {
    "ag_news": Published(
        fields=("title", "description"), n_classes=4, unescape=_unescape_ag_news
    ),
    "dbpedia": Published(fields=("title", "abstract"), n_classes=14),
    "yelp_polarity": Published(fields=("text",), n_classes=2, labels=_POLARITY),
    "yelp_full": Published(fields=("text",), n_classes=5, labels=_STARS),
    "yahoo_answers": Published(
        fields=("question title", "question content", "best answer"), n_classes=10
    ),
    "amazon_full": Published(fields=("title", "text"), n_classes=5, labels=_STARS),
    "amazon_polarity": Published(
        fields=("title", "text"), n_classes=2, labels=_POLARITY
    ),
}


def read_published(path: Path, layout: Published) -> Iterator[LabelledText]:
    """Read a file of rows, one at a time, with `classes.txt` beside it if there is one.

    Texts of a row are joined by blanks. Rows without any text are passed over, as
    `spacy.Corpus.v1` passes over docs without tokens.
    """
    labels = layout.labels or read_classes(path.with_name(CLASSES), layout.n_classes)
    width = 1 + len(layout.fields)
    for line, row in read_rows(path):
        if len(row) != width:
            columns = f"{width} columns, class, {', '.join(layout.fields)}"
            fail(path, line, f"expected {columns}, got {len(row)}: {quote(row)}")
        label = labels[_parse_class(path, line, row[0], len(labels)) - 1]
        text = " ".join(filter(None, map(layout.unescape, row[1:])))
        check_length(path, line, text)
        if text:
            yield LabelledText(text, {name: float(name == label) for name in labels})


def read_classes(path: Path, n_classes: int) -> tuple[str, ...]:
    """Read the names of classes, one a line."""
    if not path.exists():
        raise FileNotFoundError(
            f"There is no '{path}', which names the classes. It was published with the "
            "rows: put it beside them."
        )
    labels = tuple(
        line.strip() for _, line in read_lines(path, "utf-8") if line.strip()
    )
    if len(labels) != n_classes or len(set(labels)) < n_classes:
        raise ValueError(
            f"{path}: expected the names of {n_classes} classes, one a line, got "
            f"{len(labels)}: {quote(list(labels))}."
        )
    return labels


def _parse_class(path: Path, line: int, text: str, n_classes: int) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) < 4
    if not is_number or not 1 <= int(text) <= n_classes:
        expected = f"the number of a class, from 1 to {n_classes}, in the first column"
        fail(path, line, f"expected {expected}, got {quote(text)}")
    return int(text)
