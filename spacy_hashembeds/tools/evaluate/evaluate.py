"""Evaluate pipelines: scores with intervals, and errors."""

from collections import UserDict
from pathlib import Path
from typing import Any

from ...arguments import check_choice, check_integers, check_types
from ...files import choose_suffix, replacing, write_json
from ...training.annotation import get_reference
from ..display import Message, Part, Table, render_page, write_markdown
from . import entities, sources
from .bootstrap import CONFIDENCE, MAX_SAMPLES, Draws
from .categories import evaluate_categories
from .confusions import list_errors
from .sources import EvaluationCorpus, Predictions, make_source
from .tables import find_notes, find_warnings, make_tables, summarize

#: Suffixes of output files.
SUFFIXES = (".json", ".html", ".md")


class Evaluation(UserDict[str, Any]):
    """Results of `evaluate`. For the keys see docs/evaluate.md."""

    def __repr__(self) -> str:
        return f"<Evaluation of {self['setting']['model']}>"

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self, title: str | None = None) -> str:
        return render_page(self._list_parts(), list_errors(self["confusions"]), title)

    def get_parts(self, *, full: bool = True) -> list[Part]:
        """Return all tables, or a summary, as the command prints them."""
        tables, notes = make_tables(self), [*self["notes"]]
        if not full:
            tables = summarize(tables)
            notes += ["More tables with --full, examples of errors with -o page.html"]
        return [*tables, *(Message(text, "info") for text in notes)]

    def to_html(self) -> str:
        """Return a self-contained HTML page without scripts."""
        return self._repr_html_(f"Evaluation of {self['setting']['model']}")

    def to_markdown(self) -> str:
        """Return all tables in Markdown."""
        return write_markdown(self._list_parts())

    def _list_parts(self) -> list[Part]:
        given = {key: self["setting"][key] for key in ("model", "test", "train")}
        rows = [(key.capitalize(), name) for key, name in given.items() if name]
        about = Table("Evaluation", None, ("", ""), rows, "ll")
        warnings = [Message(text, "warn") for text in self["warnings"]]
        return [about, *warnings, *self.get_parts()]

    def write(self, path: str | Path) -> None:
        """Write a .json, .html or .md file atomically, or JSON to a stream."""
        check_types(str | Path, "the path of a file", path=path)
        suffix = choose_suffix(path, SUFFIXES)
        if suffix == ".json":
            write_json(path, dict(self))
            return
        text = self.to_html() if suffix == ".html" else self.to_markdown()
        with replacing(path) as temporary:
            # file names may hold undecodable bytes
            temporary.write_text(text, encoding="utf8", errors="backslashreplace")


def evaluate(
    nlp: Predictions,
    examples: EvaluationCorpus,
    *,
    train: EvaluationCorpus | None = None,
    against: Predictions | None = None,
    task: str | None = None,
    join: int | None = None,
    samples: int = 5000,
    seed: int = 0,
    show_progress: bool = True,
) -> Evaluation:
    """Score entities or categories with intervals, compare pipelines, and list errors.

        nlp = spacy.load("model-best")
        evaluation = evaluate(nlp, "test.spacy", train="train.spacy")
        evaluation["ents_unseen_f"]
        evaluation.write("evaluation.html")

    Notebooks show the result as a page. Arguments are not modified, and iterators are
    read once. Needs the extra `tools`. See docs/evaluate.md.

    nlp (Language | Iterable[Doc] | str | Path): Pipeline, or Docs that it annotated,
        with the words of the gold docs; or the path of either.
    examples (Iterable[Doc | Example] | str | Path): Gold docs, Examples, or the path of
        a corpus: `.spacy`, or one token a line. The pipeline gets the text of Docs and
        the features that its config keeps, or the tokens and features of an Example's
        predicted side.
    train (Iterable[Doc | Example] | str | Path, optional): Training set, which
        determines seen and unseen entities.
    against (Language | Iterable[Doc] | str | Path, optional): Pipeline or Docs to
        compare with.
    task (str, optional): "ner" to score entities, "textcat" to score categories.
        Default: chosen by the pipeline's components, or else by the gold annotation.
    join (int, optional): Also score entities on texts of this many consecutive
        sentences; 0 for none. Needs a pipeline, and gold Docs with sentence boundaries.
        Default: 10 if all gold Docs are single sentences, otherwise 0.
    samples (int): Number of draws for intervals and p-values, at most 100,000.
    seed (int): Seed of the draws.
    show_progress (bool): Show progress on stderr if it is a terminal.
    RAISES (ValueError): If words of predictions and gold docs differ, or both entities
        and categories are set and `task` is None.
    """
    check_integers(1, MAX_SAMPLES, samples=samples)
    check_integers(0, seed=seed)
    if task is not None:
        check_choice((sources.NER, sources.TEXTCAT), task=task)
    gold = make_source(examples, "examples")
    docs = [each for each in gold.docs if len(get_reference(each))]
    inputs = sources.Inputs(
        predictions=make_source(nlp, "nlp"),
        gold=gold._replace(docs=docs),
        against=None if against is None else make_source(against, "against"),
        draws=Draws(samples, seed),
        show_progress=show_progress,
    )
    task = task or sources.find_task(*inputs.pipelines, golds=inputs.references)
    join = entities.choose_sentences(inputs, task, join)
    known, training = None, train if train is None else make_source(train, "train")
    if training:
        docs = inputs.track(training.docs, f"Reading {training.name}")
        known = entities.TrainingKnowledge(get_reference(x, "train") for x in docs)
    if task == sources.NER:
        run, found = entities.evaluate_entities(inputs, known, join)
    else:
        run, found = evaluate_categories(inputs)
    setting = {
        "model": inputs.predictions.name,
        "test": inputs.gold.name,
        "train": training and training.name,
        "documents": len(run.documents),
        "documents_read": run.n_read,
        "confidence": CONFIDENCE,
        **inputs.draws._asdict(),
        "shared": known and entities.count_shared(inputs.references, known),
        **found.pop("setting", {}),
    }
    data = {"setting": setting, **found, "confusions": run.errors.rank()}
    data["warnings"], data["notes"] = [*find_warnings(data)], [*find_notes(data)]
    return Evaluation(data)
