"""Scores of entities, with intervals, and their errors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from ...training import scorer
from ...training.scorer import ALL, KINDS, LENGTHS, Counts
from . import bootstrap, groups, joined
from .bootstrap import name_intervals
from .confusions import ErrorCounter
from .groups import TrainingKnowledge
from .reliability import ScoreCollector
from .schemes import SchemeCounter, average_types
from .sources import Inputs, get_reference

#: The keys of all entities, the seen and the unseen ones.
TOTALS = {kind: (prefix, "", None) for kind, prefix in KINDS.items()}

#: The precision, recall and F1 of these.
SCORES = tuple(f"{prefix}_{key}" for prefix in KINDS.values() for key in "prf")

#: Tags of tokens: outside, single, begin, inside, end. Li, Fu and Ma, "Why Attention?"
#: (2020), §4.6 and table 5.
CHUNKS = ("O", "S", "B", "I", "E")


class EntityRun(scorer.Run):
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
        tags = scorer.add_counts(self._chunks)
        self.chunks = {tag: scorer.describe_recall(tags[tag]) for tag in CHUNKS}
        self.scores = scorer.summarize_counts(self.totals)

    def count(self, number: int, example: Example) -> Counts | None:
        """Count what the scorer does, and gold entities by grouping and group."""
        gold = example.reference if self._golds is None else self._golds[number]
        known = self._knowledge
        views = scorer.match_entities(example, known and known.entities, gold)
        if not views:
            return None
        self.errors.add_entities(number, example.reference, views[ALL])
        self.schemes.add(views)
        self.reliability.add(example, views[ALL])
        self._chunks.append(count_chunks(example.reference, views[ALL]))
        counts = scorer.count_matches(views)
        found = set(views[ALL].correct)
        for ent in gold.ents:
            i = 0 if (ent.label_, ent.start, ent.end) in found else 2
            of_ent = groups.group_entity(ent, known) if known is not None else {}
            for grouping, group in of_ent.items():
                counts[grouping, group, None][i] += 1
                counts[grouping, group, ent.label_][i] += 1
        return counts


def count_chunks(gold: Doc, matches: scorer.Matches) -> Counts:
    """Count the annotated tokens of each of `CHUNKS` that get it, and that don't."""
    tags = []
    predicted = (*matches.ignored, *matches.spurious, *matches.correct)
    for spans in ((*matches.correct, *matches.missed), predicted):
        tags.append(["O"] * len(gold))
        for _, start, end in spans:
            inside = ["B", *"I" * (end - start - 2), "E"]
            tags[-1][start:end] = inside if end - start > 1 else ["S"] * (end - start)
    counts = scorer.make_counts()
    for token, tag, other in zip(gold, *tags, strict=True):
        if token.ent_iob:  # else annotation is missing
            counts[tag][0 if tag == other else 2] += 1
    return counts


def evaluate_entities(inputs: Inputs) -> dict[str, Any]:
    """Return what an `Evaluation` of entities holds: see `evaluate`."""
    known = groups.learn_training_set(inputs.read_train()) if inputs.train else None
    ours = EntityRun(inputs.predict(inputs.predictions), known)
    keys = ours.list_keys()
    drawn = bootstrap.bootstrap_scores(ours.stack(keys), inputs.draws)
    intervals = dict(zip(keys, map(name_intervals, drawn), strict=True))
    theirs, comparison = None, None
    if inputs.against is not None:
        theirs = EntityRun(inputs.predict(inputs.against), known)
        comparison = {"model": inputs.against.name, **_compare(ours, theirs, inputs)}
    schemes = {kind: ours.schemes.summarize(KINDS[kind]) for kind in KINDS}
    golds = map(get_reference, inputs.gold.docs)
    return {
        "setting": {
            **inputs.describe(ours),
            "train_entities": known and len(known.entities),
            "shared": known and groups.count_shared(golds, known.documents),
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
    texts = joined.join_gold(inputs)
    if len(texts.gold.docs) == ours.n_read:
        return None
    run = EntityRun(texts.predict(texts.predictions), known)
    both = ((run, texts.gold.docs), (ours, inputs.gold.docs))
    first, second = joined.stack_together(
        [(each.stack([TOTALS["all"]]), each.numbers, docs) for each, docs in both]
    )
    (tested,) = bootstrap.compare_scores(first, second, inputs.draws)
    return {
        "sentences": inputs.join,
        "documents": run.n_read,
        **{key: run.scores[key] for key in SCORES},
        "difference": tested and tested.f._asdict(),
        "is_trained_so": joined.joins_in_training(inputs.predictions.docs),
    }


def _add_intervals(
    scores: dict[str, Any], intervals: Mapping[Any, Mapping[str, Any]]
) -> dict[str, Any]:
    none = name_intervals(None)
    for prefix in KINDS.values():
        total = intervals.get((prefix, "", None), none)
        scores |= {f"{prefix}_{key}": value for key, value in total.items()}
        for label, score in (scores[f"{prefix}_per_type"] or {}).items():
            score |= intervals.get((prefix, "", label), none)
        for length, score in (scores[f"{prefix}_per_length"] or {}).items():
            score |= intervals.get((prefix, length, None), none)
    return scores


def _describe_groups(
    totals: Counts, intervals: Mapping[Any, Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    def describe(*key: str | None) -> dict[str, Any]:
        recall = scorer.describe_recall(totals.get(key, (0, 0, 0)))
        return {**recall, "interval": intervals.get(key, {}).get("r_interval")}

    types = sorted({t for name, _, t in totals if t and name in groups.GROUPINGS})
    return {
        name: [
            {
                "group": group,
                **describe(name, group, None),
                "per_type": {label: describe(name, group, label) for label in types},
            }
            for group in members
        ]
        for name, (_, members) in groups.GROUPINGS.items()
    }


def _compare(ours: EntityRun, theirs: EntityRun, inputs: Inputs) -> dict[str, Any]:
    found = (run.scores[f"{ALL}_per_type"] or () for run in (ours, theirs))
    types = sorted(set().union(*found))
    of_types = {label: (ALL, "", label) for label in types}
    of_lengths = {length: (ALL, length, None) for length in LENGTHS}
    keys = [*TOTALS.values(), *of_types.values(), *of_lengths.values()]
    stacks = ours.stack(keys), theirs.stack(keys)
    drawn = bootstrap.compare_scores(*stacks, inputs.draws)
    rows = {
        key: bootstrap.describe_differences(
            differences, scorer.describe_counts(theirs.totals[key])
        )
        for key, differences in zip(keys, drawn, strict=True)
    }
    return {
        **{kind: rows[key] for kind, key in TOTALS.items()},
        "per_type": {label: rows[key] for label, key in of_types.items()},
        "per_length": {length: rows[key] for length, key in of_lengths.items()},
    }
