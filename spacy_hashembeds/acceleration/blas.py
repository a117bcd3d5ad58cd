"""BLAS libraries: measure which is the fastest here, and let a pipeline use it.

Thinc multiplies with blis, on one thread. If blis does not know the processor, blis
falls back to its `generic` kernels, and numpy's own BLAS is several times as fast.
"""

import ctypes
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from typing import Any, NamedTuple, cast

import numpy as np
from spacy.language import Language
from thinc.api import NumpyOps, Ops, get_current_ops, set_current_ops
from thinc.types import Floats2d

from ..arguments import check_pipeline
from ..kernels import compiled
from ..threads import find_function, find_openblas, one_thread
from ..training.annotation import walk_layers

#: Rows, inputs and outputs of the products in a pipeline of width 96: the encoder on
#: one short document and on a batch.
SHAPES = ((27, 288, 288), (200, 288, 288))
#: numpy's BLAS is chosen if its speed at every shape is at least this multiple of
#: blis's. A smaller gain may be noise, and does not justify different rounding.
MARGIN = 1.2


class Blas(NamedTuple):
    """A library, and its kernels for this processor, if known."""

    name: str
    version: str
    kernels: str | None


class NumpyBlasOps(NumpyOps):
    """Thinc's operations on the CPU with numpy's BLAS, OpenBLAS on one thread."""

    def gemm(self, x: Any, y: Any, **settings: Any) -> Any:
        """Multiply two matrices, as `thinc.api.Ops.gemm`."""
        with one_thread():
            return super().gemm(x, y, **settings)

    def cblas(self) -> Any:
        """Return the BLAS for C code, such as spaCy's parser: that of the compiled
        kernels, or blis without them. With both, equal rows of weights give exactly
        equal products.
        """
        kernels = compiled.kernels
        return super().cblas() if kernels is None else kernels.make_cblas()


BLIS_OPS = NumpyOps()
NUMPY_BLAS_OPS = NumpyBlasOps(use_blis=False)


def describe_libraries() -> list[Blas]:
    """Describe Thinc's blis, whose kernels are "generic" if it does not know the
    processor, and the library that numpy was built with.
    """
    query = find_function("blis.cy", ("bli_arch_query_id",), ctypes.c_int)
    name_blis = find_function("blis.cy", ("bli_arch_string",), ctypes.c_char_p)
    name_openblas = find_openblas("get_corename", ctypes.c_char_p)
    config = np.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    built_with, version_ = (str(config.get(k, "unknown")) for k in ("name", "version"))
    blis = name_blis(query()).decode() if query and name_blis else None
    openblas = name_openblas().decode() if name_openblas else None
    return [
        Blas("blis", version("blis"), blis),
        Blas(built_with, version_, openblas),
    ]


def measure_speeds(
    choices: Mapping[str, Ops], rounds: int = 5
) -> dict[str, list[float]]:
    """Measure the speed of each choice at `SHAPES`, in GFLOP/s, for the float32
    products of the forward pass and of the weights' gradient. The choices take turns,
    after a warm-up round; the fastest round counts, since others may be disturbed.
    """
    rng = np.random.default_rng(0)
    speeds: dict[str, list[float]] = {name: [] for name in choices}
    for nB, nI, nO in SHAPES:
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
        for name, times in seconds.items():
            speeds[name].append(2 * 2 * nB * nI * nO / 1e9 / min(times[1:]))
    return speeds


@cache
def is_numpy_faster() -> bool:
    """Measure whether numpy's BLAS is clearly faster than blis, in some 20 ms."""
    speeds = measure_speeds({"numpy": NUMPY_BLAS_OPS, "blis": BLIS_OPS})
    pairs = zip(speeds["numpy"], speeds["blis"], strict=True)
    return all(own >= MARGIN * blis for own, blis in pairs)


def choose_ops(ops: Ops) -> Ops:
    """Replace Thinc's plain operations on the CPU if numpy's BLAS is clearly faster."""
    # not isinstance: subclasses, such as Apple's, must keep their own methods
    is_blis = type(ops) is NumpyOps and getattr(ops, "use_blis", False)
    return NUMPY_BLAS_OPS if is_blis and is_numpy_faster() else ops


def use_fastest_blas(nlp: Language) -> bool:
    """Put the layers of a pipeline on the fastest BLAS present.

    The callback in `[nlp.after_pipeline_creation]` calls this function. Layers are
    moved only on the CPU, and only if numpy's BLAS is measured to be clearly faster;
    both libraries run on one thread. Predictions and gradients stay the same up to
    rounding. The layer that scores the moves of a parser or NER stays on blis, and the
    parser's loop in C uses the compiled kernels or blis: with numpy's BLAS, moves of
    equal weights would get unequal scores.

    nlp (Language): The pipeline. Layers that are made or replaced later, such as the
        last one of a parser that gets more labels, are not affected.
    RETURNS (bool): Whether any layer was moved.
    """
    check_pipeline(nlp)
    layers = [node for _, node in walk_layers(nlp)]
    scoring = [
        node.get_ref("upper" if node.attrs["has_upper"] else "lower")
        for node in layers
        if "has_upper" in node.attrs  # spaCy's TransitionModel
    ]
    others = [node for node in layers if node not in scoring]
    moved = [node for node in others if choose_ops(node.ops) is not node.ops]
    for node in moved:
        node.ops = choose_ops(node.ops)
    return bool(moved)


@contextmanager
def keeping_ops() -> Iterator[Ops]:
    """Yield Thinc's current ops, and set them again when the block ends."""
    ops = get_current_ops()
    try:
        yield ops
    finally:
        set_current_ops(ops)


def create_use_fastest_blas() -> Callable[[Any], Any]:
    """Put a pipeline's work on the CPU on the fastest BLAS present.

    Thinc's own BLAS, blis, falls back to generic kernels on many processors, on which
    numpy's BLAS is several times as fast. The callback uses numpy's, on one thread,
    only if a short measurement, made once per process, shows that it is clearly faster.
    Nothing changes on GPUs or with thinc-apple-ops. Results differ only by rounding.

    In `[nlp.before_creation]`, the callback affects all layers made afterwards in the
    same thread, including those of pipelines that are loaded later. In
    `[nlp.after_pipeline_creation]`, it affects only the layers of this pipeline.
    """
    return _use_fastest_blas


def _use_fastest_blas(target: Any) -> Any:
    if isinstance(target, Language):
        use_fastest_blas(target)
    else:
        set_current_ops(choose_ops(get_current_ops()))
    return target
