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

from spacy_hashembeds.files import write_json

from ._charts import draw_pipeline
from ._data import (
    CORPUS,
    RESULTS,
    Corpus,
    batch_by_docs,
    batch_by_words,
    count_words,
    load_corpus,
)
from ._machine import check_one_thread, describe_machine, use_one_thread
from ._pipelines import (
    BATCH_WORDS,
    CALLBACK,
    OURS,
    OURS_BLAS,
    SPACY,
    SPACY_BLAS,
    annotate,
    has_callback,
    make_maker,
    make_trained,
    prepare_pipe,
    prepare_update,
    strip,
    train_stock,
)
from ._profile import profile_pipe, profile_update
from ._timing import Schedule, Timing, Work, get_ratios, time_in_turns

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
    if not has_callback():
        msg.warn(f"'{CALLBACK}' is not registered: measuring without it.")
    msg.text(f"training for {training_steps} steps")
    source = train_stock(corpus.docs, training_steps)
    pipe_samples = batch_by_docs(corpus.docs, docs, schedule.rounds)
    batches = batch_by_words(corpus.docs, BATCH_WORDS, updates * schedule.rounds)
    update_samples = [batches[i : i + updates] for i in range(0, len(batches), updates)]
    return {
        "corpus": corpus.to_json(),
        "callback": has_callback(),
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "agreement": _compare(source, pipe_samples[0]),
        "pipe": _time(source, pipe_samples, count_words, prepare_pipe, schedule),
        "update": _time(
            source,
            update_samples,
            _count_words_of_batches,
            prepare_update,
            schedule,
        ),
        "profile": _profile(source, pipe_samples[0], update_samples[0], schedule),
    }


def _list_present() -> list[str]:
    return list(NAMES) if has_callback() else [SPACY, OURS]


def _compare(source: Language, docs: Sequence[Doc]) -> dict[str, Any]:
    """Count the Docs in which a contender finds other entities than spaCy."""
    found = {}
    for name in _list_present():
        pipeline = make_trained(name, source)
        bare = [strip(doc) for doc in docs]
        pipeline(partial(annotate, docs=bare))
        found[name] = [
            {(ent.start, ent.end, ent.label) for ent in doc.ents} for doc in bare
        ]
    stock = found[SPACY]
    n_entities = sum(map(len, stock))
    if n_entities == 0:
        msg.warn("No pipeline finds an entity, so that they agree says nothing.")
    return {
        "entities": n_entities,
        "docs_that_differ": {
            name: sum(a != b for a, b in zip(ents, stock, strict=True))
            for name, ents in found.items()
        },
    }


def _time(
    source: Language,
    samples: Sequence[Any],
    count: Callable[[Any], int],
    prepare: Callable[..., Callable],
    schedule: Schedule,
) -> dict[str, Any]:
    msg.text(f"timing: {prepare.__name__.removeprefix('prepare_')}")
    makers = {name: make_maker(name, source, prepare) for name in _list_present()}
    measured = time_in_turns(makers, Work(samples, count), schedule)
    timings: dict[str, Timing | None] = {name: measured.get(name) for name in NAMES}
    return {
        "contenders": {name: t.to_json() if t else None for name, t in timings.items()},
        "times_as_fast_as_spacy": get_ratios(timings, SPACY),
    }


def _count_words_of_batches(batches: Sequence[Sequence[Doc]]) -> int:
    return sum(map(count_words, batches))


def _profile(
    source: Language,
    docs: Sequence[Doc],
    batches: Sequence[Sequence[Doc]],
    schedule: Schedule,
) -> dict[str, Any]:
    """Profile spaCy's pipeline, and ours with all there is."""
    msg.text("profiling")
    fastest = _list_present()[-1]
    makers = {name: partial(make_trained, name, source) for name in (SPACY, fastest)}
    return {
        name: {
            "pipe": profile_pipe(make, docs, schedule),
            "update": profile_update(make, batches, schedule),
        }
        for name, make in makers.items()
    }


def print_results(results: Mapping[str, Any]) -> None:
    """Print each pipeline's speed, and where the time goes."""
    table = []
    for name in NAMES:
        row = [name]
        for kind in ("pipe", "update"):
            timing = results[kind]["contenders"][name]
            ratio = results[kind]["times_as_fast_as_spacy"][name]
            speed = timing and f"{timing['words_per_second']:,.0f} ({ratio:.2f}x)"
            row.append(speed or "absent")
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
    machine = describe_machine()
    check_one_thread(machine["processors_busy"])
    results = measure_pipelines(load_corpus(corpus), Schedule(blocks, rounds))
    results = {"machine": machine, **results}
    write_json(output, results)
    draw_pipeline(results, output.with_suffix(".png"))
    print_results(results)
    msg.good(f"Results: {output}, {output.with_suffix('.png')}")


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
