"""The recipes of docs/scale.md on all cores, and the latency of a service.

Each turn runs in new processes. The time to start is measured with little text, and is
subtracted.
"""

import asyncio
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

import numpy as np

from spacy_hashembeds.acceleration.accelerate import accelerate_folder
from spacy_hashembeds.acceleration.timing import find_spread
from spacy_hashembeds.loading import load_trained

from .data import ROOT, Sizes
from .published import PIPELINES, STOCK, fetch, read_distinct_texts
from .timing import Json, Results, Schedule, rotate, summarize

RECIPES = ROOT / "docs" / "scale"
FAST = "accelerated"
PARTS = 8
#: The baseline of recipes: spaCy's processes, and the rows of their Docs.
PIPE = "nlp.pipe"
PROCESSES = 2
#: Environment variable that identifies the processes of a turn.
MARK = "SPACY_HASHEMBEDS_BENCHMARK"

#: The pipeline, recipe, options and required packages of each implementation.
IMPLEMENTATIONS: dict[str, tuple[str, str, Sequence[str], Sequence[str]]] = {
    "`nlp.pipe(n_process=2)`": (FAST, PIPE, (), ()),
    "`nlp.pipe`": (FAST, "one_machine", ("--processes", "1"), ()),
    "two processes": (FAST, "one_machine", ("--processes", "2"), ()),
    "stock, `n_process=2`": (STOCK, PIPE, (), ()),
    "stock, two processes": (STOCK, "one_machine", ("--processes", "2"), ()),
    "Ray Data": (FAST, "ray_entities", (), ("ray", "pyarrow", "pandas")),
    "Spark": (FAST, "spark_entities", (), ("pyspark", "pyarrow")),
}
#: The pipeline and maximum batch size of each service.
SERVICES = {STOCK: (STOCK, 1), "stock, batches": (STOCK, 32), FAST: (FAST, 32)}
CLIENTS = (1, 8, 64)
PROCESSOR = "µs of processors a word"
SECONDS = 4.0
#: Maximum number of words.
MAX_WORDS = 40_000


def time_recipe(
    name: str, model: Path, folder: Path, args: Sequence[str]
) -> tuple[float, float]:
    """Return the seconds of a recipe, and the processor seconds of its processes."""
    is_one = name in ("one_machine", PIPE)
    texts, out = folder / ("texts.txt" if is_one else "parts"), folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    script = [str(RECIPES / f"{name}.py")]
    if name == PIPE:
        script = ["-m", "benchmarks.scale"]
    target = out / "rows.jsonl" if is_one else out
    command = [sys.executable, *script, str(model), str(texts), str(target), *args]
    # by default, Ray's workers have a lower priority
    env = {**os.environ, "RAY_worker_niceness": "0"}
    env["SPT_NOENV"] = "1"  # otherwise Ray's process names overwrite the environment
    env[MARK] = mark = secrets.token_hex(8)
    taken: dict[int, float] = {}
    start = perf_counter()
    quiet: Json = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    with subprocess.Popen(command, env=env, cwd=ROOT, **quiet) as process:
        while process.poll() is None:
            taken.update(read_processor_seconds(mark))
            sleep(0.25)
    if process.returncode:
        raise RuntimeError(f"'{' '.join(command)}' failed.")
    return perf_counter() - start, sum(taken.values())


def read_processor_seconds(mark: str) -> Iterator[tuple[int, float]]:
    """Yield the processor seconds of each process with the mark in its environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # processes of other users, or ended ones
            if mark.encode() in (folder / "environ").read_bytes():
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                ticks = int(fields[11]) + int(fields[12])
                yield int(folder.name), ticks / os.sysconf("SC_CLK_TCK")


def write_texts(texts: Sequence[str], folder: Path) -> Path:
    """Write texts as lines, and in parts as Parquet."""
    (folder / "parts").mkdir(parents=True)
    (folder / "texts.txt").write_text("\n".join(texts), encoding="utf8")
    if find_spec("pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet

        for i in range(min(PARTS, len(texts))):
            part = list(texts[i::PARTS])
            table = pa.table({"id": range(len(part)), "text": part})
            parquet.write_table(table, folder / "parts" / f"{i}.parquet")
    return folder


def time_implementations(
    models: Mapping[str, Path], texts: Sequence[str], rounds: int, folder: Path
) -> tuple[Json, Json]:
    """Time recipes in turns. Return times per word, and times to start."""
    few = write_texts(texts[:PROCESSES], folder / "few")
    many = write_texts(texts, folder / "many")
    words = sum(len(text.split()) for text in texts)
    here = [name for name, of in IMPLEMENTATIONS.items() if all(map(find_spec, of[3]))]
    turns: dict[str, list[Any]] = {name: [] for name in here}
    for number in range(rounds):
        for name in rotate(here, number):
            model, recipe, options, _ = IMPLEMENTATIONS[name]
            turns[name].append(
                [time_recipe(recipe, models[model], of, options) for of in (few, many)]
            )
    timed: Json = {}
    others: Json = {}
    for name in here:
        starts, all_ = np.array(turns[name]).transpose(1, 0, 2)
        start = np.median(starts, axis=0)
        each = np.maximum(all_ - start, 1e-6) / words
        timed[name] = summarize(each[:, 0].tolist())
        processor = float(1e6 * np.median(each[:, 1]))
        others[name] = {"s to start": float(start[0]), PROCESSOR: processor}
    return timed, others


def pipe_in_processes(model: str, texts: str, output: str) -> None:
    """Run the recipe for one machine with `nlp.pipe(n_process=2)`."""
    sys.path.insert(0, str(RECIPES))
    make_rows = import_module("entities").make_rows
    with open(texts, encoding="utf8") as lines, open(output, "w") as file:
        docs = load_trained(model).pipe(map(str.strip, lines), n_process=PROCESSES)
        for number, doc in enumerate(docs, start=1):
            for row in make_rows(doc):
                file.write(json.dumps({"id": number, **row}) + "\n")


@contextmanager
def serve(model: Path, max_batch: int) -> Iterator[int]:
    """Start the service, with a process for each core, and yield its port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    env = {"MODEL": str(model), "MAX_BATCH": str(max_batch), "PORT": str(port)}
    env = {**os.environ, **env, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "service.py"]
    with subprocess.Popen(command, cwd=RECIPES, env=env) as process:
        try:
            for _ in range(600):  # until both processes have loaded the pipeline
                sleep(0.2)
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", port)) == 0:
                        break
            yield port
        finally:
            process.terminate()


