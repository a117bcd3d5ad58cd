"""Evaluation of a pipeline: scores, with intervals, and errors."""

from collections import UserDict
from dataclasses import replace
from pathlib import Path
from typing import Any

from thinc.api import require_gpu

from ..checks import check_types
from ..corpora.columns import Column, ColumnFormat
from ..display import Part, Sentence, Table, escape_markdown, write_markdown_code
from ..files import choose_suffix, replacing, write_json
from .bootstrap import Draws
from .categories import evaluate_categories, name_accuracy
from .entities import evaluate_entities
from .joined import choose_sentences
from .page import describe_setting, name_title, render
from .sources import (
    LAYOUT,
    Corpus,
    Inputs,
    Predictions,
    load_source,
    name_corpus,
    name_predictions,
    read_source,
)
from .tables import Score, make_sections, summarize
from .tasks import TEXTCAT, choose_task
from .warnings import find_notes, find_warnings

#: How files are written, by their suffix.
SUFFIXES = (".json", ".html", ".md")


class Evaluation(UserDict[str, Any]):
    """Findings, as a `.json` file holds them. Its keys are in docs/evaluate.md."""

    def __repr__(self) -> str:
        if "schemes" in self:
            score = f"F1 {Score(self['ents_f'])} on {self['ents_support']:,} entities"
        else:
            score = f"{name_accuracy(self)} {Score(self['cats_acc'])}"
            score += f" on {self['cats_support']:,} documents"
        return f"<Evaluation of {self['setting']['model']}: {score}>"

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        return render(self, is_page=False)

    def get_parts(self, *, full: bool = True) -> list[Part]:
        """Give what the command prints: all tables, or what to look at first."""
        notes = [text for text in (*self["notes"], self._describe_draws()) if text]
        if not full:
            notes.append("More tables with --full, all errors with -o page.html")
        return [
            *(self.make_tables() if full else summarize(self)),
            *(Sentence(text, "info") for text in notes),
        ]

    def make_tables(self) -> list[Table]:
        """Make all tables."""
        tables = (table for part in make_sections(self) for table in part.tables)
        return [table.to_text() for table in tables if table.shown != "page"]

    def _describe_draws(self) -> str | None:
        """Say what the intervals are, if there are any."""
        setting = self["setting"]
        drawn, read = setting["documents"], setting["documents_read"]
        if not drawn:
            return None
        documents = f"{drawn:,} document{'s' * (drawn != 1)}"
        if drawn < read:
            annotation = "entity" if "schemes" in self else "category"
            documents += f" with {annotation} annotation, of {read:,} in all"
        return (
            f"{setting['confidence']:.0%} intervals over the {documents}, from "
            f"{setting['samples']:,} draws, seed {setting['seed']}"
        )

    def to_html(self) -> str:
        """Render one HTML page that needs no other file and no script."""
        return render(self, is_page=True)

    def to_markdown(self) -> str:
        """Write the tables that the command prints with `--full`, in Markdown."""
        named = describe_setting(self).items()
        lines = [f"- {key}: {write_markdown_code(name)}" for key, name in named]
        blocks = [f"# {name_title(self)}", "\n".join(lines)]
        blocks += [f"**{escape_markdown(text)}**" for text in self["warnings"]]
        for table in self.make_tables():
            legend = [] if table.legend is None else [escape_markdown(table.legend)]
            rules = [":--" if align == "l" else "--:" for align in table.all_aligns]
            rows = [map(escape_markdown, row) for row in (table.header, *table.rows)]
            lines = [f"| {' | '.join(row)} |" for row in (rows[0], rules, *rows[1:])]
            title = f"## {escape_markdown(table.title)}"
            blocks += [title, *legend, "\n".join(lines)]
        blocks += map(escape_markdown, self["notes"])
        if draws := self._describe_draws():
            blocks.append(f"{draws}.")
        return "\n\n".join(blocks) + "\n"

    def write(self, path: str | Path) -> None:
        """Write a file, whole or not at all, in the form of its suffix: .json, .html
        or .md; and to an open file, such as `/dev/stdout`, JSON.
        """
        check_types(str | Path, "the path of a file", path=path)
        suffix = choose_suffix(path, SUFFIXES)
        if suffix == ".json":
            write_json(path, dict(self))
            return
        text = self.to_html() if suffix == ".html" else self.to_markdown()
        with replacing(path) as temporary:
            # names of files may hold bytes that are no text
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
    """Score entities or categories with intervals, beside others; list errors.

        nlp = spacy.load("model-best")
        evaluation = evaluate(nlp, "test.spacy", train="train.spacy")
        evaluation["ents_unseen_f"]
        evaluation.write("evaluation.html")

    A notebook shows the evaluation as a page. Nothing that is given is changed, and
    iterators are read once. See docs/evaluate.md.

    nlp (Language | Iterable[Doc]): The pipeline, or Docs that one has annotated, of the
        same words as the gold docs.
    examples (Iterable[Doc | Example] | str | Path): The gold docs, Examples with
        them, or their file: `.spacy` or one token a line. The pipeline gets their
        text, or the tokens on the predicted side of an Example, and nothing else.
    train (Iterable[Doc | Example] | str | Path, optional): What the pipeline was
        trained on, by which entities are seen or unseen: else they are not told apart.
    against (Language | Iterable[Doc], optional): What to compare the first one with.
    task (str, optional): What to score, entities ("ner") or categories ("textcat"); by
        default what the pipeline's components set, or without one, the gold docs have.
    join (int, optional): Score entities on texts of so many sentences too, which are
        joined as they follow each other, or cut. By default 10 where a pipeline is
        given single sentences, and else 0, none. Needs a pipeline and gold Docs.
    samples (int): Draws for intervals and significance, up to 1,000,000.
    seed (int): What they draw by, 0 or more. Equal seeds give equal results where all
        other arguments are equal.
    show_progress (bool): Whether to show progress on stderr, where that is a terminal.
    RAISES (ValueError): If predictions have other words than the gold docs, or there
        are both entities and categories.
    """
    inputs = Inputs(
        draws=Draws(samples=samples, seed=seed, show_progress=show_progress),
        predictions=name_predictions(nlp, "nlp"),
        gold=name_corpus(examples, "examples"),
        train=None if train is None else name_corpus(train, "train"),
        against=None if against is None else name_predictions(against, "against"),
    )
    inputs = replace(inputs, gold=replace(inputs.gold, docs=list(inputs.gold.docs)))
    sources = (inputs.predictions, inputs.against)
    pipelines = [each.docs for each in sources if each and each.is_pipeline]
    is_of_categories = choose_task(task, pipelines, inputs.gold.docs) == TEXTCAT
    sentences = choose_sentences(join, inputs, is_of_entities=not is_of_categories)
    inputs = replace(inputs, join=sentences)
    data = (evaluate_categories if is_of_categories else evaluate_entities)(inputs)
    said = {"warnings": find_warnings(data), "notes": find_notes(data)}
    return Evaluation({**data, **said})


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
    the files of corpora. `options` are the others of `evaluate`.
    """
    if use_gpu >= 0:
        require_gpu(use_gpu)
    tag = layout.tag if predicted_column is None else predicted_column
    of_predictions = replace(layout, tag=tag)
    # Both are loaded first: a wrong name should not cost a run.
    return evaluate(
        load_source(model, of_predictions),
        read_source(test, layout),
        train=train and read_source(train, layout),
        against=None if against is None else load_source(against, of_predictions),
        **options,
    )
