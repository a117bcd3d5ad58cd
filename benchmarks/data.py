"""The text that everything is measured on, and samples of it."""

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

#: The tokens of a short document, and how many of these there are.
SHORT, N_SHORT = 27, 100
#: About the words of a step of training.
BATCH_WORDS = 1000
#: Calls are timed several at once, until they have so many words.
_WORDS_PER_SAMPLE = 500


class Sizes(NamedTuple):
    """Sizes of what is measured, unless in a test."""

    #: Docs in a call of a layer, where one means a short one.
    calls: Sequence[int] = (1, 10, 100, 1000)
    #: About the words in a call of a layer in training, and on a GPU.
    words: Sequence[int] = (100, 1000, 10_000)
    gpu_words: Sequence[int] = (1000, 10_000, 100_000)
    #: Docs that are annotated in a round, and steps of training.
    docs: int = 1000
    updates: int = 5
    #: Texts in a step of training of classifiers, and texts of all steps in a round.
    texts: Sequence[int] = (32, 128)
    texts_trained: int = 512
    #: Steps of training before, and for stock pipelines to be accelerated.
    steps: int = 60
    stock_steps: int = 600
    #: Distinct words, one after the other.
    distinct_words: int = 1_000_000


SIZES = Sizes()


@dataclass(frozen=True)
class Corpus:
    """Gold Docs of English, none of them empty, all of one vocab."""

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
    """Find the docs whose length is nearest to that of a short document."""
    return sorted(docs, key=lambda doc: abs(len(doc) - SHORT))[:n_docs]


def batch_by_docs(docs: Sequence[Doc], size: int, n_batches: int) -> list[list[Doc]]:
    """Cut batches of so many docs each, starting over where the corpus ends."""
    stream = cycle(docs)
    return [[next(stream) for _ in range(size)] for _ in range(n_batches)]


def batch_by_words(docs: Sequence[Doc], size: int, n_batches: int) -> list[list[Doc]]:
    """Cut batches of so many words each, the last doc running over."""
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
    """Cut samples of so many steps of training each."""
    return group(batch_by_words(docs, BATCH_WORDS, steps * n_samples), steps)


def group(batches: Sequence[Any], size: int | None = None) -> list[Any]:
    """Group batches into samples of so many, or that take long enough to time."""
    size = size or max(1, _WORDS_PER_SAMPLE // sum(map(len, batches[0])))
    return [batches[i : i + size] for i in range(0, len(batches), size)]


def make_examples(docs: Sequence[Doc]) -> list[Example]:
    """Make new examples of gold docs."""
    return [Example(copy_words(doc, doc.vocab), doc) for doc in docs]
