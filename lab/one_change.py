"""Train what README's commands give, with 4 layers and one change, and score it on
development data.

    python -m lab.one_change wnut17 depth8 --seed 0
    python -m lab.one_change table

The corpus is a folder of `python -m lab prepare`. One line of JSON is appended to
`lab/results/one_change/dev.jsonl`. Test sets are not read. The table has the best F1 of
the first 3,000 steps.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
from collections import defaultdict
from itertools import repeat
from math import inf
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from spacy.language import Language
from spacy.vocab import Vocab

from spacy_hashembeds.components.token_ner import TokenNER
from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.tools.evaluate.entities import EntityRun, TrainingKnowledge
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.joined import regroup
from spacy_hashembeds.training.prediction import copy_words, predict_examples

from . import baseline
from .corpora.datasets import DATASETS
from .trials.sizes import bytes_on_disk, count_sizes

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "lab/results/one_change/dev.jsonl"

_ENCODE = "components.tok2vec.model.encode"
_EMBED = "components.tok2vec.model.embed"
_ROWS = {f"{_EMBED}.subwords.rows": 20000, f"{_EMBED}.subwords.width": 48}

#: Steps in which trials are compared, as some were not trained longer.
_COMPARED = 3000

#: The changes, as overrides of `spacy train`.
SETTINGS: dict[str, dict[str, Any]] = {
    "baseline": {},
    "depth8": {f"{_ENCODE}.depth": 8},
    "depth8_rows20000": {f"{_ENCODE}.depth": 8, **_ROWS},
    "depth8_long": {
        f"{_ENCODE}.depth": 8,
        "training.max_steps": 10000,
        "training.patience": 0,
    },
    "depth8_dropout02": {f"{_ENCODE}.depth": 8, "training.dropout": 0.2},
    "depth6_pieces2": {f"{_ENCODE}.depth": 6, f"{_ENCODE}.maxout_pieces": 2},
    "window2": {f"{_ENCODE}.window_size": 2},
    "window2_pieces2": {f"{_ENCODE}.window_size": 2, f"{_ENCODE}.maxout_pieces": 2},
    "rows20000": _ROWS,
    "rows20000_dropout02": {**_ROWS, "training.dropout": 0.2},
    "dropout02": {"training.dropout": 0.2},
}


def make_config(dataset: str) -> Path:
    """Make the config by the commands of README."""
    folder = ROOT / "training/one_change" / dataset
    folder.mkdir(parents=True, exist_ok=True)
    base, config = folder / "base.cfg", folder / "config.cfg"
    if not config.exists():
        lang, train = DATASETS[dataset].lang, f"corpus/{dataset}/train.spacy"
        run_spacy("init", "config", base, "--lang", lang, "--pipeline", "ner")
        options = "--train", train, "--depth", 4
        run_spacy("hashembeds", "config", base, "-o", config, *options)
    return config


def run_spacy(*arguments: Any) -> None:
    """Run a command of spaCy in the root of the project, without its output."""
    command = [sys.executable, "-m", "spacy", *map(str, arguments)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def train(dataset: str, setting: str, seed: int, more: dict[str, Any]) -> dict:
    """Train a pipeline, and read the scores of `spacy train` by step."""
    config = make_config(dataset)
    name = "_".join([setting, *(f"{v}" for v in more.values())])
    output = config.parent / name / f"seed{seed}"
    output.mkdir(parents=True, exist_ok=True)
    overrides = {"system.seed": seed, **SETTINGS[setting], **more}
    command = [sys.executable, "-m", "spacy", "train", str(config), "-o", str(output)]
    for key, value in overrides.items():
        command += [f"--{key}", json.dumps(value)]
    log = output / "train.log"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    with log.open("w") as file:
        subprocess.run(command, cwd=ROOT, check=True, stdout=file, stderr=file)
    seconds = perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # E, #, two losses, F1
    row = r"^ *\d+ +(\d+) +[\d.]+ +[\d.]+ +([\d.]+) "
    rows = re.findall(row, log.read_text(), re.MULTILINE)
    scores = [(int(step), float(f1)) for step, f1 in rows]
    return {
        "dataset": dataset,
        "setting": setting,
        "seed": seed,
        **{key.split(".")[-1]: value for key, value in more.items()},
        "steps": scores[-1][0],
        "best_step": max(scores, key=lambda score: score[1])[0],
        "train_seconds": round(seconds),
        "cpu_seconds": round(after.ru_utime - before.ru_utime),
        "model": str((output / "model-best").relative_to(ROOT)),
        "curve": scores,
    }


def score(nlp: Language, dataset: str) -> dict[str, Any]:
    """Score a pipeline on development data, in Docs of one sentence and of ten, with
    the bias that was fitted to them and without.
    """
    dev, known = (
        ROOT / f"corpus/{dataset}/{split}.spacy" for split in ("dev", "train")
    )
    knowledge = TrainingKnowledge(read_docs(known, Vocab()))
    pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, TokenNER)]
    fitted, scores = [pipe.cfg["outside_bias"] for pipe in pipes], {}
    for name in ("", "_biased") if pipes else ("",):
        for pipe, bias in zip(pipes, fitted, strict=True):
            pipe.cfg["outside_bias"] = bias if name else 0.0
        for n, of in {1: "single", 10: "joined"}.items():
            docs = regroup(read_docs(dev, nlp.vocab), repeat(n), enough=inf)
            found = EntityRun(predict_examples(nlp, docs), knowledge).scores
            keys = ("ents_p", "ents_r", "ents_f", "ents_seen_f", "ents_unseen_f")
            scores[of + name] = {k: round(100 * (found[k] or 0), 2) for k in keys}
    return {**scores, "bias": fitted[0]} if pipes else scores


def measure_speed(nlp: Language, dataset: str) -> int:
    """Measure words a second of the processor's time: the best of five rounds."""
    docs = list(read_docs(ROOT / f"corpus/{dataset}/dev.spacy", Vocab()))
    docs = list(regroup(docs, repeat(10), enough=inf))
    seconds = []
    for _ in range(6):
        copies = [copy_words(doc, nlp.vocab) for doc in docs]
        start = process_time()
        for _ in nlp.pipe(copies):
            pass
        seconds.append(process_time() - start)
    return round(sum(map(len, docs)) / min(seconds[1:]))


