"""Embedders and pipelines on a GPU, ours beside spaCy's.

Run as `python -m benchmarks.gpu` from the checkout, where CuPy is installed. All are
timed by the host's clock, to the end of the GPU's work.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import typer
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import (
    Adam,
    CupyOps,
    Model,
    Ops,
    fix_random_seed,
    get_current_ops,
    set_current_ops,
    set_dropout_rate,
)
from wasabi import msg

from spacy_hashembeds.acceleration.installation import examine_gpu
from spacy_hashembeds.files import write_json
from spacy_hashembeds.kernels.cuda import DETERMINISTIC_NAME

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
from ._embedders import ATTRS, ROWS, WIDTH
from ._machine import describe_machine
from ._pipelines import (
    BATCH_WORDS,
    OURS,
    SPACY,
    compare_annotations,
    make_maker,
    prepare_pipe,
    prepare_update,
    train_stock,
)
from ._timing import (
    Contender,
    Maker,
    Schedule,
    Work,
    get_ratios,
    time_in_turns,
    time_on_host,
)

FIXED, ATOMIC = "ours, fixed order", "ours, atomic"

#: The architectures that are compared.
EMBEDDERS = {
    SPACY: "spacy.MultiHashEmbed.v2",
    OURS: "spacy-hashembeds.MultiFewerHashEmbed.v1",
}

#: How far outputs may be apart, relative to the largest number.
TOLERANCE = 1e-5

ModelT = TypeVar("ModelT", bound=Model)
Json = dict[str, Any]


class Sizes(NamedTuple):
    """What is measured: tokens of a batch, batches that take turns, Docs of `nlp.pipe`,
    steps of `nlp.update` in a round, and of training before.
    """

    tokens: Sequence[int] = (1000, 10_000, 100_000)
    batches: int = 8
    docs: int = 1000
    updates: int = 5
    training_steps: int = 60


class Device(NamedTuple):
    """A GPU: CuPy, or what acts for it, and Thinc's ops for its arrays."""

    cupy: Any
    ops: Ops

    def move(self, model: ModelT) -> ModelT:
        """Copy a layer to the GPU, weights and all."""
        moved = model.copy()
        moved._to_ops(self.ops)
        return moved

    def time(self, run: Callable[[], object]) -> float:
        """Measure the seconds until work is done, on the host and on the GPU."""
        synchronize = self.cupy.cuda.Device().synchronize
        synchronize()
        return time_on_host(lambda: (run(), synchronize()))

    def describe(self) -> Json:
        """Say what it is."""
        runtime = self.cupy.cuda.runtime
        properties = runtime.getDeviceProperties(runtime.getDevice())
        return {
            "name": properties["name"].decode(),
            "memory_gib": round(properties["totalGlobalMem"] / 2**30, 1),
            "cuda_driver": runtime.driverGetVersion(),
            "cuda_runtime": runtime.runtimeGetVersion(),
            "cupy": self.cupy.__version__,
        }


def find_device() -> Device:
    """Find the GPU, and check that it works.

    RAISES (RuntimeError): If there is none, or CuPy can't use it.
    """
    gpu = examine_gpu()
    if gpu.device is None:
        what = gpu.error or "CuPy is not installed."
        raise RuntimeError(
            f"This needs a GPU by NVIDIA, and CuPy. {what} Install CuPy for the CUDA "
            "that the driver has: pip install 'spacy-hashembeds[cuda12x]' or "
            "'spacy-hashembeds[cuda13x]'."
        )
    return Device(import_module("cupy"), CupyOps())


def measure_gpu(
    device: Device, corpus: Corpus, schedule: Schedule, sizes: Sizes
) -> Iterator[Json]:
    """Measure all parts, one after the other.

    YIELDS (Json): The results so far: those of minutes are not lost if a later part
        fails.
    """
    results: Json = {
        "machine": describe_machine(),
        "device": device.describe(),
        "corpus": corpus.to_json(),
        "blocks": schedule.blocks,
        "rounds": schedule.rounds,
    }
    measures: dict[str, Callable[[], Any]] = {
        "embedders": lambda: measure_embedders(device, corpus, schedule, sizes),
        "equal_runs": lambda: measure_equality(device, corpus),
        "pipelines": lambda: measure_pipelines(device, corpus, schedule, sizes),
    }
    for name, measure in measures.items():
        msg.text(f"measuring: {name}")
        results[name] = measure()
        yield results


