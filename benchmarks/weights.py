"""Embedders with importance weights, and with hybrid tables, beside plain hashing.

Run as `python -m benchmarks.weights` from the checkout.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from spacy.tokens import Doc
from wasabi import msg

from spacy_hashembeds.acceleration.machine import Spread

from ._charts import draw_weights
from ._command import run_benchmark
from ._data import (
    CORPUS,
    RESULTS,
    Corpus,
    batch_by_docs,
    batch_by_words,
    count_words_of_batches,
    find_short_docs,
    load_corpus,
    make_samples,
)
from ._embedders import ROWS, WIDTH, Embedders, Sample, make_predictors, make_trainers
from ._machine import use_one_thread
from ._tables import make_weights_tables
from ._timing import (
    Maker,
    Schedule,
    Work,
    get_relative_times,
    time_in_turns,
    time_on_thread,
)
from ._weighted_embedders import (
    FEWER,
    IMPORTANCE_ROWS,
    MIN_FREQS,
    NUM_HASHES,
    make_weighted_embedders,
)
from .embedding import DOCS, DROPOUTS, WORDS, find_baselines


def measure_weights(
    corpus: Corpus,
    schedule: Schedule,
    *,
    docs: tuple[int, ...] = DOCS,
    words: tuple[int, ...] = WORDS,
    dropouts: tuple[float, ...] = DROPOUTS,
) -> dict[str, Any]:
    """Measure what importance weights and hybrid tables cost.

    docs (tuple[int, ...]): Docs in a call of `predict`. One means a short one.
    words (tuple[int, ...]): Words in a batch of training, roughly.
    dropouts (tuple[float, ...]): The rates of dropout to train with.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    embedders = make_weighted_embedders(corpus.docs)
    return {
        "corpus": corpus.to_json(),
        "width": WIDTH,
        "rows": ROWS,
        "num_hashes": NUM_HASHES,
        "importance_rows": IMPORTANCE_ROWS,
        "min_freq": MIN_FREQS,
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "predict": [_measure_predict(corpus, embedders, schedule, n) for n in docs],
        "train": [
            _measure_train(corpus, embedders, schedule, n, dropout)
            for dropout in dropouts
            for n in words
        ],
    }


def _measure_predict(
    corpus: Corpus, embedders: Embedders, schedule: Schedule, n_docs: int
) -> dict[str, Any]:
    msg.text(f"predict: {n_docs} docs a call")
    docs = find_short_docs(corpus.docs) if n_docs == 1 else corpus.docs
    batches = batch_by_docs(docs, n_docs, 200)
    timed = _time(make_predictors(embedders), batches, schedule)
    return {"docs_per_call": n_docs, **timed}


def _measure_train(
    corpus: Corpus,
    embedders: Embedders,
    schedule: Schedule,
    n_words: int,
    dropout: float,
) -> dict[str, Any]:
    msg.text(f"forward and backward: {n_words} words a batch, dropout {dropout}")
    batches = batch_by_words(corpus.docs, n_words, 100)
    timed = _time(make_trainers(embedders, dropout), batches, schedule)
    return {"dropout": dropout, **timed}


def _time(
    makers: Mapping[str, Maker[Sample] | None],
    batches: list[list[Doc]],
    schedule: Schedule,
) -> dict[str, Any]:
    present = {name: maker for name, maker in makers.items() if maker}
    samples = make_samples(batches)
    work = Work(samples, count_words_of_batches)
    timings = time_in_turns(present, work, schedule, time_on_thread)
    return {
        "words_per_call": count_words_of_batches(batches) / len(batches),
        "calls_per_sample": len(samples[0]),
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        "times_as_long_as_fewer": get_relative_times(timings, FEWER),
    }


def find_plain(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Find the times of plain hashing, which all others are compared with."""
    return find_baselines(results, FEWER)


def print_results(results: Mapping[str, Any]) -> None:
    """Print tables for a page of Markdown."""
    typer.echo(f"\n{make_weights_tables(results)}\n")


def main(
    corpus: Path = CORPUS,
    output: Path = RESULTS / "weights.json",
    blocks: int = 5,
    rounds: int = 5,
) -> None:
    """Time embedders with weights and with hybrid tables, on one thread."""
    run_benchmark(
        lambda: measure_weights(load_corpus(corpus), Schedule(blocks, rounds)),
        find_plain,
        draw_weights,
        print_results,
        output,
    )


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