def measure(result: dict[str, Any]) -> dict[str, Any]:
    """Load the best pipeline, and measure its scores, size and speed."""
    nlp, model = load_trained(ROOT / result["model"]), ROOT / result["model"]
    return {
        **score(nlp, result["dataset"]),
        "words_per_second": measure_speed(nlp, result["dataset"]),
        "parameters": count_sizes(nlp)["pipeline_parameters"],
        "bytes": bytes_on_disk(model),
    }


def train_crf(dataset: str) -> dict[str, Any]:
    """Train a CRF with customary penalties, and score it without a bias."""
    docs = list(read_docs(ROOT / f"corpus/{dataset}/train.spacy", Vocab()))
    # as `python -m lab baseline` does, but for the choice of penalties
    docs = list(regroup(docs, repeat(1), enough=inf))
    start = process_time()
    with TemporaryDirectory() as folder:
        weights = baseline.train(
            baseline.make_trainer(docs),
            Path(folder, "crf"),
            c1=0.1,
            c2=0.1,
            iterations=100,
        )
    nlp = baseline.make_pipeline(DATASETS[dataset].lang, weights)
    seconds = round(process_time() - start)
    identity = {"dataset": dataset, "setting": "crf", "seed": 0, "cpu_seconds": seconds}
    speed = {"words_per_second": measure_speed(nlp, dataset), "bytes": len(weights)}
    return {**identity, **score(nlp, dataset), **speed}


def main() -> None:
    """Run the trial of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("setting", nargs="?", choices=[*SETTINGS, "crf"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-steps", type=int)
    arguments = parser.parse_args()
    if arguments.dataset == "table":
        sys.stdout.write(make_table())
        return
    if arguments.setting == "crf":
        write(train_crf(arguments.dataset))
        return
    more = {"training.max_steps": arguments.max_steps} if arguments.max_steps else {}
    result = train(arguments.dataset, arguments.setting, arguments.seed, more)
    curve = result.pop("curve")
    result |= {**measure(result), "curve": curve}
    write(result)


def make_table() -> str:
    """Tabulate the means of the baseline, and the differences from equal seeds."""
    results = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    found: defaultdict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for each in results:
        scores = [f1 for step, f1 in each.get("curve", ()) if step <= _COMPARED]
        best = max(scores, default=each["single"]["ents_f"])
        found[each["setting"], each["dataset"]][each["seed"]] = best
    datasets = [*dict.fromkeys(each["dataset"] for each in results)]
    lines = [["change", *datasets], ["---"] * (1 + len(datasets))]
    settings = dict.fromkeys(each["setting"] for each in results if "curve" in each)
    for setting in settings:
        cells = []
        for dataset in datasets:
            ours, base = found[setting, dataset], found["baseline", dataset]
            differences = [f1 - base[seed] for seed, f1 in ours.items() if seed in base]
            values = [*ours.values()] if setting == "baseline" else differences
            sign = "" if setting == "baseline" else "+"
            shown = f"{fmean(values):{sign}.1f} ({len(values)})" if values else ""
            cells.append(shown)
        lines.append([setting, *cells])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def write(result: dict[str, Any]) -> None:
    """Append a result to the file."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("a") as file:
        file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
