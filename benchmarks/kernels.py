"""Compiled kernels beside numpy, piece by piece."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from thinc.api import Dropout

from spacy_hashembeds.kernels import compiled
from spacy_hashembeds.kernels.convolution import PRECISIONS, find_instructions, pack
from spacy_hashembeds.kernels.distinct import find_distinct
from spacy_hashembeds.kernels.mixing import Norm, begin_finish, finish
from spacy_hashembeds.kernels.sums import gather_add, scatter_add
from spacy_hashembeds.kernels.windows import add_windows, copy_windows
from spacy_hashembeds.layers.dropout import draw_mask
from spacy_hashembeds.layers.windowencoder import Rows, Unpacked, predict
from spacy_hashembeds.optimizers import Adam

from .data import Sizes
from .layers import WIDTH
from .timing import Results, Schedule, in_numpy, time_in_turns

NUMPY, COMPILED = "numpy", "compiled"
PIECES = 3
COLUMNS = 4

#: Given rows of random numbers, gets ready what is timed.
Piece = Callable[[np.random.Generator, int], Callable[[], object]]


def make_finish(rng: np.random.Generator, n: int) -> Callable[[], object]:
    """Bias, maximum of the pieces and normalisation in prediction."""
    mixed, norm = _make_mixed(rng, n)
    return lambda: finish(mixed, norm)


def make_finish_and_back(rng: np.random.Generator, n: int) -> Callable[[], object]:
    """The same in training, and back."""
    mixed, norm = _make_mixed(rng, n)
    gradients, dY = norm.make_zeros(), _make_rows(rng, n, WIDTH)

    def run() -> None:
        _, backprop = begin_finish(mixed, norm)
        backprop(dY, gradients)

    return run


def make_windows_and_back(rng: np.random.Generator, n: int) -> Callable[[], object]:
    """Each row with its two neighbours, and back."""
    X, rows = _make_rows(rng, n + 2, WIDTH), np.arange(1, n + 1)
    dX = np.zeros_like(X)

    def run() -> None:
        add_windows(dX, rows, 1, copy_windows(X, rows, 1))

    return run


def make_sums_and_back(rng: np.random.Generator, n: int) -> Callable[[], object]:
    """Four rows of a table of 5,000, and back."""
    table = _make_rows(rng, 5000, WIDTH)
    gradient, rows = np.zeros_like(table), rng.integers(0, 5000, (n, 4), dtype="uint32")
    return lambda: scatter_add(gradient, rows, gather_add(table, rows))


def make_distinct(rng: np.random.Generator, n: int) -> Callable[[], object]:
    """Search for equal tokens, of which half are distinct."""
    words = rng.integers(2**63, size=(n // 2, COLUMNS), dtype="uint64")
    keys = words[rng.integers(0, len(words), n)]
    return lambda: find_distinct(keys)


def make_mask(rng: np.random.Generator, n: int) -> Callable[[], object]:
    """Masks of what dropout keeps."""
    return partial(draw_mask, Dropout(0.1), (n, WIDTH))


def make_adam(rng: np.random.Generator, n: int) -> Callable[[], object]:
    """A step of Adam, which numpy has Thinc do."""
    optimizer = Adam(0.001, L2=0.01)
    weights: Any = _make_rows(rng, n, WIDTH)
    gradient: Any = _make_rows(rng, n, WIDTH)
    waiting = gradient.copy()

    def run() -> None:
        np.copyto(waiting, gradient)
        optimizer((0, "W"), weights, waiting)

    return run


def _make_mixed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, Norm]:
    bias, scale, shift = (
        _make_rows(rng, 1, width)[0] for width in (WIDTH * PIECES, WIDTH, WIDTH)
    )
    return _make_rows(rng, n, WIDTH * PIECES), Norm(bias, scale, shift)


def _make_rows(rng: np.random.Generator, n: int, width: int) -> np.ndarray:
    return rng.standard_normal((n, width), dtype="float32")


def make_convolution(
    precision: str, rng: np.random.Generator, n: int
) -> Callable[[], object]:
    """A convolution of the encoder in prediction, with its products."""
    _, norm = _make_mixed(rng, 0)
    W = _make_rows(rng, PIECES * WIDTH, 3 * WIDTH)
    number = find_instructions(precision)
    weights = Unpacked(W, norm, 1) if number is None else pack(W, norm, number)
    X, rows = _make_rows(rng, n + 2, WIDTH), np.arange(1, n + 1)
    return lambda: predict([weights], X, [Rows(rows, rows, n + 2)])


ALL_PIECES: Mapping[str, Piece] = {
    **{
        f"convolution, {precision}": partial(make_convolution, precision)
        for precision in PRECISIONS
    },
    "finish, prediction": make_finish,
    "finish, forward and backward": make_finish_and_back,
    "windows, forward and backward": make_windows_and_back,
    "sums of four rows, forward and backward": make_sums_and_back,
    "distinct tokens": make_distinct,
    "dropout mask": make_mask,
    "Adam": make_adam,
}


def measure_kernels(corpus: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure each piece by compiled kernels and without, of random numbers.

    RAISES (RuntimeError): If there are no compiled kernels in use.
    """
    if compiled.kernels is None:
        raise RuntimeError(
            "There should be compiled kernels in use to measure, but are none: "
            "`spacy hashembeds doctor` says why."
        )

    rows, calls = sizes.rows, sizes.kernel_calls

    def prepare(piece: Piece, n: int) -> Callable[[], object]:
        call = piece(np.random.default_rng(0), n)
        return lambda: [call() for _ in range(calls)]

    yield {
        "width": WIDTH,
        "pieces": PIECES,
        "rows_per_call": rows,
        "calls": calls,
        "timings": {
            "one thread": {
                name: time_in_turns(
                    dict.fromkeys((NUMPY, COMPILED), partial(lambda p: p, piece)),
                    prepare,
                    [rows],
                    schedule,
                    contexts=in_numpy(NUMPY),
                    count_words=lambda n: n * calls,
                )
                for name, piece in ALL_PIECES.items()
            }
        },
    }
