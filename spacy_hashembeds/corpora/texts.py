"""Texts with categories, whatever they were read from, made into Docs and Examples."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example


class LabelledText(NamedTuple):
    """A text and what it is about.

    text (str): The text.
    cats (dict[str, float]): 1.0 or 0.0 for each label of the corpus, as in `Doc.cats`.
    """

    text: str
    cats: dict[str, float]


def make_cats(labels: Iterable[str], chosen: Iterable[str]) -> dict[str, float]:
    """Say of each label whether a text has it: a text classifier learns from both.

    labels (Iterable[str]): All labels of the corpus.
    chosen (Iterable[str]): Those of the text.
    RETURNS (dict[str, float]): 1.0 or 0.0 for each label, in their order.
    """
    those = set(chosen)
    return {label: float(label in those) for label in labels}


def make_text_doc(nlp: Language, labelled: LabelledText) -> Doc:
    """Make the annotated `Doc` of a text.

    nlp (Language): What tokenizes it.
    labelled (LabelledText): The text and its categories.
    RETURNS (Doc): The doc.
    """
    doc = nlp.make_doc(labelled.text)
    doc.cats = dict(labelled.cats)
    return doc


def make_text_examples(
    read: Callable[[], Iterator[LabelledText]], limit: int, nlp: Language
) -> Iterator[Example]:
    """Make the examples of a corpus, as `spacy.Corpus.v1` makes them of a file.

    read (Callable): Reads the texts, anew at each call.
    limit (int): Stop after as many texts. 0: read all.
    nlp (Language): The pipeline to train.
    YIELDS (Example): One for each text.
    """
    for labelled in islice(read(), limit if limit > 0 else None):
        reference = make_text_doc(nlp, labelled)
        predicted = reference.copy()
        predicted.cats = {}
        yield Example(predicted, reference)
