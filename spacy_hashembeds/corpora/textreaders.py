"""Corpus readers for text classification: published corpora, and your own files.

Each can stand in `[corpora.train]` of a config, where it reads the file anew for every
pass. Those of published corpora differ in the layout of the file alone.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..checks import check_choice
from .glue import GLUE, read_glue
from .labelled import TextFormat, read_labelled
from .lines import check_file, check_is_regular
from .published import (
    AG_NEWS,
    AMAZON_FULL,
    AMAZON_POLARITY,
    DBPEDIA,
    YAHOO_ANSWERS,
    YELP_FULL,
    YELP_POLARITY,
    Published,
    read_published,
)
from .readers import Reader
from .texts import make_text_examples


def create_ag_news_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of AG's news topics: class, title, description. What a backslash
    stands for, a line break or a dollar sign, is put in its place.

    path (Path): The file, e.g. train.csv, with classes.txt beside it.
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes one `Example` of each row, given `nlp`, with 1.0 or 0.0
        for each class in `reference.cats`.
    RAISES (ValueError): No path; later, with file and line, what cannot be parsed.
    RAISES (FileNotFoundError): No such file.
    """
    return _make_reader(path, AG_NEWS, limit)


def create_dbpedia_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of DBPedia's ontology: class, title, abstract.

    path (Path): The file, e.g. train.csv, with classes.txt beside it.
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes examples, as `create_ag_news_reader` does.
    RAISES: As `create_ag_news_reader`.
    """
    return _make_reader(path, DBPEDIA, limit)


def create_yelp_polarity_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of Yelp's reviews, negative or positive: class, text.

    path (Path): The file, e.g. train.csv.
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes examples, as `create_ag_news_reader` does.
    RAISES: As `create_ag_news_reader`.
    """
    return _make_reader(path, YELP_POLARITY, limit)


def create_yelp_full_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of Yelp's reviews with one to five stars: class, text.

    path (Path): The file, e.g. train.csv.
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes examples, as `create_ag_news_reader` does.
    RAISES: As `create_ag_news_reader`.
    """
    return _make_reader(path, YELP_FULL, limit)


def create_yahoo_answers_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of Yahoo! Answers' topics: class, title and content of a question,
    best answer.

    path (Path): The file, e.g. train.csv, with classes.txt beside it.
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes examples, as `create_ag_news_reader` does.
    RAISES: As `create_ag_news_reader`.
    """
    return _make_reader(path, YAHOO_ANSWERS, limit)


def create_amazon_full_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of Amazon's reviews with one to five stars: class, title, text.

    path (Path): The file, e.g. train.csv.
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes examples, as `create_ag_news_reader` does.
    RAISES: As `create_ag_news_reader`.
    """
    return _make_reader(path, AMAZON_FULL, limit)


def create_amazon_polarity_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of Amazon's reviews, negative or positive: class, title, text.

    path (Path): The file, e.g. train.csv.
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes examples, as `create_ag_news_reader` does.
    RAISES: As `create_ag_news_reader`.
    """
    return _make_reader(path, AMAZON_POLARITY, limit)


def create_glue_reader(*, path: Path | None, task: str, limit: int = 0) -> Reader:
    """Read a file of one of the nine tasks of GLUE. The sentences of a pair are one
    text, a line each: the tokenizer makes a token of the line break between them.

    path (Path): The file, e.g. train.tsv or dev.tsv. The labels of test.tsv are not
        published.
    task (str): "cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "qnli", "rte" or "wnli".
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes examples, as `create_ag_news_reader` does; those of "stsb"
        have one label, "similarity", whose value is a fifth of the score, 0.0 to 1.0,
        for a `text_regressor`.
    RAISES (ValueError): Another task; else as `create_ag_news_reader`.
    RAISES (FileNotFoundError): No such file.
    """
    check_choice(tuple(GLUE), task=task)
    read = partial(read_glue, check_file(path), task)
    return partial(make_text_examples, read, limit)


def create_labelled_texts_reader(
    *,
    path: Path | None,
    text_columns: Sequence[str] = ("text",),
    label_column: str = "label",
    labels: Sequence[str] | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    limit: int = 0,
) -> Reader:
    r"""Read your own texts with labels: a JSON object a line (.jsonl, .ndjson), or CSV.

    path (Path): The file.
    text_columns (Sequence[str]): The columns that hold text, which are put together
        with blanks between: keys of objects, or names in the first line of a CSV file.
        Where these and `label_column` are numbers, such as ["1", "2"] and "0", the file
        has no line of names, and its columns count from 0, or, if negative, from the
        end.
    label_column (str): The column of the label. In JSONL it may hold a list of labels
        too, for `textcat_multilabel`, or an object with 1 or 0, true or false, for each
        label, as spaCy's `cats`.
    labels (Sequence[str]): All labels of the corpus. None (default): those of this
        file, for which it is read once more. Give them where the files of train and dev
        differ in theirs, or are large.
    separator (str): What stands between the columns of CSV, one character. None
        (default): "\t" in .tsv files, else a comma.
    encoding (str): Encoding of the file, one that extends ASCII.
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes one `Example` of each text, given `nlp`, with a number for
        each label in `reference.cats`: 0.0 for those that the text has not.
    RAISES (ValueError): No path, a setting that cannot be, or a pipe where there are no
        `labels`; later, with file and line, what cannot be parsed.
    RAISES (FileNotFoundError): No such file.
    """
    layout = TextFormat(
        text=text_columns, label=label_column, separator=separator, encoding=encoding
    )
    path = check_file(path)
    if labels is None:
        check_is_regular(path)
    read = partial(read_labelled, path, layout, labels)
    return partial(make_text_examples, read, limit)


def _make_reader(path: Path | None, layout: Published, limit: int) -> Reader:
    read = partial(read_published, check_file(path), layout)
    return partial(make_text_examples, read, limit)
