"""Time the costs of features, in microseconds of processor time per word.

    python docs/features/headings.py corpus/headings
    python -m benchmarks.features corpus/headings/train.spacy

`Doc.copy`, which spaCy's `nlp.update` calls for each Doc, is timed with and without the
values of three attributes.
"""

import sys
from collections.abc import Callable
from functools import partial
from statistics import quantiles
from time import process_time

import spacy
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from spacy_hashembeds.architectures.features import read_keys
from spacy_hashembeds.training.docbin import read_docs
from spacy_hashembeds.training.prediction import copy_words

ROUNDS = 51
STORED = ["_.is_bold", "_.size", "_.is_first"]


def get_is_title(token: Token) -> bool:
    """Return a flag of spaCy, as an example of a fast getter."""
    return token.is_title


def read(docs: list[Doc], attr: str) -> None:
    """Read a feature of a batch of Docs."""
    read_keys(docs, [attr])


def copy(docs: list[Doc]) -> None:
    """Copy each Doc."""
    for doc in docs:
        doc.copy()


def main(path: str) -> None:
    """Time all operations in turns, and print medians and quartiles."""
    vocab: Vocab = spacy.blank("en").vocab
    docs = list(read_docs(path, vocab))
    for name in STORED:
        Token.set_extension(name.removeprefix("_."), default=None)
    Token.set_extension("is_title", getter=get_is_title)
    for doc in docs:
        doc.spans["names"] = [Span(doc, e.start, e.end, "NAME") for e in doc.ents]
    bare = [copy_words(doc, vocab) for doc in docs]
    timed: dict[str, Callable[[], None]] = {
        "read a stored value": partial(read, docs, "_.size"),
        "read a group of spans": partial(read, docs, "spans.names"),
        "read a getter": partial(read, docs, "_.is_title"),
        "copy Docs without values": partial(copy, bare),
        "copy Docs with three values": partial(copy, docs),
    }
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(ROUNDS):
        for name, run in timed.items():
            start = process_time()
            run()
            seconds[name].append(process_time() - start)
    n_words = sum(map(len, docs))
    for name, found in seconds.items():
        low, median, high = (1e6 * x / n_words for x in quantiles(found, n=4))
        sys.stdout.write(f"{name}: {median:.2f} ({low:.2f}..{high:.2f})\n")


if __name__ == "__main__":
    main(sys.argv[1])
