"""Corpus readers for your own files.

Each can stand in `[corpora.train]` of a config, where it reads the file anew for every
pass.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from .columns import ColumnFormat, Document, read_documents, tags_to_spans
from .labelled import TextFormat, read_labelled
from .lines import check_file, check_is_regular
from .texts import make_text_examples

Reader = Callable[[Language], Iterator[Example]]


def create_iob_reader(
    *,
    path: Path | None,
    separator: str | None = None,
    word_column: int = 0,
    tag_column: int = -1,
    encoding: str = "utf-8",
    group: str = "sentence",
    limit: int = 0,
) -> Reader:
    r"""Read your own file with one token a line, tagged by the IOB, BIO, BILUO or BIOES
    scheme. Blank lines stand between sentences, `-DOCSTART-` lines between documents;
    comments ("# …") before a sentence are passed over.

    path (Path): The file.
    separator (str): What stands between columns, e.g. "\t" where a word may hold a
        space. None (default): any run of spaces and tabs.
    word_column (int): Column of the token, from 0; negative counts from the end.
    tag_column (int): Column of the entity tag.
    encoding (str): Encoding of the file, one that extends ASCII.
    group (str): What becomes one document: each "sentence" (default), or each
        "document", for which the file must begin with a `-DOCSTART-` line.
    limit (int): Stop after as many documents. 0: read all.
    RETURNS (Callable): Makes `Example` objects, given `nlp`.
    RAISES (ValueError): No path, or a setting that cannot be; later, with file and
        line, what cannot be parsed.
    RAISES (FileNotFoundError): No such file.
    """
    layout = ColumnFormat(
        separator=separator,
        word=word_column,
        tag=tag_column,
        encoding=encoding,
        group=group,
        comments=True,
    )
    read = partial(read_documents, check_file(path), layout)
    return partial(_read_examples, read, limit)


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


def make_doc(vocab: Vocab, document: Document) -> Doc:
    """Make the annotated `Doc` of a document, as `spacy convert` does: the spaces
    between its words are marked unknown, so that training keeps the tokens.

    vocab (Vocab): The vocabulary to share.
    document (list[Sentence]): The words and tags.
    RETURNS (Doc): The doc, with its entities and sentence starts.
    """
    words = [word for sentence in document for word in sentence.words]
    starts: list[bool | int | None] = [
        i == 0 for sentence in document for i in range(len(sentence.words))
    ]
    doc = Doc(vocab, words=words, sent_starts=starts)
    ents = []
    offset = 0
    for sentence in document:
        for start, end, label in tags_to_spans(sentence.tags):
            ents.append(Span(doc, offset + start, offset + end, label=label))
        offset += len(sentence.words)
    doc.set_ents(ents)
    return doc


def _read_examples(
    read: Callable[[], Iterator[Document]], limit: int, nlp: Language
) -> Iterator[Example]:
    for document in islice(read(), limit if limit > 0 else None):
        reference = make_doc(nlp.vocab, document)
        words = [token.text for token in reference]
        # As spacy.Corpus.v1 does where spaces are unknown.
        predicted = Doc(nlp.vocab, words=words, spaces=[True] * len(words))
        yield Example(predicted, reference)
