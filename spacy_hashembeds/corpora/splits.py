"""The splits of a corpus, written as `.spacy` files."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin
from spacy.tokens._serialize import ALL_ATTRS

from ..files import replacing
from ..folders import replacing_folder

#: The documents of each split, in whatever form the task has them.
Splits = Mapping[str, Iterator[Any]]

#: Takes the documents of a split and the split's name, and hands the documents on.
Progress = Callable[[Iterator[Any], str], Iterable[Any]]

SPLITS = ("train", "dev", "test")
SEED = 42

#: The most docs of a file: a file is in memory as a whole when it is written or read.
MAX_DOCS = 120_000


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a corpus is annotated for.

    unit (str): What a document is called in messages.
    prepare (Callable): Given the code of a language, gives what makes the `Doc` of a
        document. Raises `ValueError` if there is no such language.
    attrs (tuple[str, ...]): What `.spacy` files have of each token.
    """

    unit: str
    prepare: Callable[[str], Callable[[Any], Doc]]
    attrs: tuple[str, ...] = tuple(ALL_ATTRS)


def check_own_files(output: Path, **files: Path | None) -> dict[str, Path]:
    """Check that somebody's own files are there, and all that is to be replaced.

    output (Path): The folder that is written to.
    files (Path, optional): The file of each split, where it is given.
    RETURNS (dict[str, Path]): The files that are given.
    RAISES (ValueError): If a test split of other files would stay in the output.
    RAISES (FileNotFoundError): If a file is missing.
    """
    paths = {split: Path(path) for split, path in files.items() if path is not None}
    for split, path in paths.items():
        if not path.exists():
            raise FileNotFoundError(
                f"There is no file '{path}', which '{split}' names."
            )
    stale = Path(output) / "test.spacy"
    if "test" not in paths and stale.exists():
        raise ValueError(
            f"'test' is not given, but '{stale}' exists and would stay beside the new "
            "training data. Give a test file too, remove it, or choose another output "
            "folder."
        )
    return paths


def write_splits(
    splits: Splits, task: Task, lang: str, output: Path, progress: Progress
) -> dict[str, Path]:
    """Write the splits of a corpus, all or none of them.

    splits (Splits): The documents of each split, read as they are written.
    task (Task): What they are annotated for.
    lang (str): Code of their language.
    output (Path): The folder to write to, made if need be.
    progress (Progress): Wraps the documents of each split.
    RETURNS (dict[str, Path]): The file of each split; where a split has more than
        `MAX_DOCS` documents, a folder of files, which spaCy reads as it reads a file.
    RAISES (ValueError): An unknown language, an empty split, or what cannot be read.
    """
    make_doc = task.prepare(lang)
    written = {split: output / f"{split}.spacy" for split in splits}
    with ExitStack() as stack:
        # Files are moved to their places as the stack is left, after the last split.
        for split, documents in splits.items():
            docs = (make_doc(document) for document in progress(documents, split))
            first = next(docs, None)
            if first is None:
                raise ValueError(f"There is not a {task.unit} in the {split} split.")
            _write_docs(chain([first], docs), task, written[split], stack)
    return written


def _write_docs(docs: Iterator[Doc], task: Task, path: Path, stack: ExitStack) -> None:
    doc_bin = _fill(docs, task)
    following = next(docs, None)
    if following is None:
        doc_bin.to_disk(stack.enter_context(replacing(path)))
        return
    folder = stack.enter_context(replacing_folder(path, lambda: _check_shards(path)))
    folder.mkdir()
    doc_bin.to_disk(folder / "0000.spacy")
    docs = chain([following], docs)
    for number in count(1):
        doc_bin = _fill(docs, task)
        if not len(doc_bin):
            break
        doc_bin.to_disk(folder / f"{number:04}.spacy")


def _fill(docs: Iterator[Doc], task: Task) -> DocBin:
    return DocBin(attrs=task.attrs, docs=islice(docs, MAX_DOCS))


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
