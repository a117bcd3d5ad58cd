"""Predict gold Docs, with the features that the pipeline needs."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import tee
from typing import TypeVar

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.vocab import Vocab

from ..architectures.features import has_getter
from ..arguments import EXTENSION
from .annotation import check_example
from .features import (
    copy_features,
    find_features,
    find_kept,
    keep_features,
    read_values,
)

_Text = TypeVar("_Text", str | Doc, Doc)


def find_inputs(nlp: Language) -> list[str]:
    """Find the features that Docs may store for a pipeline: those that its embedders
    read, and those that its config keeps, which getters and components may read.
    """
    return sorted({*find_features(nlp), *find_kept(nlp)})


def find_needed(nlp: Language) -> list[str]:
    """Find the features that embedders read and that the config keeps."""
    return sorted({*find_features(nlp)}.intersection(find_kept(nlp)))


def copy_words(doc: Doc, vocab: Vocab, features: Sequence[str] = ()) -> Doc:
    """Make a Doc with the words, spaces and these features of another, without other
    annotation.
    """
    spaces = [bool(token.whitespace_) for token in doc]
    made = Doc(vocab, words=[token.text for token in doc], spaces=spaces)
    copy_features(doc, made, features, np.arange(len(doc)))
    return made


def predict_examples(
    nlp: Language, golds: Iterable[Doc | Example], *, disable: Iterable[str] = ()
) -> Iterator[Example]:
    """Run a pipeline on the examples that `spacy evaluate` would make, except gold docs
    without tokens, and with the features that the pipeline's config keeps. If an item
    is an `Example`, the pipeline gets only the tokens of its predicted side and the
    features that it may need: entities there would constrain `ner`.
    """
    examples, copies = tee(_make_examples(nlp, golds))
    # a component may return another Doc, which lacks the context of `as_tuples`
    docs = nlp.pipe((example.predicted for example in copies), disable=disable)
    extensions = (attr for attr in find_features(nlp) if attr.startswith(EXTENSION))
    # groups of spans that components set may well be empty
    docs = warn_of_absent({*find_needed(nlp), *extensions}, docs)
    for example, doc in zip(examples, docs, strict=True):
        example.predicted = doc
        yield example


def warn_of_absent(attrs: Iterable[str], texts: Iterable[_Text]) -> Iterator[_Text]:
    """Yield texts or Docs, and warn at the end of features that a pipeline reads and of
    which none has a value.
    """
    absent = {attr for attr in attrs if not has_getter(attr)}
    for text in texts:
        if isinstance(text, Doc):
            absent = {attr for attr in absent if not _has_value(text, attr)}
        yield text
    if absent:
        warnings.warn(
            f"The pipeline reads {', '.join(sorted(absent))}, of which no text has a "
            "value. Give Docs that have one (.spacy): the corpus has to store it, and "
            "a reader in [corpora] of the config to keep it, or a component to set it.",
            stacklevel=2,
        )


def _has_value(doc: Doc, attr: str) -> bool:
    return any(value is not None for value in read_values(doc, attr))


def _make_examples(nlp: Language, golds: Iterable[Doc | Example]) -> Iterator[Example]:
    kept, inputs = find_kept(nlp), find_inputs(nlp)
    for gold in golds:
        check_example(gold)
        if isinstance(gold, Doc):
            for example in Corpus("").make_examples(nlp, [gold]):
                keep_features(example, kept)
                yield example
        elif len(gold.reference):
            doc = copy_words(gold.predicted, nlp.vocab, inputs)
            yield Example(doc, gold.reference)
