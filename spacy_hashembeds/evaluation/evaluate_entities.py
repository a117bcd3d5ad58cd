"""What entities score, how sure that is, and what is wrong with them."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from .ablation import ablate, find_ablated
from .averages import average_types
from .bootstrap import (
    CONFIDENCE,
    Interval,
    ScoreDifferences,
    ScoreIntervals,
    bootstrap_scores,
    compare_scores,
)
from .counts import score_counts, tabulate_counts
from .groups import GROUPINGS, learn_training_set
from .misspelt import check_reads, find_golds, read_misspelt
from .predictions import get_reference
from .runs import Key, Run
from .scorer import ALL, KINDS, LENGTHS
from .sharing import count_shared
from .sources import Options, Source, predict
from .warnings import find_warnings


def evaluate_entities(
    predictions: Source,
    gold: Source,
    train: Source | None,
    *,
    golds: list[Doc | Example],
    against: Source | None,
    ablation: bool,
    misspelt: Source | None,
    options: Options,
) -> dict[str, Any]:
    """Evaluate entities: see `evaluate`.

    predictions (Source): A pipeline, or predicted docs.
    gold (Source): The gold docs.
    train (Source, optional): The docs of the training set.
    golds (list[Doc | Example]): The gold docs, read.
    against (Source, optional): A second pipeline, or its predicted docs.
    ablation (bool): Whether to run the pipeline with each part of its encoder alone.
    misspelt (Source, optional): A misspelt copy of the gold docs.
    options (Options): How to evaluate.
    RAISES (ValueError): If there is no training set, or nothing to leave alone, or what
        is misspelt is no copy.
    RETURNS (dict[str, Any]): What an `Evaluation` of entities holds.
    """
    if train is None:
        raise ValueError(
            "'train' should be the corpus that the pipeline was trained on (--train), "
            "by which its entities are seen or unseen, but is None."
        )
    layer = find_ablated(predictions) if ablation else None
    if misspelt is not None:
        check_reads(predictions)
        copies = read_misspelt(misspelt, golds, gold.name)
    references = (get_reference(doc) for doc in train.docs)
    knowledge = learn_training_set(options.show(references, f"Reading {train.name}"))

    def run(source: Source) -> Run:
        examples = predict(source, golds, gold.name)
        title = f"Evaluating {source.name}"
        return Run(options.show(examples, title, total=len(golds)), knowledge)

    ours = run(predictions)
    draws = asdict(options)
    keys, counts = tabulate_counts(ours.documents)
    intervals = dict(zip(keys, bootstrap_scores(counts, **draws), strict=True))
    theirs, comparison = None, None
    if against is not None:
        theirs = run(against)
        comparison = {"model": against.name, **_compare(ours, theirs, draws)}
    lost = None
    if misspelt is not None:
        examples = predict(predictions, copies, misspelt.name)
        title = f"Evaluating {predictions.name} on {misspelt.name}"
        shown = options.show(examples, title, total=len(copies))
        others = Run(shown, knowledge, find_golds(golds))
        lost = {"corpus": misspelt.name, **_compare(ours, others, draws)}
    parts = {} if layer is None else ablate(layer, predictions, golds, options)
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
            "samples": options.samples,
            "seed": options.seed,
            "parts": list(parts),
        },
        **_add_intervals(ours.scores, intervals),
        "averages": {kind: average_types(schemes[kind]["strict"]) for kind in KINDS},
        "schemes": schemes,
        "comparison": comparison,
        "misspelt": lost,
        "groups": _describe_groups(keys, counts, intervals),
        "chunks": _describe_chunks(ours, theirs, parts),
        "confusions": [asdict(confusion) for confusion in ours.confusions.rank()],
    }
    return {**evaluation, "warnings": find_warnings(evaluation)}


def _add_intervals(
    scores: dict[str, Any], intervals: Mapping[Key, ScoreIntervals]
) -> dict[str, Any]:
    for prefix in KINDS.values():
        total = intervals.get((prefix, "", None))
        for key, bounds in _name(total).items():
            scores[f"{prefix}_{key}"] = bounds
        for label, score in (scores[f"{prefix}_per_type"] or {}).items():
            score.update(_name(intervals.get((prefix, "", label))))
        for length, score in (scores[f"{prefix}_per_length"] or {}).items():
            score.update(_name(intervals.get((prefix, length, None))))
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


def _describe_chunks(
    ours: Run, theirs: Run | None, parts: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    other = {} if theirs is None else theirs.chunks.score()
    return {
        tag: {
            **score,
            "other": other[tag]["recall"] if other else None,
            "parts": {name: scores[tag]["recall"] for name, scores in parts.items()},
        }
        for tag, score in ours.chunks.score().items()
    }


def _compare(ours: Run, theirs: Run, draws: dict[str, Any]) -> dict[str, Any]:
    """Compare kinds of entities, and the types and lengths of all of them."""

    def compare(keys: Mapping[str, Key], others: Mapping[str, Any]) -> dict[str, Any]:
        both = [run.stack(list(keys.values())) for run in (ours, theirs)]
        compared = compare_scores(*both, **draws)
        return {
            name: None if found is None else _add_other(found, others[name])
            for name, found in zip(keys, compared, strict=True)
        }

    scores = theirs.scores
    per_type, per_length = (
        scores[f"{ALL}_{name}"] or {} for name in ("per_type", "per_length")
    )
    labels = sorted({*(ours.scores[f"{ALL}_per_type"] or {}), *per_type})
    totals = {
        kind: {key: scores[f"{prefix}_{key}"] for key in "prf"}
        for kind, prefix in KINDS.items()
    }
    return {
        **compare({kind: (KINDS[kind], "", None) for kind in KINDS}, totals),
        "per_type": compare({name: (ALL, "", name) for name in labels}, per_type),
        "per_length": compare({n: (ALL, n, None) for n in LENGTHS}, per_length),
    }


def _add_other(
    differences: ScoreDifferences, other: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        key: {"other": other[key], **difference}
        for key, difference in asdict(differences).items()
    }
