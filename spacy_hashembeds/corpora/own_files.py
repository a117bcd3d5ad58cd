"""Your own files made into `train.spacy`, `dev.spacy` and `test.spacy`."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

import spacy
from spacy.tokens import Doc
from spacy.util import get_lang_class
from spacy.vocab import Vocab, create_vocab

from .columns import ColumnFormat, Document, read_documents
from .labelled import TextFormat, gather_labels, read_labelled, read_labels
from .lines import check_is_regular
from .readers import make_doc
from .splits import SEED, Progress, Task, check_own_files, write_splits
from .texts import LabelledText, make_text_doc

#: Of so many texts one is for development, unless there is a file for it.
_DEV_EVERY = 10


def _make_ner_docs(lang: str) -> Callable[[Document], Doc]:
    return partial(make_doc, _make_vocab(lang))


def _make_vocab(lang: str) -> Vocab:
    # Without a tokenizer, which some languages need further packages for.
    try:
        return create_vocab(lang, get_lang_class(lang).Defaults)
    except ImportError:
        raise ValueError(
            f"'lang' should be the code of a language that spaCy knows, such as 'en', "
            f"or 'xx' where there is none, but is {lang!r}."
        ) from None


NER = Task(unit="sentence", prepare=_make_ner_docs)


def _make_textcat_docs(lang: str) -> Callable[[LabelledText], Doc]:
    try:
        nlp = spacy.blank(lang)
    except ImportError as err:
        raise ValueError(
            "'lang' should be the code of a language that spaCy can tokenize here, "
            f"such as 'en', or 'xx' where there is none, but is {lang!r}. {err}"
        ) from None
    return partial(make_text_doc, nlp)


#: All that a tokenizer sets: millions of texts have no room for what is not known.
TEXTCAT = Task(unit="text", prepare=_make_textcat_docs, attrs=("ORTH", "NORM"))


def prepare_files(
    *,
    train: Path,
    dev: Path,
    test: Path | None = None,
    lang: str,
    output: Path,
    layout: ColumnFormat | None = None,
    progress: Progress = lambda documents, split: documents,
) -> dict[str, Path]:
    """Convert your own files, split already.

    train (Path): The file of the training split.
    dev (Path): The file of the development split.
    test (Path): The file of the test split, if there is one.
    lang (str): Code of the language, e.g. "en".
    output (Path): The folder to write to, made if need be. Files of earlier splits in
        it are replaced only after every split could be read and written.
    layout (ColumnFormat): How the files are laid out. None: as
        `spacy-hashembeds.IOBCorpus.v1` has it by default.
    progress (Progress): Wraps the documents of each split as they are read.
    RETURNS (dict[str, Path]): The file of each split.
    RAISES (ValueError): An unknown language, a test split of other files that would
        stay in the output, or, with file and line, what cannot be parsed.
    RAISES (FileNotFoundError): A file is missing.
    """
    layout = layout if layout is not None else ColumnFormat(comments=True)
    paths = check_own_files(output, train=train, dev=dev, test=test)
    splits = {split: read_documents(path, layout) for split, path in paths.items()}
    return write_splits(splits, NER, lang, Path(output), progress)


def prepare_texts(
    *,
    train: Path,
    dev: Path | None = None,
    test: Path | None = None,
    lang: str,
    output: Path,
    layout: TextFormat | None = None,
    progress: Progress = lambda documents, split: documents,
) -> dict[str, Path]:
    """Convert your own texts with labels. Labels are those of all files together.

    train (Path): The file of the training split.
    dev (Path): The file of the development split. None: one in ten texts for training
        is, drawn as in `hold_out`.
    test (Path): The file of the test split, if there is one.
    lang (str): Code of the language, e.g. "en".
    output (Path): The folder to write to, as for `prepare_files`.
    layout (TextFormat): How the files are laid out. None: as
        `spacy-hashembeds.LabelledTextsCorpus.v1` has it by default.
    progress (Progress): Wraps the texts of each split as they are read, and the labels.
    RETURNS (dict[str, Path]): The file of each split.
    RAISES (ValueError): An unknown language, a test split of other files that would
        stay in the output, a pipe in the place of a file, no label at all, or, with
        file and line, what cannot be parsed.
    RAISES (FileNotFoundError): A file is missing.
    """
    layout = layout if layout is not None else TextFormat()
    paths = check_own_files(output, train=train, dev=dev, test=test)
    for path in paths.values():
        check_is_regular(path)
    labels = gather_labels(
        (
            progress(read_labels(path, layout), f"the labels of {split}")
            for split, path in paths.items()
        ),
        source=", ".join(map(str, paths.values())),
    )
    read = partial(read_labelled, layout=layout, labels=labels)
    splits: dict[str, Iterator[LabelledText]] = {
        split: read(path) for split, path in paths.items()
    }
    if dev is None:
        held_out = hold_out(partial(read, paths["train"]))
        splits = {**held_out, **{s: splits[s] for s in splits if s != "train"}}
    return write_splits(splits, TEXTCAT, lang, Path(output), progress)


def hold_out(
    read: Callable[[], Iterator[LabelledText]], *, every: int = _DEV_EVERY
) -> dict[str, Iterator[LabelledText]]:
    """Split a corpus into train and dev without keeping it in memory.

    Of each so many texts that have one label, the same, one is in dev, drawn from a
    fixed seed; and so of the texts that have several labels, or none, taken together:
    most combinations of labels are too rare for one of each to be drawn. The first text
    with a label is never in dev, so that dev has no label that train has not.

    read (Callable): Reads the texts, anew at each call.
    every (int): Of how many texts one is in dev.
    RETURNS (dict[str, Iterator[LabelledText]]): The splits, in the order of the texts.
    """
    return {
        "train": _choose(read(), every, is_drawn=False),
        "dev": _choose(read(), every, is_drawn=True),
    }


def _choose(
    texts: Iterator[LabelledText], every: int, *, is_drawn: bool
) -> Iterator[LabelledText]:
    rng = Random(SEED)
    seen: Counter[str | None] = Counter()
    drawn: dict[str | None, int] = {}
    known: set[str] = set()
    for labelled in texts:
        labels = [label for label, value in labelled.cats.items() if value]
        # None: the group of all texts that have several labels, or none
        group = labels[0] if len(labels) == 1 else None
        place = seen[group] % every
        seen[group] += 1
        if place == 0:
            # Never the first, which may be all that there is.
            drawn[group] = rng.randrange(1, every)
        is_in_dev = place == drawn[group] and known.issuperset(labels)
        known.update(labels)
        if is_in_dev == is_drawn:
            yield labelled
