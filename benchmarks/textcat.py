"""Text classifiers: ours beside spaCy's, in `nlp.pipe` and `nlp.update`.

Run as `python -m benchmarks.textcat` from the checkout.
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

from ._charts import draw_textcat
from ._classifiers import (
    BAG_OF_WORDS,
    ENSEMBLE,
    NAMES,
    copy_classifier,
    describe_classifier,
    find_layers,
    make_classifier,
)
from ._command import run_benchmark
from ._data import (
    RESULTS,
    ROOT,
    Corpus,
    batch_by_docs,
    count_words,
    count_words_of_batches,
    load_corpus,
)
from ._machine import use_one_thread
from ._optimizer import time_optimizer
from ._pipelines import make_maker, prepare_pipe, prepare_update
from ._profile import profile_pipe, profile_update
from ._textcat_tables import make_textcat_profile_tables, make_textcat_table
from ._timing import (
    Schedule,
    Work,
    get_ratios,
    get_relative_times,
    get_spreads,
    time_in_turns,
)

CORPUS = ROOT / "corpus" / "ag_news_small" / "train.spacy"
PIPE = "nlp.pipe"

#: Texts that `nlp.pipe` annotates in a round.
TEXTS = 1000
#: Texts of a step of training, and how many a round has in all steps together.
BATCHES = (32, 128)
TEXTS_TRAINED = 512


def measure_classifiers(
    corpus: Corpus,
    schedule: Schedule,
    *,
    texts: int = TEXTS,
    batches: tuple[int, ...] = BATCHES,
    texts_trained: int = TEXTS_TRAINED,
) -> dict[str, Any]:
    """Measure our text classifier beside spaCy's.

    corpus (Corpus): Texts with labels.
    texts (int): Texts that `nlp.pipe` annotates in a round.
    batches (tuple[int, ...]): Texts of a step of training.
    texts_trained (int): Texts of all steps in a round.
    RETURNS (dict[str, Any]): The results, as JSON data.
    """
    sources = {name: make_classifier(name, corpus.docs) for name in NAMES}
    pipe = batch_by_docs(corpus.docs, texts, schedule.rounds)
    updates = {
        size: _make_updates(corpus.docs, size, texts_trained, schedule.rounds)
        for size in batches
    }
    msg.text("timing: pipe")
    timings = {PIPE: _time(sources, pipe, count_words, prepare_pipe, schedule)}
    for size, samples in updates.items():
        msg.text(f"timing: update, {size} texts a step")
        timings[_name_update(size)] = _time(
            sources, samples, count_words_of_batches, prepare_update, schedule
        )
    return {
        "corpus": corpus.to_json(),
        "classifiers": {
            name: describe_classifier(nlp) for name, nlp in sources.items()
        },
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
        "timings": timings,
        "profile": _profile(sources, pipe[0], updates, schedule),
        "optimizer_ms": {
            name: time_optimizer(nlp, "textcat", schedule)
            for name, nlp in sources.items()
        },
    }


def load_texts(path: Path) -> Corpus:
    """Load texts with labels.

    RAISES (FileNotFoundError): If there is no such file.
    RAISES (ValueError): If a text has no labels.
    """
    if not path.exists():
        raise FileNotFoundError(
            f"There is no '{path}'. Make it with `spacy project assets` and "
            "`python -m lab prepare ag_news_small -o corpus/ag_news_small`, or "
            "name another file with --corpus."
        )
    corpus = load_corpus(path)
    if not all(doc.cats for doc in corpus.docs):
        raise ValueError(
            f"Each text in '{path}' should have categories, but some have none. Name "
            "a corpus for text classification with --corpus."
        )
    return corpus


def _make_updates(
    docs: Sequence[Doc], size: int, texts: int, rounds: int
) -> list[list[list[Doc]]]:
    """Cut so many texts for each round, in batches of this size."""
    steps = max(1, texts // size)
    batches = batch_by_docs(docs, size, steps * rounds)
    return [batches[i : i + steps] for i in range(0, len(batches), steps)]


def _time(
    sources: Mapping[str, Language],
    samples: Sequence[Any],
    count: Callable[[Any], int],
    prepare: Callable[..., Callable],
    schedule: Schedule,
) -> dict[str, Any]:
    makers = {
        name: make_maker(name, sources[name], prepare, copy_classifier)
        for name in NAMES
    }
    timings = time_in_turns(makers, Work(samples, count), schedule)
    return {
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        "times_as_fast_as_ensemble": get_ratios(timings, ENSEMBLE),
        "times_as_long_as_bow": get_relative_times(timings, BAG_OF_WORDS),
    }


def _profile(
    sources: Mapping[str, Language],
    docs: Sequence[Doc],
    updates: Mapping[int, Sequence[Sequence[Sequence[Doc]]]],
    schedule: Schedule,
) -> dict[str, Any]:
    msg.text("profiling")
    profiles: dict[str, Any] = {}
    for name, source in sources.items():
        make, find = partial(copy_classifier, name, source), partial(find_layers, name)
        profiles[name] = {PIPE: profile_pipe(make, docs, schedule, find_layers=find)}
        for size, samples in updates.items():
            profiles[name][_name_update(size)] = profile_update(
                make, samples[0], schedule, find_layers=find, rest="rest"
            )
    return profiles


def _name_update(size: int) -> str:
    return f"nlp.update, {size} texts"


def find_baselines(results: Mapping[str, Any]) -> dict[str, Spread]:
    """Find the times of the two classifiers that ours are compared with."""
    return get_spreads(results["timings"], ENSEMBLE, BAG_OF_WORDS)


def print_results(results: Mapping[str, Any]) -> None:
    """Print tables for a page of Markdown."""
    tables = (make_textcat_table, make_textcat_profile_tables)
    for make in tables:
        typer.echo(f"\n{make(results)}\n")


def main(
    corpus: Path = CORPUS,
    output: Path = RESULTS / "textcat.json",
    blocks: int = 5,
    rounds: int = 3,
) -> None:
    """Time our text classifier beside spaCy's, on one thread."""
    run_benchmark(
        lambda: measure_classifiers(load_texts(corpus), Schedule(blocks, rounds)),
        find_baselines,
        draw_textcat,
        print_results,
        output,
    )


if __name__ == "__main__":
    use_one_thread()
    typer.run(main)
