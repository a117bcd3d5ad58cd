"""Corpora for text classification: those of table 1 in "Hash Embeddings for Efficient
Word Representations" (Svenstrup et al. 2017), the smallest file of these, and GLUE.
"""

from functools import partial
from pathlib import Path
from random import Random

from spacy_hashembeds.corpora.splits import (
    SEED,
    SPLITS,
    TEXTCAT,
    Splits,
    find_labels,
    hold_out,
)

from .dataset import FETCH, Dataset
from .glue import GLUE, read_glue
from .published import CLASSES, PUBLISHED, Published, read_published

#: One of so many rows for training is for development: 5 percent, as in the paper.
DEV_EVERY = 20

#: How many texts of each class the splits of the small corpus have. Never to be
#: changed: the results that we publish are of these splits.
_SMALL = {"train": 1250, "dev": 150, "test": 500}

_BY_HAND = (
    "It can't be fetched for you: docs/{}.md of spacy-hashembeds says where it was "
    "published"
)


def _split_published(layout: Published, paths: list[Path]) -> Splits:
    training, test, *_ = paths
    read = partial(read_published, training, layout)
    return {
        **hold_out(read, find_labels, every=DEV_EVERY),
        "test": read_published(test, layout),
    }


def _split_small(paths: list[Path]) -> Splits:
    """Draw the splits from each class alike, and leave the texts in their order."""
    path = paths[0]
    texts = list(read_published(path, PUBLISHED["ag_news"]))
    places: dict[str, list[int]] = {split: [] for split in SPLITS}
    rng = Random(SEED)
    for label in texts[0].cats:
        of_label = [i for i, labelled in enumerate(texts) if labelled.cats[label]]
        if len(of_label) != sum(_SMALL.values()):
            raise ValueError(
                f"{path}: expected {sum(_SMALL.values()):,} texts of the class "
                f"{label!r}, as the published file has, got {len(of_label):,}."
            )
        rng.shuffle(of_label)
        drawn = iter(of_label)
        for split, size in _SMALL.items():
            places[split] += [next(drawn) for _ in range(size)]
    return {split: (texts[i] for i in sorted(places[split])) for split in SPLITS}


def _make_dataset(name: str) -> Dataset:
    layout = PUBLISHED[name]
    names = ("train.csv", "test.csv") + (() if layout.labels else (CLASSES,))
    return Dataset(
        name=name,
        files=tuple(f"{name}/{file}" for file in names),
        split=partial(_split_published, layout),
        task=TEXTCAT,
        remedy=FETCH if name == "ag_news" else _BY_HAND.format("textcat"),
    )


TEXT_DATASETS = (
    *map(_make_dataset, PUBLISHED),
    Dataset(
        name="ag_news_small",
        files=("ag_news/test.csv", f"ag_news/{CLASSES}"),
        split=_split_small,
        task=TEXTCAT,
    ),
)

#: The development sets of GLUE, by the names of the splits that they become: the labels
#: of the published test sets are kept back, so that papers have results on these too.
_DEV = {"test": "dev.tsv"}
_DEV_OF_MNLI = {"test": "dev_matched.tsv", "test_mismatched": "dev_mismatched.tsv"}


def _split_glue(task: str, tests: tuple[str, ...], paths: list[Path]) -> Splits:
    training, *others = paths
    tested = {s: read_glue(path, task) for s, path in zip(tests, others, strict=True)}
    return {
        **hold_out(partial(read_glue, training, task), find_labels, every=DEV_EVERY),
        **tested,
    }


def _make_glue_dataset(task: str) -> Dataset:
    tests = _DEV_OF_MNLI if task == "mnli" else _DEV
    folder = f"glue/{GLUE[task].folder}"
    return Dataset(
        name=f"glue_{task}",
        files=tuple(f"{folder}/{file}" for file in ("train.tsv", *tests.values())),
        split=partial(_split_glue, task, tuple(tests)),
        task=TEXTCAT,
        remedy=_BY_HAND.format("glue"),
    )


GLUE_DATASETS = tuple(map(_make_glue_dataset, GLUE))
