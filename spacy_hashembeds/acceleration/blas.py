"""BLAS libraries: the one that multiplies a pipeline's matrices, and the fastest.

Thinc multiplies with blis, on one thread. Where blis does not know the processor, it
falls back to its `generic` kernels, and numpy's own BLAS is several times as fast.
"""

import ctypes
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, cast

import numpy as np
from spacy.language import Language
from thinc.api import Model, NumpyOps, Ops, get_current_ops, set_current_ops
from thinc.types import Floats2d

from ..inputs import check_pipeline
from ..kernels import compiled
from ..threads import find_cblas, find_function, find_openblas, one_thread

Shape = tuple[int, int, int]

#: Rows, inputs and outputs of the products in a pipeline of width 96: the encoder on
#: one short document and on a batch, and the mixing layer of the embedding on a batch.
SHAPES: tuple[Shape, ...] = ((27, 288, 288), (900, 288, 288), (900, 384, 288))
#: How much faster numpy's BLAS must be at every shape to be chosen. Less is not worth
#: results that are rounded otherwise, and may be noise.
MARGIN = 1.2


@dataclass(frozen=True)
class Blas:
    """A library, the kernels it chose for this processor, and its threads, if known."""

    name: str
    version: str
    kernels: str | None
    threads: int | None


class NumpyBlasOps(NumpyOps):
    """Thinc's operations on the CPU with numpy's BLAS, OpenBLAS on one thread."""

    def gemm(self, x: Any, y: Any, **settings: Any) -> Any:
        """Multiply two matrices, as `thinc.api.Ops.gemm`."""
        with one_thread():
            return super().gemm(x, y, **settings)

    def cblas(self) -> Any:
        """Get the BLAS for C code, such as spaCy's parser: blis where there are no
        compiled kernels to call numpy's through, or where that is no OpenBLAS.
        """
        found = [find_cblas(f"cblas_{name}") for name in ("sgemm", "sgemv", "saxpy")]
        if compiled.kernels is None or None in found:
            return super().cblas()
        return compiled.kernels.make_cblas(*found)


BLIS_OPS = NumpyOps()
NUMPY_BLAS_OPS = NumpyBlasOps(use_blis=False)


def describe_blis() -> Blas:
    """Describe Thinc's blis: "generic" where it has no kernels for the processor."""
    query = find_function("blis.cy", ("bli_arch_query_id",), ctypes.c_int)
    get_name = find_function("blis.cy", ("bli_arch_string",), ctypes.c_char_p)
    kernels = get_name(query()).decode() if query and get_name else None
    return Blas("blis", version("blis"), kernels, 1)


def describe_numpy_blas() -> Blas:
    """Describe the library that numpy was built with; OpenBLAS tells everything."""
    config = np.show_config(mode="dicts")
    built = config.get("Build Dependencies", {}).get("blas", {})
    get_name = find_openblas("get_corename", ctypes.c_char_p)
    get_threads = find_openblas("get_num_threads", ctypes.c_int)
    return Blas(
        built.get("name", "unknown"),
        built.get("version", "unknown"),
        get_name().decode() if get_name else None,
        get_threads() if get_threads else None,
    )


def measure_speeds(
    choices: Mapping[str, Ops], shapes: Sequence[Shape] = SHAPES, *, rounds: int = 5
) -> dict[str, list[list[float]]]:
    """Measure float32 products, forward and of the weights' gradient, in GFLOP/s: of
    each choice and shape those of the rounds, in turns after one that warms up.
    """
    rng = np.random.default_rng(0)
    speeds: dict[str, list[list[float]]] = {name: [] for name in choices}
    for nB, nI, nO in shapes:
        X, W, dY = (
            cast(Floats2d, rng.standard_normal(size, dtype="float32"))
            for size in ((nB, nI), (nO, nI), (nB, nO))
        )
        seconds: dict[str, list[float]] = {name: [] for name in choices}
        for _ in range(rounds + 1):
            for name, ops in choices.items():
                start = time.perf_counter()
                ops.gemm(X, W, trans2=True)
                ops.gemm(dY, X, trans1=True)
                seconds[name].append(time.perf_counter() - start)
        for name in choices:
            flops = 2 * 2 * nB * nI * nO
            speeds[name].append([flops / one / 1e9 for one in seconds[name][1:]])
    return speeds


def is_faster(speeds: Sequence[float], others: Sequence[float]) -> bool:
    """Tell whether speeds are higher than others at every shape, by a clear margin."""
    return all(a >= MARGIN * b for a, b in zip(speeds, others, strict=True))


@cache
def is_numpy_faster() -> bool:
    """Measure whether numpy's BLAS is clearly faster than blis, in some 20 ms. What
    other processes disturb does not count: only the fastest round does.
    """
    choices = {"numpy": NUMPY_BLAS_OPS, "blis": BLIS_OPS}
    speeds = measure_speeds(choices, ((27, 288, 288), (200, 288, 288)))
    return is_faster(*(list(map(max, speeds[name])) for name in choices))


def choose_ops(ops: Ops) -> Ops:
    """Replace Thinc's plain operations on the CPU if numpy's BLAS is clearly faster."""
    # not isinstance: what Apple's and others' operations override must stay
    is_blis = type(ops) is NumpyOps and getattr(ops, "use_blis", False)
    return NUMPY_BLAS_OPS if is_blis and is_numpy_faster() else ops


def use_fastest_blas(nlp: Language) -> bool:
    """Put the layers of a pipeline on the fastest BLAS present.

    What the callback does in `[nlp.after_pipeline_creation]`. Only on the CPU, and only
    where numpy's BLAS, on one thread as blis is, is measured to be clearly faster.
    Predictions and gradients are the same but for rounding. spaCy's parser, whose loop
    over states is C, has it too where there are compiled kernels, and else blis.

    nlp (Language): The pipeline. Layers that are made or replaced later, such as the
        last one of a parser that gets more labels, are not affected.
    RETURNS (bool): Whether any layer was moved.
    """
    check_pipeline(nlp)
    moved = False
    for _, node in walk_layers(nlp):
        ops = choose_ops(node.ops)
        moved = moved or ops is not node.ops
        node.ops = ops
    return moved


@contextmanager
def keeping_ops() -> Iterator[Ops]:
    """Give Thinc's current ops, and make them the current ones again in the end."""
    ops = get_current_ops()
    try:
        yield ops
    finally:
        set_current_ops(ops)


def walk_layers(nlp: Language) -> Iterator[tuple[str, Model]]:
    """Give all layers, each with the name of its component."""
    for name, pipe in nlp.components:
        model = getattr(pipe, "model", None)
        for node in model.walk() if isinstance(model, Model) else ():
            yield name, node
