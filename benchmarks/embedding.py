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
from ._timing import (
    Maker,
    Schedule,
    Timing,
    Work,
    get_ratios,
    get_spread,
    time_in_turns,
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
    }


def _measure_predict(
    corpus: Corpus, embedders: Embedders, schedule: Schedule, n_docs: int
) -> dict[str, Any]:
    msg.text(f"predict: {n_docs} docs a call")
    docs = find_short_docs(corpus.docs) if n_docs == 1 else corpus.docs
    samples = make_samples(batch_by_docs(docs, n_docs, 200))
    return {
        "docs_per_call": n_docs,
        "agreement": compare_outputs(embedders, samples[0]),
        **_time(make_predictors(embedders), samples, schedule),
    }


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


def print_results(results: dict[str, Any]) -> None:
    """Print each contender's time, in microseconds a word, and how it compares."""
    for title, rows in (("predict", results["predict"]), ("train", results["train"])):
        names = list(rows[0]["contenders"])
        header = [title, "words/call", *names]
        table = []
        for row in rows:
            label = row.get("docs_per_call") or f"dropout {row['dropout']}"
            cells = [_format(row, name) for name in names]
            table.append([label, f"{row['words_per_call']:.0f}", *cells])
        msg.table(table, header=header, divider=True, aligns=["r"] * len(header))


def _format(row: dict[str, Any], name: str) -> str:
    timing, ratio = row["contenders"][name], row["times_as_fast_as_spacy"][name]
    return f"{timing['us_per_word']:.2f} ({ratio:.1f}x)" if timing else "absent"


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
