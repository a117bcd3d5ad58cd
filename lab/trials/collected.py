"""Tables of results: of each corpus a file, and in it a line of JSON for each trial."""

import json
from pathlib import Path

from spacy_hashembeds.files import replacing

from .results import Result, group_results, read_files, read_tables


def collect_results(
    source: Path, tables: Path, *, force: bool = False
) -> tuple[int, int, int]:
    """Put the results that trials have written into the tables of their corpora; say
    how many were added, replaced, and there before.

    All are checked before the first table is written. Lines are in order of embedder,
    variant and seed, and have what was recorded as it was.

    force: Replaces other results of the same trials.
    RAISES (ValueError): If some are damaged, or a table has a trial twice.
    """
    old, new = (
        {(r.key, r.seed): r for rs in group_results(results).values() for r in rs}
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
        results = [r for key in groups if key.dataset == dataset for r in groups[key]]
        text = "".join(f"{_write_line(result)}\n" for result in results)
        with replacing(tables / f"{dataset}.jsonl") as temporary:
            # as `write_json` does
            temporary.write_text(text, encoding="utf8", errors="backslashreplace")
    return len(new) - len(known), len(other), len(known) - len(other)


def _write_line(result: Result) -> str:
    return json.dumps(result.recorded, ensure_ascii=False)
