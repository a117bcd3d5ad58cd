"""Tables in training and prediction: Thinc's layers beside ours. Imports no spaCy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

import numpy
from thinc.api import Adam, HashEmbed, Model, concatenate, fix_random_seed
from wasabi import msg

from spacy_hashembeds.kernels.rows import Array
from spacy_hashembeds.layers import hashembed
from spacy_hashembeds.layers.mixing.column import Column, find_column
from spacy_hashembeds.layers.mixing.gputables import embed_tables

from ._gpu_data import SEED, draw_samples, draw_text_keys
from ._gpu_device import Device
from ._gpu_measure import (
    CLOCKS,
    GRADIENT_TOLERANCE,
    Json,
    Sizes,
    compare,
    get_ratio,
    order_fixed,
    time_both_ways,
)
from ._timing import Contender, Schedule

THINC = "thinc"
OURS = "ours"


@dataclass(frozen=True)
class Embedder:
    """Embeds keys on the GPU.

    embed (Callable): Takes keys, and whether in training, to the output and to what
        takes its gradient.
    width (int): The width of the output.
    tables (Sequence[Model]): The layers that have the tables, in order.
    """

    embed: Callable[[Array, bool], tuple[Array, Callable[[Array], object]]]
    width: int
    tables: Sequence[Model]


def make_thinc(sizes: Sizes) -> Model:
    """Make tables of Thinc's layers, as `spacy.MultiHashEmbed.v2` has them."""
    fix_random_seed(0)
    layers: Any = [
        HashEmbed(sizes.width, rows, column=i, seed=SEED + i, dropout=0.0)
        for i, rows in enumerate(sizes.rows)
    ]
    model: Model = concatenate(*layers)
    model.initialize()
    return model


def make_embedder(name: str, device: Device, stock: Model) -> Embedder:
    """Make Thinc's layers on the GPU, or ours with their weights.

    name (str): "thinc" or "ours".
    stock (Model): Thinc's layers, initialised, not on the GPU.
    """
    moved = device.move(stock)
    tables = [node for node in moved.walk() if node.name == "hashembed"]
    width = sum(table.get_dim("nO") for table in tables)
    if name == THINC:
        return Embedder(moved, width, tables)
    ours = [_make_ours(table) for table in tables]
    columns = [cast(Column, find_column(table)) for table in ours]
    return Embedder(partial(embed_tables, columns), width, ours)


def make_steps(device: Device, embedder: Embedder, *, is_train: bool) -> Contender:
    """Make what goes forward and backward, or only forward in prediction."""

    @cache
    def get_gradient(n: int) -> Array:
        return draw_gradient(device, (n, embedder.width))

    def prepare_train(keys: Array) -> Callable[[], object]:
        dY = get_gradient(len(keys)).copy()  # Thinc's layers change it

        def run() -> None:
            _, backprop = embedder.embed(keys, True)
            backprop(dY)

        return run

    def prepare_predict(keys: Array) -> Callable[[], object]:
        return lambda: embedder.embed(keys, False)

    return prepare_train if is_train else prepare_predict


def measure_tables(device: Device, sizes: Sizes, schedule: Schedule) -> list[Json]:
    """Measure tables forward and backward, and forward alone, from keys on the GPU.

    RETURNS (list[Json]): For each number of tokens the times, and how many times as
        fast as Thinc's layers ours are.
    """
    stock = make_thinc(sizes)
    results = []
    for n_tokens in sizes.tokens:
        msg.text(f"tables: {n_tokens} tokens")
        drawn = draw_samples(draw_text_keys, n_tokens, sizes.samples)
        samples = [device.array(keys) for keys in drawn]
        results.append(
            {
                "tokens": n_tokens,
                "agreement": compare_embedders(device, stock, samples[0]),
                "train": _time(device, stock, samples, schedule, is_train=True),
                "predict": _time(device, stock, samples, schedule, is_train=False),
            }
        )
    return results


def compare_embedders(device: Device, stock: Model, keys: Array) -> Json:
    """Compare our outputs and gradients with those of Thinc's layers on the GPU.

    RAISES (RuntimeError): If they are not the same.
    RETURNS (Json): The largest differences, relative to the largest numbers.
    """
    outputs, gradients = {}, {}
    for name in (THINC, OURS):
        embedder = make_embedder(name, device, stock)
        Y, backprop = embedder.embed(keys, True)
        outputs[name] = device.get(Y)
        backprop(draw_gradient(device, Y.shape))
        gradients[name] = numpy.concatenate(
            [device.get(table.get_grad("E")) for table in embedder.tables]
        )
    return {
        "output": compare(OURS, outputs[OURS], outputs[THINC]),
        "gradient": compare(
            OURS, gradients[OURS], gradients[THINC], GRADIENT_TOLERANCE
        ),
    }


def measure_equality(device: Device, sizes: Sizes, *, steps: int = 20) -> Json:
    """Train tables twice from one seed, and tell whether weights end bit-equal.

    The gradients of outputs are fixed, the same in both runs: only what the layers do
    with them can differ.

    RETURNS (Json): For ours in a fixed order and by atomic additions, and for Thinc's.
    """
    n_tokens = sizes.tokens[len(sizes.tokens) // 2]
    msg.text(f"equal runs: {steps} steps of {n_tokens} tokens")
    samples = draw_samples(draw_text_keys, n_tokens, min(steps, sizes.samples))
    stock = make_thinc(sizes)

    def train(name: str, is_fixed: bool) -> bytes:
        embedder = make_embedder(name, device, stock)
        step = make_steps(device, embedder, is_train=True)
        optimizer = Adam(0.001)
        with order_fixed(is_fixed):
            for number in range(steps):
                step(device.array(samples[number % len(samples)]))()
                for table in embedder.tables:
                    table.finish_update(optimizer)
        weights = [device.get(table.get_param("E")) for table in embedder.tables]
        return numpy.concatenate(weights).tobytes()

    ways = {
        "ours, fixed order": (OURS, True),
        "ours, atomic": (OURS, False),
        "thinc": (THINC, True),
    }
    are_equal = {way: train(*how) == train(*how) for way, how in ways.items()}
    return {"tokens": n_tokens, "steps": steps, "weights_are_equal": are_equal}


def draw_gradient(device: Device, shape: tuple[int, ...]) -> Array:
    """Draw the gradient of an output, the same one each time."""
    rng = numpy.random.default_rng(0)
    return device.array(rng.standard_normal(shape, dtype="float32"))


def _make_ours(table: Model) -> Model:
    ours: Model = hashembed.HashEmbed(
        table.get_dim("nO"), table.get_dim("nV"), seed=table.attrs["seed"]
    )
    ours.ops = table.ops
    ours.set_param("E", cast(Any, table.get_param("E")).copy())
    return ours


def _time(
    device: Device,
    stock: Model,
    samples: list[Array],
    schedule: Schedule,
    *,
    is_train: bool,
) -> Json:
    def make(name: str) -> Contender:
        embedder = make_embedder(name, device, stock)
        return make_steps(device, embedder, is_train=is_train)

    makers = {name: partial(make, name) for name in (THINC, OURS)}
    times = time_both_ways(device, makers, samples, schedule)
    return {
        "contenders": times,
        "times_as_fast_as_thinc": {
            clock: get_ratio(times, THINC, OURS, clock) for clock in CLOCKS
        },
    }
