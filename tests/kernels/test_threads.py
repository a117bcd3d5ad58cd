"""Compiled kernels release the GIL for large work, and keep it for small work."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.convolution import add_convolved, pack
from spacy_hashembeds.kernels.mixing import Norm

from .paths import KERNELS, needs_kernels

pytestmark = needs_kernels

#: Numbers of rows.
LARGE, SMALL = 4500, 100
WIDTH, PIECES = 96, 3
RATES = ("beta1", "beta2", "eps", "learn_rate", "clip", "decay", "average")


def draw(*shape: int) -> NDArray:
    return np.random.default_rng(0).standard_normal(shape, dtype="float32")


def list_calls(n: int) -> dict[str, Callable[[], Any]]:
    """List calls of each kernel with n rows."""
    rows, mixed, padded = draw(n, WIDTH), draw(n, WIDTH * PIECES), draw(n + 2, WIDTH)
    norm = Norm(draw(WIDTH * PIECES), draw(WIDTH), draw(WIDTH))
    begun, sums = KERNELS.begin_rows(rows.copy(), mixed, norm), norm.make_zeros()
    alike, numbers = np.arange(n) % SMALL, np.arange(1, n + 1)
    keys = np.arange(SMALL * 64, dtype="uint64").reshape(SMALL, 64)[alike]
    pairs, equal = keys[:, :2].copy(), rows[alike]
    places = np.arange(n * 4, dtype="uint32").reshape(n, 4) % 48
    finders = [(None, 0, seed, 4, 1000) for seed in (1, 2)]
    columns = KERNELS.FoldedColumns([(1000, finder, None) for finder in finders])
    F, adam = draw(2000, WIDTH * PIECES), [draw(n * WIDTH) ** 2 for _ in range(5)]

    def make_convolution(precision: str) -> Callable[[], Any]:
        number = [of for _, of, _ in KERNELS.INSTRUCTION_SETS].index(precision)
        with compiled.using(KERNELS):
            packed = pack(draw(WIDTH * PIECES, 3 * WIDTH), norm, number)
        return lambda: add_convolved(packed, padded, numbers, rows)

    return {
        "finish": lambda: KERNELS.finish_rows(rows, mixed, norm, True),
        "begin": lambda: KERNELS.begin_rows(rows, mixed, norm),
        "backprop": lambda: KERNELS.backprop_rows(rows, *begun, norm, sums),
        "distinct": lambda: KERNELS.find_distinct(keys),
        "equal": lambda: KERNELS.find_equal_rows(equal, SMALL),
        "embed": lambda: KERNELS.embed_folded(F, columns, pairs, norm),
        "gather": lambda: KERNELS.gather_sums(rows[:48], places),
        "scatter": lambda: KERNELS.scatter_sums(rows[:48], places, rows),
        "copy": lambda: KERNELS.copy_windows(padded, numbers, 1),
        "add": lambda: KERNELS.add_windows(padded, numbers, 1, mixed),
        "convolution": make_convolution("int8"),
        "adam": lambda: KERNELS.step_adam(*adam, dict.fromkeys(RATES, 0.5)),
        "convolution in floats": make_convolution("float32"),
    }


NAMES = [] if KERNELS is None else [*list_calls(1)]


@pytest.fixture
def waiting() -> Iterator[tuple[Callable[[], None], threading.Event]]:
    """A function that starts a thread once the GIL is free, and an event it sets."""
    interval = sys.getswitchinterval()
    gate, has_run = threading.Lock(), threading.Event()
    gate.acquire()

    def wait() -> None:
        with gate:
            has_run.set()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    sys.setswitchinterval(1000)  # seconds: the interpreter does not switch threads
    yield gate.release, has_run
    sys.setswitchinterval(interval)
    thread.join(10)  # blocks forever if the test has failed early


@pytest.mark.parametrize("name", NAMES)
def test_large_work_releases_the_gil(name, waiting):
    start, has_run = waiting
    call, end = list_calls(LARGE)[name], time.monotonic() + 20
    start()
    while not has_run.is_set() and time.monotonic() < end:
        call()
    assert has_run.is_set()


@pytest.mark.parametrize("name", NAMES[:-1])
def test_small_work_keeps_the_gil(name, waiting):
    start, has_run = waiting
    call = list_calls(SMALL)[name]
    start()
    for _ in range(100):
        call()
    assert not has_run.is_set()
