"""Damaged results of trials, and what stands beside them, as `report` and `compare`
read them.
"""

import json
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import spacy
from spacy.tokens import DocBin

from lab.papers.filling import Measured
from lab.papers.hash_embeddings import make_importance_table
from lab.papers.listings import Attention, read_listing
from lab.papers.page import FILL
from lab.papers.paper import read_paper
from lab.papers.tables import Table
from lab.papers.why_attention import make_chunk_table
from lab.tests.papers.trials import (
    make_ablation,
    make_attention,
    make_importance,
    write_beside,
)
from lab.tests.trials.test_results import write_categories, write_result
from lab.trials import comparison
from lab.trials.collected import collect_results
from lab.trials.results import Groups, estimate_score, read_results, select_task
from spacy_hashembeds.acceleration.timing import Speed
from spacy_hashembeds.evaluation.categories import SCORES

from .damage import damage_json, damage_jsonl
from .judgement import Reader, make_test
from .likeness import find_unlike
from .sentences import make_docs

_TRIALS = (
    *("wnut17/multi_embed/default", "wnut17/multi_hash_embed/default"),
    *("wnut17/multi_fewer_hash_embed/default", "wnut17/hash_former_embed/lsh_proj"),
    *("wnut17/bilstm_char_cnn/att", "wnut17/bilstm_char_cnn/baseline"),
    "ag_news/ngrams/classifier",
)
_PART = {"p": 0.5, "r": 0.5, "f": 0.25, "support": 5}
#: What need not be there, and is in the answer if it is.
_OPTIONAL = {"timings", "words_per_second", "mixing_parameters", "name", "dev", "test"}
_OPTIONAL |= {"ents_per_type", "ents_per_length", "PER", "1", "train"}


def _write_trials(folder: Path) -> None:
    parts = {"ents_per_type": {"PER": _PART}, "ents_per_length": {"1": _PART}}
    sizes = {"embedding_parameters": 1000, "mixing_parameters": 100}
    for name in _TRIALS:
        dataset, embedder, variant = name.split("/")
        for seed in (0, 1):
            if dataset == "ag_news":
                write_categories(folder, dataset, embedder, variant, seed)
                continue
            write_result(
                *(folder, dataset, embedder, variant, seed),
                {"test": parts},
                sizes={**sizes, "bytes_on_disk": 10**6},
                timings={"words_per_second": 1000.5},
            )


def _find_fault(damaged: bytes, answer: Any, good: Any) -> str | None:
    bad = json.loads(damaged, object_pairs_hook=_make_object)
    json.dumps(bad, allow_nan=False)
    return next(find_unlike(good, bad, _can_be, _OPTIONAL), None)


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), "a key is there twice"
    return dict(pairs)


def _can_be(key: str, good: Any, bad: Any) -> bool:
    if good is None or bad is None:
        return isinstance(good or bad or 0.5, float | str)
    if isinstance(good, float) or key == "heads":
        return type(bad) in (int, float) and 0 <= bad <= (1 if good <= 1 else 1e300)
    return type(good) is type(bad) and (
        not isinstance(good, int) or bad >= min(good, 0)
    )


def _read(path: Path, load: Callable[[Path], Any], use: Callable = list) -> Reader:
    good = json.loads(path.read_bytes())
    return Reader(path, damage_json, load, partial(_find_fault, good=good), use)


def _report(groups: Groups) -> Any:
    """Fill all papers' tables, and average the scores of text classifiers."""
    cells = []
    for paper, fill in FILL.items():
        about = read_paper(paper)
        measured = Measured(groups=select_task(groups, about.task))
        # there is no such folder, and so nothing beside the results
        for blocks in fill(about, measured, Path("none")).values():
            tables = [block for block in blocks if isinstance(block, Table)]
            rows = [row for table in tables for row in table.rows]
            cells += [repr(row.cells) for row in rows]
    classifiers = select_task(groups, "textcat").values()
    return cells, [
        estimate_score(x, "test", name) for x in classifiers for name in SCORES
    ]


def _make_results(name: str, folder: Path) -> Reader:
    _write_trials(folder)
    return _read(folder / name / "seed0.json", lambda _: read_results(folder), _report)


def _make_table(folder: Path) -> Reader:
    _write_trials(folder / "metrics")
    collect_results(folder / "metrics", folder)
    path = folder / "wnut17.jsonl"
    good = path.read_bytes().splitlines()

    def find_fault(damaged: bytes, answer: Any) -> str | None:
        lines = damaged.splitlines()
        if len(lines) != len(good):  # others may have been collected
            return None
        faults = (
            _find_fault(line, answer, json.loads(before))
            for line, before in zip(lines, good, strict=True)
        )
        return next(filter(None, faults), None)

    def load(_: Path) -> Groups:
        return read_results(folder)

    return Reader(path, damage_jsonl, load, find_fault, _report)


def _make_comparison(name: str, folder: Path) -> Reader:
    """Compare two trials. The time that their pipelines take is no part of it."""
    _write_trials(folder)
    (folder / "training").mkdir()
    spacy.blank("xx").to_disk(folder / "training/model-best")
    DocBin(docs=make_docs()).to_disk(folder / "test.spacy")
    trials = [Path(name, f"seed{seed}.json") for seed in (0, 1)]

    def compare(path: Path) -> Any:
        def measure(loaders: Any, *_: Any, **__: Any) -> dict[str, Speed]:
            return dict.fromkeys(loaders, Speed(1000.0, (990.0, 1010.0)))

        with chdir(folder), patch.object(comparison, "measure_speeds", measure):
            return comparison.compare_trials(trials, Path("test.spacy"))["rows"]

    return _read(folder / trials[0], compare)


def _make_importance(folder: Path) -> Reader:
    path = folder / "yelp_full/hash_ngram_textcat/dictionary/importance.json"
    write_beside(path, {"tables": [make_importance("four stars", None)]})
    paper = read_paper("hash-embeddings")
    return _read(
        path, lambda _: make_importance_table(paper, folder), attrgetter("rows")
    )


def _make_ablation(folder: Path) -> Reader:
    path = folder / "wnut17/bilstm_char_cnn/att/ablation.json"
    write_beside(path, make_ablation())
    paper = read_paper("why-attention")
    return _read(path, lambda _: make_chunk_table(paper, folder), attrgetter("rows"))


def _make_attention(folder: Path) -> Reader:
    path = write_beside(folder / "attention.json", make_attention())
    return _read(path, partial(read_listing, Attention), _show_attention)


def _show_attention(attention: Attention) -> Any:
    shown = attention.model_dump()
    for component in shown["components"]:
        for matrix in component["heads"]:
            assert [len(row) for row in matrix] == [len(shown["tokens"])] * len(matrix)
    return shown


_READERS = {
    **{name: partial(_make_results, name) for name in (_TRIALS[0], *_TRIALS[3:])},
    "table": _make_table,
    "compared_ner": partial(_make_comparison, _TRIALS[0]),
    "compared_textcat": partial(_make_comparison, _TRIALS[-1]),
    "importance": _make_importance,
    "ablation": _make_ablation,
    "attention": _make_attention,
}
test_results = make_test(_READERS, 1)