async def query(port: int, texts: Sequence[str], clients: int, seconds: float) -> Any:
    """Send texts from several clients, and return the milliseconds of each answer."""
    taken: list[float] = []
    queue = iter(range(sys.maxsize))

    async def run_client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (start := perf_counter()) < end:
            body = json.dumps({"text": texts[next(queue) % len(texts)]}).encode()
            head = "POST /entities HTTP/1.1\r\nHost: test\r\nContent-Length: "
            kind = "\r\nContent-Type: application/json\r\n\r\n"
            writer.write(f"{head}{len(body)}{kind}".encode() + body)
            status, *fields = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
            if b" 200 " not in status:
                raise RuntimeError(f"The service answered {status!r}.")
            (length,) = (f for f in fields if f.lower().startswith(b"content-length"))
            await reader.readexactly(int(length.split(b":")[1]))
            taken.append(1e3 * (perf_counter() - start))
        writer.close()

    end = perf_counter() + seconds
    await asyncio.gather(*(run_client() for _ in range(clients)))
    return np.array(taken)


def time_services(
    models: Mapping[str, Path], texts: Sequence[str], rounds: int
) -> Json:
    """Measure latencies of services in turns, for each number of clients."""
    turns: dict[str, dict[str, list[Json]]] = {}
    for number in range(rounds):
        for name in rotate([*SERVICES], number):
            model, max_batch = SERVICES[name]
            with serve(models[model], max_batch) as port:
                asyncio.run(query(port, texts, PROCESSES * 4, SECONDS / 4))  # warms up
                for clients in CLIENTS:
                    taken = asyncio.run(query(port, texts, clients, SECONDS))
                    middle, most = np.percentile(taken, (50, 99)).tolist()
                    values = {"median ms": middle, "99 percent, ms": most}
                    values["answers a second"] = len(taken) / SECONDS
                    label = f"{clients} client{'s' * (clients > 1)}"
                    turns.setdefault(label, {}).setdefault(name, []).append(values)
    return {
        label: {
            name: {kind: find_spread([turn[kind] for turn in of]) for kind in of[0]}
            for name, of in services.items()
        }
        for label, services in turns.items()
    }


def measure_scale(assets: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Download a published pipeline, accelerate it, and measure recipes.

    RAISES (FileNotFoundError): If its text is missing.
    RAISES (ImportError): If FastAPI or uvicorn is missing. Other missing packages are
        left out.
    """
    pipeline = PIPELINES[0]
    texts = read_distinct_texts(assets / pipeline.text)
    ends = accumulate(len(text.split()) for text in texts)
    texts = texts[: bisect(list(ends), MAX_WORDS)]
    if not all(map(find_spec, ("fastapi", "uvicorn"))):
        raise ImportError("The service needs `pip install fastapi uvicorn`.")
    with TemporaryDirectory() as name:
        folder = Path(name)
        models = {STOCK: fetch(pipeline, folder), FAST: folder / "fast"}
        accelerate_folder(models[STOCK], models[FAST], texts, rounds=1)
        results: Json = {"pipeline": pipeline.name, "texts": len(texts)}
        results["threads"] = "one BLAS thread a process"
        timed, starts = time_implementations(models, texts, schedule.rounds, folder)
        results |= {"timings": {"recipes": {pipeline.name: timed}}, "start": starts}
        yield results
        results["service"] = time_services(models, texts, schedule.rounds)
        yield results


if __name__ == "__main__":
    pipe_in_processes(*sys.argv[1:])
