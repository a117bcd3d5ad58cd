"""Worker processes that share one copy of the tables, mapped from a file."""

from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from thinc.api import Model

from ._embedders import OURS, SPACY
from ._memory import build_plain, make_id_docs, read_memory_mib

#: For each way what embeds, and whether its tables are mapped from files.
WAYS = {
    "spaCy,\nmapped": (SPACY, True),
    "ours,\nmapped": (OURS[4], True),
    "spaCy,\ncopied": (SPACY, False),
    "ours,\ncopied": (OURS[4], False),
}
_PATIENCE_SECONDS = 120


def measure_sharing(rows: Sequence[int], workers: int, n_words: int) -> dict[str, Any]:
    """Have worker processes predict with the same tables, mapped or each its own.

    rows (Sequence[int]): The rows of the tables.
    workers (int): How many processes work at once.
    n_words (int): How many words each embeds, so that it reads all over the tables.
    RETURNS (dict[str, Any]): For each way whether it works, and, per worker, its
        memory in MiB with its share of what is shared (PSS) and its own alone (USS).
        Both count Python and the libraries, which "no_tables" has without the tables.
    """
    with TemporaryDirectory() as folder:
        paths = _save_tables(Path(folder), rows)
        ways = {
            way: _run(name, paths if mapped else None, rows, workers, n_words)
            for way, (name, mapped) in WAYS.items()
        }
        tables_mib = sum(path.stat().st_size for path in paths) / 2**20
        return {
            "rows": list(rows),
            "workers": workers,
            "tables_mib": tables_mib,
            "no_tables": _run(OURS[4], None, [1] * len(rows), workers, n_words),
            "ways": ways,
        }


def find_tables(model: Model) -> list[Model]:
    """Find the layers that have a table, in order."""
    return [node for node in model.walk() if node.name == "hashembed"]


def _save_tables(folder: Path, rows: Sequence[int]) -> list[Path]:
    model = build_plain(SPACY, rows)
    paths = []
    for number, table in enumerate(find_tables(model)):
        paths.append(folder / f"{number}.npy")
        np.save(paths[-1], np.asarray(table.get_param("E")))
    return paths


def _run(
    name: str,
    paths: list[Path] | None,
    rows: Sequence[int],
    workers: int,
    n_words: int,
) -> dict[str, Any]:
    context = get_context("spawn")
    barrier = context.Barrier(workers)
    queue: Any = context.SimpleQueue()
    arguments = (name, paths, list(rows), n_words, barrier, queue)
    processes = [
        context.Process(target=_work, args=arguments, daemon=True)
        for _ in range(workers)
    ]
    for process in processes:
        process.start()
    results = [queue.get() for _ in processes]
    for process in processes:
        process.join()
    errors = [result["error"] for result in results if "error" in result]
    if errors:
        return {"works": False, "error": errors[0], "pss_mib": None, "uss_mib": None}
    return {
        "works": True,
        "error": None,
        **{kind: mean(result[kind] for result in results) for kind in results[0]},
    }


def _work(
    name: str,
    paths: list[Path] | None,
    rows: list[int],
    n_words: int,
    barrier: Any,
    queue: Any,
) -> None:
    try:
        result = _predict_and_measure(name, paths, rows, n_words, barrier)
    except Exception as error:  # of whichever kind: it is what is to be reported
        barrier.abort()
        result = {"error": f"{type(error).__name__}: {error}"}
    queue.put(result)


def _predict_and_measure(
    name: str, paths: list[Path] | None, rows: list[int], n_words: int, barrier: Any
) -> dict[str, Any]:
    model = build_plain(name, rows)
    for table, path in zip(find_tables(model), paths or (), strict=False):
        table.set_param("E", np.load(path, mmap_mode="r"))
    for doc in make_id_docs(n_words, distinct=True):
        model.predict([doc])
    # all have their tables now, and none lets go of them before all are measured
    barrier.wait(_PATIENCE_SECONDS)
    memory = {
        "pss_mib": read_memory_mib("Pss"),
        "uss_mib": read_memory_mib("Private_Clean") + read_memory_mib("Private_Dirty"),
    }
    barrier.wait(_PATIENCE_SECONDS)
    return memory
