"""What a pipeline scores, how sure that is, and what is wrong with it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from thinc.api import require_gpu

from ..corpora.columns import ColumnFormat
from .bootstrap import Draws
from .categories import evaluate_categories
from .entities import evaluate_entities
from .evaluation import Evaluation
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
from .tasks import TEXTCAT, choose_task
from .warnings import find_warnings


def evaluate(
    nlp: Predictions,
    examples: Corpus,
    *,
    train: Corpus | None = None,
    against: Predictions | None = None,
    task: str | None = None,
    ablation: bool = False,
    misspelt: Corpus | None = None,
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
    iterators are read once.

    nlp (Language | Iterable[Doc]): The pipeline, or Docs with the entities, or the
        categories, that one has predicted, of the same words as the gold docs.
    examples (Iterable[Doc | Example] | str | Path): The gold docs, Examples with
        them, or their file: `.spacy` or one token a line. The pipeline gets their
        text, or the tokens on the predicted side of an Example, and nothing else.
    train (Iterable[Doc | Example] | str | Path, optional): What the pipeline was
        trained on, likewise: by it entities are seen or unseen. Categories are scored
        without it.
    against (Language | Iterable[Doc], optional): A second pipeline, or its predictions,
        to compare the first one with.
    task (str, optional): What to score: entities, "ner", or categories of documents,
        "textcat". None: what the components of the pipeline set; or, without a
        pipeline, what the gold docs have.
    ablation (bool): Whether to run the pipeline once more for each part of its BiLSTM
        encoder's output, with zeros in place of the others: what do hidden states and
        each attention head do for the bounds of entities? See docs/evaluate.md.
    misspelt (Iterable[Doc | Example] | str | Path, optional): A copy of `examples` with
        other words for the same tokens, such as `misspell` makes, for the pipeline to
        read too: what is lost there? See docs/evaluate.md.
    samples (int): How often the bootstrap and the test of significance draw, up to
        1,000,000.
    seed (int): What they draw by, 0 or more. Equal seeds give equal results.
    show_progress (bool): Whether to show on stderr how far it is, where that is a
        terminal.
    RAISES (ValueError): If predictions have other words than the gold docs; if there
        are both entities and categories, or `train` is missing for entities; if there
        is no encoder for `ablation`, or `misspelt` is no copy of `examples`.
    RETURNS (Evaluation): All that was found: a mapping of JSON data.
    """
    inputs = Inputs(
        draws=Draws(samples=samples, seed=seed, show_progress=show_progress),
        predictions=name_predictions(nlp, "nlp"),
        gold=name_corpus(examples, "examples"),
        train=None if train is None else name_corpus(train, "train"),
        against=None if against is None else name_predictions(against, "against"),
        ablation=ablation,
        misspelt=None if misspelt is None else name_corpus(misspelt, "misspelt"),
    )
    inputs = replace(inputs, gold=replace(inputs.gold, docs=list(inputs.gold.docs)))
    sources = (inputs.predictions, inputs.against)
    pipelines = [each.docs for each in sources if each and each.is_pipeline]
    is_of_categories = choose_task(task, pipelines, inputs.gold.docs) == TEXTCAT
    for name in ("ablation", "misspelt"):
        if is_of_categories and getattr(inputs, name):
            raise ValueError(
                f"'{name}' (--{name}) is of entities, but what is scored are the "
                "categories of documents. Leave it out."
            )
    data = (evaluate_categories if is_of_categories else evaluate_entities)(inputs)
    return Evaluation({**data, "warnings": find_warnings(data)})


def evaluate_in_depth(
    model: str | Path,
    test: str | Path,
    train: str | Path | None = None,
    *,
    against: str | Path | None = None,
    misspelt: str | Path | None = None,
    layout: ColumnFormat | None = None,
    predicted_column: int | None = None,
    use_gpu: int = -1,
    **options: Any,
) -> Evaluation:
    """Evaluate a pipeline, or its predictions, as `evaluate` does, given their files.

    model, against (str | Path): A pipeline's package name or folder, or the file of its
        predictions, which is laid out as those of the corpora.
    test, train, misspelt (str | Path): Corpora: `.spacy` files or folders of them, or
        files with one token a line.
    layout (ColumnFormat, optional): How files with one token a line are laid out.
        None: the word first, the tag last, white space between.
    predicted_column (int, optional): The column of the tag in files of predictions,
        where it is another than in those of the corpora.
    use_gpu (int): The GPU's number, or -1 for the CPU.
    options: The others of `evaluate`.
    RAISES (FileNotFoundError): If a corpus is missing.
    RAISES (OSError): If there is no such pipeline.
    RAISES (ValueError): If there is no such GPU, or `evaluate` raises it.
    """
    if use_gpu >= 0:
        require_gpu(use_gpu)
    layout = layout or LAYOUT
    tag = layout.tag if predicted_column is None else predicted_column
    of_predictions = replace(layout, tag=tag)
    # Both are loaded first: a wrong name should not cost a run.
    return evaluate(
        load_source(model, of_predictions),
        read_source(test, layout),
        train=train and read_source(train, layout),
        against=None if against is None else load_source(against, of_predictions),
        misspelt=misspelt and read_source(misspelt, layout),
        **options,
    )
