"""Corpus readers for your own files, which read the file in each epoch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.training.corpus import FILE_TYPE
from spacy.vocab import Vocab

from ...arguments import EXTENSION, check_features, check_integers, check_items
from ...files import is_pipeline
from ...training.docbin import read_docs
from ...training.features import keep_features
from ...training.lines import check_path
from .columns import ColumnFormat, ColumnId, make_doc, read_documents
from .labelled import TextFormat, make_text_doc, read_labelled

Reader = Callable[[Language], Iterator[Example]]


def create_iob_reader(
    *,
    path: Path | None,
    separator: str | None = None,
    word_column: ColumnId = 0,
    tag_column: ColumnId = -1,
    sentence_column: ColumnId | None = None,
    encoding: str = "utf-8",
    quotes: bool | None = None,
    group: str = "sentence",
    limit: int = 0,
    features: Mapping[str, ColumnId] = {},
) -> Reader:
    """Read your own file with one token a line, tagged by the IOB, BIO, BILUO, BIOES
    or BMES scheme, as conlleval reads them. Blank lines separate sentences, and
    `-DOCSTART-` lines separate documents. Comments ("# …") before a sentence are
    skipped. The arguments are options of `spacy hashembeds prepare iob`.

    path (Path): The file.
    encoding (str): An encoding that extends ASCII.
    separator (str): The separator of columns, e.g. ",". None (default): tabs if the
        first row has any, so words may contain spaces; otherwise spaces and tabs.
    word_column, tag_column (int | str): Columns of the token and of the entity tag:
        index (from the end if negative), or name in the first line.
    sentence_column (int | str): Column of sentence numbers or IDs, in all rows or the
        first row of each sentence. By default, blank lines separate sentences.
    quotes (bool): Whether columns may be quoted. None (default): only if the separator
        is "," or ";".
    group (str): Make a Doc of each "sentence" (default), or of each "document", which
        requires `-DOCSTART-` lines from the first line on.
    limit (int): Stop after this many documents. 0: read all.
    features (dict[str, int | str]): Columns to store in both Docs: `is_bold = 3` sets
        `token._.is_bold` to the text of column 3, unless the cell is empty.
    RAISES (ValueError): If there is no path, or a setting is invalid; on reading, with
        file and line, if a row can't be parsed.
    """
    check_integers(0, limit=limit)
    names = check_features(features=[EXTENSION + name for name in features])
    columns = (word_column, tag_column, encoding, group, sentence_column, quotes)
    layout, file = ColumnFormat(separator, *columns, features), _check_file(path)

    def read_examples(nlp: Language) -> Iterator[Example]:
        documents = islice(read_documents(file, layout), limit or None)
        docs = (make_doc(nlp.vocab, document) for document in documents)
        for example in Corpus(file).make_examples(nlp, docs):
            keep_features(example, names)
            yield example

    return read_examples


def create_labelled_texts_reader(
    *,
    path: Path | None,
    text_columns: Sequence[str] = ("text",),
    label_column: str | Sequence[str] = "label",
    labels: Sequence[str] | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    quotes: bool | None = None,
    limit: int = 0,
) -> Reader:
    """Read your own texts with labels: CSV, or JSON with an object a line (.jsonl,
    .ndjson) or in an array (.json). Examples have a number for each label.

    path (Path): The file.
    encoding (str): An encoding that extends ASCII.
    text_columns (Sequence[str]): The columns of text, joined by spaces: keys of
        objects, or names in the first line of CSV.
    label_column (str | Sequence[str]): The column of a label, a list of labels, or an
        object with 1 or 0 for each, like spaCy's `cats` (in CSV: as JSON). Or several
        columns, each with 1 or 0 for the label of the same name.
    labels (Sequence[str]): All labels of the corpus. None (default): the labels of this
        file, which is read twice. Set them if train and dev have different labels, or
        files are large.
    separator (str): The separator of CSV columns, one character. None (default): a tab
        in .tsv files, otherwise a comma.
    quotes (bool): Whether fields of CSV may be quoted. None (default): unless tabs
        separate them; ambiguous files are refused.
    limit (int): Stop after this many texts. 0: read all.
    RAISES (ValueError): If there is no path, a setting is invalid, or the path is a
        pipe and there are no `labels`; on reading, with file and line, if a row can't
        be parsed.
    """
    label = [label_column] if isinstance(label_column, str) else label_column
    check_integers(0, limit=limit)
    check_items("names of columns", text_columns=text_columns, label_column=label)
    if labels is not None:
        check_items("labels", labels=labels)
    if not (text_columns and label):
        raise ValueError("'text_columns' and 'label_column' should not be empty.")
    layout = TextFormat(text_columns, label, separator, encoding, quotes)
    file = _check_file(path)

    def read_examples(nlp: Language) -> Iterator[Example]:
        texts = read_labelled(file, layout, labels)
        for labelled in islice(texts, limit or None):
            reference = make_text_doc(nlp, labelled)
            predicted = reference.copy()
            predicted.cats = {}
            yield Example(predicted, reference)

    return read_examples


def read_annotated(
    path: str | Path, vocab: Vocab, *, layout: ColumnFormat
) -> Iterator[Doc]:
    """Read Docs from `.spacy` files, or from a file in this layout."""
    path = Path(path)
    if is_pipeline(path):
        message = f"'{path}' should be a corpus, but is a pipeline"
        raise ValueError(f"{message}. See --help for the order of the arguments.")
    if path.exists() and not path.is_dir() and path.suffix != FILE_TYPE:
        for document in read_documents(path, layout):
            yield make_doc(vocab, document)
    else:
        yield from read_docs(path, vocab)


def _check_file(path: Path | None) -> Path:
    """Check the path before training, which reads the dev file late."""
    path = check_path(path)
    if path.is_dir():
        raise ValueError(f"'path' should be a file, but '{path}' is a folder.")
    return path
