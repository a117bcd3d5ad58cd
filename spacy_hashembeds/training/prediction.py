"""Run pipelines on gold Docs, with the required features."""

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
    find_reader_features,
    keep_features,
    read_values,
)

_Text = TypeVar("_Text", str | Doc, Doc)


def find_inputs(nlp: Language) -> list[str]:
    """Return the features read by embedders or kept by the config, which getters and
    components may read.
    """
    return sorted({*find_features(nlp), *find_reader_features(nlp)})


def find_needed(nlp: Language) -> list[str]:
    """Return the features both read by embedders and kept by the config."""
    return sorted({*find_features(nlp)}.intersection(find_reader_features(nlp)))


def copy_words(doc: Doc, vocab: Vocab, features: Sequence[str] = ()) -> Doc:
    """Copy words, spaces and these features of a Doc, without other annotation."""
    spaces = [bool(token.whitespace_) for token in doc]
    made = Doc(vocab, words=[token.text for token in doc], spaces=spaces)
    copy_features(doc, made, features, np.arange(len(doc)))
    return made


def predict_examples(
    nlp: Language, golds: Iterable[Doc | Example], *, disable: Iterable[str] = ()
) -> Iterator[Example]:
    """Run a pipeline on examples made as in `spacy evaluate`, with the features kept by
    the config. Skip gold docs without tokens. An `Example` supplies only its predicted
    side's tokens and features, since entities would constrain `ner`.
    """
    examples, copies = tee(_make_examples(nlp, golds))
    # not `as_tuples`, whose context is lost if a component returns a new Doc
    docs = nlp.pipe((example.predicted for example in copies), disable=disable)
    extensions = (attr for attr in find_features(nlp) if attr.startswith(EXTENSION))
    # span groups set by components may be empty
    docs = warn_missing_features({*find_needed(nlp), *extensions}, docs)
    for example, doc in zip(examples, docs, strict=True):
        example.predicted = doc
        yield example


def warn_missing_features(
    attrs: Iterable[str], texts: Iterable[_Text]
) -> Iterator[_Text]:
    """Yield texts or Docs. At the end, warn of features without a value in any."""
    absent = {attr for attr in attrs if not has_getter(attr)}
    for text in texts:
        if isinstance(text, Doc):
            absent = {
                attr
                for attr in absent
                if all(value is None for value in read_values(text, attr))
            }
        yield text
    if absent:
        warnings.warn(
            f"The pipeline reads {', '.join(sorted(absent))}, but no text has a value. "
            "Use a corpus (.spacy) that stores it and a reader in [corpora] that keeps "
            "it, or a component that sets it.",
            stacklevel=2,
        )


def _make_examples(nlp: Language, golds: Iterable[Doc | Example]) -> Iterator[Example]:
    kept, inputs = find_reader_features(nlp), find_inputs(nlp)
    for gold in golds:
        check_example(gold)
        if isinstance(gold, Doc):
            for example in Corpus("").make_examples(nlp, [gold]):
                keep_features(example, kept)
                yield example
        elif len(gold.reference):
            doc = copy_words(gold.predicted, nlp.vocab, inputs)
            yield Example(doc, gold.reference)
