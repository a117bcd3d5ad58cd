"""Time and memory as a stream of text grows.

Run as `python -m benchmarks.growth` from the checkout.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from time import perf_counter
from typing import Any

import typer
from thinc.api import Model, fix_random_seed
from wasabi import msg

from spacy_hashembeds.acceleration.machine import Spread

from ._command import run_benchmark
from ._data import RESULTS
from ._embedders import OURS, ROWS, SPACY
from ._growth_chart import draw_growth
from ._machine import use_one_thread
from ._memory import (
    BATCH_WORDS,
    ArrayDoc,
    build_plain,
    make_id_docs,
    measure_rss,
    measure_tables,
)
from ._sharing import measure_sharing
from ._timing import Timing, get_spread

#: Tables that are worth sharing: 154 MB.
SHARED_ROWS = [100_000] * 4


def measure_growth(
    tokens: int,
    words: int,
    *,
    rows: Sequence[int] = ROWS,
    shared_rows: Sequence[int] = SHARED_ROWS,
    workers: int = 4,
) -> dict[str, Any]:
    """Measure whether time and memory of our layer stay as they are.

    tokens (int): How long the stream of tokens is that is timed.
    words (int): How many distinct words are embedded to measure memory.
    rows (Sequence[int]): The rows of the tables.
    shared_rows (Sequence[int]): The rows of the tables that processes share.
    workers (int): How many processes share them.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    msg.text(f"time over {tokens:,} tokens")
    time = measure_time(tokens, rows)
    msg.text(f"memory over {words:,} distinct words")
    rss = measure_rss(words, rows)
    msg.text(f"{workers} workers that share tables")
    return {
        "rows": list(rows),
        "time": time,
        "memory": {"rss_mib": rss, "tables": measure_tables(rows)},
        "sharing": measure_sharing(shared_rows, workers, min(words, 200_000)),
    }


def measure_time(tokens: int, rows: Sequence[int]) -> dict[str, Any]:
    """Time a stream of tokens, in calls of 1000, ours and spaCy's in turns.

    RETURNS (dict[str, Any]): For each layer, at 1000 tokens, 10,000 and so on, how
        many there were, and the microseconds a token since the last such point: the
        median call, and the quartiles, None where there was one call.
    """
    fix_random_seed(0)
    models = {name: build_plain(name, rows) for name in (SPACY, OURS[4])}
    warm_up: list[Any] = list(make_id_docs(5 * BATCH_WORDS, distinct=False))
    for model in models.values():
        for doc in warm_up:
            model.predict([doc])
    points: dict[str, list[dict[str, Any]]] = {name: [] for name in models}
    stream = make_id_docs(tokens, distinct=False)
    seen = 0
    for size in _get_decades(tokens):
        seconds: dict[str, list[float]] = {name: [] for name in models}
        while seen < size:
            doc = next(stream)
            seen += len(doc)
            for name, model in models.items():
                seconds[name].append(_time(model, doc) / len(doc))
        for name, values in seconds.items():
            points[name].append({"words": seen, **_summarize(values)})
    return {"tokens": tokens, "words_per_call": BATCH_WORDS, "points": points}


def find_baselines(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Find the times of spaCy's layer, which ours is compared with."""
    return {
        f"{SPACY} (after {point['words']:,} words)": get_spread(point)
        for point in results["time"]["points"][SPACY]
        if point["us_per_word_quartiles"]
    }


def _summarize(seconds: Sequence[float]) -> dict[str, Any]:
    timing = Timing([*seconds])
    quartiles = [1e6 * quartile for quartile in timing.quartiles]
    return {
        "us_per_word": 1e6 * timing.median,
        "us_per_word_quartiles": quartiles if len(seconds) > 1 else None,
    }


def _get_decades(tokens: int) -> Iterator[int]:
    for size in accumulate([BATCH_WORDS] + [10] * 20, lambda a, b: a * b):
        yield min(size, tokens)
        if size >= tokens:
            return


def _time(model: Model, doc: ArrayDoc) -> float:
    start = perf_counter()
    model.predict([doc])
    return perf_counter() - start


def print_results(results: Mapping[str, Any]) -> None:
    """Print the curves' ends, what the tables take, and what workers share."""
    for name, points in results["time"]["points"].items():
        text = ", ".join(f"{p['us_per_word']:.2f} at {p['words']:,}" for p in points)
        msg.text(f"{name}, microseconds a word: {text}")
    for way, points in results["memory"]["rss_mib"].items():
        (_, first), (seen, last) = points[0], points[-1]
        msg.text(f"{way}: {last - first:+.1f} MiB over {seen:,.0f} distinct words")
    for name, sizes in results["memory"]["tables"].items():
        text = ", ".join(f"{kind} {mib:.1f}" for kind, mib in sizes.items())
        msg.text(f"{name}: {text}")
    sharing = results["sharing"]
    for way, memory in {"no tables": sharing["no_tables"], **sharing["ways"]}.items():
        text = (
            f"PSS {memory['pss_mib']:.0f}, USS {memory['uss_mib']:.0f} MiB a worker"
            if memory["works"]
            else memory["error"]
        )
        msg.text(f"{' '.join(way.split())}: {text}")


def main(
    tokens: int = 10_000_000,
    words: int = 1_000_000,
    output: Path = RESULTS / "growth.json",
) -> None:
    """Measure time and memory as a stream of text grows, on one thread."""
    run_benchmark(
        lambda: measure_growth(tokens, words),
        find_baselines,
        draw_growth,
        print_results,
        output,
    )


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
