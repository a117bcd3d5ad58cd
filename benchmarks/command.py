"""`python -m benchmarks NAME`: measure on one thread, write results, and print them."""

import platform
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from spacy.util import get_package_version
from thinc.api import get_ops
from wasabi import msg

from lab.machine import find_disturbances, watch_machine
from spacy_hashembeds.acceleration.doctor import is_parser_profiled
from spacy_hashembeds.files import read_json, write_json

from .accelerate import measure_acceleration
from .data import CORPUS, RESULTS, ROOT, SIZES, TEXTS, Corpus, load_corpus
from .gpu import measure_gpu
from .layers import measure_embedding, measure_hashformers
from .memory import measure_memory
from .page import PARTS
from .pipelines import measure_classifiers, measure_pipelines
from .published import measure_published
from .scale import measure_scale
from .timing import Json, Results, Schedule, find_baselines
from .torch_embed import import_torch


class Benchmark(NamedTuple):
    """A function that measures, its schedule, and the path and loader of its corpus."""

    measure: Callable[[Any, Schedule, Any], Results]
    blocks: int
    rounds: int
    path: Path = CORPUS
    load: Callable[[Path], Any] = load_corpus


BENCHMARKS = {
    "published": Benchmark(measure_published, 1, 7, ROOT / "assets", Path),
    "accelerate": Benchmark(measure_acceleration, 5, 3, CORPUS.parent, Path),
    "embedding": Benchmark(measure_embedding, 5, 5),
    "hashformers": Benchmark(measure_hashformers, 5, 5),
    "pipeline": Benchmark(measure_pipelines, 5, 3),
    "textcat": Benchmark(measure_classifiers, 5, 3, TEXTS),
    "scale": Benchmark(measure_scale, 1, 3, ROOT / "assets", Path),
    "memory": Benchmark(measure_memory, 1, 1, ROOT, Path),
    "gpu": Benchmark(measure_gpu, 3, 5),
}

_PACKAGES = ("spacy-hashembeds", "spacy", "thinc", "blis", "numpy", "torch")

#: Time for checking that the machine is idle, before work of many minutes.
_SECONDS_TO_WATCH = 2.0


def run(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(BENCHMARKS)}.")],
    corpus: Annotated[Path | None, typer.Option(help="Another corpus.")] = None,
    output: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
    blocks: Annotated[int | None, typer.Option(min=1)] = None,
    rounds: Annotated[int | None, typer.Option(min=1)] = None,
) -> None:
    """Run a benchmark. Warn if other processes disturb the timings."""
    if name not in BENCHMARKS:
        raise typer.BadParameter(f"NAME should be one of {', '.join(BENCHMARKS)}.")
    benchmark, output = BENCHMARKS[name], output or RESULTS / f"{name}.json"
    schedule = Schedule(blocks or benchmark.blocks, rounds or benchmark.rounds)
    try:
        write_results(measure(benchmark, corpus or benchmark.path, schedule), output)
    except (FileNotFoundError, ImportError, RuntimeError) as error:
        msg.fail("The benchmark failed", str(error), exits=1)
    for make in (make for source, make in PARTS.values() if source == name):
        typer.echo(f"\n{make(read_json(output))}")
    msg.good(f"Results: {output}")


def measure(
    benchmark: Benchmark, path: Path, schedule: Schedule, sizes: Any = SIZES
) -> Results:
    """Load a corpus, and run a benchmark."""
    corpus, head = benchmark.load(path), schedule._asdict()
    if isinstance(corpus, Corpus):
        head["corpus"] = corpus.to_json()
    for results in benchmark.measure(corpus, schedule, sizes):
        yield {**head, **results}


def write_results(measured: Results, output: Path) -> None:
    """Write all results that a benchmark yields, with a description of the machine."""
    software = describe_software()
    with watch_machine() as before:
        sleep(_SECONDS_TO_WATCH)
    for disturbance in find_disturbances(before, {}):
        msg.warn("The machine is not idle: timings may be wrong", disturbance)
    results: Json = {}
    with watch_machine() as machine:
        for results in measured:
            write_json(output, {"machine": software, "disturbances": [], **results})
    disturbances = find_disturbances(machine, find_baselines(results))
    head = {"machine": {**software, **machine}, "disturbances": disturbances}
    write_json(output, {**head, **results})
    for disturbance in disturbances:
        msg.warn("The timings were disturbed", disturbance)


def describe_software() -> dict[str, Any]:
    """Describe the system and the libraries.

    RAISES (RuntimeError): If a library uses more than one thread.
    """
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    busy = measure_busy()
    for name, value in busy.items():
        if value > 1.5:
            raise RuntimeError(
                f"'{name}' should use one thread, but keeps {value:.1f} processors "
                "busy. Run `python -m benchmarks NAME`, which sets the number of "
                "threads before libraries are loaded."
            )
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": f"{platform.system()} {platform.machine()}",
        "numpy_blas": f"{blas['name']} {blas['version']}",
        "versions": {name: get_package_version(name) for name in _PACKAGES},
        "parser_profiled": is_parser_profiled(),
        "processors_busy": busy,
    }


def measure_busy() -> dict[str, float]:
    """Measure the number of busy processors during a matrix product of each library."""
    X: Any = np.ones((1000, 1000), "float32")
    products: dict[str, Any] = {
        "numpy": (np.matmul, X),
        "thinc": (get_ops("numpy").gemm, X),
    }
    if (torch := import_torch()) is not None:
        products["torch"] = torch.matmul, torch.from_numpy(X)
    busy = {}
    for name, (multiply, A) in products.items():
        multiply(A, A)
        wall, cpu = perf_counter(), process_time()
        for _ in range(3):
            multiply(A, A)
        busy[name] = round((process_time() - cpu) / (perf_counter() - wall), 2)
    return busy


def main() -> None:
    """Run the command."""
    typer.run(run)
