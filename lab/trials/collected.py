"""Tables of results: of each corpus a file, and in it a line of JSON for each trial."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from spacy_hashembeds.files import replacing

from .results import Result, group_results, read_files, read_tables


class Collected(NamedTuple):
    """Numbers of results that were added to tables, replaced, and there before."""

    added: int
    replaced: int
    unchanged: int


def collect_results(source: Path, tables: Path, *, force: bool = False) -> Collected:
    """Put the results that trials have written into the tables of their corpora.

    Nothing is written unless all can be. Lines are in order of embedder, variant and
    seed, and have what was recorded as it was.

    force: Replaces other results of the same trials.
    """
    old, new = (
        {(result.key, result.seed): result for result in results}
        for results in (read_tables(tables), read_files(source))
    )
    if not new:
        raise FileNotFoundError(
            f"There are no results of trials in '{source}', which should have files "
            "DATASET/EMBEDDER/VARIANT/seedN.json, as `python -m lab trial` writes them."
        )
    known = old.keys() & new.keys()
    other = [key for key in known if _write_line(old[key]) != _write_line(new[key])]
    if other and not force:
        first = min(other)
        raise FileExistsError(
            f"{len(other)} results in '{source}' are other than those in tables, such "
            f"as {new[first].place}: {old[first].place} has others. Replace them with "
            "--force."
        )
    groups = group_results({**old, **new}.values())
    for dataset in {key.dataset for key, _ in new}:
        lines = [r for key in groups if key.dataset == dataset for r in groups[key]]
        _write_table(tables / f"{dataset}.jsonl", lines)
    return Collected(len(new) - len(known), len(other), len(known) - len(other))


def _write_table(path: Path, results: Sequence[Result]) -> None:
    text = "".join(f"{_write_line(result)}\n" for result in results)
    with replacing(path) as temporary:
        # as `write_json` does
        temporary.write_text(text, encoding="utf8", errors="backslashreplace")


def _write_line(result: Result) -> str:
    return json.dumps(result.recorded, ensure_ascii=False)
