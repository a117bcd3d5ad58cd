"""Corpora for text classification, and how they are split.

They are those of table 1 in "Hash Embeddings for Efficient Word
Representations" (Svenstrup et al. 2017), and the smallest file of them as a corpus of
its own.
"""

from functools import partial
from pathlib import Path
from random import Random

from spacy_hashembeds.corpora.splits import (
    SEED,
    SPLITS,
    TEXTCAT,
    Splits,
    hold_out,
)

from .dataset import FETCH, Dataset
from .published import (
    AG_NEWS,
    AMAZON_FULL,
    AMAZON_POLARITY,
    CLASSES,
    DBPEDIA,
    YAHOO_ANSWERS,
    YELP_FULL,
    YELP_POLARITY,
    Published,
    read_published,
)

#: One of so many rows for training is for development: 5 percent, as in the paper.
DEV_EVERY = 20

#: How many texts of each class the splits of the small corpus have. Never to be
#: changed: the results that we publish are of these splits.
_SMALL = {"train": 1250, "dev": 150, "test": 500}

_BY_HAND = (
    "It can't be fetched for you: docs/textcat.md of spacy-hashembeds says where it "
    "was published"
)


def _split_published(layout: Published, paths: list[Path]) -> Splits:
    training, test, *_ = paths
    read = partial(read_published, training, layout)
    return {**hold_out(read, every=DEV_EVERY), "test": read_published(test, layout)}


def _split_small(paths: list[Path]) -> Splits:
    """Draw the splits from each class alike, and leave the texts in their order."""
    path = paths[0]
    texts = list(read_published(path, AG_NEWS))
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


def _make_dataset(name: str, layout: Published, remedy: str = _BY_HAND) -> Dataset:
    names = ("train.csv", "test.csv") + (() if layout.labels else (CLASSES,))
    return Dataset(
        name=name,
        lang="en",
        files=tuple(f"{name}/{file}" for file in names),
        split=partial(_split_published, layout),
        task=TEXTCAT,
        remedy=remedy,
    )


TEXT_DATASETS = (
    _make_dataset("ag_news", AG_NEWS, FETCH),
    Dataset(
        name="ag_news_small",
        lang="en",
        files=("ag_news/test.csv", f"ag_news/{CLASSES}"),
        split=_split_small,
        task=TEXTCAT,
    ),
    _make_dataset("dbpedia", DBPEDIA),
    _make_dataset("yelp_polarity", YELP_POLARITY),
    _make_dataset("yelp_full", YELP_FULL),
    _make_dataset("yahoo_answers", YAHOO_ANSWERS),
    _make_dataset("amazon_full", AMAZON_FULL),
    _make_dataset("amazon_polarity", AMAZON_POLARITY),
)
