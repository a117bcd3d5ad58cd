"""Scores of entities, with intervals, and their errors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from .bootstrap import (
    NONE,
    Draws,
    Scores,
    bootstrap_scores,
    compare_scores,
    describe_differences,
    name_intervals,
)
from .chunks import count_chunks, summarize_chunks
from .confusions import ErrorCounter, find_wrong_entities
from .counts import Counts, Run, add_counts, describe_counts, describe_recall
from .groups import (
    GROUPINGS,
    TrainingKnowledge,
    count_shared,
    group_entity,
    learn_training_set,
)
from .joined import join_gold, joins_in_training, stack_together
from .reliability import ScoreCollector
from .schemes import SchemeCounter, average_types
from .scorer import ALL, KINDS, LENGTHS, count_matches, match_entities, summarize_counts
from .sources import Inputs, get_reference

#: The keys of all entities, the seen and the unseen ones.
TOTALS = {kind: (prefix, "", None) for kind, prefix in KINDS.items()}

#: The precision, recall and F1 of these.
SCORES = tuple(f"{prefix}_{key}" for prefix in KINDS.values() for key in "prf")


class EntityRun(Run):
    """Counts entities, and notes what else there is. The texts of `golds`, docs with
    the entities and tokens of the references, tell the seen entities from others.
    """

    def __init__(
        self,
        examples: Iterable[Example],
        knowledge: TrainingKnowledge | None,
        golds: Sequence[Doc] | None = None,
    ) -> None:
        self._knowledge, self._golds = knowledge, golds
        self.errors = ErrorCounter()
        self.schemes = SchemeCounter()
        self.reliability = ScoreCollector()
        self._chunks: list[Counts] = []
        super().__init__(examples)
        self.chunks = summarize_chunks(add_counts(self._chunks))
        self.scores = summarize_counts(self.totals)

    def count(self, number: int, example: Example) -> Counts | None:
        """Count what `count_matches` does, and gold entities by grouping and group."""
        gold = example.reference if self._golds is None else self._golds[number]
        known = self._knowledge
        views = match_entities(example, None if known is None else known.entities, gold)
        if not views:
            return None
        self.errors.add(find_wrong_entities(number, example.reference, views[ALL]))
        self.schemes.add(views)
        self.reliability.add(example, views[ALL])
        self._chunks.append(count_chunks(example, views[ALL]))
        counts = count_matches(views)
        found = set(views[ALL].correct)
        if known is None:
            return counts
        for ent in gold.ents:
            i = 0 if (ent.label_, ent.start, ent.end) in found else 2
            for grouping, group in group_entity(ent, known).items():
                counts[grouping, group, None][i] += 1
                counts[grouping, group, ent.label_][i] += 1
        return counts


def evaluate_entities(inputs: Inputs) -> dict[str, Any]:
    """Give what an `Evaluation` of entities holds: see `evaluate`."""
    known = learn_training_set(inputs.read_train()) if inputs.train else None
    ours = EntityRun(inputs.predict(inputs.predictions), known)
    keys, draws = ours.list_keys(), inputs.draws
    drawn = bootstrap_scores(ours.stack(keys), draws)
    intervals = dict(zip(keys, drawn, strict=True))
    theirs, comparison = None, None
    if inputs.against is not None:
        theirs = EntityRun(inputs.predict(inputs.against), known)
        comparison = {"model": inputs.against.name, **_compare(ours, theirs, draws)}
    schemes = {kind: ours.schemes.summarize(KINDS[kind]) for kind in KINDS}
    references = map(get_reference, inputs.gold.docs)
    return {
        "setting": {
            **inputs.describe(ours),
            "train_entities": known and len(known.entities),
            "shared": known and count_shared(references, known.documents),
        },
        **_add_intervals(ours.scores, intervals),
        "joined": _score_joined(inputs, known, ours) if inputs.join else None,
        "averages": {kind: average_types(schemes[kind]["strict"]) for kind in KINDS},
        "schemes": schemes,
        "calibration": ours.reliability.summarize(),
        "comparison": comparison,
        "groups": _describe_groups(ours.totals, intervals) if known else {},
        "chunks": {
            tag: {**score, "other": theirs.chunks[tag]["recall"] if theirs else None}
            for tag, score in ours.chunks.items()
        },
        "confusions": ours.errors.rank(),
    }


def _score_joined(
    inputs: Inputs, known: TrainingKnowledge | None, ours: EntityRun
) -> dict[str, Any] | None:
    """Score texts of so many sentences, if any are made, and test how F1 differs."""
    joined = join_gold(inputs)
    if len(joined.gold.docs) == ours.n_read:
        return None
    run = EntityRun(joined.predict(joined.predictions), known)
    both = ((run, joined.gold.docs), (ours, inputs.gold.docs))
    of_texts, as_it_is = stack_together(
        [(each.stack([TOTALS["all"]]), each.numbers, docs) for each, docs in both]
    )
    (tested,) = compare_scores(of_texts, as_it_is, inputs.draws)
    return {
        "sentences": inputs.join,
        "documents": run.n_read,
        **{key: run.scores[key] for key in SCORES},
        "difference": None if tested is None else tested.f._asdict(),
        "is_trained_so": joins_in_training(inputs.predictions.docs),
    }


def _add_intervals(
    scores: dict[str, Any], intervals: Mapping[Any, Scores]
) -> dict[str, Any]:
    for prefix in KINDS.values():
        scores |= name_intervals(intervals.get((prefix, "", None)), f"{prefix}_")
        for label, score in (scores[f"{prefix}_per_type"] or {}).items():
            score |= name_intervals(intervals.get((prefix, "", label)))
        for length, score in (scores[f"{prefix}_per_length"] or {}).items():
            score |= name_intervals(intervals.get((prefix, length, None)))
    return scores


def _describe_groups(
    totals: Counts, intervals: Mapping[Any, Scores]
) -> dict[str, list[dict[str, Any]]]:
    types = sorted({label for name, _, label in totals if label and name in GROUPINGS})

    def describe(*key: str | None) -> dict[str, Any]:
        recall = describe_recall(totals.get(key, (0, 0, 0)))
        return {**recall, "interval": intervals.get(key, NONE).r}

    return {
        name: [
            {
                "group": group,
                **describe(name, group, None),
                "per_type": {label: describe(name, group, label) for label in types},
            }
            for group in groups
        ]
        for name, (_, groups) in GROUPINGS.items()
    }


def _compare(ours: EntityRun, theirs: EntityRun, draws: Draws) -> dict[str, Any]:

    def compare(keys: Mapping[str, Any]) -> dict[str, Any]:
        things = list(keys.values())
        compared = compare_scores(ours.stack(things), theirs.stack(things), draws)
        return {
            name: describe_differences(found, describe_counts(theirs.totals[key]))
            for (name, key), found in zip(keys.items(), compared, strict=True)
        }

    types = (run.scores[f"{ALL}_per_type"] or {} for run in (ours, theirs))
    return {
        **compare(TOTALS),
        "per_type": compare({n: (ALL, "", n) for n in sorted(set().union(*types))}),
        "per_length": compare({n: (ALL, n, None) for n in LENGTHS}),
    }
