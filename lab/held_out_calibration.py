"""Calibrate by documents held out of training, and measure the error on test data.

    python -m lab.held_out_calibration anem 0

Run it in the folder of trials, after `python -m lab sweep commands` for the recommended
pipeline of that corpus and seed. The recommended config is trained on two thirds of the
training documents, three times, and each pipeline scores the entities of the other
third. The trial's pipeline is then calibrated by development data (`dev`), by the first
third (`one_third`), by all thirds (`thirds`), and by all thirds and development data
(`all`). The errors on test data, with 95 percent intervals over documents, are appended
to `lab/results/calibration/held_out.jsonl`.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, compress, groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_hashembeds.components.decoding import apply_calibration
from spacy_hashembeds.loading import load_trained
from spacy_hashembeds.tools.evaluate.bootstrap import Draws
from spacy_hashembeds.tools.evaluate.measures import summarize_scores
from spacy_hashembeds.training.calibration import fit_calibration
from spacy_hashembeds.training.docbin import read_docs

from .commands import append_line, run_spacy
from .corpora.datasets import NER
from .pages.calibration import TRIAL, ScoredEntities, join, score_entities
from .trials.configs import find_config

RESULTS = Path("lab/results/calibration/held_out.jsonl")
N_FOLDS = 3

Split = tuple[list[Doc], NDArray]  # with the number of each Doc's document


def read_split(dataset: str, split: str) -> Split:
    """Read a split. A message of WNUT 2017 is a document."""
    docs = list(read_docs(f"corpus/{dataset}/{split}.spacy", Vocab()))
    if dataset != "anem":
        return docs, np.arange(len(docs))
    text = Path(f"assets/anem/AnEM.{split}").read_text(encoding="utf8")
    numbers = dict(number_documents(text))
    places = [numbers[tuple(token.text for token in doc)] for doc in docs]
    return docs, np.array(places)


def number_documents(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the words of each sentence of AnEM, and the number of its document."""
    number = -1
    for is_sentence, lines in groupby(text.splitlines(), key=bool):
        if is_sentence:
            words, starts, *_ = zip(*(line.split("\t") for line in lines), strict=True)
            number += starts[0] == "0"
            yield words, number


def divide(split: Split) -> list[list[Doc]]:
    """Divide Docs into folds of consecutive documents."""
    docs, numbers = split
    folds = numbers * N_FOLDS // (numbers.max() + 1)
    return [[*compress(docs, folds == k)] for k in range(N_FOLDS)]


def train(dataset: str, seed: int, folds: Sequence[list[Doc]], k: int) -> Path:
    """Train on all folds but one, unless that is done."""
    folder = Path(f"training/held_out/{dataset}/seed{seed}/fold{k}")
    if not folder.exists():
        output = folder.with_suffix(".part")
        output.mkdir(parents=True, exist_ok=True)
        kept = chain.from_iterable(folds[i] for i in range(N_FOLDS) if i != k)
        DocBin(NER.attrs, docs=kept).to_disk(output / "train.spacy")
        settings = ["--paths.train", output / "train.spacy", "--system.seed", seed]
        settings += ["--paths.dev", f"corpus/{dataset}/dev.spacy"]
        run_spacy("train", find_config("recommended"), "-o", output, *settings)
        output.rename(folder)
    return folder / "model-best"


def compare(
    test: Sequence[ScoredEntities], sources: dict[str, ScoredEntities]
) -> dict[str, dict]:
    """Measure the error on test documents, uncalibrated and by each source."""
    found = {}
    for name, source in {"uncalibrated": None, **sources}.items():
        fitted = fit_calibration(*source) if source is not None else None
        after = ((apply_calibration(np.log(s), fitted), right) for s, right in test)
        documents = [{"ents": [*zip(*each, strict=True)]} for each in after]
        found[name] = dict(summarize_scores(documents, Draws(5000, 0)) or {})
        del found[name]["bins"]
    return found


def main() -> None:
    """Train, measure and save what is described above."""
    parser = argparse.ArgumentParser(description=__doc__)
    # the recommended config has the `min_freq` of these trials
    parser.add_argument("dataset", choices=["wnut17", "anem"])
    parser.add_argument("seed", type=int)
    dataset, seed = vars(parser.parse_args()).values()
    folds = divide(read_split(dataset, "train"))
    models = [train(dataset, seed, folds, k) for k in range(N_FOLDS)]
    thirds = [
        score_entities(load_trained(model), fold)
        for model, fold in zip(models, folds, strict=True)
    ]
    nlp = load_trained(f"training/{dataset}/{TRIAL}/seed{seed}/model-best")
    by_dev = score_entities(nlp, [*read_docs(f"corpus/{dataset}/dev.spacy", Vocab())])
    sources = {"dev": by_dev, "one_third": thirds[0], "thirds": join(thirds)}
    sources["all"] = join([by_dev, *thirds])
    documents = defaultdict(list)
    for doc, number in zip(*read_split(dataset, "test"), strict=True):
        documents[number].append(doc)
    test = [score_entities(nlp, docs) for docs in documents.values()]
    append_line(RESULTS, {"dataset": dataset, "seed": seed, **compare(test, sources)})


if __name__ == "__main__":
    main()
