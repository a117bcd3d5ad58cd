"""Measure which BLAS library is the fastest, and use it in pipelines.

Thinc uses blis, on one thread. On processors that blis does not support, its `generic`
kernels are several times slower than numpy's BLAS.
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

#: Rows, inputs and outputs of an encoder's products, at width 96: one short document
#: and a batch.
SHAPES = ((27, 288, 288), (200, 288, 288))
#: Minimum speed-up at every shape for which numpy's BLAS replaces blis. Smaller ones
#: may be noise.
MARGIN = 1.2


class Blas(NamedTuple):
    """A library, and the name of its kernels for this processor, if known."""

    name: str
    version: str
    kernels: str | None


class NumpyBlasOps(NumpyOps):
    """Thinc's operations on the CPU with numpy's BLAS, OpenBLAS on one thread."""

    def gemm(self, x: Any, y: Any, **settings: Any) -> Any:
        """Multiply two matrices: see `thinc.api.Ops.gemm`."""
        with one_thread():
            return super().gemm(x, y, **settings)

    def cblas(self) -> Any:
        """Return the BLAS for C code, such as spaCy's parser: the compiled kernels or,
        without them, blis. In both, equal rows of weights give equal products.
        """
        kernels = compiled.kernels
        return super().cblas() if kernels is None else kernels.make_cblas()


BLIS_OPS = NumpyOps()
NUMPY_BLAS_OPS = NumpyBlasOps(use_blis=False)


def describe_libraries() -> list[Blas]:
    """Describe blis and numpy's BLAS. blis has "generic" kernels for processors that it
    does not support.
    """
    query = find_function("blis.cy", ("bli_arch_query_id",), ctypes.c_int)
    name_blis = find_function("blis.cy", ("bli_arch_string",), ctypes.c_char_p)
    name_openblas = find_openblas("get_corename", ctypes.c_char_p)
    config = np.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    built_with, version_ = (str(config.get(k, "unknown")) for k in ("name", "version"))
    blis = name_blis(query()).decode() if query and name_blis else None
    openblas = name_openblas().decode() if name_openblas else None
    return [Blas("blis", version("blis"), blis), Blas(built_with, version_, openblas)]


def time_products(
    choices: Mapping[str, Ops], rounds: int = 5
) -> dict[str, list[float]]:
    """Measure speeds at `SHAPES` in GFLOP/s, for the float32 products of the forward
    pass and of the weights' gradient. Choices alternate; the best round after a warm-up
    counts.
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
    """True if numpy's BLAS is clearly faster than blis (measured in some 20 ms)."""
    speeds = time_products({"numpy": NUMPY_BLAS_OPS, "blis": BLIS_OPS})
    pairs = zip(speeds["numpy"], speeds["blis"], strict=True)
    return all(own >= MARGIN * blis for own, blis in pairs)


def choose_ops(ops: Ops) -> Ops:
    """Replace Thinc's plain CPU ops if numpy's BLAS is clearly faster."""
    # not isinstance: subclasses, such as Apple's, override `gemm`
    is_blis = type(ops) is NumpyOps and getattr(ops, "use_blis", False)
    return NUMPY_BLAS_OPS if is_blis and is_numpy_faster() else ops


def use_fastest_blas(nlp: Language) -> bool:
    """Put the layers of a pipeline on the fastest BLAS present.

    The callback in `[nlp.after_pipeline_creation]` calls this function. Layers on the
    CPU move to numpy's BLAS, on one thread, if it is measured to be clearly faster.
    Results differ only by rounding. The layer that scores a parser's or NER's
    transitions stays on blis: numpy's BLAS gives transitions of equal weights unequal
    scores.

    nlp (Language): The pipeline. Layers that are created or replaced later, such as a
        parser's last layer after `add_label`, are not affected.
    RETURNS (bool): True if any layer was moved.
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
    """Yield Thinc's current ops, and restore them at the end of the block."""
    ops = get_current_ops()
    try:
        yield ops
    finally:
        set_current_ops(ops)


def create_use_fastest_blas() -> Callable[[Any], Any]:
    """Put a pipeline's work on the CPU on the fastest BLAS present.

    Thinc's BLAS, blis, has only generic kernels for many processors; numpy's BLAS is
    several times as fast there. The callback measures both once per process, and uses
    numpy's, on one thread, if it is clearly faster. GPUs and thinc-apple-ops are not
    affected. Results differ only by rounding.

    In `[nlp.before_creation]`, the callback affects all layers that the same thread
    creates later, also in other pipelines. In `[nlp.after_pipeline_creation]`, it
    affects only this pipeline.
    """

    def use_fastest(target: Any) -> Any:
        if isinstance(target, Language):
            use_fastest_blas(target)
        else:
            set_current_ops(choose_ops(get_current_ops()))
        return target

    return use_fastest
