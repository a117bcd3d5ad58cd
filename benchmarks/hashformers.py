"""HashFormers: each hasher with each compressor, beside plain hash embeddings.

Run as `python -m benchmarks.hashformers` from the checkout.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import typer
from wasabi import msg

from spacy_hashembeds.acceleration.machine import Spread

from ._command import run_benchmark
from ._data import (
    CORPUS,
    RESULTS,
    Corpus,
    batch_by_docs,
    batch_by_words,
    count_words,
    count_words_of_batches,
    find_short_docs,
    load_corpus,
    make_samples,
)
from ._embedders import ROWS, WIDTH, Embedders, Sample, make_predictors, make_trainers
from ._encoders import count_parameters
from ._hashformers import (
    BASELINE,
    EMB_ROWS,
    PAIRS,
    PASSES,
    make_hashformers,
    timing_hashing,
)
from ._hashformers_chart import draw_hashformers
from ._hashformers_tables import make_hashformers_tables
from ._machine import use_one_thread
from ._pipelines import BATCH_WORDS
from ._timing import (
    Contender,
    Maker,
    Schedule,
    Work,
    find_quartiles,
    get_ratios,
    get_spreads,
    time_in_turns,
    time_on_thread,
)

#: spaCy's default.
DROPOUT = 0.1


class Way(NamedTuple):
    """A way to run the contenders.

    makers (Mapping[str, Maker]): For each name what makes the contender.
    samples (Sequence[Sample]): The text in parts, each enough for a turn.
    """

    makers: Mapping[str, Maker[Sample]]
    samples: Sequence[Sample]

    @property
    def batches(self) -> Sample:
        """The whole text."""
        return [batch for sample in self.samples for batch in sample]


def measure_hashformers(
    corpus: Corpus, schedule: Schedule, *, docs: int = 1000, updates: int = 5
) -> dict[str, Any]:
    """Measure how fast all pairs are, and how much of their time is hashing.

    docs (int): Docs that are embedded at once in prediction, as by `nlp.pipe`.
    updates (int): Steps of training in a turn, of about 1000 words each.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    embedders = make_hashformers(corpus.docs)
    ways = _make_ways(embedders, corpus, docs, updates)
    models = embedders.thinc
    return {
        "corpus": corpus.to_json(),
        "width": WIDTH,
        "rows": ROWS,
        "emb_rows": EMB_ROWS,
        "dropout": DROPOUT,
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "parameters": {name: count_parameters(m) for name, m in models.items()},
        "timings": {what: _time(what, way, schedule) for what, way in ways.items()},
        "hashing": {
            what: _measure_hashing(what, way, schedule) for what, way in ways.items()
        },
    }


def _make_ways(
    embedders: Embedders, corpus: Corpus, n_docs: int, updates: int
) -> dict[str, Way]:
    """Cut the corpus into as many calls, and steps of training, as it is enough for."""
    predict = _drop_absent(make_predictors(embedders))
    train = _drop_absent(make_trainers(embedders, DROPOUT))
    n_calls = max(1, len(corpus.docs) // n_docs)
    n_steps = max(1, count_words(corpus.docs) // BATCH_WORDS)
    short = [[doc] for doc in find_short_docs(corpus.docs)]
    calls = batch_by_docs(corpus.docs, n_docs, n_calls)
    steps = batch_by_words(corpus.docs, BATCH_WORDS, n_steps)
    turns = [steps[i : i + updates] for i in range(0, n_steps, updates)]
    return {
        f"prediction, {n_docs:,} Docs": Way(predict, [[docs] for docs in calls]),
        "prediction, a short Doc": Way(predict, make_samples(short)),
        f"training, {BATCH_WORDS:,} words": Way(train, turns),
    }


def _drop_absent(
    makers: Mapping[str, Maker[Sample] | None],
) -> dict[str, Maker[Sample]]:
    return {name: maker for name, maker in makers.items() if maker}


def _time(what: str, way: Way, schedule: Schedule) -> dict[str, Any]:
    """Time all contenders, which have met all words before."""
    msg.text(f"timing: {what}")
    makers = {name: _warm_up(maker, way) for name, maker in way.makers.items()}
    work = Work(way.samples, count_words_of_batches)
    timings = time_in_turns(makers, work, schedule, time_on_thread)
    return {
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        "times_as_fast_as_fewer": get_ratios(timings, BASELINE),
    }


def _warm_up(maker: Maker[Sample], way: Way) -> Maker[Sample]:
    """Have a contender go through the whole text whenever it is made."""

    def make() -> Contender[Sample]:
        contender = maker()
        contender(way.batches)()
        return contender

    return make


def _measure_hashing(what: str, way: Way, schedule: Schedule) -> dict[str, Any]:
    """Measure which part of the time is hashing, in two passes of a new copy."""
    msg.text(f"timing: hashing in {what}")
    measured: dict[str, dict[str, list[tuple[float, float]]]] = {
        title: {name: [] for name in PAIRS} for title in PASSES
    }
    with timing_hashing() as seconds:
        for _ in range(schedule.blocks * schedule.rounds):
            for name in PAIRS:
                run = way.makers[name]()(way.batches)
                for title in PASSES:
                    seconds.clear()
                    whole = time_on_thread(run)
                    measured[title][name].append((sum(seconds), whole))
    n_words = count_words_of_batches(way.batches)
    return {
        title: {name: _describe(times, n_words) for name, times in pairs.items()}
        for title, pairs in measured.items()
    }


def _describe(times: Sequence[tuple[float, float]], n_words: int) -> dict[str, Any]:
    """Say what part of the time of passes, in seconds, was hashing."""
    shares = [hashing / whole for hashing, whole in times]
    hashing, whole = (1e6 * median(part) / n_words for part in zip(*times, strict=True))
    return {
        "share": median(shares),
        "share_quartiles": list(find_quartiles(shares)),
        "hashing_us_per_word": hashing,
        "us_per_word": whole,
    }


def find_baselines(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Find the times of what all pairs are compared with."""
    return get_spreads(results["timings"], BASELINE)


def print_results(results: Mapping[str, Any]) -> None:
    """Print tables for a page of Markdown."""
    typer.echo(f"\n{make_hashformers_tables(results)}\n")


def main(
    corpus: Path = CORPUS,
    output: Path = RESULTS / "hashformers.json",
    blocks: int = 5,
    rounds: int = 5,
) -> None:
    """Time HashFormers beside plain hash embeddings, on one thread."""
    run_benchmark(
        lambda: measure_hashformers(load_corpus(corpus), Schedule(blocks, rounds)),
        find_baselines,
        draw_hashformers,
        print_results,
        output,
    )


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
