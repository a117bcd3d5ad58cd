"""Corpora for text classification, and how they are split.

They are your own, those of table 1 in "Hash Embeddings for Efficient Word
Representations" (Svenstrup et al. 2017), and the smallest file of them as a corpus of
its own.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

import spacy
from spacy.tokens import Doc

from .labelled import TextFormat, gather_labels, read_labelled, read_labels
from .lines import check_is_regular
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
from .splits import (
    FETCH,
    SEED,
    SPLITS,
    Dataset,
    Progress,
    Splits,
    Task,
    check_own_files,
    write_splits,
)
from .texts import LabelledText, make_text_doc

#: One of so many rows for training is for development: 5 percent, as in the paper.
_DEV_EVERY = 20

#: As much of your own texts, unless there is a file for it: they are fewer.
_OWN_DEV_EVERY = 10

#: How many texts of each class the splits of the small corpus have. Never to be
#: changed: the results that we publish are of these splits.
_SMALL = {"train": 1250, "dev": 150, "test": 500}

_BY_HAND = (
    "It can't be fetched for you: docs/textcat.md of spacy-hashembeds says where it "
    "was published"
)


def _make_docs(lang: str) -> Callable[[LabelledText], Doc]:
    try:
        nlp = spacy.blank(lang)
    except ImportError as err:
        raise ValueError(
            "'lang' should be the code of a language that spaCy can tokenize here, "
            f"such as 'en', or 'xx' where there is none, but is {lang!r}. {err}"
        ) from None
    return partial(make_text_doc, nlp)


#: All that a tokenizer sets: millions of texts have no room for what is not known.
TEXTCAT = Task(unit="text", prepare=_make_docs, attrs=("ORTH", "NORM"))


def prepare_texts(
    *,
    train: Path,
    dev: Path | None = None,
    test: Path | None = None,
    lang: str,
    output: Path,
    layout: TextFormat | None = None,
    progress: Progress = lambda documents, split: documents,
) -> dict[str, Path]:
    """Convert your own texts with labels. Labels are those of all files together.

    train (Path): The file of the training split.
    dev (Path): The file of the development split. None: one in ten texts for training
        is, drawn as in `hold_out`.
    test (Path): The file of the test split, if there is one.
    lang (str): Code of the language, e.g. "en".
    output (Path): The folder to write to, as for `prepare_dataset`.
    layout (TextFormat): How the files are laid out. None: as
        `spacy-hashembeds.LabelledTextsCorpus.v1` has it by default.
    progress (Progress): Wraps the texts of each split as they are read, and the labels.
    RETURNS (dict[str, Path]): The file of each split.
    RAISES (ValueError): An unknown language, a test split of other files that would
        stay in the output, a pipe in the place of a file, no label at all, or, with
        file and line, what cannot be parsed.
    RAISES (FileNotFoundError): A file is missing.
    """
    layout = layout if layout is not None else TextFormat()
    paths = check_own_files(output, train=train, dev=dev, test=test)
    for path in paths.values():
        check_is_regular(path)
    labels = gather_labels(
        (
            progress(read_labels(path, layout), f"the labels of {split}")
            for split, path in paths.items()
        ),
        source=", ".join(map(str, paths.values())),
    )
    read = partial(read_labelled, layout=layout, labels=labels)
    splits: dict[str, Iterator[LabelledText]] = {
        split: read(path) for split, path in paths.items()
    }
    if dev is None:
        held_out = hold_out(partial(read, paths["train"]), every=_OWN_DEV_EVERY)
        splits = {**held_out, **{s: splits[s] for s in splits if s != "train"}}
    return write_splits(splits, TEXTCAT, lang, Path(output), progress)


def hold_out(
    read: Callable[[], Iterator[LabelledText]], *, every: int = _DEV_EVERY
) -> dict[str, Iterator[LabelledText]]:
    """Split a corpus into train and dev without keeping it in memory.

    Of each so many texts that have one label, the same, one is in dev, drawn from a
    fixed seed; and so of the texts that have several labels, or none, taken together:
    most combinations of labels are too rare for one of each to be drawn. The first text
    with a label is never in dev, so that dev has no label that train has not.

    read (Callable): Reads the texts, anew at each call.
    every (int): Of how many texts one is in dev.
    RETURNS (dict[str, Iterator[LabelledText]]): The splits, in the order of the texts.
    """
    return {
        "train": _choose(read(), every, is_drawn=False),
        "dev": _choose(read(), every, is_drawn=True),
    }


def _choose(
    texts: Iterator[LabelledText], every: int, *, is_drawn: bool
) -> Iterator[LabelledText]:
    rng = Random(SEED)
    seen: Counter[str | None] = Counter()
    drawn: dict[str | None, int] = {}
    known: set[str] = set()
    for labelled in texts:
        labels = [label for label, value in labelled.cats.items() if value]
        # None: the group of all texts that have several labels, or none
        group = labels[0] if len(labels) == 1 else None
        place = seen[group] % every
        seen[group] += 1
        if place == 0:
            # Never the first, which may be all that there is.
            drawn[group] = rng.randrange(1, every)
        is_in_dev = place == drawn[group] and known.issuperset(labels)
        known.update(labels)
        if is_in_dev == is_drawn:
            yield labelled


def _split_published(layout: Published, paths: list[Path]) -> Splits:
    training, test, *_ = paths
    read = partial(read_published, training, layout)
    return {**hold_out(read), "test": read_published(test, layout)}


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
