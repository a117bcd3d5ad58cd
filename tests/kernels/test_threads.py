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

#: Rows of large work, and of small work.
LARGE, SMALL = 4500, 100


#: Computes some rows.
Run = Callable[[slice], Any]


def draw(*shape: int) -> NDArray:
    return np.random.default_rng(0).standard_normal(shape, dtype="float32")


MIXED, ROWS = draw(LARGE, WIDTH * PIECES), draw(LARGE, WIDTH)
PADDED = draw(LARGE + 2, WIDTH)
NORM = Norm(draw(WIDTH * PIECES), draw(WIDTH), draw(WIDTH))
NUMBERS = np.arange(1, LARGE + 1)
PLACES = np.arange(LARGE * 4, dtype="uint32").reshape(-1, 4) % 48
KEYS = np.tile(np.arange(SMALL * 64, dtype="uint64").reshape(SMALL, 64), (45, 1))
EQUAL = np.tile(ROWS[:SMALL], (45, 1))
RATES = ("beta1", "beta2", "eps", "learn_rate", "clip", "decay", "average")


def make_backprop() -> Run:
    begun, sums = KERNELS.begin_rows(ROWS.copy(), MIXED, NORM), NORM.make_zeros()
    return lambda of: KERNELS.backprop_rows(
        ROWS[of], *(array[of] for array in begun), NORM, sums
    )


def make_embed() -> Run:
    finders = [(None, 0, seed, 4, 1000) for seed in (1, 2)]
    columns = KERNELS.FoldedColumns([(1000, finder, None) for finder in finders])
    F, keys = draw(2000, WIDTH * PIECES), np.ascontiguousarray(KEYS[:, :2])
    return lambda of: KERNELS.embed_folded(F, columns, keys[of], NORM)


def make_convolution(precision: str = "int8") -> Run:
    sets, Y = [of for _, of, _ in KERNELS.INSTRUCTION_SETS], ROWS.copy()
    with compiled.using(KERNELS):
        W = draw(WIDTH * PIECES, 3 * WIDTH)
        packed = pack(W, NORM, sets.index(precision))
    return lambda of: add_convolved(packed, PADDED, NUMBERS[of], Y[of])


def make_adam() -> Run:
    arrays = [draw(LARGE, WIDTH) ** 2 for _ in range(5)]
    rates = dict.fromkeys(RATES, 0.5)
    return lambda of: KERNELS.step_adam(*(a[of].reshape(-1) for a in arrays), rates)


def make(name: str, *arrays: NDArray, whole: Any = (), after: Any = ()) -> Any:
    """Have a kernel called with parts of arrays, between what is whole."""

    def make_run() -> Run:
        before, parts = [a.copy() for a in whole], [a.copy() for a in arrays]
        kernel = getattr(KERNELS, name)
        return lambda of: kernel(*before, *(part[of] for part in parts), *after)

    return make_run


def make_add() -> Run:
    dX = PADDED.copy()
    return lambda of: KERNELS.add_windows(dX, NUMBERS[of], 1, MIXED[of])


MAKERS = {
    "finish": make("finish_rows", ROWS, MIXED, after=(NORM, True)),
    "begin": make("begin_rows", ROWS, MIXED, after=(NORM,)),
    "backprop": make_backprop,
    "distinct": make("find_distinct", KEYS),
    "equal": make("find_equal_rows", EQUAL, after=(SMALL,)),
    "embed": make_embed,
    "gather": make("gather_sums", PLACES, whole=[ROWS[:48]]),
    "scatter": make("scatter_sums", PLACES, ROWS, whole=[ROWS[:48]]),
    "copy": make("copy_windows", NUMBERS, whole=[PADDED], after=(1,)),
    "add": make_add,
    "convolution": make_convolution,
    "adam": make_adam,
}


class Waiting:
    """A thread that, once it is let go, waits for nothing but the lock."""

    def __init__(self) -> None:
        self.has_run, self._gate = False, threading.Lock()
        self._gate.acquire()
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()

    def _wait(self) -> None:
        with self._gate:
            self.has_run = True

    def let_go(self) -> None:
        self._gate.release()

    def join(self) -> None:
        if self._gate.locked():  # a test that failed before would wait forever
            self.let_go()
        self._thread.join()


@pytest.fixture
def waiting() -> Iterator[Waiting]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # seconds: nobody is asked to give up the lock
    thread = Waiting()
    yield thread
    sys.setswitchinterval(interval)
    thread.join()


@pytest.mark.parametrize(
    "make_run", [*MAKERS.values(), partial(make_convolution, "float32")]
)
def test_large_work_lets_another_thread_run(make_run, waiting):
    run = make_run()
    waiting.let_go()
    end = time.monotonic() + 20
    while not waiting.has_run and time.monotonic() < end:
        run(slice(LARGE))
    assert waiting.has_run


@pytest.mark.parametrize("make_run", MAKERS.values(), ids=MAKERS)
def test_small_work_lets_no_other_thread_run(make_run, waiting):
    run = make_run()
    waiting.let_go()
    for _ in range(100):
        run(slice(SMALL))
    assert not waiting.has_run
