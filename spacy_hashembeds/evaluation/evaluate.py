"""What entities score, how sure that is, and what is wrong with them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from tqdm import tqdm  # type: ignore[import-untyped]

from ..checks import check_integers, check_items, check_types
from ..corpora.annotated import read_annotated
from ..corpora.columns import ColumnFormat
from .averages import average_types
from .bootstrap import (
    CONFIDENCE,
    MAX_SAMPLES,
    Interval,
    ScoreIntervals,
    bootstrap_scores,
    compare_scores,
)
from .counts import score_counts, tabulate_counts
from .evaluation import Evaluation
from .groups import GROUPINGS, learn_training_set
from .predictions import get_reference, pair_examples, predict_examples
from .runs import Key, Run
from .scorer import KINDS
from .sharing import count_shared
from .warnings import find_warnings

Corpus = Iterable[Doc | Example] | str | Path


@dataclass(frozen=True, kw_only=True)
class Source:
    """Docs, or a pipeline that makes some, with the name that is shown for them.

    name (str): The name.
    docs (Language | Iterable[Doc | Example]): The docs, or the pipeline.
    """

    name: str
    docs: Any


def evaluate(
    nlp: Language | Iterable[Doc],
    examples: Corpus,
    *,
    train: Corpus,
    against: Language | Iterable[Doc] | None = None,
    samples: int = 5000,
    seed: int = 0,
    show_progress: bool = True,
) -> Evaluation:
    """Score entities with intervals, in groups, beside another pipeline; list errors.

        nlp = spacy.load("model-best")
        evaluation = evaluate(nlp, "test.spacy", train="train.spacy")
        evaluation["ents_unseen_f"]
        evaluation.write("evaluation.html")

    A notebook shows the evaluation as a page. Nothing that is given is changed, and
    iterators are read once.

    nlp (Language | Iterable[Doc]): The pipeline, or Docs with the entities that one has
        predicted, of the same words as the gold docs.
    examples (Iterable[Doc | Example] | str | Path): The gold docs, Examples with
        them, or their file: `.spacy` or one token a line. The pipeline gets their
        text, or the tokens on the predicted side of an Example, and nothing else.
    train (Iterable[Doc | Example] | str | Path): What the pipeline was trained on,
        likewise: by it entities are seen or unseen.
    against (Language | Iterable[Doc], optional): A second pipeline, or its predictions,
        to compare the first one with.
    samples (int): How often the bootstrap and the test of significance draw.
    seed (int): What they draw by. Equal seeds give equal results.
    show_progress (bool): Whether to show on stderr how far it is, where that is a
        terminal.
    RAISES (FileNotFoundError): If there is no such file.
    RAISES (TypeError): If `nlp` or `against` is neither a pipeline nor Docs, or another
        argument is of another type.
    RAISES (ValueError): If a file can't be read, predictions have other words than the
        gold docs, `samples` is not 1 to 1,000,000, or `seed` is negative.
    RETURNS (Evaluation): All that was found: see `Evaluation`.
    """
    return evaluate_sources(
        _name_predictions(nlp, "nlp"),
        _name_corpus(examples, "examples"),
        _name_corpus(train, "train"),
        against=None if against is None else _name_predictions(against, "against"),
        samples=samples,
        seed=seed,
        show_progress=show_progress,
    )


def evaluate_sources(
    predictions: Source,
    gold: Source,
    train: Source,
    *,
    against: Source | None,
    samples: int,
    seed: int,
    show_progress: bool,
) -> Evaluation:
    """Evaluate predictions: see `evaluate`, of which this is the core.

    predictions (Source): A pipeline, or predicted docs.
    gold (Source): The gold docs.
    train (Source): The docs of the training set.
    against (Source, optional): A second pipeline, or its predicted docs.
    """
    check_types(int, "an integer", samples=samples, seed=seed)
    check_integers(1, MAX_SAMPLES, samples=samples)
    check_integers(0, seed=seed)
    show = partial(tqdm, leave=False, disable=None if show_progress else True)
    references = (get_reference(doc) for doc in train.docs)
    knowledge = learn_training_set(
        show(references, desc=f"Reading {train.name}", unit=" docs")
    )
    golds = list(gold.docs)

    def run(source: Source) -> Run:
        examples = _predict(source, golds, gold.name)
        progress = show(
            examples, desc=f"Evaluating {source.name}", unit=" docs", total=len(golds)
        )
        return Run(progress, knowledge)

    ours = run(predictions)
    draws: dict[str, Any] = {"samples": samples, "seed": seed}
    options = {**draws, "show_progress": show_progress}
    keys, counts = tabulate_counts(ours.documents)
    intervals = dict(zip(keys, bootstrap_scores(counts, **options), strict=True))
    comparison = None
    if against is not None:
        comparison = {"model": against.name, **_compare(ours, run(against), options)}
    schemes = ours.summarize_schemes()
    evaluation = {
        "setting": {
            "model": predictions.name,
            "test": gold.name,
            "train": train.name,
            "documents": len(ours.documents),
            "documents_read": ours.n_read,
            "train_entities": len(knowledge.entities),
            "shared": asdict(
                count_shared(map(get_reference, golds), knowledge.documents)
            ),
            "confidence": CONFIDENCE,
            **draws,
        },
        **_add_intervals(ours.scores, intervals),
        "averages": {kind: average_types(schemes[kind]["strict"]) for kind in KINDS},
        "schemes": schemes,
        "comparison": comparison,
        "groups": _describe_groups(keys, counts, intervals),
        "confusions": [asdict(confusion) for confusion in ours.confusions.rank()],
    }
    return Evaluation({**evaluation, "warnings": find_warnings(evaluation)})


def _name_predictions(source: Any, argument: str) -> Source:
    if isinstance(source, Language):
        return Source(name=f"{source.lang}_{source.meta['name']}", docs=source)
    if isinstance(source, str | Path) or not isinstance(source, Iterable):
        raise TypeError(
            f"'{argument}' should be a pipeline, as spacy.load returns it, or the Docs "
            f"that one has annotated, but is {source!r}."
        )
    return Source(name="predictions", docs=source)


def _name_corpus(source: Corpus, argument: str) -> Source:
    if not isinstance(source, str | Path):
        check_items("Docs or Examples, or their file", **{argument: source})
        return Source(name=argument, docs=source)
    docs = read_annotated(source, Vocab(), layout=ColumnFormat(comments=True))
    return Source(name=str(source), docs=docs)


def _predict(
    source: Source, golds: list[Doc | Example], gold: str
) -> Iterator[Example]:
    if isinstance(source.docs, Language):
        return predict_examples(source.docs, golds)
    return pair_examples(source.docs, golds, name=source.name, gold=gold)


def _add_intervals(
    scores: dict[str, Any], intervals: Mapping[Key, ScoreIntervals]
) -> dict[str, Any]:
    for prefix in KINDS.values():
        total = intervals.get((prefix, "", None))
        for key, bounds in _name(total).items():
            scores[f"{prefix}_{key}"] = bounds
        for label, score in (scores[f"{prefix}_per_type"] or {}).items():
            score.update(_name(intervals.get((prefix, "", label))))
    return scores


def _name(intervals: ScoreIntervals | None) -> dict[str, Interval | None]:
    return {f"{key}_interval": getattr(intervals, key, None) for key in "prf"}


def _describe_groups(
    keys: list[Key],
    counts: np.ndarray,
    intervals: Mapping[Key, ScoreIntervals],
) -> dict[str, list[dict[str, Any]]]:
    totals = dict(zip(keys, counts.sum(axis=0), strict=True))
    types = sorted(
        {label for prefix, _, label in keys if label and prefix in GROUPINGS}
    )

    def describe(key: Key) -> dict[str, Any]:
        total = totals.get(key, np.zeros(3, dtype="int32"))
        support = int(total.sum())
        bounds = intervals.get(key)
        return {
            "support": support,
            "recall": float(score_counts(total)[1]) if support else None,
            "interval": bounds.r if bounds else None,
        }

    return {
        name: [
            {
                "group": group,
                **describe((name, group, None)),
                "per_type": {label: describe((name, group, label)) for label in types},
            }
            for group in grouping.groups
        ]
        for name, grouping in GROUPINGS.items()
    }


def _compare(ours: Run, theirs: Run, options: dict[str, Any]) -> dict[str, Any]:
    both = [run.stack_totals() for run in (ours, theirs)]
    compared = compare_scores(*both, **options)
    return {
        kind: None
        if differences is None
        else {
            key: {"other": theirs.scores[f"{prefix}_{key}"], **difference}
            for key, difference in asdict(differences).items()
        }
        for (kind, prefix), differences in zip(KINDS.items(), compared, strict=True)
    }
