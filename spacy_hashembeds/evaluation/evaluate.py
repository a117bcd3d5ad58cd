"""What a pipeline scores, how sure that is, and what is wrong with it."""

from collections.abc import Iterable

from spacy.language import Language
from spacy.tokens import Doc

from .evaluate_categories import evaluate_categories
from .evaluate_entities import evaluate_entities
from .evaluation import CATEGORIES, ENTITIES, Evaluation
from .sources import Corpus, Options, Source, name_corpus, name_predictions
from .tasks import NER, choose_task


def evaluate(
    nlp: Language | Iterable[Doc],
    examples: Corpus,
    *,
    train: Corpus | None = None,
    against: Language | Iterable[Doc] | None = None,
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
    samples (int): How often the bootstrap and the test of significance draw.
    seed (int): What they draw by. Equal seeds give equal results.
    show_progress (bool): Whether to show on stderr how far it is, where that is a
        terminal.
    RAISES (FileNotFoundError): If there is no such file.
    RAISES (TypeError): If `nlp` or `against` is neither a pipeline nor Docs, or another
        argument is of another type.
    RAISES (ValueError): If a file can't be read, predictions have other words than the
        gold docs, `samples` is not 1 to 1,000,000, or `seed` is negative; if there are
        both entities and categories, or `train` is missing for entities; if there is
        no encoder for `ablation`, or `misspelt` is no copy of `examples`.
    RETURNS (Evaluation): All that was found: see `Evaluation`.
    """
    return evaluate_sources(
        name_predictions(nlp, "nlp"),
        name_corpus(examples, "examples"),
        None if train is None else name_corpus(train, "train"),
        against=None if against is None else name_predictions(against, "against"),
        task=task,
        ablation=ablation,
        misspelt=None if misspelt is None else name_corpus(misspelt, "misspelt"),
        options=Options(samples=samples, seed=seed, show_progress=show_progress),
    )


def evaluate_sources(
    predictions: Source,
    gold: Source,
    train: Source | None,
    *,
    against: Source | None,
    task: str | None,
    ablation: bool,
    misspelt: Source | None,
    options: Options,
) -> Evaluation:
    """Evaluate predictions: see `evaluate`, of which this is the core.

    predictions (Source): A pipeline, or predicted docs.
    gold (Source): The gold docs.
    train (Source, optional): The docs of the training set.
    against (Source, optional): A second pipeline, or its predicted docs.
    task (str, optional): What to score.
    ablation (bool): Whether to run with each part of the encoder alone.
    misspelt (Source, optional): A misspelt copy of the gold docs.
    options (Options): How to evaluate.
    """
    sources = [predictions] if against is None else [predictions, against]
    pipelines = [each.docs for each in sources if isinstance(each.docs, Language)]
    golds = list(gold.docs)
    if choose_task(task, pipelines, golds) == NER:
        data = evaluate_entities(
            predictions,
            gold,
            train,
            golds=golds,
            against=against,
            ablation=ablation,
            misspelt=misspelt,
            options=options,
        )
        return Evaluation(data, ENTITIES)
    for name, is_given in (("ablation", ablation), ("misspelt", misspelt is not None)):
        if is_given:
            raise ValueError(
                f"'{name}' (--{name}) is of entities, but what is scored are the "
                "categories of documents. Leave it out."
            )
    data = evaluate_categories(
        predictions, gold, train, golds=golds, against=against, options=options
    )
    return Evaluation(data, CATEGORIES)
