"""Predict gold Docs, with the features that the pipeline needs."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import tee
from types import NoneType

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.vocab import Vocab

from ..architectures.features import has_getter
from ..arguments import EXTENSION
from .annotation import check_example
from .features import find_features, find_kept, keep_features, read_values


def find_inputs(nlp: Language) -> list[str]:
    """Find the features that Docs may store for a pipeline: those that its embedders
    read, and those that its config keeps, which getters and components may read.
    """
    return sorted({*find_features(nlp), *find_kept(nlp)})


def copy_words(doc: Doc, vocab: Vocab, features: Sequence[str] = ()) -> Doc:
    """Make a Doc with the words, spaces and these features of another, without other
    annotation.
    """
    spaces = [bool(token.whitespace_) for token in doc]
    made = Doc(vocab, words=[token.text for token in doc], spaces=spaces)
    keep_features(Example(made, doc), features)
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
    kept, read = find_kept(nlp), find_features(nlp)
    # groups of spans that components set may well be empty
    needed = [attr for attr in read if attr in kept or attr.startswith(EXTENSION)]
    docs = warn_of_absent(needed, docs)
    for example, doc in zip(examples, docs, strict=True):
        example.predicted = doc
        yield example


def warn_of_absent(attrs: Iterable[str], docs: Iterable[Doc]) -> Iterator[Doc]:
    """Yield Docs, and warn at the end of features that a pipeline reads and that none
    of them has.
    """
    absent = {attr for attr in attrs if not has_getter(attr)}
    for doc in docs:
        absent = {x for x in absent if {*map(type, read_values(doc, x))} <= {NoneType}}
        yield doc
    if absent:
        warnings.warn(
            f"The pipeline reads {', '.join(sorted(absent))}, of which no text has a "
            "value. Give Docs that have one (.spacy): the corpus has to store it, and "
            "a reader in [corpora] of the config to keep it, or a component to set it.",
            stacklevel=2,
        )


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
