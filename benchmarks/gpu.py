"""Our embedders and pipelines, and spaCy's, on a GPU, timed by the host's clock."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple

from spacy.tokens import Doc
from thinc.api import Adam, CupyOps, Model, Ops, set_current_ops

from spacy_hashembeds.acceleration.blas import keeping_ops
from spacy_hashembeds.acceleration.doctor import examine_gpu

from . import layers, pipelines
from .data import BATCH_WORDS, Corpus, Sizes, batch_by_words, group
from .timing import Json, Results, Schedule, time_tasks

PREPARE_TRAIN = partial(layers.prepare_train, dropout=0.0)


class Device(NamedTuple):
    """A GPU: CuPy, or a mock, and Thinc's ops for its arrays."""

    cupy: Any
    ops: Ops

    def move(self, model: Model) -> Model:
        """Copy a layer to the GPU."""
        moved = model.copy()
        moved._to_ops(self.ops)
        return moved

    def read_clock(self) -> float:
        """Wait until the GPU is idle, and return the time."""
        self.cupy.cuda.Device().synchronize()
        return perf_counter()

    def describe(self) -> Json:
        """Describe the GPU."""
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
    """Return the GPU.

    RAISES (RuntimeError): If there is none, or CuPy can't use it.
    """
    gpu = examine_gpu()
    if gpu.device is None:
        what = gpu.error or "CuPy is not installed."
        raise RuntimeError(
            f"The benchmark needs an NVIDIA GPU and CuPy. {what} Install CuPy for "
            "the CUDA version of the driver: pip install 'spacy-hashembeds[cuda12x]' "
            "or 'spacy-hashembeds[cuda13x]'."
        )
    return Device(import_module("cupy"), CupyOps())


def measure_gpu(text: Corpus, schedule: Schedule, sizes: Sizes) -> Results:
    """Measure embedders, the reproducibility of training, and pipelines.

    RAISES (RuntimeError): If there is no GPU, or outputs differ.
    """
    device = find_device()
    results: Json = {"device": device.describe()}
    embedders = layers.make_embedders(text.docs)
    models = {name: embedders[name]() for name in (layers.SPACY, layers.OURS)}
    builders = {name: partial(device.move, model) for name, model in models.items()}
    tasks: dict[str, Any] = {}
    prepares = (layers.prepare_predict, PREPARE_TRAIN)
    kinds = zip(("prediction", "forward and backward"), prepares, strict=True)
    for (kind, prepare), n in product(kinds, sizes.gpu_words):
        samples = group(batch_by_words(text.docs, n, 8), 1)
        stock, ours = (make() for make in builders.values())
        layers.compare_outputs(stock, ours, samples[0], device.ops.to_numpy)
        tasks[f"embedder, {kind}, {n:,} words"] = (builders, prepare, samples)
    timed = time_tasks(tasks, schedule, clock=device.read_clock)
    results["timings"] = {"embedders": timed}
    yield results
    results["equal_runs"] = measure_equality(device, models, text.docs)
    yield results
    names = (pipelines.SPACY, pipelines.OURS)
    with keeping_ops():
        set_current_ops(device.ops)
        made, tasks = pipelines.make_tasks(names, text.docs, schedule, sizes)
        piped = tasks["`nlp.pipe`"][2][0]
        results["agreement"] = pipelines.compare_annotations(made, piped)
        timed = time_tasks(tasks, schedule, clock=device.read_clock)
    results["timings"]["pipelines"] = timed
    yield results


def measure_equality(
    device: Device, models: Mapping[str, Model], docs: Sequence[Doc]
) -> Json:
    """Train each embedder twice. Return True for those with equal weights."""
    batches = batch_by_words(docs, 10 * BATCH_WORDS, 20)

    def train(model: Model) -> bytes:
        model, optimizer = device.move(model), Adam(0.001)
        for batch in batches:
            PREPARE_TRAIN(model, [batch])()
            model.finish_update(optimizer)
        return model.to_bytes()

    stock, ours = models.values()
    named = {pipelines.OURS: ours, pipelines.SPACY: stock}
    return {name: train(model) == train(model) for name, model in named.items()}
