"""Corpus readers for real datasets in their published format.

Each can stand in `[corpora.train]` of a config, where it reads the file anew for every
pass. Those of a corpus with one layout differ from `create_iob_reader` in that alone.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from .columns import ColumnFormat, Document, read_documents, tags_to_spans
from .lines import check_file, check_path
from .ontonotes import ontonotes_files, read_ontonotes

Reader = Callable[[Language], Iterator[Example]]

WNUT17 = ColumnFormat(separator="\t")
ANEM = ColumnFormat(separator="\t", tag=3)
ARCHAEOLOGY = ColumnFormat()


def create_wnut17_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of WNUT 2017 (emerging entities): token and BIO tag, tab between.

    path (Path): The file, e.g. wnut17train.conll.
    limit (int): Stop after as many documents. 0: read all.
    RETURNS (Callable): Makes one `Example` of each sentence, given `nlp`.
    RAISES: As `create_iob_reader`.
    """
    return _make_reader(path, WNUT17, limit)


def create_conll2002_reader(
    *, path: Path | None, group: str = "sentence", limit: int = 0
) -> Reader:
    """Read a file of CoNLL 2002 in UTF-8: token, part of speech if any, BIO tag,
    white space between.

    path (Path): The file, e.g. esp.train or ned.train.
    group (str): What becomes one document: each "sentence", or each "document", told
        apart by `-DOCSTART-` lines, which only the Dutch files have. The report reads
        Spanish by sentence, Dutch by document. Whole documents show a model more
        context, but leave few texts to a batch.
    limit (int): Stop after as many documents. 0: read all.
    RETURNS (Callable): Makes `Example` objects, given `nlp`.
    RAISES: As `create_iob_reader`.
    """
    return _make_reader(path, ColumnFormat(group=group), limit)


def create_anem_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of AnEM (anatomical entity mention): token, first and last character,
    BIO tag, tabs between.

    path (Path): The file, e.g. AnEM.train.
    limit (int): Stop after as many documents. 0: read all.
    RETURNS (Callable): Makes one `Example` of each sentence, given `nlp`.
    RAISES: As `create_iob_reader`.
    """
    return _make_reader(path, ANEM, limit)


def create_archaeology_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read a file of the Dutch archaeology corpus: token, part of speech, morphemes if
    any, BIO tag, white space between.

    path (Path): The file, e.g. 1.bio.
    limit (int): Stop after as many documents. 0: read all.
    RETURNS (Callable): Makes one `Example` of each sentence, given `nlp`.
    RAISES: As `create_iob_reader`.
    """
    return _make_reader(path, ARCHAEOLOGY, limit)


def create_ontonotes_reader(*, path: Path | None, limit: int = 0) -> Reader:
    """Read OntoNotes 5 in the format of CoNLL-2012, from your own licensed copy. Labels
    are kept as they are.

    path (Path): A file, or a folder: all `*_gold_conll` files in it and below are read
        in the order of their paths, whatever their language.
    limit (int): Stop after as many documents. 0: read all.
    RETURNS (Callable): Makes one `Example` of each part of a document, given `nlp`.
    RAISES (ValueError): No path; later, with file and line, what cannot be parsed.
    RAISES (FileNotFoundError): No such file or folder, or a folder without such files.
    """
    path = check_path(path)
    ontonotes_files(path)
    return partial(_read_examples, partial(read_ontonotes, path), limit)


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
    return _make_reader(path, layout, limit)


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


def _make_reader(path: Path | None, layout: ColumnFormat, limit: int) -> Reader:
    path = check_file(path)
    return partial(_read_examples, partial(read_documents, path, layout), limit)


def _read_examples(
    read: Callable[[], Iterator[Document]], limit: int, nlp: Language
) -> Iterator[Example]:
    for document in islice(read(), limit if limit > 0 else None):
        reference = make_doc(nlp.vocab, document)
        words = [token.text for token in reference]
        # As spacy.Corpus.v1 does where spaces are unknown.
        predicted = Doc(nlp.vocab, words=words, spaces=[True] * len(words))
        yield Example(predicted, reference)
