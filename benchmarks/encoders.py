"""LSTM encoders: ours beside spaCy's `TorchBiLSTMEncoder`.

Run as `python -m benchmarks.encoders` from the checkout.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from thinc.api import Model
from wasabi import msg

from spacy_hashembeds.acceleration.machine import Spread

from ._charts import draw_encoders
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
from ._embedders import Sample
from ._encoders import (
    DEPTH,
    DROPOUT,
    SPACY,
    WIDTH,
    compare_outputs,
    count_parameters,
    make_encoder_maker,
    make_encoders,
    prepare_predict,
    prepare_train,
)
from ._machine import use_one_thread
from ._pipelines import BATCH_WORDS
from ._tables import make_encoders_table
from ._timing import Schedule, Work, get_ratios, get_spreads, time_in_turns


def measure_encoders(
    corpus: Corpus,
    schedule: Schedule,
    *,
    docs: int = 1000,
    updates: int = 5,
) -> dict[str, Any]:
    """Measure encoders on vectors for the tokens of Docs.

    docs (int): Docs that are encoded at once in prediction, as by `nlp.pipe`.
    updates (int): Steps of training in a round, of about 1000 words each.
    RAISES (ImportError): If there is no PyTorch.
    RAISES (RuntimeError): If ours and spaCy's don't compute the same.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    encoders = make_encoders()
    short = make_samples([[doc] for doc in find_short_docs(corpus.docs)])
    batches = batch_by_words(corpus.docs, BATCH_WORDS, updates * schedule.rounds)
    samples = {
        f"{docs:,} Docs": [
            [batch] for batch in batch_by_docs(corpus.docs, docs, schedule.rounds)
        ],
        f"{BATCH_WORDS:,} words": [
            batches[i : i + updates] for i in range(0, len(batches), updates)
        ],
    }
    predict, train = samples
    ways = {
        f"prediction, {predict}": (prepare_predict, samples[predict]),
        "prediction, a short Doc": (prepare_predict, short),
        f"training, {train}": (prepare_train, samples[train]),
        "training, a short Doc": (prepare_train, short),
    }
    return {
        "corpus": corpus.to_json(),
        "width": WIDTH,
        "depth": DEPTH,
        "dropout": DROPOUT,
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "parameters": {name: count_parameters(m) for name, m in encoders.items()},
        "agreement": compare_outputs(encoders, short[0]),
        "timings": {
            what: _time(what, encoders, prepare, sample, schedule)
            for what, (prepare, sample) in ways.items()
        },
    }


def _time(
    what: str,
    encoders: Mapping[str, Model],
    prepare: Callable[[Model, Sample], Callable[[], None]],
    samples: Sequence[Sample],
    schedule: Schedule,
) -> dict[str, Any]:
    msg.text(f"timing: {what}")
    makers = {
        name: make_encoder_maker(model, prepare) for name, model in encoders.items()
    }
    timings = time_in_turns(makers, Work(samples, count_words_of_batches), schedule)
    return {
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        "times_as_fast_as_spacy": get_ratios(timings, SPACY),
    }


def find_baselines(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Find the times of spaCy's encoder, which the others are compared with."""
    return get_spreads(results["timings"], SPACY)


def print_results(results: Mapping[str, Any]) -> None:
    """Print a table for a page of Markdown."""
    typer.echo(f"\n{make_encoders_table(results)}\n")


def main(
    corpus: Path = CORPUS,
    output: Path = RESULTS / "encoders.json",
    blocks: int = 5,
    rounds: int = 5,
) -> None:
    """Time our LSTM encoders beside spaCy's, on one thread."""
    run_benchmark(
        lambda: measure_encoders(load_corpus(corpus), Schedule(blocks, rounds)),
        find_baselines,
        draw_encoders,
        print_results,
        output,
    )


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
