"""Corpus readers for your own files, which they read anew for every pass."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.corpus import FILE_TYPE
from spacy.vocab import Vocab

from .columns import Column, ColumnFormat, make_doc, read_documents
from .docbin import read_docs
from .labelled import TextFormat, make_text_doc, read_labelled
from .lines import check_is_regular, check_path

Reader = Callable[[Language], Iterator[Example]]


def create_iob_reader(
    *,
    path: Path | None,
    separator: str | None = None,
    word_column: Column = 0,
    tag_column: Column = -1,
    sentence_column: Column | None = None,
    encoding: str = "utf-8",
    quotes: bool | None = None,
    group: str = "sentence",
    limit: int = 0,
) -> Reader:
    r"""Read your own file with one token a line, tagged by the IOB, BIO, BILUO or BIOES
    scheme, as conlleval reads them. Blank lines stand between sentences, `-DOCSTART-`
    lines between documents; comments ("# …") before a sentence are passed over.

    path (Path): The file.
    separator (str): What stands between columns, e.g. ",". None (default): tabs, so
        that a word may hold spaces, where all of the first hundred lines have some;
        else any run of spaces and tabs.
    word_column (int | str): Column of the token, from 0; negative counts from the end.
        Or its name, where the first line has names.
    tag_column (int | str): Column of the entity tag, likewise.
    sentence_column (int | str): Column that holds a number or name for each sentence,
        in each of its rows or in the first alone. None (default): blank lines tell
        sentences apart, and a file is refused where such a column is seen. "": they do,
        whatever columns number.
    encoding (str): Encoding of the file, one that extends ASCII.
    quotes (bool): Whether quotation marks may stand around columns, and are then
        doubled within; if not, they are characters as others. None (default): they may
        where the separator is "," or ";".
    group (str): What becomes one document: each "sentence" (default), or each
        "document", for which the file must begin with a `-DOCSTART-` line.
    limit (int): Stop after as many documents. 0: read all.
    RETURNS (Callable): Makes `Example` objects, given `nlp`.
    RAISES (ValueError): No path, or a setting that cannot be; later, with file and
        line, what cannot be parsed.
    """
    layout = ColumnFormat(
        separator=separator,
        word=word_column,
        tag=tag_column,
        sentence=sentence_column,
        encoding=encoding,
        quotes=quotes,
        group=group,
    )
    file = _check_file(path)

    def read_examples(nlp: Language) -> Iterator[Example]:
        documents = islice(read_documents(file, layout), max(limit, 0) or None)
        docs = (make_doc(nlp.vocab, document) for document in documents)
        return Corpus(file).make_examples(nlp, docs)

    return read_examples


def create_labelled_texts_reader(
    *,
    path: Path | None,
    text_columns: Sequence[str] = ("text",),
    label_column: str = "label",
    labels: Sequence[str] | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    quotes: bool | None = None,
    limit: int = 0,
) -> Reader:
    r"""Read your own texts with labels: CSV, or JSON (.jsonl, .ndjson, .json), with an
    object a line, or an array of them. Prodigy's rows about a text make one example.

    path (Path): The file.
    text_columns (Sequence[str]): The columns that hold text, which are put together
        with blanks between: keys of objects, or names in the first line of a CSV file.
        Where these and `label_column` are numbers, such as ["1", "2"] and "0", the file
        has no line of names, and its columns count from 0, or, if negative, from the
        end.
    label_column (str): The column of the label. It may hold a list of labels too, for
        `textcat_multilabel`, or an object with 1 or 0, true or false, for each label,
        as spaCy's `cats`; in CSV both are written as JSON.
    labels (Sequence[str]): All labels of the corpus. None (default): those of this
        file, for which it is read once more. Give them where the files of train and dev
        differ in theirs, or are large.
    separator (str): What stands between the columns of CSV, one character. None
        (default): "\t" in .tsv files, else a comma.
    encoding (str): Encoding of the file, one that extends ASCII.
    quotes (bool): Whether quotation marks may stand around fields of CSV, and are then
        doubled within; if not, they are part of the text. None (default): they may,
        but not where tabs separate; a file that can be read in both ways is refused.
    limit (int): Stop after as many texts. 0: read all.
    RETURNS (Callable): Makes one `Example` of each text, given `nlp`, with a number for
        each label in `reference.cats`: 0.0 for those that the text has not. Of labels
        that Prodigy did not ask for it has none, so that spaCy learns nothing there.
    RAISES (ValueError): No path, a setting that cannot be, or a pipe where there are no
        `labels`; later, with file and line, what cannot be parsed.
    """
    layout = TextFormat(text_columns, label_column, separator, encoding, quotes)
    file = _check_file(path)
    if labels is None:
        check_is_regular(file)

    def read_examples(nlp: Language) -> Iterator[Example]:
        texts = read_labelled(file, layout, labels)
        for labelled in islice(texts, max(limit, 0) or None):
            reference = make_text_doc(nlp, labelled)
            predicted = reference.copy()
            predicted.cats = {}
            yield Example(predicted, reference)

    return read_examples


def read_annotated(
    path: str | Path, vocab: Vocab, *, layout: ColumnFormat
) -> Iterator[Doc]:
    """Read docs with entities from `.spacy` files, or any other file of this layout."""
    path = Path(path)
    if (path / "meta.json").is_file():
        raise ValueError(
            f"'{path}' should be a corpus, but is a pipeline. See --help for the order "
            "of the arguments."
        )
    if path.exists() and not path.is_dir() and path.suffix != FILE_TYPE:
        for document in read_documents(path, layout):
            yield make_doc(vocab, document)
    else:
        yield from read_docs(path, vocab)


def _check_file(path: Path | None) -> Path:
    """Check the path at once: the one of dev is read at the first evaluation only."""
    path = check_path(path)
    if path.is_dir():
        raise ValueError(f"'path' should be a file, but '{path}' is a folder.")
    return path
