"""What the undamaged files are made of."""

from collections.abc import Iterator

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

# Entities as word|TYPE.
_SENTENCES = (
    "Anna|PER lives in Paris|LOC today .",
    "Ben|PER works in Rome|LOC , today .",
    "Zoë|PER lives in Lisbon|LOC !",
    "Rome|LOC is far from Paris|LOC .",
    "we met Anna|PER and Ben|PER in Rome|LOC",
    "nobody lives there today .",
)


def read_sentences() -> Iterator[tuple[list[str], list[str]]]:
    """Give the words of each sentence, and their BIO tags."""
    for sentence in _SENTENCES:
        pairs = [word.partition("|") for word in sentence.split()]
        tags = [f"B-{label}" if label else "O" for *_, label in pairs]
        yield [word for word, *_ in pairs], tags


def make_docs(vocab: Vocab) -> list[Doc]:
    """Make the sentences with their entities."""
    docs = []
    for words, tags in read_sentences():
        doc = Doc(vocab, words=words)
        doc.set_ents(
            [Span(doc, i, i + 1, tag[2:]) for i, tag in enumerate(tags) if tag != "O"]
        )
        docs.append(doc)
    return docs


def get_texts() -> list[str]:
    """Give the sentences as texts, and two with words that stand in none."""
    texts = [" ".join(words) for words, _ in read_sentences()]
    return [*texts, "Emil never lived in Oslo .", "Xy 12 ?"]
