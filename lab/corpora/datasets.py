"""Published corpora made into `train.spacy`, `dev.spacy` and `test.spacy`."""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from spacy_hashembeds.corpora.columns import (
    ColumnFormat,
    Document,
    Sentence,
    read_documents,
)
from spacy_hashembeds.corpora.labelled import Progress
from spacy_hashembeds.corpora.splits import SEED, SPLITS, Splits, write_splits

from .dataset import Dataset
from .ontonotes import read_ontonotes
from .textdatasets import GLUE_DATASETS, TEXT_DATASETS

Read = Callable[[Path], Iterator[Document]]

WNUT17 = ColumnFormat(separator="\t")
ANEM = ColumnFormat(separator="\t", tag=3)
ARCHAEOLOGY = ColumnFormat()

_LICENSED = (
    "OntoNotes 5 (LDC2013T19) may not be fetched for you: put the folder of your own "
    "licensed copy, in the format of CoNLL-2012, in its place"
)


def prepare_dataset(
    name: str,
    assets: Path,
    output: Path,
    *,
    progress: Progress = lambda documents, split: documents,
) -> dict[str, Path]:
    """Convert a corpus and split it as the paper did that has results on it.

    The same files give the same bytes, every time. Files of earlier splits are replaced
    only after every split could be read and written.
    """
    if name not in DATASETS:
        raise ValueError(
            f"'name' should be one of {sorted(DATASETS)}, but is {name!r}."
        )
    dataset = DATASETS[name]
    paths = [Path(assets) / file for file in dataset.files]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(
                f"{path}: a file of {name} is missing. {dataset.remedy}. "
                "Name another folder of assets with --assets."
            )
    splits = dataset.split(paths)
    return write_splits(splits, dataset.task, dataset.lang, Path(output), progress)


def _split_as_published(read: Read, paths: list[Path]) -> Splits:
    return {split: read(path) for split, path in zip(SPLITS, paths, strict=True)}


def _split_anem(paths: list[Path]) -> Splits:
    # The report shuffles sentences, so those of one abstract are on both sides.
    training, test = paths
    sentences = list(read_documents(training, ANEM))
    random.Random(SEED).shuffle(sentences)
    n_train = int(0.8 * len(sentences))
    return {
        "train": iter(sentences[:n_train]),
        "dev": iter(sentences[n_train:]),
        "test": read_documents(test, ANEM),
    }


def _split_archaeology(paths: list[Path]) -> Splits:
    # The report's own file orders the sentences otherwise, so this is not its split,
    # but one made in the same way.
    sentences = [doc for path in paths for doc in read_documents(path, ARCHAEOLOGY)]
    random.Random(SEED).shuffle(sentences)
    n_dev = n_test = math.ceil(0.1 * len(sentences))
    return {
        "train": iter(sentences[n_dev + n_test :]),
        "dev": iter(sentences[:n_dev]),
        "test": iter(sentences[n_dev : n_dev + n_test]),
    }


def _make_demo(paths: list[Path]) -> Splits:
    from .demo import make_demo_corpus

    corpus = make_demo_corpus()
    return {
        split: ([Sentence(words, tags)] for words, tags in corpus[split])
        for split in SPLITS
    }


def _columns(layout: ColumnFormat) -> Callable[[list[Path]], Splits]:
    return partial(_split_as_published, partial(read_documents, layout=layout))


_ALL = (
    Dataset(
        name="wnut17",
        files=(
            "wnut17/wnut17train.conll",
            "wnut17/emerging.dev.conll",
            "wnut17/emerging.test.annotated",
        ),
        split=_columns(WNUT17),
    ),
    Dataset(
        name="conll2002_es",
        lang="es",
        files=("conll2002/esp.train", "conll2002/esp.testa", "conll2002/esp.testb"),
        split=_columns(ColumnFormat()),
    ),
    Dataset(
        name="conll2002_nl",
        lang="nl",
        files=("conll2002/ned.train", "conll2002/ned.testa", "conll2002/ned.testb"),
        split=_columns(ColumnFormat(group="document")),
    ),
    Dataset(
        name="anem", files=("anem/AnEM.train", "anem/AnEM.test"), split=_split_anem
    ),
    Dataset(
        name="archaeology",
        lang="nl",
        files=tuple(f"archaeo/{user}.bio" for user in range(1, 7)),
        split=_split_archaeology,
    ),
    Dataset(
        name="ontonotes",
        files=("ontonotes/train", "ontonotes/development", "ontonotes/test"),
        split=partial(_split_as_published, read_ontonotes),
        remedy=_LICENSED,
    ),
    Dataset(name="demo", files=(), split=_make_demo),
    *TEXT_DATASETS,
    *GLUE_DATASETS,
)

DATASETS: Mapping[str, Dataset] = {dataset.name: dataset for dataset in _ALL}
