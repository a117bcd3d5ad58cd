"""The splits of a corpus, read from your own files and written as `.spacy` files."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from random import Random
from typing import Any

import spacy
from spacy.tokens import Doc, DocBin
from spacy.tokens._serialize import ALL_ATTRS
from spacy.util import get_lang_class
from spacy.vocab import create_vocab

from ..files import replacing, replacing_folder
from .columns import ColumnFormat, make_doc, read_documents
from .labelled import (
    LabelledText,
    Progress,
    TextFormat,
    gather_labels,
    make_text_doc,
    read_labelled,
)
from .lines import check_is_regular

#: The documents of each split, in whatever form the task has them.
Splits = Mapping[str, Iterator[Any]]

SPLITS = ("train", "dev", "test")
SEED = 42

#: The most docs of a file: a file is in memory as a whole when it is written or read.
MAX_DOCS = 120_000


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a corpus is annotated for."""

    #: What a document is called in messages.
    unit: str
    #: Loads what `make_doc` takes first, given the code of a language.
    load: Callable[[str], Any]
    make_doc: Callable[[Any, Any], Doc]
    #: What `.spacy` files have of each token.
    attrs: tuple[str, ...]


NER = Task(
    unit="sentence",
    # without a tokenizer, which some languages need further packages for
    load=lambda lang: create_vocab(lang, get_lang_class(lang).Defaults),
    make_doc=make_doc,
    attrs=tuple(ALL_ATTRS),
)

#: With all that a tokenizer sets: millions of texts have no room for what is not known.
TEXTCAT = Task(
    unit="text", load=spacy.blank, make_doc=make_text_doc, attrs=("ORTH", "NORM")
)


def prepare_files(
    *,
    train: Path,
    dev: Path | None = None,
    test: Path | None = None,
    lang: str,
    output: Path,
    layout: ColumnFormat | TextFormat,
    progress: Progress = lambda documents, split: documents,
) -> dict[str, Path]:
    """Convert your own files. Labels are those of all together; `dev` may be drawn."""
    files = {"train": train, "dev": dev, "test": test}
    paths = {split: Path(path) for split, path in files.items() if path is not None}
    for split, path in paths.items():
        if not path.exists():
            raise FileNotFoundError(
                f"There is no file '{path}', which '{split}' names."
            )
    stale = Path(output) / "test.spacy"
    if test is None and stale.exists():
        raise ValueError(
            f"'test' is not given, but '{stale}' exists and would stay beside the new "
            "training data. Give a test file too, remove it, or choose another output "
            "folder."
        )
    if isinstance(layout, TextFormat):
        splits = _read_texts(paths, layout, progress)
        return write_splits(splits, TEXTCAT, lang, Path(output), progress)
    if dev is None:
        raise ValueError("Files with entities are not split: give one as --dev.")
    splits = {split: read_documents(path, layout) for split, path in paths.items()}
    return write_splits(splits, NER, lang, Path(output), progress)


def _read_texts(
    paths: Mapping[str, Path], layout: TextFormat, progress: Progress
) -> Splits:
    for path in paths.values():
        check_is_regular(path)
    labels = gather_labels(paths, layout, progress)
    read = partial(read_labelled, layout=layout, labels=labels)
    splits = {split: read(path) for split, path in paths.items()}
    if "dev" not in paths:
        splits |= hold_out(partial(read, paths["train"]))
    return {split: splits[split] for split in SPLITS if split in splits}


def hold_out(
    read: Callable[[], Iterator[LabelledText]], *, every: int = 10
) -> dict[str, Iterator[LabelledText]]:
    """Split a corpus into train and dev without keeping it: `read` reads it anew.

    One in `every` texts of each label is in dev, drawn from a fixed seed, and one of
    all that have several, or none: most combinations are too rare. The first text with
    a label never is, so that dev has no label that train has not.
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
        # None is the group of texts that have several labels, or none
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


def write_splits(
    splits: Splits, task: Task, lang: str, output: Path, progress: Progress
) -> dict[str, Path]:
    """Write the splits of a corpus, all or none of them, as they are read. One of more
    than `MAX_DOCS` documents is a folder of files, which spaCy reads as one file.
    """
    try:
        loaded = task.load(lang)
    except ImportError as err:
        raise ValueError(
            "'lang' should be the code of a language that spaCy can load here, such as "
            f"'en', or 'xx' where there is none, but is {lang!r}. {err}"
        ) from None
    written = {split: output / f"{split}.spacy" for split in splits}
    with ExitStack() as stack:
        # Files are moved to their places as the stack is left, after the last split.
        for split, documents in splits.items():
            docs = (task.make_doc(loaded, d) for d in progress(documents, split))
            first = next(docs, None)
            if first is None:
                raise ValueError(f"The {split} split has no {task.unit}: give a file.")
            _write_docs(chain([first], docs), task.attrs, written[split], stack)
    return written


def _write_docs(
    docs: Iterator[Doc], attrs: Sequence[str], path: Path, stack: ExitStack
) -> None:
    for number in count():
        doc_bin = DocBin(attrs=attrs, docs=islice(docs, MAX_DOCS))
        following = list(islice(docs, 1))
        if number == 0 and not following:
            doc_bin.to_disk(stack.enter_context(replacing(path)))
            return
        if number == 0:
            check = partial(_check_shards, path)
            folder = stack.enter_context(replacing_folder(path, check))
            folder.mkdir()
        doc_bin.to_disk(folder / f"{number:04}.spacy")
        if not following:
            return
        docs = chain(following, docs)


def _check_shards(path: Path) -> None:
    """Refuse to replace what is no folder of `.spacy` files by one."""
    if path.exists() and not (
        path.is_dir() and all(name.endswith(".spacy") for name in os.listdir(path))
    ):
        raise FileExistsError(
            f"'{path}' should become a folder of .spacy files, as the split has more "
            f"than {MAX_DOCS:,} documents, but something else is there. Remove it, or "
            "choose another output folder."
        )