def measure_embedders(
    device: Device, corpus: Corpus, schedule: Schedule, sizes: Sizes
) -> list[Json]:
    """Measure embedders from Docs, whose attributes are read on the CPU.

    RETURNS (list[Json]): For each number of tokens the times in prediction and in
        training, forward and backward, after a comparison of outputs.
    """
    models = make_embedders(corpus.docs)
    results = []
    for n_tokens in sizes.tokens:
        samples = batch_by_words(corpus.docs, n_tokens, sizes.batches)
        moved = {name: device.move(model) for name, model in models.items()}
        check_equal(device, moved, samples[0])
        row: Json = {"tokens": n_tokens}
        for kind, prepare in (("predict", prepare_predict), ("train", prepare_train)):
            makers = _make(moved, prepare)
            row[kind] = _time(device, makers, samples, count_words, schedule)
        results.append(row)
    return results


def make_embedders(docs: Sequence[Doc]) -> dict[str, Model]:
    """Make spaCy's embedder and ours, with the same weights, on the CPU."""
    fix_random_seed(0)
    stock, ours = (
        registry.architectures.get(name)(
            width=WIDTH, attrs=ATTRS, rows=ROWS, include_static_vectors=False
        )
        for name in EMBEDDERS.values()
    )
    stock.initialize(X=list(docs[:10]))
    for model in (stock, ours):
        set_dropout_rate(model, 0.0)
    return {SPACY: stock, OURS: ours.from_bytes(stock.to_bytes())}


def check_equal(
    device: Device, models: Mapping[str, Model], docs: Sequence[Doc]
) -> None:
    """Compare the outputs of contenders before they are timed.

    RAISES (RuntimeError): If they differ: times of wrong numbers mean nothing.
    """
    expected, actual = (
        np.concatenate([device.ops.to_numpy(Y) for Y in model.predict(docs)])
        for model in models.values()
    )
    difference = abs(actual - expected).max()
    if not difference <= TOLERANCE * abs(expected).max():  # NaN too
        raise RuntimeError(
            f"Outputs of {' and '.join(models)} should be equal to {TOLERANCE:g} of "
            f"the largest, but differ by {difference:g}. Mend this before timing."
        )


def prepare_predict(model: Model, docs: list[Doc]) -> Callable[[], object]:
    """Get ready to go forward."""
    return lambda: model.predict(docs)


def prepare_train(model: Model, docs: list[Doc]) -> Callable[[], object]:
    """Get ready to go forward and backward, with the output for its gradient."""

    def run() -> None:
        Y, backprop = model.begin_update(docs)
        backprop(Y)

    return run


def measure_equality(device: Device, corpus: Corpus, *, steps: int = 20) -> Json:
    """Train embedders twice from one seed, and tell whether weights end bit-equal.

    The gradient of the output is the output: only what the layers do can differ.
    """
    models = make_embedders(corpus.docs)
    batches = batch_by_words(corpus.docs, 10 * BATCH_WORDS, steps)

    def train(name: str, is_fixed: bool) -> bytes:
        model, optimizer = device.move(models[name]), Adam(0.001)
        with order_fixed(is_fixed):
            for batch in batches:
                prepare_train(model, batch)()
                model.finish_update(optimizer)
        return model.to_bytes()

    ways = {FIXED: (OURS, True), ATOMIC: (OURS, False), SPACY: (SPACY, True)}
    return {way: train(*how) == train(*how) for way, how in ways.items()}


