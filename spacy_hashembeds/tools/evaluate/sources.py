"""Sources of an evaluation: gold docs, and predictions made here or elsewhere."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.corpus import FILE_TYPE
from spacy.vocab import Vocab
from tqdm import tqdm  # type: ignore[import-untyped]

from ...arguments import check_items
from ...files import quote
from ...loading import load_trained
from ...training.annotation import predict_examples
from ...training.scorer import Run
from ..prepare.columns import ColumnFormat
from ..prepare.readers import read_annotated
from .bootstrap import CONFIDENCE, Draws

#: How files with one token a line are laid out, unless somebody says otherwise.
LAYOUT = ColumnFormat()


class Input(NamedTuple):
    """Docs, or a pipeline that makes some, with the name that is shown for them."""

    name: str
    docs: Any

    @property
    def is_pipeline(self) -> bool:
        """True if `docs` is a pipeline."""
        return isinstance(self.docs, Language)


class Inputs(NamedTuple):
    """The arguments of `evaluate`, named; `join` is 0 if no sentences are joined."""

    predictions: Input
    gold: Input
    train: Input | None
    against: Input | None
    draws: Draws
    show_progress: bool
    join: int = 0

    def predict(self, source: Input) -> Iterable[Example]:
        """Put predictions beside the gold docs, and show progress."""
        golds, name = self.gold.docs, self.gold.name
        if source.is_pipeline:
            examples = predict_examples(source.docs, golds)
        else:
            examples = pair_examples(source.docs, golds, name=source.name, gold=name)
        return self._show(examples, f"Evaluating {source.name}", total=len(golds))

    def read_train(self) -> Iterator[Doc]:
        """Read the gold docs of the training set."""
        assert self.train is not None
        docs = self._show(self.train.docs, f"Reading {self.train.name}")
        return map(get_reference, docs)

    def _show(self, docs: Any, title: str, **settings: Any) -> Any:
        settings["disable"] = None if self.show_progress else True  # None: no terminal
        return tqdm(docs, desc=title, unit=" docs", leave=False, **settings)

    def describe(self, run: Run) -> dict[str, Any]:
        """Describe what was evaluated, and how."""
        return {
            "model": self.predictions.name,
            "test": self.gold.name,
            "train": self.train and self.train.name,
            "documents": len(run.documents),
            "documents_read": run.n_read,
            "confidence": CONFIDENCE,
            **self.draws._asdict(),
        }


# What may be given in their place.
Predictions = Language | Iterable[Doc] | Input
Corpus = Iterable[Doc | Example] | str | Path | Input


def name_source(source: Predictions | Corpus, argument: str) -> Input:
    """Name a pipeline, docs, or their file; a TypeError if it is none."""
    if isinstance(source, Input):
        return source
    if isinstance(source, Language):
        return Input(f"{source.lang}_{source.meta['name']}", source)
    is_corpus = argument in ("examples", "train")
    if isinstance(source, str | Path) and is_corpus:
        return read_source(source, LAYOUT)
    expected = "Docs or Examples" if is_corpus else "Docs"
    remedy = "" if is_corpus else ", or a pipeline"
    check_items(f"{expected}{remedy}", **{argument: source})

    def check_docs(docs: Any) -> Iterator[Any]:
        for doc in docs:
            if not isinstance(doc, Doc | Example if is_corpus else Doc):
                found = f"holds a {type(doc).__name__}"
                raise TypeError(f"'{argument}' should hold {expected}, but {found}.")
            yield doc

    return Input(argument if is_corpus else "predictions", check_docs(source))


def read_source(corpus: str | Path, layout: ColumnFormat) -> Input:
    """Name the docs of a file."""
    return Input(str(corpus), read_annotated(corpus, Vocab(), layout=layout))


def load_source(model: str | Path, layout: ColumnFormat) -> Input:
    """Load a pipeline, or name the docs of a file of predictions."""
    path = Path(model)
    is_pipeline = (path / "meta.json").is_file()
    is_file = path.exists() and not path.is_dir()  # or a pipe
    if is_file or (not is_pipeline and any(path.glob(f"*{FILE_TYPE}"))):
        return read_source(model, layout)
    return Input(str(model), load_trained(model))


def pair_examples(
    predicted: Iterable[Doc], golds: Iterable[Doc | Example], *, name: str, gold: str
) -> Iterator[Example]:
    """Put predictions beside gold docs of the same words, but for those without any."""
    pairs = zip_longest(filter(len, predicted), find_golds(golds))
    for number, pair in enumerate(pairs):
        words = [[] if doc is None else [token.text for token in doc] for doc in pair]
        if words[0] != words[1]:
            both = enumerate(zip_longest(*words))
            place = next(i for i, (word, other) in both if word != other)
            rests = (" ".join(of[place : place + 5]) for of in words)
            got, wanted = (quote(rest) if rest else "its end" for rest in rests)
            raise ValueError(
                f"The predictions '{name}' should have the documents and words of the "
                f"gold corpus '{gold}', but in document {number} have {got} instead of "
                f"{wanted} from word {place} on, both from 0, without empty documents."
            )
        yield Example(*pair)


def find_golds(golds: Iterable[Doc | Example]) -> list[Doc]:
    """Return the gold docs that have tokens: those of which there are examples."""
    return [doc for doc in map(get_reference, golds) if len(doc)]


def get_reference(gold: Doc | Example) -> Doc:
    """Return the gold doc."""
    return gold.reference if isinstance(gold, Example) else gold
