"""Sources of an evaluation: gold docs, predictions made here or elsewhere, and what of
them is scored.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.pipeline import TextCategorizer
from spacy.pipeline.textcat_multilabel import MultiLabel_TextCategorizer
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

#: Default layout of files with one token a line.
LAYOUT = ColumnFormat()

#: Named entities, and categories of documents. Named after spaCy's components.
NER, TEXTCAT = "ner", "textcat"


class Input(NamedTuple):
    """Docs, or a pipeline that makes some, with the name that is shown for them."""

    name: str
    docs: Any

    @property
    def is_pipeline(self) -> bool:
        """True if `docs` is a pipeline."""
        return isinstance(self.docs, Language)


class Inputs(NamedTuple):
    """The arguments of `evaluate`, named."""

    predictions: Input
    gold: Input
    train: Input | None
    against: Input | None
    draws: Draws
    join: int | None
    show_progress: bool

    def predict(
        self, source: Input, golds: Sequence[Doc | Example] | None = None
    ) -> Iterable[Example]:
        """Put predictions beside gold docs, by default `gold`, and show progress."""
        golds = self.gold.docs if golds is None else golds
        if source.is_pipeline:
            examples = predict_examples(source.docs, golds)
        else:
            names = {"name": source.name, "gold": self.gold.name}
            examples = pair_examples(source.docs, golds, **names)
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
    expected = "Docs or Examples" if is_corpus else "Docs, or a pipeline"
    check_items(expected, **{argument: source})
    return Input(argument if is_corpus else "predictions", source)


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
        got, wanted = ([token.text for token in doc or ()] for doc in pair)
        if got != wanted:
            words = enumerate(zip_longest(got, wanted))
            i = next(i for i, (word, other) in words if word != other)
            raise ValueError(
                f"The predictions '{name}' should have the documents and words of the "
                f"gold corpus '{gold}', but document {number} (from 0, without empty "
                f"ones) has {quote(got[i : i + 5])}, not {quote(wanted[i : i + 5])}."
            )
        yield Example(*pair)


def find_golds(golds: Iterable[Doc | Example]) -> list[Doc]:
    """Return the gold docs that have tokens: those of which there are examples."""
    return [doc for doc in map(get_reference, golds) if len(doc)]


def get_reference(gold: Doc | Example) -> Doc:
    """Return the gold doc."""
    return gold.reference if isinstance(gold, Example) else gold


# What is scored.


class Classes(NamedTuple):
    """The labels that a text classifier may predict: all from the threshold on, or if
    there is none, since they exclude each other, that of the highest score.
    """

    labels: Sequence[str]
    threshold: float | None

    @property
    def exclusive(self) -> bool:
        """True if labels exclude each other."""
        return self.threshold is None


def find_task(*pipelines: Language) -> str:
    """Return "textcat" if pipelines have text classifiers of spaCy's, else "ner", since
    any component may set entities.
    """
    found = set()
    for nlp in pipelines:
        metas = map(nlp.get_pipe_meta, nlp.pipe_names)
        is_classifier = any(isinstance(p, TextCategorizer) for _, p in nlp.pipeline)
        if not is_classifier or any("doc.ents" in meta.assigns for meta in metas):
            found.add(NER)
        if is_classifier:
            found.add(TEXTCAT)
    return _choose_one(found)


def _choose_one(tasks: set[str]) -> str:
    if len(tasks) > 1:
        raise ValueError(
            "Both entities and categories are set: say which to evaluate with 'task' "
            "(--task), 'ner' or 'textcat', or leave components out."
        )
    return next(iter(tasks), NER)


def choose_task(inputs: Inputs) -> str:
    """Return the task of the pipelines, if there are any, or else of gold docs."""
    sources = (inputs.predictions, inputs.against)
    pipelines = [each.docs for each in sources if each and each.is_pipeline]
    if pipelines:
        return find_task(*pipelines)
    docs = find_golds(inputs.gold.docs)
    found = {NER for doc in docs if doc.has_annotation("ENT_IOB")}
    return _choose_one(found | {TEXTCAT for doc in docs if doc.cats})


def find_classes(nlp: Language) -> Classes:
    """Return what the one text classifier of a pipeline may predict."""
    found = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, TextCategorizer)]
    if len(found) != 1:
        raise ValueError(
            f"A pipeline should have one text classifier, but has {len(found)}, among "
            f"its components: {', '.join(nlp.pipe_names)}."
        )
    (pipe,) = found
    exclusive = not isinstance(pipe, MultiLabel_TextCategorizer)
    return Classes(pipe.labels, None if exclusive else pipe.cfg["threshold"])
