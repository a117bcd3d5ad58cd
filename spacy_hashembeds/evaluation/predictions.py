"""Predictions beside their gold docs: of a pipeline that runs, or made elsewhere."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example

from ..files import quote

# Words of a doc that an error shows.
_N_SHOWN = 5


def predict_examples(
    nlp: Language, golds: Iterable[Doc | Example]
) -> Iterator[Example]:
    """Run a pipeline on the examples that `spacy evaluate` would make.

    Nothing that is given is changed. Of an `Example`, the pipeline gets the tokens of
    the predicted side and nothing else: entities that stand there from before would
    bind a pipeline's `ner`.

    nlp (Language): The pipeline.
    golds (Iterable[Doc | Example]): The gold docs; read once. Those without tokens are
        left out.
    YIELDS (Example): Predicted and gold docs, in order.
    """
    examples = _make_examples(nlp, golds)
    inputs = ((example.predicted, example) for example in examples)
    for doc, example in nlp.pipe(inputs, as_tuples=True):
        example.predicted = doc
        yield example


def pair_examples(
    predicted: Iterable[Doc], golds: Iterable[Doc | Example], *, name: str, gold: str
) -> Iterator[Example]:
    """Put predicted docs beside the gold docs that have the same words.

    predicted (Iterable[Doc]): The docs with predicted entities; read once.
    golds (Iterable[Doc | Example]): The gold docs; read once. Docs without tokens are
        left out on both sides.
    name (str): What errors call the predictions.
    gold (str): What they call the gold corpus.
    RAISES (ValueError): Where the words differ, or there are more docs on one side.
    YIELDS (Example): Predicted and gold docs, in order.
    """
    pairs = zip_longest(
        filter(len, map(_check_doc, predicted)), filter(len, map(get_reference, golds))
    )
    for number, (theirs, ours) in enumerate(pairs):
        words = [[] if doc is None else [t.text for t in doc] for doc in (theirs, ours)]
        if words[0] != words[1]:
            raise ValueError(
                f"The predictions '{name}' should have the documents and words of the "
                f"gold corpus '{gold}', but {_describe(number, *words)}. Documents and "
                "words are counted from 0, and documents without words left out."
            )
        yield Example(theirs, ours)


def get_reference(gold: Doc | Example) -> Doc:
    """Give the gold doc.

    RAISES (TypeError): If it is neither a Doc nor an Example.
    """
    return gold.reference if isinstance(gold, Example) else _check_doc(gold)


def _make_examples(nlp: Language, golds: Iterable[Doc | Example]) -> Iterator[Example]:
    corpus = Corpus("")
    for gold in golds:
        reference = get_reference(gold)
        if not isinstance(gold, Example):
            yield from corpus.make_examples(nlp, [reference])
        elif len(reference):
            yield Example(_strip(nlp, gold.predicted), reference)


def _strip(nlp: Language, doc: Doc) -> Doc:
    words = [token.text for token in doc]
    return Doc(nlp.vocab, words=words, spaces=[bool(t.whitespace_) for t in doc])


def _check_doc(doc: Any) -> Doc:
    if not isinstance(doc, Doc):
        raise TypeError(
            "Corpora should hold Docs or Examples, and predictions Docs, but there is "
            f"one of type {type(doc).__name__}. A single Doc should stand in a list."
        )
    return doc


def _describe(number: int, theirs: list[str], ours: list[str]) -> str:
    """Say where the words of a doc differ first; no words mean no doc."""
    if not theirs:
        return f"end before its document {number} ({_show(ours, 0)})"
    if not ours:
        return f"go on where it ends, with document {number} ({_show(theirs, 0)})"
    pairs = zip_longest(theirs, ours)
    place = next(i for i, (word, other) in enumerate(pairs) if word != other)
    return (
        f"differ in document {number} from word {place} on: {_show(theirs, place)} "
        f"instead of {_show(ours, place)}"
    )


def _show(words: list[str], place: int) -> str:
    shown = words[place : place + _N_SHOWN]
    return quote(" ".join(shown)) if shown else "its end"
