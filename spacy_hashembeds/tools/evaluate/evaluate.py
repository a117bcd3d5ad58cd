"""Evaluate a pipeline: scores, with intervals, and errors."""

from collections import UserDict
from dataclasses import replace
from pathlib import Path
from typing import Any

from thinc.api import require_gpu

from ...arguments import check_choice, check_integers, check_types
from ...files import choose_suffix, replacing, write_json
from ...training.annotation import get_reference
from ..display import Part, Sentence, Table, render_page, write_markdown
from ..prepare.columns import Column, ColumnFormat
from . import entities, sources
from .bootstrap import CONFIDENCE, MAX_SAMPLES, Draws
from .categories import evaluate_categories
from .confusions import list_errors
from .sources import LAYOUT, Corpus, Predictions, name_source
from .tables import find_warnings, make_tables, summarize

#: The suffixes of files that can be written.
SUFFIXES = (".json", ".html", ".md")


class Evaluation(UserDict[str, Any]):
    """Results, as in a `.json` file. docs/evaluate.md describes the keys."""

    def __repr__(self) -> str:
        return f"<Evaluation of {self['setting']['model']}>"

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self, title: str | None = None) -> str:
        return render_page(self._list_parts(), list_errors(self["confusions"]), title)

    def get_parts(self, *, full: bool = True) -> list[Part]:
        """Return the parts that the command prints: all tables, or a summary."""
        tables, notes = make_tables(self), [*self["notes"]]
        if not full:
            tables = summarize(tables)
            notes += ["More tables with --full, examples of errors with -o page.html"]
        return [*tables, *(Sentence(text, "info") for text in notes)]

    def to_html(self) -> str:
        """Return one HTML page that needs no other file and no script."""
        return self._repr_html_(f"Evaluation of {self['setting']['model']}")

    def to_markdown(self) -> str:
        """Return the tables that the command prints with `--full`, in Markdown."""
        return write_markdown(self._list_parts())

    def _list_parts(self) -> list[Part]:
        named = {key: self["setting"][key] for key in ("model", "test", "train")}
        rows = [(key.capitalize(), name) for key, name in named.items() if name]
        about = Table("Evaluation", None, ("", ""), rows, "ll")
        warnings = [Sentence(text, "warn") for text in self["warnings"]]
        return [about, *warnings, *self.get_parts()]

    def write(self, path: str | Path) -> None:
        """Write a .json, .html or .md file, whole or not at all. Streams get JSON."""
        check_types(str | Path, "the path of a file", path=path)
        suffix = choose_suffix(path, SUFFIXES)
        if suffix == ".json":
            write_json(path, dict(self))
            return
        text = self.to_html() if suffix == ".html" else self.to_markdown()
        with replacing(path) as temporary:
            # file names may hold bytes that are not text
            temporary.write_text(text, encoding="utf8", errors="backslashreplace")


def evaluate(
    nlp: Predictions,
    examples: Corpus,
    *,
    train: Corpus | None = None,
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

    A notebook shows the evaluation as a page. Arguments are not modified, and iterators
    are read once. Needs the extra `tools`. See docs/evaluate.md.

    nlp (Language | Iterable[Doc] | str | Path): The pipeline, or Docs annotated by a
        pipeline, with the same words as the gold docs; or the folder or file.
    examples (Iterable[Doc | Example] | str | Path): The gold docs, Examples with gold
        docs, or their file: `.spacy` or one token a line. The pipeline gets only their
        text and the features that its config keeps, or the tokens and features on the
        predicted side of an Example.
    train (Iterable[Doc | Example] | str | Path, optional): The training set of the
        pipeline, which determines the seen and unseen entities.
    against (Language | Iterable[Doc] | str | Path, optional): A pipeline or Docs to
        compare with.
    task (str, optional): Score entities ("ner") or categories ("textcat"). By default,
        the annotation of the pipeline's components or, without one, of the gold docs.
    join (int, optional): Score entities also on texts of this many sentences, which are
        joined in their order, or cut. By default 10 if a pipeline is given single
        sentences, otherwise 0, for none. Needs a pipeline, and gold Docs with
        sentences.
    samples (int): The number of draws for intervals and significance, up to 100,000.
    seed (int): The seed of these draws.
    show_progress (bool): Whether to show progress on stderr, if it is a terminal.
    RAISES (ValueError): If predictions have other words than the gold docs, or there
        are both entities and categories.
    """
    check_integers(1, MAX_SAMPLES, samples=samples)
    check_integers(0, seed=seed)
    if task is not None:
        check_choice((sources.NER, sources.TEXTCAT), task=task)
    gold = name_source(examples, "examples")
    docs = [each for each in gold.docs if len(get_reference(each))]
    inputs = sources.Inputs(
        predictions=name_source(nlp, "nlp"),
        gold=gold._replace(docs=docs),
        against=None if against is None else name_source(against, "against"),
        draws=Draws(samples, seed),
        show_progress=show_progress,
    )
    task = task or sources.find_task(*inputs.pipelines, golds=inputs.references)
    join = entities.choose_sentences(inputs, task, join)
    known, training = None, train if train is None else name_source(train, "train")
    if training:
        docs = inputs.show(training.docs, f"Reading {training.name}")
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
    note = (
        f"{CONFIDENCE:.0%} intervals over {len(run.documents):,} annotated documents "
        f"of {run.n_read:,}, from {samples:,} draws, seed {seed}"
    )
    data = {"setting": setting, **found, "confusions": run.errors.rank()}
    return Evaluation({**data, "warnings": [*find_warnings(data)], "notes": [note]})


def evaluate_in_depth(
    model: str | Path,
    test: str | Path,
    train: str | Path | None = None,
    *,
    against: str | Path | None = None,
    layout: ColumnFormat = LAYOUT,
    predicted_column: Column | None = None,
    use_gpu: int = -1,
    **options: Any,
) -> Evaluation:
    """Evaluate a pipeline (package name or folder), or the file of its predictions, on
    the files of corpora. `options` are further arguments of `evaluate`.
    """
    if use_gpu >= 0:
        require_gpu(use_gpu)
    tag = layout.tag if predicted_column is None else predicted_column
    of_predictions = replace(layout, tag=tag)
    # Load both pipelines first: a wrong name should not cost a run.
    return evaluate(
        name_source(model, "nlp", of_predictions),
        name_source(test, "examples", layout),
        train=train and name_source(train, "train", layout),
        against=against and name_source(against, "against", of_predictions),
        **options,
    )
