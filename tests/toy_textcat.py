"""A small corpus of categories, and pipelines for it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus
from spacy.vocab import Vocab
from thinc.api import fix_random_seed

LABELS = ("sports", "money", "weather")

TRAIN = (
    ("the team won the match", "sports"),
    ("the striker scored a goal", "sports"),
    ("a goal in the last match", "sports"),
    ("the bank raised its rates", "money"),
    ("shares of the bank fell", "money"),
    ("rates and shares rose again", "money"),
    ("rain and storms all day", "weather"),
    ("the storms bring rain again", "weather"),
    ("sunny day without rain", "weather"),
)
TEST = (
    ("the team lost a match", "sports"),
    ("a striker without a goal", "sports"),
    ("the bank of the storms", "money"),
    ("rates fell all day", "money"),
    ("a sunny day for shares", "weather"),
    ("storms in the last match", "weather"),
    ("rain again", "weather"),
)

BOW = "spacy.TextCatBOW.v3"


def make_doc(text: str, cats: Mapping[str, float] | str) -> Doc:
    """Make a doc with categories, or with one label."""
    doc = Doc(Vocab(), words=text.split())
    if isinstance(cats, str):
        cats = {label: float(label == cats) for label in LABELS}
    doc.cats = dict(cats)
    return doc


def make_docs(pairs: Iterable[tuple[str, Any]]) -> list[Doc]:
    return [make_doc(text, cats) for text, cats in pairs]


def train_textcat(corpus: Path, *, exclusive: bool = True, steps: int = 20) -> Language:
    """Train a classifier until most predictions, but not all, are correct."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    factory = "textcat" if exclusive else "textcat_multilabel"
    model = {"@architectures": BOW, "exclusive_classes": exclusive, "length": 256}
    model |= {"ngram_size": 1, "no_output_layer": False}
    nlp.add_pipe(factory, config={"model": model})
    examples = list(Corpus(corpus)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.05
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer)
    return nlp


def make_classifier(
    labels: Sequence[str], *, exclusive: bool = True, threshold: float = 0.5
) -> Language:
    """Make a pipeline with an untrained text classifier for these labels."""
    nlp = spacy.blank("en")
    factory = "textcat" if exclusive else "textcat_multilabel"
    pipe = nlp.add_pipe(factory, config={"threshold": threshold})
    for label in labels:
        pipe.add_label(label)  # type: ignore[attr-defined]
    return nlp
