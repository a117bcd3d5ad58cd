"""The embedding layer: forward, and forward and backward.

Run as `python -m benchmarks.embedding` from the checkout.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from wasabi import msg

from spacy_hashembeds.acceleration.machine import Spread

from ._agreement import compare_gradients, compare_outputs
from ._charts import draw_embedding
from ._command import run_benchmark
from ._data import (
    CORPUS,
    RESULTS,
    Corpus,
    batch_by_docs,
    batch_by_words,
    count_words,
    find_short_docs,
    load_corpus,
    make_samples,
)
from ._embedders import (
    MIN_FREQ,
    OURS,
    ROWS,
    SPACY,
    TORCH,
    WIDTH,
    Embedders,
    Sample,
    make_embedders,
    make_predictors,
    make_trainers,
)
from ._machine import use_one_thread
from ._tables import make_embedding_tables
from ._timing import (
    Maker,
    Schedule,
    Timing,
    Work,
    get_ratios,
    get_spread,
    time_in_turns,
    time_on_threads,
)

DOCS = (1, 10, 100, 1000)
WORDS = (100, 1000, 10_000)

#: None, for comparing like with like, and what `spacy train` sets by default.
DROPOUTS = (0.0, 0.1)


def measure_embedding(
    corpus: Corpus,
    schedule: Schedule,
    *,
    docs: tuple[int, ...] = DOCS,
    words: tuple[int, ...] = WORDS,
    dropouts: tuple[float, ...] = DROPOUTS,
) -> dict[str, Any]:
    """Measure our embedding layers beside spaCy's and PyTorch's.

    docs (tuple[int, ...]): Docs in a call of `predict`. One means a short one.
    words (tuple[int, ...]): Words in a batch of training, roughly.
    dropouts (tuple[float, ...]): The rates of dropout to train with.
    RAISES (RuntimeError): If ours and spaCy's don't compute the same.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    embedders = make_embedders(corpus.docs)
    if import_is_missing := not any(embedders.torch.values()):
        msg.warn("torch is not installed: measuring without it.")
    predict = [_measure_predict(corpus, embedders, schedule, n) for n in docs]
    train = [
        _measure_train(corpus, embedders, schedule, n, dropout)
        for dropout in dropouts
        for n in words
    ]
    return {
        "corpus": corpus.to_json(),
        "width": WIDTH,
        "rows": ROWS,
        "multi_embed_min_freq": MIN_FREQ,
        "torch": not import_is_missing,
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "predict": predict,
        "train": train,
        "threads": {
            f"{n} Docs a call": _measure_threads(corpus, embedders, schedule, n)
            for n in docs
            if n <= 100
        },
    }


def _measure_predict(
    corpus: Corpus, embedders: Embedders, schedule: Schedule, n_docs: int
) -> dict[str, Any]:
    msg.text(f"predict: {n_docs} docs a call")
    samples = make_samples(_batch(corpus, n_docs, 200))
    return {
        "docs_per_call": n_docs,
        "agreement": compare_outputs(embedders, samples[0]),
        **_time(make_predictors(embedders), samples, schedule),
    }


def _batch(corpus: Corpus, n_docs: int, n_batches: int) -> Sample:
    docs = find_short_docs(corpus.docs) if n_docs == 1 else corpus.docs
    return batch_by_docs(docs, n_docs, n_batches)


def _measure_threads(
    corpus: Corpus, embedders: Embedders, schedule: Schedule, n_docs: int
) -> dict[str, Any]:
    msg.text(f"predict on several threads: {n_docs} docs a call")
    predictors = make_predictors(embedders)
    makers = {name: maker for name in (SPACY, OURS[4]) if (maker := predictors[name])}
    calls = _batch(corpus, n_docs, max(8, 400 // n_docs))
    work = Work([calls], lambda sample: sum(map(count_words, sample)))
    return time_on_threads(makers, work, schedule)


def _measure_train(
    corpus: Corpus,
    embedders: Embedders,
    schedule: Schedule,
    n_words: int,
    dropout: float,
) -> dict[str, Any]:
    msg.text(f"forward and backward: {n_words} words a batch, dropout {dropout}")
    samples = make_samples(batch_by_words(corpus.docs, n_words, 100))
    return {
        "dropout": dropout,
        "agreement": compare_gradients(embedders.thinc, samples[0]),
        **_time(make_trainers(embedders, dropout), samples, schedule),
    }


def _time(
    makers: Mapping[str, Maker[Sample] | None],
    samples: list[Sample],
    schedule: Schedule,
) -> dict[str, Any]:
    present = {name: maker for name, maker in makers.items() if maker}
    work = Work(samples, lambda sample: sum(map(count_words, sample)))
    measured = time_in_turns(present, work, schedule)
    timings: dict[str, Timing | None] = {name: measured.get(name) for name in makers}
    n_calls = sum(map(len, samples))
    return {
        "words_per_call": sum(map(work.count_words, samples)) / n_calls,
        "calls_per_sample": len(samples[0]),
        "contenders": {name: t.to_json() if t else None for name, t in timings.items()},
        "times_as_fast_as_spacy": get_ratios(timings, SPACY),
        "times_as_fast_as_torch": {
            OURS[k]: get_ratios(timings, TORCH[k])[OURS[k]] for k in OURS
        },
    }


def find_baselines(
    results: Mapping[str, Any], baseline: str = SPACY
) -> dict[str, Spread]:
    """Find the times of the layer that all others are compared with."""
    rows = {
        **{f"predict, {row['docs_per_call']} docs": row for row in results["predict"]},
        **{
            f"train, {row['words_per_call']:.0f} words, dropout {row['dropout']}": row
            for row in results["train"]
        },
    }
    return {
        f"{baseline} ({name})": get_spread(row["contenders"][baseline])
        for name, row in rows.items()
    }


def print_results(results: Mapping[str, Any]) -> None:
    """Print tables for a page of Markdown."""
    typer.echo(f"\n{make_embedding_tables(results)}\n")


def main(
    corpus: Path = CORPUS,
    output: Path = RESULTS / "embedding.json",
    blocks: int = 5,
    rounds: int = 5,
) -> None:
    """Time our embedding layers beside spaCy's and PyTorch's, on one thread."""
    run_benchmark(
        lambda: measure_embedding(load_corpus(corpus), Schedule(blocks, rounds)),
        find_baselines,
        draw_embedding,
        print_results,
        output,
    )


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
