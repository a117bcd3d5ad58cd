"""Make a corpus in which nothing but the layout tells what a heading is.

    python headings.py corpus/headings

A heading is a line that is bold and large. All lines are made of the same words.
"""

import random
import sys
from pathlib import Path

from spacy.tokens import Doc, DocBin, Token
from spacy.vocab import Vocab

WORDS = "a the new old council city river history report of in and plans opens".split()
#: Whether a line is bold, and its size in points.
LAYOUTS = [(True, 16.5), (True, 10.5), (False, 16.0), (False, 10.0), (False, 10.5)]

for name in ("is_bold", "size", "is_first"):
    Token.set_extension(name, default=None, force=True)


def make_doc(rng: random.Random, vocab: Vocab) -> Doc:
    """Make a text of ten lines, each of which is a sentence."""
    words, tags, values = [], [], []
    for _ in range(10):
        is_bold, points = rng.choice(LAYOUTS)
        size = "large" if points > 12 else "small"
        is_heading = is_bold and size == "large"
        for i in range(rng.randint(2, 6)):
            words.append(rng.choice(WORDS))
            tags.append(("I-HEADING" if i else "B-HEADING") if is_heading else "O")
            values.append((is_bold, size, i == 0))
    doc = Doc(vocab, words=words, ents=tags)
    for token, (is_bold, size, is_first) in zip(doc, values, strict=True):
        token._.is_bold, token._.size, token._.is_first = is_bold, size, is_first
        token.is_sent_start = is_first
    return doc


def main(folder: Path) -> None:
    """Write the three files of the corpus."""
    rng, vocab = random.Random(0), Vocab()
    folder.mkdir(parents=True, exist_ok=True)
    for split, n in {"train": 200, "dev": 50, "test": 50}.items():
        docs = [make_doc(rng, vocab) for _ in range(n)]
        DocBin(docs=docs, store_user_data=True).to_disk(folder / f"{split}.spacy")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
