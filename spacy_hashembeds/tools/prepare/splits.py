"""Convert the splits of a corpus to `.spacy` files."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import get_lang_class
from spacy.vocab import create_vocab
from srsly.msgpack import Packer

from ...arguments import check_language
from ...files import replacing, uninterrupted
from ...training.lines import check_is_regular, check_path
from .columns import ColumnFormat, find_types, make_doc, read_documents
from .labelled import (
    Progress,
    TextFormat,
    find_labels,
    gather_labels,
    make_text_doc,
    read_labelled,
)
from .spans import SpanFormat, find_span_labels, make_span_doc, read_spans

#: The documents of each split. Their type depends on the task.
Splits = Mapping[str, Iterator[Any]]

SPLITS = ("train", "dev", "test")
SEED = 42


@dataclass(frozen=True)
class Task:
    """Functions for Docs, labels and the language; token attributes to save."""

    make_doc: Callable[[Any, Any], Doc]
    find_labels: Callable[[Any], list[str]]
    attrs: tuple[str, ...]
    load: Callable[[str], Any] = spacy.blank


NER_TASK = Task(
    make_doc,
    find_types,
    ("ORTH", "NORM", "ENT_IOB", "ENT_TYPE", "SENT_START"),
    # some tokenizers need further packages
    lambda lang: create_vocab(lang, get_lang_class(lang).Defaults),
)

# Without unannotated attributes, to save space.
TEXTCAT_TASK = Task(make_text_doc, find_labels, NER_TASK.attrs[:2])
SPANS_TASK = Task(make_span_doc, find_span_labels, NER_TASK.attrs[:4])


def prepare_files(
    *,
    train: Path,
    dev: Path | None = None,
    test: Path | None = None,
    lang: str,
    output: Path,
    layout: ColumnFormat | TextFormat | SpanFormat,
    progress: Progress = lambda documents, split: documents,
) -> dict[str, Path]:
    """Convert files to splits with the same labels. Without `dev`, split `train`."""
    check_language(lang)
    files = {"train": train, "dev": dev, "test": test}
    paths = {split: check_path(path) for split, path in files.items() if path}
    if dev is None:
        check_is_regular(train)
    output = Path(output)
    if test is None and (old := output / "test.spacy").exists():
        message = f"'test' is not given, but '{old}' exists"
        raise ValueError(f"{message}. Pass a test file too, or remove it.")
    read: Callable[[Path], Iterator[Any]]
    if isinstance(layout, SpanFormat):
        task, read = SPANS_TASK, partial(read_spans, layout=layout)
    elif isinstance(layout, TextFormat):
        labels = gather_labels(paths, layout, progress)
        task, read = TEXTCAT_TASK, partial(read_labelled, layout=layout, labels=labels)
    else:
        task, read = NER_TASK, partial(read_documents, layout=layout)
    found = {split: read(path) for split, path in paths.items()}
    if dev is None:
        found |= hold_out(partial(read, paths["train"]), task.find_labels)
    splits = {split: found[split] for split in SPLITS if split in found}
    check = layout.check_refused if isinstance(layout, SpanFormat) else None
    return write_splits(splits, task, lang, output, progress, check)


def hold_out(
    read: Callable[[], Iterator[Any]],
    find: Callable[[Any], list[str]],
    *,
    every: int = 10,
) -> dict[str, Iterator[Any]]:
    """Split a corpus into train and dev without keeping it in memory.

    `read` is called for each split. One in `every` items of each label (from `find`) is
    in dev, drawn with a fixed seed. Items with several labels or none are one group,
    since most combinations are rare. The first item of a label is in train, so train
    has all labels of dev.
    """

    def choose(*, is_drawn: bool) -> Iterator[Any]:
        rng, known = Random(SEED), set[str]()
        seen, drawn = Counter[str | None](), dict[str | None, int]()
        for item in read():
            labels = find(item)
            group = labels[0] if len(labels) == 1 else None
            position = seen[group] % every
            seen[group] += 1
            if position == 0:
                drawn[group] = rng.randrange(1, every)
            is_in_dev = position == drawn[group] and known.issuperset(labels)
            known.update(labels)
            if is_in_dev == is_drawn:
                yield item

    return {"train": choose(is_drawn=False), "dev": choose(is_drawn=True)}


def write_splits(
    splits: Splits,
    task: Task,
    lang: str,
    output: Path,
    progress: Progress,
    check: Callable[[], None] | None = None,
) -> dict[str, Path]:
    """Write the splits of a corpus while reading them, all or none. `check` may raise
    an error after the last one is read.
    """
    written = {split: output / f"{split}.spacy" for split in splits}
    with ExitStack() as moved, ExitStack() as stack:
        # files are moved into place when the stack closes, after the last split
        for split, documents in splits.items():
            doc_bin = _make_doc_bin(progress(documents, split), task, lang)
            if not len(doc_bin):
                raise ValueError(
                    f"The {split} split is empty: its file has no document, or too few "
                    f"to draw one in ten. Pass a --{split} file with documents."
                )
            doc_bin.to_disk(stack.enter_context(replacing(written[split])))
            del doc_bin  # free its memory before making the next
        if check:
            check()
        moved.enter_context(uninterrupted())
    return written


def _make_doc_bin(documents: Iterable[Any], task: Task, lang: str) -> DocBin:
    loaded, doc_bin = task.load(lang), DocBin(attrs=task.attrs)
    # DocBin.add makes a packer for each Doc, which looks up entry points: slow
    packer, has_data = Packer(use_bin_type=True), False
    for document in documents:
        doc = task.make_doc(loaded, document)
        doc_bin.add(doc)
        doc_bin.user_data.append(packer.pack(doc.user_data))
        has_data |= bool(doc.user_data)
    doc_bin.store_user_data = has_data
    return doc_bin