def measure_pipelines(
    device: Device, corpus: Corpus, schedule: Schedule, sizes: Sizes
) -> Json:
    """Measure `nlp.pipe` and `nlp.update`, and what adding up gradients in a fixed
    order takes of it.
    """
    names = (SPACY, OURS)
    with using(device.ops):
        source = train_stock(corpus.docs, sizes.training_steps)
        piped = batch_by_docs(corpus.docs, sizes.docs, schedule.rounds)
        n_batches = sizes.updates * schedule.rounds
        batches = batch_by_words(corpus.docs, BATCH_WORDS, n_batches)
        updated = [
            batches[i : i + sizes.updates] for i in range(0, n_batches, sizes.updates)
        ]
        compared = compare_annotations(names, source, piped[0])
        makers = {name: make_maker(name, source, prepare_pipe) for name in names}
        pipe = _time(device, makers, piped, count_words, schedule)
        makers = {
            SPACY: make_maker(SPACY, source, prepare_update),
            FIXED: make_maker(OURS, source, prepare_update),
            ATOMIC: with_atomic(make_maker(OURS, source, prepare_update)),
        }
        update = _time(device, makers, updated, count_words_of_batches, schedule)
    return {"agreement": compared, "pipe": pipe, "update": update}


@contextmanager
def using(ops: Ops) -> Iterator[None]:
    """Have layers that are made here stand on the GPU, as `spacy.require_gpu`."""
    before = get_current_ops()
    set_current_ops(ops)
    try:
        yield
    finally:
        set_current_ops(before)


@contextmanager
def order_fixed(is_fixed: bool) -> Iterator[None]:
    """Have gradients be added up in a fixed order, or not, by the user's setting."""
    before = os.environ.get(DETERMINISTIC_NAME)
    os.environ[DETERMINISTIC_NAME] = str(int(is_fixed))
    try:
        yield
    finally:
        del os.environ[DETERMINISTIC_NAME]
        if before is not None:
            os.environ[DETERMINISTIC_NAME] = before


def with_atomic(make: Maker[Any]) -> Maker[Any]:
    """Make a contender that adds up gradients in any order."""

    def run_so(run: Callable[[], object]) -> None:
        with order_fixed(False):
            run()

    def make_so() -> Contender[Any]:
        contender = make()
        return lambda sample: partial(run_so, contender(sample))

    return make_so


def print_results(results: Json) -> None:
    """Print times and ratios."""
    msg.text(f"{results['device']['name']}; equal runs: {results['equal_runs']}")
    timed = {
        f"embedder, {kind}, {row['tokens']} tokens": row[kind]
        for row in results["embedders"]
        for kind in ("predict", "train")
    }
    timed |= {f"nlp.{name}": results["pipelines"][name] for name in ("pipe", "update")}
    rows = [
        (
            what,
            name,
            f"{each['us_per_word']:.3f}",
            f"{found['times_as_fast'][name]:.2f}",
        )
        for what, found in timed.items()
        for name, each in found["contenders"].items()
    ]
    header = ("what", "whose", "us a word", "times as fast")
    msg.table(rows, header=header, divider=True)


def main(
    corpus: Path = CORPUS,
    output: Path | None = None,
    blocks: int = 3,
    rounds: int = 5,
) -> None:
    """Time our embedders and pipelines beside spaCy's, on a GPU."""
    try:
        device = find_device()
    except RuntimeError as e:
        msg.fail("There is no GPU to measure", str(e), exits=1)
    name = re.sub(r"[^a-z0-9]+", "-", device.describe()["name"].lower()).strip("-")
    path = output or RESULTS / f"gpu-{name}.json"
    results: Json = {}
    schedule = Schedule(blocks, rounds)
    for results in measure_gpu(device, load_corpus(corpus), schedule, Sizes()):
        write_json(path, results)
    print_results(results)
    msg.good(f"Results: {path}")


def _make(
    models: Mapping[str, Model], prepare: Callable[[Model, Any], Callable[[], object]]
) -> dict[str, Maker[Any]]:
    return {
        name: lambda model=model: partial(prepare, model)  # type: ignore[misc]
        for name, model in models.items()
    }


def _time(
    device: Device,
    makers: Mapping[str, Maker[Any]],
    samples: Sequence[Any],
    count: Callable[[Any], int],
    schedule: Schedule,
) -> Json:
    timings = time_in_turns(makers, Work(samples, count), schedule, device.time)
    return {
        "contenders": {name: timing.to_json() for name, timing in timings.items()},
        "times_as_fast": get_ratios(timings, SPACY),
    }


if __name__ == "__main__":
    typer.run(main)
