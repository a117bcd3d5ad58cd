"""The tasks of GLUE as corpora, and how they are split.

The labels of the published test sets are kept back, so that the development sets are
what results are of, in the papers too. Here they are the test, and what a model is
chosen by is held out of the training set, as for other corpora of texts.
"""

from functools import partial
from pathlib import Path

from spacy_hashembeds.corpora.splits import TEXTCAT, Splits, hold_out

from .dataset import Dataset
from .glue import GLUE, read_glue
from .textdatasets import DEV_EVERY

#: The development sets, by the names of the splits that they become.
_DEV = {"test": "dev.tsv"}
_DEV_OF_MNLI = {"test": "dev_matched.tsv", "test_mismatched": "dev_mismatched.tsv"}

_REMEDY = (
    "It can't be fetched for you: docs/glue.md of spacy-hashembeds says where it was "
    "published"
)


def _split(task: str, tests: tuple[str, ...], paths: list[Path]) -> Splits:
    training, *others = paths
    tested = {s: read_glue(path, task) for s, path in zip(tests, others, strict=True)}
    return {**hold_out(partial(read_glue, training, task), every=DEV_EVERY), **tested}


def _make_dataset(task: str) -> Dataset:
    tests = _DEV_OF_MNLI if task == "mnli" else _DEV
    folder = f"glue/{GLUE[task].folder}"
    return Dataset(
        name=f"glue_{task}",
        lang="en",
        files=tuple(f"{folder}/{file}" for file in ("train.tsv", *tests.values())),
        split=partial(_split, task, tuple(tests)),
        task=TEXTCAT,
        remedy=_REMEDY,
    )


GLUE_DATASETS = tuple(map(_make_dataset, GLUE))
