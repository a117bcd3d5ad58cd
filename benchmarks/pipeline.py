"""Whole pipelines: tok2vec and NER, in `nlp.pipe` and `nlp.update`.

Run as `python -m benchmarks.pipeline` from the checkout.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import msg

from spacy_hashembeds.experiments.machine import Spread

from ._charts import draw_pipeline
from ._command import run_benchmark
from ._data import (
    CORPUS,
    RESULTS,
    Corpus,
    batch_by_docs,
    batch_by_words,
    count_words,
    count_words_of_batches,
    load_corpus,
)
from ._embedders import ROWS, WIDTH
from ._machine import use_one_thread
from ._pipelines import (
    BATCH_WORDS,
    DEPTH,
    OURS,
    OURS_BLAS,
    SPACY,
    SPACY_BLAS,
    compare_entities,
    make_maker,
    make_trained,
    prepare_pipe,
    prepare_update,
    train_stock,
)
from ._profile import profile_pipe, profile_update
from ._timing import Schedule, Work, get_ratios, get_spread, time_in_turns

NAMES = (SPACY, SPACY_BLAS, OURS, OURS_BLAS)


def measure_pipelines(
    corpus: Corpus,
    schedule: Schedule,
    *,
    docs: int = 1000,
    updates: int = 5,
    training_steps: int = 60,
) -> dict[str, Any]:
    """Measure pipelines with our embedder beside those with spaCy's.

    docs (int): Docs that `nlp.pipe` annotates in a round.
    updates (int): Steps of `nlp.update` in a round, of about 1000 words each.
    training_steps (int): How long the weights that all have are trained before.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    msg.text(f"training for {training_steps} steps")
    source = train_stock(corpus.docs, training_steps)
    pipe_samples = batch_by_docs(corpus.docs, docs, schedule.rounds)
    batches = batch_by_words(corpus.docs, BATCH_WORDS, updates * schedule.rounds)
    update_samples = [batches[i : i + updates] for i in range(0, len(batches), updates)]
    return {
        "corpus": corpus.to_json(),
        "width": WIDTH,
        "depth": DEPTH,
        "rows": ROWS,
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "agreement": compare_entities(NAMES, source, pipe_samples[0]),
        "pipe": _time(source, pipe_samples, count_words, prepare_pipe, schedule),
        "update": _time(
            source,
            update_samples,
            count_words_of_batches,
            prepare_update,
            schedule,
        ),
        "profile": _profile(source, pipe_samples[0], update_samples[0], schedule),
    }


def _time(
    source: Language,
    samples: Sequence[Any],
    count: Callable[[Any], int],
    prepare: Callable[..., Callable],
    schedule: Schedule,
) -> dict[str, Any]:
    msg.text(f"timing: {prepare.__name__.removeprefix('prepare_')}")
    makers = {name: make_maker(name, source, prepare) for name in NAMES}
    timings = time_in_turns(makers, Work(samples, count), schedule)
    return {
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        "times_as_fast_as_spacy": get_ratios(timings, SPACY),
    }


def _profile(
    source: Language,
    docs: Sequence[Doc],
    batches: Sequence[Sequence[Doc]],
    schedule: Schedule,
) -> dict[str, Any]:
    """Profile spaCy's pipeline as it is, and ours with the callback."""
    msg.text("profiling")
    names = (SPACY, OURS_BLAS)
    makers = {name: partial(make_trained, name, source) for name in names}
    return {
        name: {
            "pipe": profile_pipe(make, docs, schedule),
            "update": profile_update(make, batches, schedule),
        }
        for name, make in makers.items()
    }


def find_baselines(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Find the times of spaCy's pipeline, which all others are compared with."""
    return {
        f"{SPACY} (nlp.{kind})": get_spread(results[kind]["contenders"][SPACY])
        for kind in ("pipe", "update")
    }


def print_results(results: Mapping[str, Any]) -> None:
    """Print each pipeline's speed, and where the time goes."""
    table = []
    for name in NAMES:
        row = [name]
        for kind in ("pipe", "update"):
            timing = results[kind]["contenders"][name]
            ratio = results[kind]["times_as_fast_as_spacy"][name]
            row.append(f"{timing['words_per_second']:,.0f} ({ratio:.2f}x)")
        table.append(row)
    msg.table(table, header=["words a second", "nlp.pipe", "nlp.update"], divider=True)
    for name, kinds in results["profile"].items():
        for kind, profile in kinds.items():
            stages = profile["us_per_word"].items()
            text = ", ".join(f"{stage} {us:.1f}" for stage, us in stages)
            msg.text(f"{name}, nlp.{kind}, microseconds a word: {text}")


def main(
    corpus: Path = CORPUS,
    output: Path = RESULTS / "pipeline.json",
    blocks: int = 5,
    rounds: int = 3,
) -> None:
    """Time pipelines with our embedder beside those with spaCy's, on one thread."""
    run_benchmark(
        lambda: measure_pipelines(load_corpus(corpus), Schedule(blocks, rounds)),
        find_baselines,
        draw_pipeline,
        print_results,
        output,
    )


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
