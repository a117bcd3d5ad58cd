"""Whether compiled kernels let other threads run: large work does, small work not."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.convolution import add_convolved, pack
from spacy_hashembeds.kernels.mixing import Norm

from .paths import KERNELS, needs_kernels

pytestmark = needs_kernels

WIDTH, PIECES = 96, 3

#: Rows of large work, and of small work, which all of it is cut into.
LARGE, SMALL = 4500, 100

#: Computes some rows: returns what they become, or adds it to arrays.
Run = Callable[[slice], Any]


def draw(*shape: int) -> NDArray:
    return np.random.default_rng(0).standard_normal(shape, dtype="float32")


def repeat(rows: NDArray) -> NDArray:
    """Have the same rows in each part, so that the first ones are the same too."""
    return np.tile(rows, (LARGE // SMALL, 1))


MIXED, ROWS = draw(LARGE, WIDTH * PIECES), draw(LARGE, WIDTH)
NORM = (draw(WIDTH * PIECES), draw(WIDTH), draw(WIDTH))
TABLE = draw(48, WIDTH)
# of other rows in each column: gradients are added column by column
PLACES = np.arange(LARGE * 4, dtype="uint32").reshape(-1, 4) % 48
KEYS = repeat(np.arange(SMALL * 64, dtype="uint64").reshape(SMALL, 64))


def make_finish() -> tuple[Run, list[NDArray]]:
    Y = np.zeros_like(ROWS)
    return lambda part: KERNELS.finish_rows(Y[part], MIXED[part], NORM, True), [Y]


def make_begin() -> tuple[Run, list[NDArray]]:
    Y = np.zeros_like(ROWS)
    return lambda part: KERNELS.begin_rows(Y[part], MIXED[part], NORM), [Y]


def make_backprop() -> tuple[Run, list[NDArray]]:
    which, X, inverse = KERNELS.begin_rows(ROWS.copy(), MIXED, NORM)
    sums = [np.zeros_like(array) for array in NORM]

    def run(part: slice) -> Any:
        saved = which[part], X[part], inverse[part]
        return KERNELS.backprop_rows(ROWS[part], *saved, NORM, sums)

    return run, sums


def make_distinct() -> tuple[Run, list[NDArray]]:
    return lambda part: KERNELS.find_distinct(KEYS[part])[1], []


def make_equal() -> tuple[Run, list[NDArray]]:
    X = repeat(ROWS[:SMALL])
    return lambda part: KERNELS.find_equal_rows(X[part], SMALL)[1], []


def make_embed() -> tuple[Run, list[NDArray]]:
    columns = KERNELS.FoldedColumns(
        [(1000, (None, 0, seed, 4, 1000), None) for seed in (1, 2)]
    )
    F, keys = draw(2000, WIDTH * PIECES), np.ascontiguousarray(KEYS[:, :2])
    return lambda part: KERNELS.embed_folded(F, columns, keys[part], NORM), []


def make_gather() -> tuple[Run, list[NDArray]]:
    return lambda part: KERNELS.gather_sums(TABLE, PLACES[part]), []


def make_scatter() -> tuple[Run, list[NDArray]]:
    sums = np.zeros_like(TABLE)
    return lambda part: KERNELS.scatter_sums(sums, PLACES[part], ROWS[part]), [sums]


def make_copy() -> tuple[Run, list[NDArray]]:
    X, rows = draw(LARGE + 2, WIDTH), np.arange(1, LARGE + 1)
    return lambda part: KERNELS.copy_windows(X, rows[part], 1), []


def make_convolution(precision: str = "int8") -> tuple[Run, list[NDArray]]:
    X, rows = draw(LARGE + 2, WIDTH), np.arange(1, LARGE + 1)
    Y = np.zeros_like(ROWS)
    with compiled.using(KERNELS):
        precisions = [of for _, of, _ in KERNELS.INSTRUCTION_SETS]
        W = draw(WIDTH * PIECES, 3 * WIDTH)
        packed = pack(W, Norm(*NORM), precisions.index(precision))
    return lambda part: add_convolved(packed, X, rows[part], Y[part]), [Y]


def make_add() -> tuple[Run, list[NDArray]]:
    dX, rows = np.zeros((LARGE + 2, WIDTH), dtype="float32"), np.arange(1, LARGE + 1)
    return lambda part: KERNELS.add_windows(dX, rows[part], 1, MIXED[part]), [dX]


def make_adam() -> tuple[Run, list[NDArray]]:
    arrays = [draw(LARGE, WIDTH) ** 2 for _ in range(5)]
    names = ("beta1", "beta2", "eps", "learn_rate", "clip", "decay", "average")
    rates = dict.fromkeys(names, 0.5)

    def run(part: slice) -> None:
        KERNELS.step_adam(*(array[part].reshape(-1) for array in arrays), rates)

    return run, arrays


MAKERS = [
    make_finish, make_begin, make_backprop, make_distinct, make_equal, make_embed,
    make_gather, make_scatter, make_copy, make_convolution, make_add, make_adam,
]  # fmt: skip

all_kernels = pytest.mark.parametrize(
    "make", [*MAKERS, partial(make_convolution, "float32")]
)


def join(parts: list[Any]) -> list[NDArray]:
    """Join what parts became: nothing, an array each, or some arrays each."""
    arrays = [part if isinstance(part, tuple) else (part,) for part in parts]
    return [
        np.concatenate(of_all)
        for of_all in zip(*arrays, strict=True)
        if of_all[0] is not None
    ]


@all_kernels
def test_small_parts_give_the_bits_of_all_at_once(make):
    run, sums = make()
    whole = [*join([run(slice(LARGE))]), *sums]
    run, sums = make()
    parts = [run(slice(i, i + SMALL)) for i in range(0, LARGE, SMALL)]
    for array, expected in zip([*join(parts), *sums], whole, strict=True):
        np.testing.assert_array_equal(array, expected)


class Waiting:
    """A thread that, once it is let go, waits for nothing but the lock."""

    def __init__(self) -> None:
        self.has_run = self._is_free = False
        self._gate = threading.Lock()
        self._gate.acquire()
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()

    def _wait(self) -> None:
        with self._gate:
            self.has_run = True

    def let_go(self) -> None:
        if not self._is_free:
            self._is_free = True
            self._gate.release()

    def join(self) -> None:
        self.let_go()  # a test that failed before would wait forever
        self._thread.join()


@pytest.fixture
def waiting() -> Iterator[Waiting]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # seconds: nobody is asked to give up the lock
    thread = Waiting()
    yield thread
    sys.setswitchinterval(interval)
    thread.join()


@all_kernels
def test_large_work_lets_another_thread_run(make, waiting):
    run, _ = make()
    waiting.let_go()
    end = time.monotonic() + 20
    while not waiting.has_run and time.monotonic() < end:
        run(slice(LARGE))
    assert waiting.has_run


@pytest.mark.parametrize("make", MAKERS)
def test_small_work_lets_no_other_thread_run(make, waiting):
    run, _ = make()
    waiting.let_go()
    for _ in range(100):
        run(slice(SMALL))
    assert not waiting.has_run
