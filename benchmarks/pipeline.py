"""Whole pipelines: in `nlp.pipe` and `nlp.update`, and from one short text.

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

from spacy_hashembeds.acceleration.machine import Spread

from ._charts import draw_pipeline, find_timings
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
)
from ._embedders import ROWS, WIDTH
from ._machine import use_one_thread
from ._pipelines import (
    BATCH_WORDS,
    DEPTH,
    OURS,
    OURS_ADAM,
    OURS_BLAS,
    OURS_INT8,
    OURS_NUMPY,
    SPACY,
    SPACY_BLAS,
    compare_annotations,
    make_maker,
    make_trained,
    prepare_pipe,
    prepare_texts,
    prepare_update,
    train_stock,
)
from ._profile import profile_pipe, profile_update
from ._small_pipeline import copy_small_pipeline, train_small_pipeline
from ._tables import make_pipeline_table, make_profile_table
from ._timing import (
    Schedule,
    Work,
    get_ratios,
    get_spreads,
    time_in_turns,
    time_on_threads,
)

NAMES = (SPACY, SPACY_BLAS, OURS, OURS_BLAS, OURS_ADAM, OURS_INT8, OURS_NUMPY)

# Short texts that each contender is given in a turn.
_SHORT_DOCS = 20


def measure_pipelines(
    corpus: Corpus,
    schedule: Schedule,
    *,
    docs: int = 1000,
    updates: int = 5,
    training_steps: int = 60,
) -> dict[str, Any]:
    """Measure pipelines with our embedder and encoder beside those with spaCy's.

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
    short_docs = find_short_docs(corpus.docs, _SHORT_DOCS * schedule.rounds)
    short_samples = batch_by_docs(short_docs, _SHORT_DOCS, schedule.rounds)
    small = train_small_pipeline(SPACY, corpus.docs, training_steps)
    return {
        "corpus": corpus.to_json(),
        "width": WIDTH,
        "depth": DEPTH,
        "rows": ROWS,
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "agreement": compare_annotations(NAMES, source, pipe_samples[0]),
        "small_agreement": compare_annotations(
            NAMES, small, pipe_samples[0], copy_small_pipeline
        ),
        "pipe": _time(source, pipe_samples, count_words, prepare_pipe, schedule),
        "update": _time(
            source,
            update_samples,
            count_words_of_batches,
            prepare_update,
            schedule,
        ),
        "text": _time(source, short_samples, count_words, prepare_texts, schedule),
        "small_pipe": _time(
            small,
            pipe_samples,
            count_words,
            prepare_pipe,
            schedule,
            copy_small_pipeline,
        ),
        "threads": {
            what: _time_on_threads(source, samples, prepare, schedule)
            for what, samples, prepare in (
                ("nlp.pipe", pipe_samples, prepare_pipe),
                ("nlp(text), one short text", short_samples, prepare_texts),
            )
        },
        "profile": _profile(source, pipe_samples[0], update_samples[0], schedule),
    }


def _time(
    source: Language,
    samples: Sequence[Any],
    count: Callable[[Any], int],
    prepare: Callable[..., Callable],
    schedule: Schedule,
    copy: Callable[[str, Language], Language] = make_trained,
) -> dict[str, Any]:
    msg.text(f"timing: {prepare.__name__.removeprefix('prepare_')}")
    makers = {name: make_maker(name, source, prepare, copy) for name in NAMES}
    timings = time_in_turns(makers, Work(samples, count), schedule)
    return {
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        "times_as_fast_as_spacy": get_ratios(timings, SPACY),
    }


def _time_on_threads(
    source: Language,
    samples: Sequence[Any],
    prepare: Callable[..., Callable],
    schedule: Schedule,
) -> dict[str, Any]:
    msg.text(f"timing on threads: {prepare.__name__.removeprefix('prepare_')}")
    makers = {name: make_maker(name, source, prepare) for name in (SPACY, OURS_BLAS)}
    return time_on_threads(makers, Work(samples, count_words), schedule)


def _profile(
    source: Language,
    docs: Sequence[Doc],
    batches: Sequence[Sequence[Doc]],
    schedule: Schedule,
) -> dict[str, Any]:
    """Profile spaCy's pipeline as it is, and ours with all that makes it faster."""
    msg.text("profiling")
    names = (SPACY, OURS_ADAM)
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
    return get_spreads(find_timings(results), SPACY)


def print_results(results: Mapping[str, Any]) -> None:
    """Print each pipeline's speed, and where the time goes."""
    typer.echo(f"\n{make_pipeline_table(results)}\n\n{make_profile_table(results)}\n")


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
