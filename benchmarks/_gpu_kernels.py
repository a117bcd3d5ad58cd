"""The kernels by themselves, and the limit: a copy. Imports no spaCy."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy
from numpy.typing import NDArray
from wasabi import msg

from spacy_hashembeds.kernels.cuda import gather_rows, scatter_rows
from spacy_hashembeds.kernels.rows import Array, Table

from ._gpu_data import (
    Draw,
    Tables,
    draw_distinct_keys,
    draw_samples,
    draw_text_keys,
    make_tables,
)
from ._gpu_device import Device
from ._gpu_measure import (
    GRADIENT_TOLERANCE,
    Json,
    Sizes,
    compare,
    order_fixed,
    time_both_ways,
    with_order,
)
from ._gpu_roofline import Traffic, count_gather, count_scatter, describe_roofline
from ._timing import Maker, Schedule

GATHER = "gather_rows"
SCATTER = {True: "scatter_rows, fixed order", False: "scatter_rows, atomic"}

Makers = dict[str, Maker[Array]]


def measure_copy(device: Device, sizes: Sizes, schedule: Schedule) -> Json:
    """Measure the bandwidth of a copy within the GPU's memory, read and written."""
    chunk = _draw_numbers((2**18,))
    n_chunks = max(1, sizes.copied_bytes // chunk.nbytes)
    source = device.ops.xp.tile(device.array(chunk), n_chunks)
    target = device.ops.xp.zeros_like(source)

    def copy() -> None:
        device.ops.xp.copyto(target, source)

    copy()
    agreement = compare("copy", device.get(target[-len(chunk) :]), chunk)
    times = time_both_ways(device, {"copy": lambda: lambda _: copy}, [None], schedule)
    timed = times["copy"]
    ms = (timed["queued"] or timed["called"])["ms"]
    moved = 2 * source.nbytes
    return {
        "agreement": agreement,
        "moved_bytes": moved,
        **timed,
        "gb_per_s": moved / ms / 1e6,
    }


def measure_kernels(
    device: Device, sizes: Sizes, schedule: Schedule, copy_bandwidth: float
) -> list[Json]:
    """Measure each kernel at each size, on tables that fit in L2 and that do not.

    copy_bandwidth (float): In GB a second.
    RETURNS (list[Json]): For each kernel and size its roofline.
    """
    l2_bytes = device.describe()["l2_bytes"]
    results = []
    for kind, tables, draw in _make_all(device, sizes):
        makers = make_kernels(device, tables)
        for n_tokens in sizes.tokens:
            msg.text(f"kernels: {kind} tables, {n_tokens} tokens")
            samples = draw_samples(draw, n_tokens, sizes.samples)
            agreement = check_kernels(device, tables, samples[0])
            on_device = [device.array(keys) for keys in samples]
            times = time_both_ways(device, makers, on_device, schedule)
            traffic = count_traffic(tables, samples)
            results += [
                {
                    "kernel": name,
                    "tables": kind,
                    "tables_bytes": tables.n_bytes,
                    "tables_fit_in_l2": tables.n_bytes <= l2_bytes,
                    "tokens": n_tokens,
                    "agreement": agreement[name],
                    **describe_roofline(traffic[name], times[name], copy_bandwidth),
                }
                for name in makers
            ]
    return results


def make_kernels(device: Device, tables: Tables) -> Makers:
    """Make the kernels, forward and backward."""
    gradients = [Table(table.array.copy(), table.finder) for table in tables.tables]
    n_columns = len(tables.tables) * tables.width

    def prepare_gather(keys: Array) -> Callable[[], object]:
        out = device.ops.alloc2f(len(keys), n_columns, zeros=False)
        return lambda: gather_rows(keys, tables.tables, out)

    @cache
    def get_gradients(n: int) -> Array:
        return device.array(_draw_numbers((n, n_columns)))

    def prepare_scatter(keys: Array) -> Callable[[], object]:
        pairs = prepare_gather(keys)()
        # just written, as what comes from the layer above
        d_out = get_gradients(len(keys)).copy()
        return lambda: scatter_rows(pairs, d_out, gradients)

    scatter = {
        name: with_order(lambda: prepare_scatter, is_fixed)
        for is_fixed, name in SCATTER.items()
    }
    return {GATHER: lambda: prepare_gather, **scatter}


def check_kernels(device: Device, tables: Tables, keys: NDArray) -> dict[str, float]:
    """Compare what the kernels compute with sums in double precision on the CPU.

    RAISES (RuntimeError): If one is off.
    RETURNS (dict[str, float]): For each the largest difference, relative.
    """
    d_out = _draw_numbers((len(keys), len(tables.values) * tables.width))
    # what is not written stays as it is, and is seen
    out = device.array(numpy.full_like(d_out, numpy.nan))
    pairs = gather_rows(device.array(keys), tables.tables, out)
    expected = numpy.concatenate(tables.sum_rows(keys), axis=1)
    differences = {GATHER: compare(GATHER, device.get(out), expected)}
    wanted = tables.add_gradients(keys, d_out)
    for is_fixed, name in SCATTER.items():
        gradients = [Table(table.array.copy(), table.finder) for table in tables.tables]
        with order_fixed(is_fixed):
            scatter_rows(pairs, device.array(d_out), gradients)
        differences[name] = max(
            compare(name, device.get(gradient.array), values, GRADIENT_TOLERANCE)
            for gradient, values in zip(gradients, wanted, strict=True)
        )
    return differences


def count_traffic(tables: Tables, samples: Sequence[NDArray]) -> dict[str, Traffic]:
    """Count the bytes that each kernel moves, on the average of samples."""
    width = tables.width
    found = [tables.find_rows(keys) for keys in samples]
    traffic = {GATHER: [count_gather(rows, width) for rows in found]}
    for is_fixed, name in SCATTER.items():
        traffic[name] = [
            count_scatter(rows, width, is_in_order=is_fixed) for rows in found
        ]
    return {
        name: Traffic(
            minimal=sum(one.minimal for one in each) // len(each),
            touched=sum(one.touched for one in each) // len(each),
        )
        for name, each in traffic.items()
    }


def _make_all(device: Device, sizes: Sizes) -> Iterator[tuple[str, Tables, Draw]]:
    """Make tables of each kind, one after the other: the large ones take gigabytes."""
    kinds: list[tuple[str, Sequence[int], Draw]] = [
        ("usual", sizes.rows, draw_text_keys),
        ("large", sizes.large_rows, draw_distinct_keys),
    ]
    for kind, rows, draw in kinds:
        yield kind, make_tables(device, rows, sizes.width), draw


def _draw_numbers(shape: tuple[int, ...]) -> Any:
    return numpy.random.default_rng(0).standard_normal(shape, dtype="float32")
