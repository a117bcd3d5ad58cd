"""What is evaluated: docs, or pipelines that make some, and how it is done."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from tqdm import tqdm  # type: ignore[import-untyped]

from ..checks import check_integers, check_items, check_types
from ..corpora.annotated import read_annotated
from ..corpora.columns import ColumnFormat
from .draws import MAX_SAMPLES
from .predictions import pair_examples, predict_examples

Corpus = Iterable[Doc | Example] | str | Path


@dataclass(frozen=True, kw_only=True)
class Source:
    """Docs, or a pipeline that makes some, with the name that is shown for them.

    name (str): The name.
    docs (Language | Iterable[Doc | Example]): The docs, or the pipeline.
    """

    name: str
    docs: Any


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to evaluate.

    samples (int): How often the bootstrap and the test of significance draw.
    seed (int): What they draw by.
    show_progress (bool): Whether to show on stderr how far it is, where that is a
        terminal.
    RAISES (TypeError): If a number is of another type.
    RAISES (ValueError): If `samples` is not 1 to 1,000,000, or `seed` is negative.
    """

    samples: int
    seed: int
    show_progress: bool

    def __post_init__(self) -> None:
        draws = {"samples": self.samples, "seed": self.seed}
        check_types(int, "an integer", **draws)
        check_integers(1, MAX_SAMPLES, samples=self.samples)
        check_integers(0, seed=self.seed)

    def show(self, docs: Iterable[Any], title: str, total: int | None = None) -> Any:
        """Hand docs on, and show how far that is."""
        disable = None if self.show_progress else True
        settings = {"unit": " docs", "leave": False, "disable": disable}
        return tqdm(docs, desc=title, total=total, **settings)


def name_predictions(source: Any, argument: str) -> Source:
    """Name a pipeline, or predicted docs.

    RAISES (TypeError): If it is neither.
    """
    if isinstance(source, Language):
        return Source(name=f"{source.lang}_{source.meta['name']}", docs=source)
    if isinstance(source, str | Path) or not isinstance(source, Iterable):
        raise TypeError(
            f"'{argument}' should be a pipeline, as spacy.load returns it, or the Docs "
            f"that one has annotated, but is {source!r}."
        )
    return Source(name="predictions", docs=source)


def name_corpus(source: Corpus, argument: str) -> Source:
    """Name docs, or the file to read them from.

    RAISES (TypeError): If it is neither.
    """
    if not isinstance(source, str | Path):
        check_items("Docs or Examples, or their file", **{argument: source})
        return Source(name=argument, docs=source)
    docs = read_annotated(source, Vocab(), layout=ColumnFormat(comments=True))
    return Source(name=str(source), docs=docs)


def predict(source: Source, golds: list[Doc | Example], gold: str) -> Iterator[Example]:
    """Put predictions beside the gold docs, whose name is `gold`."""
    if isinstance(source.docs, Language):
        return predict_examples(source.docs, golds)
    return pair_examples(source.docs, golds, name=source.name, gold=gold)
