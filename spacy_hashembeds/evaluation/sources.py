"""Sources of an evaluation: gold docs, and predictions made here or elsewhere."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import tee, zip_longest
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus as DocBinCorpus
from spacy.training import Example
from spacy.training.corpus import FILE_TYPE
from spacy.vocab import Vocab

from ..annotation import copy_words
from ..corpora.columns import ColumnFormat
from ..corpora.readers import read_annotated
from ..files import quote
from ..inputs import check_items
from ..loading import load_trained
from .bootstrap import CONFIDENCE, Draws
from .counts import Run

#: How files with one token a line are laid out, unless somebody says otherwise.
LAYOUT = ColumnFormat()

# Files of a pipeline, which somebody may give instead of its folder.
_OF_PIPELINES = frozenset({".cfg", ".json", ".gz", ".whl", ".zip"})


@dataclass(frozen=True, kw_only=True)
class Input:
    """Docs, or a pipeline that makes some, with the name that is shown for them."""

    name: str
    docs: Any

    @property
    def is_pipeline(self) -> bool:
        """Tell whether `docs` is a pipeline."""
        return isinstance(self.docs, Language)


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Inputs of an evaluation: the arguments of `evaluate`, named."""

    predictions: Input
    gold: Input
    train: Input | None
    against: Input | None
    draws: Draws
    #: How many sentences to join beside, or 0.
    join: int = 0

    def predict(self, source: Input) -> Iterable[Example]:
        """Put predictions beside the gold docs, and show their name."""
        golds, name = self.gold.docs, self.gold.name
        if source.is_pipeline:
            examples = predict_examples(source.docs, golds)
        else:
            examples = pair_examples(source.docs, golds, name=source.name, gold=name)
        return self.draws.show(examples, f"Evaluating {source.name}", total=len(golds))

    def read_train(self) -> Iterator[Doc]:
        """Read the gold docs of the training set."""
        assert self.train is not None
        title = f"Reading {self.train.name}"
        return map(get_reference, self.draws.show(self.train.docs, title))

    def describe(self, run: Run) -> dict[str, Any]:
        """Describe what was evaluated, and how."""
        return {
            "model": self.predictions.name,
            "test": self.gold.name,
            "train": None if self.train is None else self.train.name,
            "documents": len(run.documents),
            "documents_read": run.n_read,
            "confidence": CONFIDENCE,
            "samples": self.draws.samples,
            "seed": self.draws.seed,
        }


# What may be given in their place.
Predictions = Language | Iterable[Doc] | Input
Corpus = Iterable[Doc | Example] | str | Path | Input


def name_predictions(source: Predictions, argument: str) -> Input:
    """Name a pipeline, or predicted docs; a TypeError if it is neither."""
    if isinstance(source, Input):
        return source
    if isinstance(source, Language):
        return Input(name=f"{source.lang}_{source.meta['name']}", docs=source)
    if isinstance(source, str | Path) or not isinstance(source, Iterable):
        raise TypeError(
            f"'{argument}' should be a pipeline, as spacy.load returns it, or the Docs "
            f"that one has annotated, but is {source!r}."
        )
    return Input(name="predictions", docs=source)


def name_corpus(source: Corpus, argument: str) -> Input:
    """Name docs, or the file to read them from; a TypeError if it is neither."""
    if isinstance(source, Input):
        return source
    if isinstance(source, str | Path):
        return read_source(source, LAYOUT)
    check_items("Docs or Examples, or their file", **{argument: source})
    return Input(name=argument, docs=source)


def read_source(corpus: str | Path, layout: ColumnFormat) -> Input:
    """Name the docs of a file."""
    return Input(name=str(corpus), docs=read_annotated(corpus, Vocab(), layout=layout))


