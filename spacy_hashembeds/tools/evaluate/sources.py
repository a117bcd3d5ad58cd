"""Gold docs, predictions, and the task of an evaluation."""

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
from ...files import is_pipeline, quote
from ...loading import load_trained
from ...training.annotation import check_docs, get_reference
from ...training.prediction import predict_examples
from ..prepare.columns import ColumnFormat
from ..prepare.readers import read_annotated
from .bootstrap import Draws

#: Default layout of files with one token a line.
LAYOUT = ColumnFormat()

#: Tasks, named after spaCy's components: entities, and categories of documents.
NER, TEXTCAT = "ner", "textcat"

#: Documents with other words that an error lists.
_MAX_DIFFERENCES = 10


class Source(NamedTuple):
    """Docs, or the pipeline that predicts them, with a name."""

    name: str
    docs: Any

    @property
    def is_pipeline(self) -> bool:
        """True if `docs` is a pipeline."""
        return isinstance(self.docs, Language)


# Types that can be converted to a Source.
Predictions = Language | Iterable[Doc] | str | Path | Source
EvaluationCorpus = Iterable[Doc | Example] | str | Path | Source


class Inputs(NamedTuple):
    """Arguments of `evaluate`, without gold docs that have no tokens."""

    predictions: Source
    gold: Source
    against: Source | None
    draws: Draws
    show_progress: bool

    @property
    def pipelines(self) -> list[Language]:
        """The pipelines among the predictions."""
        given = (self.predictions, self.against)
        return [each.docs for each in given if each and each.is_pipeline]

    @property
    def references(self) -> list[Doc]:
        """The gold docs."""
        return [get_reference(gold) for gold in self.gold.docs]

    def predict(
        self, source: Source, golds: Sequence[Doc | Example] | None = None
    ) -> Iterable[Example]:
        """Pair predictions with `golds`, by default `gold`, and show progress."""
        golds = self.gold.docs if golds is None else golds
        if source.is_pipeline:
            examples = predict_examples(source.docs, golds)
        else:
            names = {"name": source.name, "gold": self.gold.name}
            examples = pair_examples(source.docs, golds, **names)
        return self.track(examples, f"Evaluating {source.name}", total=len(golds))

    def track(self, docs: Any, title: str, **settings: Any) -> Any:
        """Show the progress of an iteration."""
        settings["disable"] = None if self.show_progress else True  # None: by terminal
        return tqdm(docs, desc=title, unit=" docs", leave=False, **settings)


def make_source(
    source: Predictions | EvaluationCorpus, argument: str, layout: ColumnFormat = LAYOUT
) -> Source:
    """Make a Source of a pipeline or docs, which may be given by name."""
    is_corpus = argument in ("examples", "train")
    if isinstance(source, Source):
        return source
    if isinstance(source, Language) and not is_corpus:
        return Source(f"{source.lang}_{source.meta['name']}", source)
    if not isinstance(source, str | Path):
        expected = "Docs or Examples" if is_corpus else "Docs, or a pipeline"
        check_items(expected, **{argument: source})
        return Source(argument if is_corpus else "predictions", source)
    path = Path(source)
    is_file = path.exists() and not path.is_dir()  # or a pipe
    has_docs = is_file or (not is_pipeline(path) and any(path.glob(f"*{FILE_TYPE}")))
    if is_corpus or has_docs:
        return Source(str(source), read_annotated(source, Vocab(), layout=layout))
    return Source(str(source), load_trained(source))


def pair_examples(
    predicted: Iterable[Doc], golds: Iterable[Doc | Example], *, name: str, gold: str
) -> Iterator[Example]:
    """Pair predictions with gold docs, without empty predictions. After the last pair,
    refuse documents with different words.
    """
    pairs = zip_longest(
        filter(len, check_docs(predicted, name)), map(get_reference, golds)
    )
    found = []
    for number, pair in enumerate(pairs):
        words = [[token.text for token in doc or ()] for doc in pair]
        if words[0] != words[1]:
            i = next(i for i, (a, b) in enumerate(zip_longest(*words)) if a != b)
            got, expected = (quote(side[i : i + 5], 60) for side in words)
            found.append(f"document {number} has {got}, not {expected}")
        elif not found:
            yield Example(*pair)
    if found:
        raise ValueError(
            f"The predictions '{name}' should have the documents and words of the gold "
            f"corpus '{gold}', but {len(found):,} of {number + 1:,} differ (numbered "
            f"from 0, without empty ones): {'; '.join(found[:_MAX_DIFFERENCES])}"
            f"{'; …' if len(found) > _MAX_DIFFERENCES else '.'}"
        )


# The task to score.


class Classes(NamedTuple):
    """Labels of a text classifier, which predicts all labels whose scores reach the
    threshold, or without one the label with the highest score.
    """

    labels: Sequence[str]
    threshold: float | None

    @property
    def exclusive(self) -> bool:
        """True if labels are exclusive."""
        return self.threshold is None


def find_task(*pipelines: Language, golds: Iterable[Doc] = ()) -> str:
    """Return "textcat" for pipelines with spaCy's text classifiers, otherwise "ner".
    Without pipelines, the annotation of gold docs decides.
    """
    found = set()
    for nlp in pipelines:
        metas = map(nlp.get_pipe_meta, nlp.pipe_names)
        is_classifier = any(isinstance(p, TextCategorizer) for _, p in nlp.pipeline)
        if not is_classifier or any("doc.ents" in meta.assigns for meta in metas):
            found.add(NER)
        if is_classifier:
            found.add(TEXTCAT)
    for doc in golds if not pipelines else ():
        found |= {NER} if doc.has_annotation("ENT_IOB") else set()
        found |= {TEXTCAT} if doc.cats else set()
    if len(found) > 1:
        raise ValueError(
            "Both entities and categories are set: choose with 'task' (--task), 'ner' "
            "or 'textcat', or leave components out."
        )
    return next(iter(found), NER)


def find_classes(nlp: Language) -> Classes:
    """Return the labels of a pipeline's only text classifier."""
    found = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, TextCategorizer)]
    if len(found) != 1:
        raise ValueError(
            f"A pipeline should have one text classifier, but has {len(found)}, among "
            f"its components: {', '.join(nlp.pipe_names)}."
        )
    (pipe,) = found
    exclusive = not isinstance(pipe, MultiLabel_TextCategorizer)
    return Classes(pipe.labels, None if exclusive else pipe.cfg["threshold"])
