"""Convert published corpora to `train.spacy`, `dev.spacy` and `test.spacy`.

Corpora for text classification are those of table 1 in "Hash Embeddings for Efficient
Word Representations" (Svenstrup et al. 2017), the test set of AG's news, and GLUE.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from spacy.tokens._serialize import ALL_ATTRS

from spacy_hashembeds.arguments import check_choice
from spacy_hashembeds.tools.prepare import splits
from spacy_hashembeds.tools.prepare.columns import (
    ColumnFormat,
    Document,
    read_documents,
)
from spacy_hashembeds.tools.prepare.labelled import LabelledText, Progress
from spacy_hashembeds.tools.prepare.splits import (
    SEED,
    SPLITS,
    TEXTCAT_TASK,
    Splits,
    Task,
)

from .demo import make_demo_corpus
from .glue import GLUE, read_glue
from .ontonotes import read_ontonotes
from .published import CLASSES, PUBLISHED, read_published

#: All attributes are stored, so that hashes equal those in lab/results.
NER = replace(splits.NER_TASK, attrs=tuple(ALL_ATTRS))

#: Remedies for missing files.
FETCH = "Fetch it with 'spacy project assets' in the clone"
_BY_HAND = "Fetch it yourself: {} says where it was published"

WNUT17 = ColumnFormat(separator="\t")
ANEM = ColumnFormat(separator="\t", tag=3)
ARCHAEOLOGY = ColumnFormat()

#: One in this number of training rows is for development, as in the paper.
DEV_EVERY = 20

#: The number of texts of each class in the splits of the small corpus. Published
#: results depend on it.
_SMALL = {"train": 1250, "dev": 150, "test": 500}


class Dataset(NamedTuple):
    """A corpus, and the function that splits it."""

    files: tuple[str, ...]  # files or folders in the folder of assets
    split: Callable[[list[Path]], Splits]
    lang: str = "en"
    task: Task = NER
    remedy: str = FETCH  # for missing files


def prepare_dataset(
    name: str,
    assets: Path,
    output: Path,
    *,
    progress: Progress = lambda documents, split: documents,
) -> dict[str, Path]:
    """Convert a corpus, and split it as in the paper that has results on it.

    Equal files give equal bytes.
    """
    check_choice(sorted(DATASETS), name=name)
    dataset = DATASETS[name]
    paths = [assets / file for file in dataset.files]
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(
                f"There is no '{path}' of {name}. {dataset.remedy}, or name another "
                "folder with --assets."
            )
    made = dataset.split(paths)
    return splits.write_splits(made, dataset.task, dataset.lang, output, progress)


def _split_as_published(
    read: Callable[[Path], Iterator[Document]], paths: list[Path]
) -> Splits:
    return {split: read(path) for split, path in zip(SPLITS, paths, strict=True)}


def _split_anem(paths: list[Path]) -> Splits:
    # The report shuffles sentences, so that both splits have sentences of an abstract.
    training, test = paths
    sentences = list(read_documents(training, ANEM))
    random.Random(SEED).shuffle(sentences)
    n = int(0.8 * len(sentences))
    parts = {"train": iter(sentences[:n]), "dev": iter(sentences[n:])}
    return {**parts, "test": read_documents(test, ANEM)}


def _split_archaeology(paths: list[Path]) -> Splits:
    # The report's file has another order of sentences, and thus another split.
    sentences = [doc for path in paths for doc in read_documents(path, ARCHAEOLOGY)]
    random.Random(SEED).shuffle(sentences)
    n = math.ceil(0.1 * len(sentences))
    parts = (sentences[2 * n :], sentences[:n], sentences[n : 2 * n])
    return dict(zip(SPLITS, map(iter, parts), strict=True))


def _split_texts(
    read: Callable[[Path], Iterator[LabelledText]],
    tests: tuple[str, ...],
    paths: list[Path],
) -> Splits:
    training, *others = paths
    draw = partial(read, training)
    return {
        **splits.hold_out(draw, splits.find_labels, every=DEV_EVERY),
        **{split: read(path) for split, path in zip(tests, others, strict=False)},
    }


def _split_small(paths: list[Path]) -> Splits:
    """Draw the splits from each class, and keep the order of texts."""
    texts = list(read_published(paths[0], PUBLISHED["ag_news"]))
    places: dict[str, list[int]] = {split: [] for split in SPLITS}
    rng = random.Random(SEED)
    for label in texts[0].cats:
        of_label = [i for i, labelled in enumerate(texts) if labelled.cats[label]]
        rng.shuffle(of_label)
        drawn = iter(of_label)
        for split, size in _SMALL.items():
            places[split] += [next(drawn) for _ in range(size)]
    return {split: (texts[i] for i in sorted(places[split])) for split in SPLITS}


def _of_columns(layout: ColumnFormat) -> Callable[[list[Path]], Splits]:
    return partial(_split_as_published, partial(read_documents, layout=layout))


def _of_texts(name: str) -> Dataset:
    layout = PUBLISHED[name]
    names = ("train.csv", "test.csv") + (() if layout.labels else (CLASSES,))
    return Dataset(
        files=tuple(f"{name}/{file}" for file in names),
        split=partial(_split_texts, partial(read_published, layout=layout), ("test",)),
        task=TEXTCAT_TASK,
        remedy=FETCH if name == "ag_news" else _BY_HAND.format("docs/textcat.md"),
    )


def _of_glue(task: str) -> Dataset:
    # the published test sets have no labels
    tests = {"test": "dev.tsv"}
    if task == "mnli":
        tests = {"test": "dev_matched.tsv", "test_mismatched": "dev_mismatched.tsv"}
    folder = f"glue/{GLUE[task].folder}"
    return Dataset(
        files=tuple(f"{folder}/{file}" for file in ("train.tsv", *tests.values())),
        split=partial(_split_texts, partial(read_glue, task=task), tuple(tests)),
        task=TEXTCAT_TASK,
        remedy=_BY_HAND.format("lab/README.md"),
    )


_WNUT17 = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")

#: Corpora by their names on the command line.
DATASETS: Mapping[str, Dataset] = {
    "wnut17": Dataset(tuple(f"wnut17/{name}" for name in _WNUT17), _of_columns(WNUT17)),
    "conll2002_es": Dataset(
        ("conll2002/esp.train", "conll2002/esp.testa", "conll2002/esp.testb"),
        _of_columns(ColumnFormat()),
        "es",
    ),
    "conll2002_nl": Dataset(
        ("conll2002/ned.train", "conll2002/ned.testa", "conll2002/ned.testb"),
        _of_columns(ColumnFormat(group="document")),
        "nl",
    ),
    "anem": Dataset(("anem/AnEM.train", "anem/AnEM.test"), _split_anem),
    "archaeology": Dataset(
        tuple(f"archaeo/{user}.bio" for user in range(1, 7)), _split_archaeology, "nl"
    ),
    # a folder of a licensed copy (LDC2013T19), in the format of CoNLL-2012
    "ontonotes": Dataset(
        ("ontonotes/train", "ontonotes/development", "ontonotes/test"),
        partial(_split_as_published, read_ontonotes),
        remedy=_BY_HAND.format("lab/README.md"),
    ),
    "demo": Dataset((), lambda paths: {**make_demo_corpus()}),
    "ag_news_small": Dataset(
        ("ag_news/test.csv", f"ag_news/{CLASSES}"), _split_small, task=TEXTCAT_TASK
    ),
    **{name: _of_texts(name) for name in PUBLISHED},
    **{f"glue_{task}": _of_glue(task) for task in GLUE},
}
