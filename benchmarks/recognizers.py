"""NER components on one tok2vec: `token_ner` beside spaCy's `ner`.

Run as `python -m benchmarks.recognizers` from the checkout.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from spacy.language import Language
from wasabi import msg

from spacy_hashembeds.acceleration.machine import Spread

from ._charts import draw_recognizers
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
    annotate,
    make_maker,
    prepare_pipe,
    prepare_update,
    strip,
)
from ._recognizers import NAMES, NER, copy_recognizer, train_recognizer
from ._tables import make_recognizers_table
from ._timing import Schedule, Work, get_ratios, get_spreads, time_in_turns


def measure_recognizers(
    corpus: Corpus,
    schedule: Schedule,
    *,
    docs: int = 1000,
    updates: int = 5,
    training_steps: int = 60,
) -> dict[str, Any]:
    """Measure pipelines that differ in what reads the tok2vec.

    docs (int): Docs that `nlp.pipe` annotates in a round.
    updates (int): Steps of `nlp.update` in a round, of about 1000 words each.
    training_steps (int): How long each is trained before.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    msg.text(f"training for {training_steps} steps")
    sources = {
        name: train_recognizer(name, corpus.docs, training_steps) for name in NAMES
    }
    pipe = batch_by_docs(corpus.docs, docs, schedule.rounds)
    batches = batch_by_words(corpus.docs, BATCH_WORDS, updates * schedule.rounds)
    update = [batches[i : i + updates] for i in range(0, len(batches), updates)]
    return {
        "corpus": corpus.to_json(),
        "width": WIDTH,
        "depth": DEPTH,
        "rows": ROWS,
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "entities": {name: _count(nlp, pipe[0]) for name, nlp in sources.items()},
        "timings": {
            "nlp.pipe": _time(sources, pipe, count_words, prepare_pipe, schedule),
            "nlp.update": _time(
                sources, update, count_words_of_batches, prepare_update, schedule
            ),
        },
    }


def _count(nlp: Language, docs: Sequence[Any]) -> int:
    """Count the entities that are found: one that finds none is none to time."""
    bare = [strip(doc) for doc in docs]
    annotate(nlp, bare)
    return sum(len(doc.ents) for doc in bare)


def _time(
    sources: Mapping[str, Language],
    samples: Sequence[Any],
    count: Callable[[Any], int],
    prepare: Callable[..., Callable],
    schedule: Schedule,
) -> dict[str, Any]:
    msg.text(f"timing: {prepare.__name__.removeprefix('prepare_')}")
    makers = {
        name: make_maker(name, sources[name], prepare, copy_recognizer)
        for name in NAMES
    }
    timings = time_in_turns(makers, Work(samples, count), schedule)
    return {
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        "times_as_fast_as_ner": get_ratios(timings, NER),
    }


def find_baselines(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Find the times of spaCy's component, which the others are compared with."""
    return get_spreads(results["timings"], NER)


def print_results(results: Mapping[str, Any]) -> None:
    """Print a table for a page of Markdown."""
    typer.echo(f"\n{make_recognizers_table(results)}\n")


def main(
    corpus: Path = CORPUS,
    output: Path = RESULTS / "recognizers.json",
    blocks: int = 5,
    rounds: int = 3,
) -> None:
    """Time `token_ner` beside spaCy's `ner` on the same tok2vec, on one thread."""
    run_benchmark(
        lambda: measure_recognizers(load_corpus(corpus), Schedule(blocks, rounds)),
        find_baselines,
        draw_recognizers,
        print_results,
        output,
    )


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
