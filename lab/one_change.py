"""Train the pipeline of README's commands with 4 layers and one change, and score it.

    python -m lab.one_change wnut17 depth8 --seed 0
    python -m lab.one_change table

The corpus is a folder of `python -m lab prepare`. Scores on development data are
appended to `lab/results/one_change/dev.jsonl`. The table has the best F1 of the first
3,000 steps.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from functools import partial
from itertools import chain, repeat
from math import inf
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_hashembeds.acceleration.timing import measure_speeds
from spacy_hashembeds.components.token_ner import TokenNER
from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.joined import regroup

from .commands import append_line, read_knowledge, run_spacy, score
from .corpora.datasets import DATASETS
from .pages.page import to_markdown
from .trials.sizes import bytes_on_disk, count_sizes

RESULTS = Path("lab/results/one_change/dev.jsonl")

_ENCODE = "components.tok2vec.model.encode"
_EMBED = "components.tok2vec.model.embed"
_ROWS = {f"{_EMBED}.subwords.rows": 20000, f"{_EMBED}.subwords.width": 48}

#: Maximum number of compared steps, which some trials do not exceed.
MAX_STEPS = 3000

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
    folder = Path("training/one_change") / dataset
    folder.mkdir(parents=True, exist_ok=True)
    base, config = folder / "base.cfg", folder / "config.cfg"
    if not config.exists():
        lang, train = DATASETS[dataset].lang, f"corpus/{dataset}/train.spacy"
        run_spacy("init", "config", base, "--lang", lang, "--pipeline", "ner")
        options = "--train", train, "--depth", 4
        run_spacy("hashembeds", "config", base, "-o", config, *options)
    return config


def train(dataset: str, setting: str, seed: int, more: dict[str, Any]) -> dict:
    """Train a pipeline, and read the scores of `spacy train` by step."""
    config = make_config(dataset)
    name = "_".join([setting, *map(str, more.values())])
    output = config.parent / name / f"seed{seed}"
    overrides = {"system.seed": seed, **SETTINGS[setting], **more}
    settings = ((f"--{key}", json.dumps(value)) for key, value in overrides.items())
    start = perf_counter()
    log = run_spacy("train", config, "-o", output, *chain(*settings))
    seconds = perf_counter() - start
    # E, #, two losses, F1
    row = r"^ *\d+ +(\d+) +[\d.]+ +[\d.]+ +([\d.]+) "
    scores = [(int(step), float(f1)) for step, f1 in re.findall(row, log, re.MULTILINE)]
    return {
        "dataset": dataset,
        "setting": setting,
        "seed": seed,
        **{key.split(".")[-1]: value for key, value in more.items()},
        "steps": scores[-1][0],
        "best_step": max(scores, key=lambda score: score[1])[0],
        "train_seconds": round(seconds),
        "model": str(output / "model-best"),
        "curve": scores,
    }


def read_dev(dataset: str, n: int, vocab: Vocab) -> list[Doc]:
    """Read development data, in Docs of n sentences."""
    docs = read_docs(f"corpus/{dataset}/dev.spacy", vocab)
    return list(regroup(docs, repeat(n), enough=inf))


def score_all(nlp: Language, dataset: str) -> dict[str, Any]:
    """Score Docs of one sentence and of ten, with the fitted bias and without."""
    known = read_knowledge(Path("corpus", dataset))
    (pipe,) = (pipe for _, pipe in nlp.pipeline if isinstance(pipe, TokenNER))
    fitted, scores = pipe.cfg["outside_bias"], {}
    for suffix, bias in {"": 0.0, "_biased": fitted}.items():
        pipe.cfg["outside_bias"] = bias
        for n, name in {1: "single", 10: "joined"}.items():
            scores[name + suffix] = score(nlp, read_dev(dataset, n, nlp.vocab), known)
    return {**scores, "bias": fitted}


def measure(result: dict[str, Any]) -> dict[str, Any]:
    """Load the best pipeline, and measure its scores, size and speed."""
    dataset, model = result["dataset"], Path(result["model"])
    nlp, load = load_trained(model), partial(load_trained, model)
    speeds = measure_speeds({"model": load}, read_dev(dataset, 10, Vocab()), rounds=5)
    return {
        **score_all(nlp, dataset),
        "words_per_second": round(speeds["model"].median),
        "parameters": count_sizes(nlp)["pipeline_parameters"],
        "bytes": bytes_on_disk(model),
    }


def main() -> None:
    """Run the trial of the command line, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("setting", nargs="?", choices=SETTINGS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-steps", type=int)
    arguments = parser.parse_args()
    if arguments.dataset == "table":
        sys.stdout.write(f"{make_table()}\n")
        return
    more = {"training.max_steps": arguments.max_steps} if arguments.max_steps else {}
    result = train(arguments.dataset, arguments.setting, arguments.seed, more)
    curve = result.pop("curve")
    append_line(RESULTS, {**result, **measure(result), "curve": curve})


def make_table() -> str:
    """Tabulate the baseline's means, and differences from it with the same seeds."""
    results: list[Any] = [*srsly.read_jsonl(RESULTS)]
    found: defaultdict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for each in results:
        scores = [f1 for step, f1 in each.get("curve", ()) if step <= MAX_STEPS]
        best = max(scores, default=each["single"]["ents_f"])
        found[each["setting"], each["dataset"]][each["seed"]] = best
    datasets = [*dict.fromkeys(each["dataset"] for each in results)]
    rows = [["change", *datasets]]
    settings = dict.fromkeys(each["setting"] for each in results if "curve" in each)
    for setting in settings:
        row = [setting]
        for dataset in datasets:
            ours, base = found[setting, dataset], found["baseline", dataset]
            values, sign = [*ours.values()], ""
            if setting != "baseline":
                values, sign = [ours[s] - base[s] for s in ours if s in base], "+"
            row.append(f"{fmean(values):{sign}.1f} ({len(values)})" if values else "")
        rows.append(row)
    return to_markdown(rows)


if __name__ == "__main__":
    main()
