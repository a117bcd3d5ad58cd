"""Corpora for measurements, and samples of their Docs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.prediction import copy_words

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "corpus" / "wnut17" / "train.spacy"
TEXTS = ROOT / "corpus" / "ag_news_small" / "train.spacy"
RESULTS = ROOT / "benchmarks" / "results"

#: The length of a short document in tokens, and the number of short documents.
SHORT, N_SHORT = 27, 100
#: The approximate number of words in a step of training.
BATCH_WORDS = 1000
#: The minimum number of words in a sample. Samples of short calls have several.
_WORDS_PER_SAMPLE = 500


class Sizes(NamedTuple):
    """Sizes of the measurements. Tests use smaller ones."""

    #: Docs in a call of a layer. A single Doc is a short one.
    calls: Sequence[int] = (1, 10, 100, 1000)
    #: Approximate words in a call of a layer in training, and on a GPU.
    words: Sequence[int] = (100, 1000, 10_000)
    gpu_words: Sequence[int] = (1000, 10_000, 100_000)
    #: Docs to annotate, and steps of training, in a round.
    docs: int = 1000
    updates: int = 5
    #: Texts in a step of training a classifier, and in all steps of a round.
    texts: Sequence[int] = (32, 128)
    texts_trained: int = 512
    #: Steps of training pipelines, and stock pipelines for `accelerate`.
    steps: int = 60
    stock_steps: int = 600
    #: Distinct words for measuring memory.
    distinct_words: int = 1_000_000


SIZES = Sizes()


@dataclass(frozen=True)
class Corpus:
    """Gold Docs of English with one vocab, without empty ones."""

    name: str
    docs: list[Doc]

    def to_json(self) -> dict[str, int | str]:
        """Describe the corpus."""
        n_words = sum(map(len, self.docs))
        return {"name": self.name, "docs": len(self.docs), "words": n_words}


def load_corpus(path: Path) -> Corpus:
    """Load a `.spacy` file.

    RAISES (FileNotFoundError): If there is no such file.
    """
    if not path.exists():
        name = path.parent.name
        raise FileNotFoundError(
            f"There is no '{path}'. Make it with `spacy project assets` and `python -m "
            f"lab prepare {name} -o corpus/{name}`, or name another with --corpus."
        )
    docs = [doc for doc in read_docs(path, spacy.blank("en").vocab) if len(doc)]
    return Corpus("/".join(path.parts[-2:]), docs)


def find_short_docs(docs: Sequence[Doc], n_docs: int = N_SHORT) -> list[Doc]:
    """Return the docs whose lengths are nearest to `SHORT`."""
    return sorted(docs, key=lambda doc: abs(len(doc) - SHORT))[:n_docs]


def batch_by_docs(docs: Sequence[Doc], size: int, n_batches: int) -> list[list[Doc]]:
    """Return batches of `size` docs. Repeat the corpus if necessary."""
    stream = cycle(docs)
    return [[next(stream) for _ in range(size)] for _ in range(n_batches)]


def batch_by_words(docs: Sequence[Doc], size: int, n_batches: int) -> list[list[Doc]]:
    """Return batches of docs with at least `size` words."""
    stream = cycle(docs)
    return [_take_words(stream, size) for _ in range(n_batches)]


def _take_words(stream: Iterator[Doc], size: int) -> list[Doc]:
    batch: list[Doc] = []
    n_words = 0
    while n_words < size:
        batch.append(next(stream))
        n_words += len(batch[-1])
    return batch


def cut_updates(docs: Sequence[Doc], steps: int, n_samples: int) -> list[Any]:
    """Return samples of `steps` batches of training."""
    return group(batch_by_words(docs, BATCH_WORDS, steps * n_samples), steps)


def group(batches: Sequence[Any], size: int | None = None) -> list[Any]:
    """Group batches into samples of `size`, or of about `_WORDS_PER_SAMPLE` words."""
    size = size or max(1, _WORDS_PER_SAMPLE // sum(map(len, batches[0])))
    return [batches[i : i + size] for i in range(0, len(batches), size)]


def make_examples(docs: Sequence[Doc]) -> list[Example]:
    """Make examples of gold docs."""
    return [Example(copy_words(doc, doc.vocab), doc) for doc in docs]
