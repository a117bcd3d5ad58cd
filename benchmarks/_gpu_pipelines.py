"""Embedders and whole pipelines on a GPU, from Docs: spaCy's beside ours."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import numpy
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed, set_dropout_rate
from wasabi import msg

from ._data import (
    Corpus,
    batch_by_docs,
    batch_by_words,
    count_words,
    count_words_of_batches,
)
from ._embedders import build
from ._gpu_device import Device
from ._gpu_measure import Json, Sizes, compare, with_order
from ._gpu_tables import draw_gradient
from ._pipelines import (
    BATCH_WORDS,
    OURS,
    SPACY,
    compare_annotations,
    make_maker,
    make_trained,
    prepare_pipe,
    prepare_update,
    train_stock,
)
from ._profile import profile_pipe, profile_update
from ._timing import Contender, Schedule, Work, get_ratios, time_in_turns

NAMES = (SPACY, OURS)

#: None, for comparing like with like, and what `spacy train` sets by default.
DROPOUTS = (0.0, 0.1)

#: Batches of Docs that take turns, and the steps and Docs of a sample of a pipeline's.
_BATCHES = 8
_UPDATES = 5
_DOCS = 1000

_ORDERS = {"fixed order": True, "atomic": False}


def measure_embedders(
    device: Device, corpus: Corpus, sizes: Sizes, schedule: Schedule
) -> list[Json]:
    """Measure whole embedders, from Docs: attributes are read on the CPU.

    Times are the host's, to the end of the GPU's work.

    RETURNS (list[Json]): For each number of words, forward and backward, without
        dropout and with it, and prediction.
    """
    fix_random_seed(0)
    names = ("spacy.MultiHashEmbed.v2", "spacy-hashembeds.MultiFewerHashEmbed.v1")
    rows, width = list(sizes.rows), sizes.width
    stock, ours = (build(name, rows=rows, width=width) for name in names)
    stock.initialize(X=corpus.docs[:10])
    models = {SPACY: stock, OURS: ours.from_bytes(stock.to_bytes())}
    results = []
    for n_words in sizes.tokens:
        msg.text(f"embedders: {n_words} words")
        samples = batch_by_words(corpus.docs, n_words, _BATCHES)
        outputs = {
            name: _concatenate(device, device.move(model).predict(samples[0]))
            for name, model in models.items()
        }
        agreement = compare(OURS, outputs[OURS], outputs[SPACY])
        makers = {name: partial(_make_predict, device, m) for name, m in models.items()}
        timed: Json = {"predict": _time(device, makers, samples, count_words, schedule)}
        for dropout in DROPOUTS:
            makers = {
                name: partial(_make_train, device, model, dropout)
                for name, model in models.items()
            }
            timed[f"train, dropout {dropout}"] = _time(
                device, makers, samples, count_words, schedule
            )
        results.append({"words": n_words, "agreement": agreement, **timed})
    return results


def measure_pipelines(
    device: Device,
    corpus: Corpus,
    schedule: Schedule,
    *,
    docs: int = _DOCS,
    updates: int = _UPDATES,
    training_steps: int = 60,
) -> Json:
    """Measure `nlp.pipe` and `nlp.update`, what remains, and the price of an order.

    docs (int): Docs that `nlp.pipe` annotates in a round.
    updates (int): Steps of `nlp.update` in a round, of about 1000 words each.
    training_steps (int): How long the weights that all have are trained before.
    """
    msg.text(f"pipelines: training for {training_steps} steps")
    with device.used_by_new_models():
        source = train_stock(corpus.docs, training_steps)
        pipe = batch_by_docs(corpus.docs, docs, schedule.rounds)
        batches = batch_by_words(corpus.docs, BATCH_WORDS, updates * schedule.rounds)
        update = [batches[i : i + updates] for i in range(0, len(batches), updates)]
        compared = compare_annotations(NAMES, source, pipe[0])
        msg.text("pipelines: timing")
        makers = {name: make_maker(name, source, prepare_pipe) for name in NAMES}
        piped = _time(device, makers, pipe, count_words, schedule)
        makers = {name: make_maker(name, source, prepare_update) for name in NAMES}
        updated = _time(device, makers, update, count_words_of_batches, schedule)
        orders = {
            name: with_order(makers[OURS], is_fixed)
            for name, is_fixed in _ORDERS.items()
        }
        ordered = _time(device, orders, update, count_words_of_batches, schedule)
        msg.text("pipelines: profiling")
        profile = _profile(device, source, pipe[0], update[0], schedule)
    return {
        "agreement": {
            "entities": compared["entities"],
            "docs_that_differ": compared["docs_that_differ"][OURS],
        },
        "pipe": piped,
        "update": updated,
        "cost_of_fixed_order": {**ordered, "percent": _get_cost(ordered)},
        "profile": profile,
    }


def _time(
    device: Device,
    makers: Mapping[str, Callable[[], Contender[Any]]],
    samples: Sequence[Any],
    count: Callable[[Any], int],
    schedule: Schedule,
) -> Json:
    """Time by the host's clock, and compare with the first contender."""
    work = Work(samples, count)
    timings = time_in_turns(makers, work, schedule, device.time_by_host)
    first = next(iter(makers))
    return {
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        f"times_as_fast_as_{first.replace(' ', '_')}": get_ratios(timings, first),
    }


def _get_cost(timed: Json) -> float:
    """Say by how many percent a step takes longer with a fixed order."""
    us = [timed["contenders"][name]["us_per_word"] for name in _ORDERS]
    return 100 * (us[0] / us[1] - 1)


def _make_predict(device: Device, model: Model) -> Contender[list[Doc]]:
    moved = device.move(model)
    return lambda docs: lambda: moved.predict(docs)


def _make_train(device: Device, model: Model, dropout: float) -> Contender[list[Doc]]:
    moved = device.move(model)
    set_dropout_rate(moved, dropout)

    def prepare(docs: list[Doc]) -> Callable[[], object]:
        shape = (count_words(docs), moved.get_dim("nO"))
        dYs = _split(draw_gradient(device, shape), docs)

        def run() -> None:
            _, backprop = moved.begin_update(docs)
            backprop(dYs)

        return run

    return prepare


def _split(Y: Any, docs: Sequence[Doc]) -> list[Any]:
    ends = list(accumulate(map(len, docs)))
    return [Y[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _concatenate(device: Device, Ys: Sequence[Any]) -> NDArray:
    return numpy.concatenate([device.get(Y) for Y in Ys])


def _profile(
    device: Device,
    source: Language,
    docs: Sequence[Doc],
    batches: Sequence[Sequence[Doc]],
    schedule: Schedule,
) -> Json:
    wait = device.synchronize
    profiles = {}
    for name in NAMES:
        make = partial(make_trained, name, source)
        profiles[name] = {
            "pipe": profile_pipe(make, docs, schedule, wait),
            "update": profile_update(make, batches, schedule, wait),
        }
    return profiles
