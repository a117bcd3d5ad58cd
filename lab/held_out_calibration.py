"""Calibrate by folds that pipelines were not trained on, and by development data.

    python -m lab.held_out_calibration wnut17 --model FOLDER --folds 3 --seed 0

For each fold of training and development data, the recommended pipeline is trained on
the other folds, unless it has been. The pipeline in FOLDER is measured with its raw
scores (`none`), and with scores calibrated on development data (`dev`), on all folds
(`folds`), or on the training data of the first fold (`one_fold`), always without the
documents that are measured. `left_out` measures each fold with scores calibrated on the
others. One line of JSON for each bias of O, 0 and the pipeline's, is appended to
`lab/results/calibration/held_out.jsonl`.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_hashembeds.components.decoding import calibrate
from spacy_hashembeds.components.token_ner import TokenNER
from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.tools.evaluate.bootstrap import Draws
from spacy_hashembeds.tools.evaluate.measures import summarize_scores
from spacy_hashembeds.training.calibration import fit_calibration
from spacy_hashembeds.training.docbin import read_docs

from .corpora.datasets import NER
from .one_change import ROOT, run_spacy
from .pages.calibration import N_FOLDS, Judged, join, judge
from .trials.configs import find_config

RESULTS = ROOT / "lab/results/calibration/held_out.jsonl"


class Key(NamedTuple):
    """The part of a document that is in a split: `source` numbers its documents."""

    source: str
    number: int
    split: str


Corpus = list[tuple[Key, Doc]]
ByDocument = Mapping[Key, Judged]


def read_split(dataset: str, split: str) -> Corpus:
    """Read a split. Only AnEM has documents, whose sentences were shuffled."""
    docs = list(read_docs(ROOT / f"corpus/{dataset}/{split}.spacy", Vocab()))
    if dataset != "anem":
        return [(Key(split, i, split), doc) for i, doc in enumerate(docs)]
    source = "test" if split == "test" else "train"
    text = (ROOT / f"assets/anem/AnEM.{source}").read_text(encoding="utf8")
    numbers = dict(number_documents(text))
    return [(Key(source, numbers[tuple(t.text for t in d)], split), d) for d in docs]


def number_documents(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield words of sentences, and numbers of documents, which begin at 0."""
    number = -1
    for is_sentence, lines in groupby(text.splitlines(), key=bool):
        if is_sentence:
            words, starts, *_ = zip(*(line.split("\t") for line in lines), strict=True)
            number += starts[0] == "0"
            yield words, number


def divide(keys: Iterable[Key], n_folds: int) -> dict[Key, int]:
    """Divide the documents of each source into folds of consecutive ones."""
    keys = sorted(keys)
    sizes = {key.source: key.number + 1 for key in keys}  # of the last
    return {key: key.number * n_folds // sizes[key.source] for key in keys}


def train(config: Path, docs: list[Doc], folder: Path, settings: list[Any]) -> Path:
    """Train on nine tenths of Docs, and choose the best step by the others."""
    if not folder.exists():
        output = folder.with_suffix(".part")
        output.mkdir(parents=True, exist_ok=True)
        kept = [doc for i, doc in enumerate(docs) if i % 10]
        for name, part in (("train", kept), ("dev", docs[::10])):
            DocBin(NER.attrs, docs=part).to_disk(output / f"{name}.spacy")
            settings = [*settings, f"--paths.{name}", output / f"{name}.spacy"]
        run_spacy("train", config, "-o", output, *settings)
        output.rename(folder)
    return folder / "model-best"


def judge_all(model: Path | str, corpus: Corpus, bias: float) -> ByDocument:
    """Judge the entities of each document."""
    nlp, docs = load_trained(model), defaultdict(list)
    for key, doc in corpus:
        docs[key].append(doc)
    return {key: judge(nlp, of, bias) for key, of in docs.items()}


def measure(target: ByDocument, source: ByDocument | None) -> dict[str, Any]:
    """Measure the error, with each fifth of documents by what is fitted to others."""
    after: defaultdict[Any, list] = defaultdict(list)
    for fifth in range(N_FOLDS):
        part = {key: of for key, of in target.items() if key.number % N_FOLDS == fifth}
        hidden = {key[:2] for key in part}
        known = [of for key, of in (source or {}).items() if key[:2] not in hidden]
        fitted = fit_calibration(*join(known)) if source is not None else None
        for key, (scores, is_right) in part.items():
            new = calibrate(np.log(scores), fitted) if fitted else scores
            after[key[:2]] += zip(new, is_right, strict=True)
    found = summarize_scores([{"ents": x} for x in after.values()], Draws(5000, 0))
    return {key: value for key, value in (found or {}).items() if key != "bins"}


def compare(
    target: ByDocument, dev: ByDocument, folds: list[ByDocument]
) -> dict[str, Any]:
    """Measure the target with each calibration, and each fold by the other folds."""
    pooled = {key: of for fold in folds for key, of in fold.items()}
    one = {key: of for key, of in folds[0].items() if key.split == "train"}
    sources = {"none": None, "dev": dev, "folds": pooled, "one_fold": one}
    others = [{k: of for k, of in pooled.items() if k not in fold} for fold in folds]
    left_out = [measure(*pair) for pair in zip(folds, others, strict=True)]
    found = {name: measure(target, source) for name, source in sources.items()}
    return {**found, "left_out": left_out}


def main() -> None:
    """Train what is missing, and write what is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--model", required=True)
    parser.add_argument("--split", choices=["dev", "test"], default="dev")
    for name, default in {"--folds": 3, "--seed": 0, "--max-steps": 2400}.items():
        parser.add_argument(name, type=int, default=default)
    row = vars(parser.parse_args())
    dataset, model, split, n_folds, seed, steps = row.values()
    splits = {x: read_split(dataset, x) for x in {"train", "dev", split}}
    corpus, config = [*splits["train"], *splits["dev"]], find_config("recommended")
    folder = ROOT / f"training/held_out/{dataset}/{n_folds}folds_{steps}steps_{seed}"
    settings = ["--system.seed", seed, "--training.max_steps", steps]
    settings += ["--training.patience", 0, "--training.eval_frequency", min(200, steps)]
    places, held_out = divide([key for key, _ in corpus], n_folds), {}
    for k in range(n_folds):
        docs = [doc for key, doc in corpus if places[key] != k]
        path = train(config, docs, folder / f"fold{k}", settings)
        held_out[path] = [each for each in corpus if places[each[0]] == k]
    pipes = [p for _, p in load_trained(model).pipeline if isinstance(p, TokenNER)]
    for bias in sorted({0.0, *(pipe.cfg["outside_bias"] for pipe in pipes)}):
        target, dev = (judge_all(model, splits[x], bias) for x in (split, "dev"))
        folds = [judge_all(path, of, bias) for path, of in held_out.items()]
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("a") as file:
            result = {**row, "bias": bias, **compare(target, dev, folds)}
            file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
