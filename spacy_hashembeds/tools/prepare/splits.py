"""The splits of a corpus, read from your own files and written as `.spacy` files."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from random import Random
from typing import Any

import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import get_lang_class
from spacy.vocab import create_vocab
from srsly.msgpack import Packer

from ...arguments import check_language
from ...files import replacing, replacing_folder, uninterrupted
from ...training.lines import check_is_regular, check_path
from . import spans
from .columns import ColumnFormat, find_types, make_doc, read_documents
from .labelled import (
    Progress,
    TextFormat,
    find_labels,
    gather_labels,
    make_text_doc,
    read_labelled,
)

#: The documents of each split, in whatever form the task has them.
Splits = Mapping[str, Iterator[Any]]

SPLITS = ("train", "dev", "test")
SEED = 42

#: The size of a file: it is in memory as a whole when it is written or read. Measured
#: in tokens, and a doc takes as much as ten of these.
MAX_SIZE, _SIZE_OF_DOC = 2_000_000, 10


@dataclass(frozen=True, kw_only=True)
class Task:
    """Task that a corpus is annotated for.

    unit (str): What a document is called in messages.
    load (Callable): Loads what `make_doc` takes first, given the code of a language.
    attrs (tuple[str, ...]): What `.spacy` files have of each token.
    """

    unit: str
    load: Callable[[str], Any]
    make_doc: Callable[[Any, Any], Doc]
    attrs: tuple[str, ...]


NER = Task(
    unit="sentence",
    # without a tokenizer, which some languages need further packages for
    load=lambda lang: create_vocab(lang, get_lang_class(lang).Defaults),
    make_doc=make_doc,
    attrs=("ORTH", "NORM", "ENT_IOB", "ENT_TYPE", "SENT_START"),
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
    layout: ColumnFormat | TextFormat | spans.SpanFormat,
    force: bool = False,
    progress: Progress = lambda documents, split: documents,
) -> dict[str, Path]:
    """Convert your own files. Labels are those of all together; `dev` may be drawn.

    With `force`, the splits that are in `output` already are replaced.
    """
    check_language(lang)
    files = {"train": train, "dev": dev, "test": test}
    paths = {split: check_path(path) for split, path in files.items() if path}
    for split, path in paths.items():
        if isinstance(layout, TextFormat) or (split == "train" and dev is None):
            check_is_regular(path)
    _check_output(Path(output), has_test=test is not None, force=force)
    read: Callable[[Path], Iterator[Any]]
    find: Callable[[Any], list[str]]
    if isinstance(layout, TextFormat):
        labels = gather_labels(paths, layout, progress)
        read = partial(read_labelled, layout=layout, labels=labels)
        task, find = TEXTCAT, find_labels
    elif isinstance(layout, spans.SpanFormat):
        read, find = partial(spans.read_spans, layout=layout), spans.find_labels
        make_span_doc = partial(spans.make_span_doc, layout=layout)
        attrs = (*TEXTCAT.attrs, "ENT_IOB", "ENT_TYPE")
        task = replace(TEXTCAT, make_doc=make_span_doc, attrs=attrs)
    else:
        read = partial(read_documents, layout=layout)
        task, find = NER, find_types
    found = {split: read(path) for split, path in paths.items()}
    if dev is None:
        found |= hold_out(partial(read, paths["train"]), find)
    splits = {split: found[split] for split in SPLITS if split in found}
    return write_splits(splits, task, lang, Path(output), progress)


def _check_output(output: Path, *, has_test: bool, force: bool) -> None:
    known = [name for s in SPLITS if (output / (name := f"{s}.spacy")).exists()]
    if known and not force:
        raise FileExistsError(
            f"There is a corpus in '{output}' already ({', '.join(known)}). Name "
            "another folder, or have it replaced (--force)."
        )
    if "test.spacy" in known and not has_test:
        raise ValueError(
            f"'test' is not given, but '{output / 'test.spacy'}' would stay beside the "
            "new training data. Give a test file too, or remove it."
        )
    for name in known:
        _check_shards(output / name)


def hold_out(
    read: Callable[[], Iterator[Any]],
    find: Callable[[Any], list[str]],
    *,
    every: int = 10,
) -> dict[str, Iterator[Any]]:
    """Split a corpus into train and dev without keeping it: `read` reads it anew.

    One in `every` items of each label, as `find` gives them, is in dev, drawn from a
    fixed seed, and one of all that have several, or none: most combinations are too
    rare. The first item with a label never is, so that dev has no label that train has
    not.
    """

    def choose(*, is_drawn: bool) -> Iterator[Any]:
        rng, known = Random(SEED), set[str]()
        seen: Counter[str | None] = Counter()
        drawn: dict[str | None, int] = {}
        for item in read():
            labels = find(item)
            group = (
                labels[0] if len(labels) == 1 else None
            )  # of several labels, or none
            place = seen[group] % every
            seen[group] += 1
            if place == 0:
                drawn[group] = rng.randrange(1, every)
            is_in_dev = place == drawn[group] and known.issuperset(labels)
            known.update(labels)
            if is_in_dev == is_drawn:
                yield item

    return {"train": choose(is_drawn=False), "dev": choose(is_drawn=True)}


def write_splits(
    splits: Splits, task: Task, lang: str, output: Path, progress: Progress
) -> dict[str, Path]:
    """Write the splits of a corpus, all or none of them, as they are read. One of more
    than `MAX_SIZE` is a folder of files, which spaCy reads as one file.
    """
    written = {split: output / f"{split}.spacy" for split in splits}
    with ExitStack() as moved, ExitStack() as stack:
        # Files are moved to their places as the stack is left, after the last split.
        for split, documents in splits.items():
            documents = iter(progress(documents, split))
            first = next(documents, None)
            if first is None:
                raise ValueError(
                    f"The {split} split has no {task.unit}: its file has none, or that "
                    f"for training too few to set some aside. Give one (--{split})."
                )
            _write_docs(chain([first], documents), task, lang, written[split], stack)
        moved.enter_context(uninterrupted())
    return written


def _write_docs(
    documents: Iterator[Any], task: Task, lang: str, path: Path, stack: ExitStack
) -> None:
    in_folder = partial(replacing_folder, check=partial(_check_shards, path))
    for number in count():
        doc_bin = _fill(documents, task, lang)
        following = [*islice(documents, 1)]
        if number == 0:
            is_folder = bool(following)
            move = in_folder if is_folder or path.is_dir() else replacing
            target = stack.enter_context(move(path))
            if is_folder:
                target.mkdir()
        doc_bin.to_disk(target / f"{number:04}.spacy" if is_folder else target)
        del doc_bin  # or it would be in memory beside the next
        if not following:
            return
        documents = chain(following, documents)


def _fill(documents: Iterator[Any], task: Task, lang: str) -> DocBin:
    try:
        # For each file a vocabulary of its own, which else would have all words.
        loaded = task.load(lang)
    except ImportError as err:
        message = "'lang' should be a language that spaCy can load here, but is"
        raise ValueError(f"{message} {lang!r}. {err}") from None
    doc_bin, size = DocBin(attrs=task.attrs), 0
    # DocBin.add would make a packer for each Doc, which looks for entry points
    packer, has_data = Packer(use_bin_type=True), False
    for document in documents:
        doc = task.make_doc(loaded, document)
        doc_bin.add(doc)
        doc_bin.user_data.append(packer.pack(doc.user_data))
        has_data |= bool(doc.user_data)
        size += len(doc) + _SIZE_OF_DOC
        if size >= MAX_SIZE:
            break
    doc_bin.store_user_data = has_data
    return doc_bin


def _check_shards(path: Path) -> None:
    """Refuse to replace a folder that holds more than the `.spacy` files of a split."""
    entries = [*os.scandir(path)] if path.is_dir() else []
    if not all(entry.name.endswith(".spacy") and entry.is_file() for entry in entries):
        message = f"'{path}' can't be replaced: it does not hold .spacy files alone"
        raise FileExistsError(f"{message}. Remove it, or choose another --output.")
