"""Symbols of a corpus that is in many parts: counted in processes, and added up."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from spacy import blank
from spacy.training.corpus import FILE_TYPE

from .corpora.docbin import find_files
from .corpora.rawtexts import read_text_docs
from .counting import KeyCounter
from .symbols import SymbolTables, count_values, cut_symbols, load_symbols

#: What a part that has not been counted may be, where there are no `.spacy` files.
_TEXTS = (".jsonl", ".txt")
_COUNTED = ".npz"

#: Hands Docs on, and shows how many there were.
Progress = Callable[[Iterable[Any]], Iterable[Any]]


def find_parts(path: Path) -> list[Path]:
    """Find the parts of a corpus: a file, or all in a folder that are `.spacy`, or if
    there are none, `.jsonl` and `.txt`.
    """
    found = [] if path.is_file() else _list_files(path, (FILE_TYPE, *_TEXTS))
    has_docs = any(part.suffix == FILE_TYPE for part in found)
    return found if found and not has_docs else find_files(path)


def find_counted(path: Path) -> list[Path]:
    """Find the counted parts: a file of symbol tables, or all in a folder."""
    parts = [path] if path.is_file() else _list_files(path, (_COUNTED,))
    if not parts:
        raise FileNotFoundError(
            f"There is no counted part ({_COUNTED}) in the folder '{path}'. Count each "
            "part with `spacy hashembeds tables PART -o PART.npz --min-freq 1`."
        )
    return parts


def _list_files(path: Path, suffixes: Sequence[str]) -> list[Path]:
    """List files whose names have these ends, but hidden ones, which may be halves."""
    files = sorted(path.rglob("*"))
    return [f for f in files if f.suffix in suffixes and not f.name.startswith(".")]


def count_parts(
    parts: Sequence[Path],
    lang: str,
    attrs: Sequence[str],
    *,
    limit: int,
    jobs: int = 1,
    progress: Progress = iter,
) -> Iterator[SymbolTables]:
    """Count each part, in so many processes, and in this one if it is 1.

    progress (Progress): Shows how many Docs were counted, or parts, in processes.
    """
    count = partial(_count_part, lang=lang, attrs=attrs, limit=limit)
    if jobs == 1 or len(parts) == 1:
        yield from map(partial(count, progress=progress), parts)
        return
    # a fork may wait for ever for locks of libraries
    pool = ProcessPoolExecutor(min(jobs, len(parts)), get_context("spawn"))
    waiting: deque[Future[SymbolTables]] = deque()
    try:
        for part in progress(parts):
            waiting.append(pool.submit(count, part))
            if len(waiting) > 2 * jobs:  # what is counted waits in memory
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as e:
        raise OSError(
            "A process that counted was killed, perhaps for want of memory. Lower "
            "'jobs' or 'max_symbols', or make the parts smaller."
        ) from e
    finally:
        pool.shutdown(cancel_futures=True)


def _count_part(
    part: Path,
    lang: str,
    attrs: Sequence[str],
    *,
    limit: int,
    progress: Progress = iter,
) -> SymbolTables:
    # a vocab of its own, since one keeps every word that it has met
    docs = progress(read_text_docs([part], blank(lang)))
    return cut_symbols(count_values(docs, attrs, limit), min_freq=1, lang=lang)


def load_counted(
    parts: Iterable[Path], lang: str, attrs: Sequence[str]
) -> Iterator[SymbolTables]:
    """Load counted parts, and refuse those that can't be added up.

    RAISES (ValueError): If one was cut, or is of another language or other attributes.
    """
    for part in parts:
        tables = load_symbols(part)
        if tables.min_freq != 1:
            raise ValueError(
                f"'{part}' should have the counts of all symbols, but was cut at "
                f"'min_freq' {tables.min_freq}. Count that part with `--min-freq 1`."
            )
        if tables.lang != lang:
            raise ValueError(
                f"'{part}' was counted with the language '{tables.lang}', but 'lang' "
                f"is '{lang}'. Give the one that all parts were counted with."
            )
        if {*tables.tables} != {*attrs}:
            raise ValueError(
                f"'{part}' has counts of {', '.join(sorted(tables.tables))}, but "
                f"'attrs' names {', '.join(sorted(attrs))}. Name those that all parts "
                "were counted with."
            )
        yield tables


def add_up(
    parts: Iterable[SymbolTables],
    lang: str,
    attrs: Sequence[str],
    *,
    limit: int,
    min_freq: int,
) -> SymbolTables:
    """Add up counted parts, and tell frequent symbols from rare ones."""
    counters = {attr: KeyCounter(limit) for attr in attrs}
    for part in parts:
        for attr, counter in counters.items():
            values, _, counts = part.tables[attr]
            order = np.argsort(values)
            # those that were counted have counts
            numbers = np.asarray(counts)[order].astype("int64")
            counter.add_counts(values[order], numbers, part.errors.get(attr, 0))
    return cut_symbols(counters, min_freq=min_freq, lang=lang)
