"""Vocabularies of a few words."""

from collections.abc import Sequence

import spacy
from spacy.tokens import Doc

from spacy_hashembeds.analysis.features import Vocabulary, collect_vocabulary

ATTRS = ("NORM", "SHAPE")


def make_docs(*texts: str) -> list[Doc]:
    vocab = spacy.blank("en").vocab
    return [Doc(vocab, words=text.split()) for text in texts]


def collect(*texts: str, attrs: Sequence[str] = ATTRS) -> Vocabulary:
    return collect_vocabulary(make_docs(*texts), attrs)