def load_source(model: str | Path, layout: ColumnFormat) -> Input:
    """Load a pipeline, or name the docs of a file of predictions."""
    path = Path(model)
    if path.is_dir():
        is_pipeline = (path / "meta.json").is_file()
        holds_predictions = not is_pipeline and any(path.glob(f"*{FILE_TYPE}"))
    else:
        holds_predictions = path.exists() and path.suffix not in _OF_PIPELINES
    if holds_predictions:
        return read_source(model, layout)
    if path.is_file():
        raise ValueError(
            f"'{model}' should be a pipeline, a package name or a folder, or a file of "
            f"predictions, but ends in {path.suffix}, as files of pipelines do. Give "
            "the folder that `spacy train` wrote, model-best; or give a file of "
            f"predictions another name, such as '{path.with_suffix('.iob')}'."
        )
    return Input(name=str(model), docs=load_trained(model))


def predict_examples(
    nlp: Language, golds: Iterable[Doc | Example], *, disable: Iterable[str] = ()
) -> Iterator[Example]:
    """Run a pipeline on the examples that `spacy evaluate` would make: not on gold docs
    without tokens. Of the predicted side of an `Example` it gets the tokens and nothing
    else: entities that stand there would bind its `ner`.
    """
    examples, inputs = tee(_make_examples(nlp, golds))
    # a component may give another Doc, which has no context of `as_tuples`
    docs = nlp.pipe((example.predicted for example in inputs), disable=disable)
    for example, doc in zip(examples, docs, strict=True):
        example.predicted = doc
        yield example


def _make_examples(nlp: Language, golds: Iterable[Doc | Example]) -> Iterator[Example]:
    corpus = DocBinCorpus("")
    for gold in golds:
        reference = get_reference(gold)
        if not isinstance(gold, Example):
            yield from corpus.make_examples(nlp, [reference])
        elif len(reference):
            yield Example(copy_words(gold.predicted, nlp.vocab), reference)


def pair_examples(
    predicted: Iterable[Doc], golds: Iterable[Doc | Example], *, name: str, gold: str
) -> Iterator[Example]:
    """Put predictions beside gold docs of the same words, but for those without any."""
    pairs = zip_longest(filter(len, map(_check_doc, predicted)), find_golds(golds))
    for number, (theirs, ours) in enumerate(pairs):
        words = [[] if doc is None else [t.text for t in doc] for doc in (theirs, ours)]
        if words[0] != words[1]:
            raise ValueError(
                f"The predictions '{name}' should have the documents and words of the "
                f"gold corpus '{gold}', but {_describe(number, *words)}. Documents and "
                "words are counted from 0, and documents without words left out."
            )
        yield Example(theirs, ours)


def _describe(number: int, theirs: list[str], ours: list[str]) -> str:
    """Say where the words of a doc differ first; no words mean no doc."""
    pairs = zip_longest(theirs, ours)
    place = next(i for i, (word, other) in enumerate(pairs) if word != other)
    rests = (words[place : place + 5] for words in (theirs, ours))
    got, wanted = (quote(" ".join(rest)) if rest else "its end" for rest in rests)
    if not theirs:
        return f"end before its document {number} ({wanted})"
    if not ours:
        return f"go on where it ends, with document {number} ({got})"
    where = f"document {number} from word {place} on"
    return f"differ in {where}: {got} instead of {wanted}"


def find_golds(golds: Iterable[Doc | Example]) -> list[Doc]:
    """Give the gold docs that have tokens: those of which there are examples."""
    return [doc for doc in map(get_reference, golds) if len(doc)]


def get_reference(gold: Doc | Example) -> Doc:
    """Give the gold doc; a TypeError if it is neither a Doc nor an Example."""
    return gold.reference if isinstance(gold, Example) else _check_doc(gold)


def _check_doc(doc: Any) -> Doc:
    if not isinstance(doc, Doc):
        raise TypeError(
            "Corpora should hold Docs or Examples, and predictions Docs, but there is "
            f"one of type {type(doc).__name__}. A single Doc should stand in a list."
        )
    return doc
