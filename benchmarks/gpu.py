"""Embedders and pipelines on a GPU, ours beside spaCy's, where CuPy is installed.

All are timed by the host's clock, to the end of the GPU's work.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple

from spacy.tokens import Doc
from thinc.api import Adam, CupyOps, Model, Ops, set_current_ops

from spacy_hashembeds.acceleration.blas import keeping_ops
from spacy_hashembeds.acceleration.installation import examine_gpu

from . import layers
from .data import (
    BATCH_WORDS,
    Corpus,
    Sizes,
    batch_by_docs,
    batch_by_words,
    cut_updates,
    group,
)
from .layers import compare_outputs, prepare_predict, prepare_train
from .pipelines import (
    OURS,
    SPACY,
    build_pipeline,
    compare_annotations,
    make_copies,
    prepare_pipe,
    prepare_update,
    train,
)
from .timing import Json, Results, Schedule, time_in_turns, time_ways

PREPARE_TRAIN = partial(prepare_train, dropout=0.0)


class Device(NamedTuple):
    """A GPU: CuPy, or what acts for it, and Thinc's ops for its arrays."""

    cupy: Any
    ops: Ops

    def move(self, model: Model) -> Model:
        """Copy a layer to the GPU, weights and all."""
        moved = model.copy()
        moved._to_ops(self.ops)
        return moved

    def read_clock(self) -> float:
        """Wait for the end of the GPU's work, and say what time it is."""
        self.cupy.cuda.Device().synchronize()
        return perf_counter()

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


def measure_gpu(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure all parts, one after the other: those of minutes are not lost if a later
    one fails.

    RAISES (RuntimeError): If there is no GPU, or outputs differ.
    """
    device = find_device()
    results: Json = {"device": device.describe()}
    embedders = layers.make_embedders(text.docs)
    models = {name: embedders[name]() for name in (layers.SPACY, layers.OURS)}
    makes = {name: partial(device.move, model) for name, model in models.items()}
    ways: dict[str, Any] = {}
    kinds = {"prediction": prepare_predict, "forward and backward": PREPARE_TRAIN}
    for (kind, prepare), n in product(kinds.items(), sizes.gpu_words):
        samples = group(batch_by_words(text.docs, n, 8), 1)
        stock, ours = (make() for make in makes.values())
        compare_outputs(stock, ours, samples[0], device.ops.to_numpy)
        ways[f"embedder, {kind}, {n:,} words"] = (makes, prepare, samples)
    timed = time_ways(ways, schedule, clock=device.read_clock)
    results["timings"] = {"embedders": timed}
    yield results
    results["equal_runs"] = measure_equality(device, models, text.docs)
    yield results
    with keeping_ops():
        set_current_ops(device.ops)
        results["agreement"], results["timings"]["pipelines"] = measure_pipelines(
            device, text.docs, schedule, sizes
        )
    yield results


def measure_equality(
    device: Device, models: Mapping[str, Model], docs: Sequence[Doc]
) -> Json:
    """Train embedders twice from one seed, with the same gradients of the output, and
    tell whether weights end bit-equal.
    """
    batches = batch_by_words(docs, 10 * BATCH_WORDS, 20)

    def train(model: Model) -> bytes:
        model, optimizer = device.move(model), Adam(0.001)
        for batch in batches:
            PREPARE_TRAIN(model, [batch])()
            model.finish_update(optimizer)
        return model.to_bytes()

    stock, ours = models.values()
    ways = {OURS: ours, SPACY: stock}
    return {way: train(model) == train(model) for way, model in ways.items()}


def measure_pipelines(
    device: Device, docs: Sequence[Doc], schedule: Schedule, sizes: Sizes
) -> tuple[Json, Json]:
    """Measure `nlp.pipe` and `nlp.update`, and compare annotations before."""
    source = train(partial(build_pipeline, SPACY), docs, sizes.steps)
    makes = make_copies((SPACY, OURS), build_pipeline, source)
    piped = batch_by_docs(docs, sizes.docs, schedule.rounds)
    updated = cut_updates(docs, sizes.updates, schedule.rounds)
    clock = device.read_clock
    return compare_annotations(makes, piped[0]), {
        "`nlp.pipe`": time_in_turns(makes, prepare_pipe, piped, schedule, clock=clock),
        "`nlp.update`": time_in_turns(
            makes, prepare_update, updated, schedule, clock=clock
        ),
    }
