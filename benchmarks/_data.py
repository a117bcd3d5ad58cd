"""The text that everything is measured on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import spacy
from spacy.tokens import Doc
from spacy.training import biluo_tags_to_spans, iob_to_biluo
from spacy.vocab import Vocab
from wasabi import msg

from lab.corpora.demo import make_demo_corpus
from spacy_hashembeds.corpora.docbin import read_docs

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "corpus" / "wnut17" / "train.spacy"
RESULTS = ROOT / "benchmarks" / "results"

#: The tokens of a short document.
SHORT = 27

#: Calls are timed several at once, until they have so many words.
WORDS_PER_SAMPLE = 500


@dataclass(frozen=True)
class Corpus:
    """A corpus of English.

    name (str): Where it is from.
    docs (list[Doc]): Gold Docs, none of them empty, all of one vocab.
    """

    name: str
    docs: list[Doc]

    @property
    def vocab(self) -> Vocab:
        """The vocab of all Docs."""
        return self.docs[0].vocab

    def to_json(self) -> dict[str, int | str]:
        """Say what it is."""
        n_words = sum(map(len, self.docs))
        return {"name": self.name, "docs": len(self.docs), "words": n_words}


def load_corpus(path: Path = CORPUS) -> Corpus:
    """Load a corpus, or make the demo corpus, saying so, where there is none.

    path (Path): A `.spacy` file.
    RAISES (ValueError): If the file is damaged or holds no words.
    """
    vocab = spacy.blank("en").vocab
    if path.exists():
        name = "/".join(path.parts[-2:])
        docs = [doc for doc in read_docs(path, vocab) if len(doc)]
    else:
        msg.warn(
            f"There is no '{path}': measuring on the demo corpus.",
            "Make it with `spacy project assets` and "
            "`python -m lab prepare wnut17 -o corpus/wnut17`.",
        )
        name = "demo"
        docs = list(_make_demo_docs(vocab))
    if not docs:
        raise ValueError(f"There is not a word in '{path}'. Name another corpus.")
    return Corpus(name, docs)


def find_short_docs(docs: Sequence[Doc], n_docs: int = 100) -> list[Doc]:
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


def make_samples(batches: list[list[Doc]]) -> list[list[list[Doc]]]:
    """Put batches together to samples that take long enough to be timed."""
    size = max(1, WORDS_PER_SAMPLE // count_words(batches[0]))
    return [batches[i : i + size] for i in range(0, len(batches), size)]


def count_words(docs: Sequence[Doc]) -> int:
    """Count the tokens of docs."""
    return sum(map(len, docs))


def count_words_of_batches(batches: Sequence[Sequence[Doc]]) -> int:
    """Count the words of all docs of batches."""
    return sum(map(count_words, batches))


def _take_words(stream: Iterator[Doc], size: int) -> list[Doc]:
    batch: list[Doc] = []
    n_words = 0
    while n_words < size:
        batch.append(next(stream))
        n_words += len(batch[-1])
    return batch


def _make_demo_docs(vocab: Vocab) -> Iterator[Doc]:
    for words, tags in make_demo_corpus()["train"]:
        doc = Doc(vocab, words=words)
        doc.ents = biluo_tags_to_spans(doc, iob_to_biluo(tags))
        yield doc
