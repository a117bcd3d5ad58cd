"""Scores of entities, with intervals, and their errors."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import repeat
from math import inf
from typing import Any, NamedTuple

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...arguments import check_integers
from ...training import scorer
from ...training.joined import READER, is_sentence, regroup
from ...training.scorer import ALL, KINDS, LENGTHS, Counts, Matches
from .bootstrap import Draws, bootstrap_scores, compare_scores
from .confusions import ErrorCounter
from .measures import ScoreCollector, average_types, score_schemes
from .sources import Inputs, find_golds, get_reference

#: The keys of all entities, the seen and the unseen ones.
TOTALS = {kind: (prefix, "", None) for kind, prefix in KINDS.items()}

#: The precision, recall and F1 of these.
SCORES = tuple(f"{prefix}_{key}" for prefix in KINDS.values() for key in "prf")

#: Tags of tokens: outside, single, begin, inside, end. Li, Fu and Ma, "Why Attention?"
#: (2020), §4.6 and table 5.
CHUNKS = ("O", "S", "B", "I", "E")

#: Default number of sentences to join.
SENTENCES = 10

#: The fewest tokens of a document that hardly stands in two corpora by chance: in AnEM
#: 5% of the test set's sentences stand in training too, but none of ten tokens or more.
LONG = 10

#: The groups of gold entities by what training has shown: of them, how often their text
#: was an entity there, and their rarest token stood there. They have no precision: a
#: prediction that is wrong belongs to no group.
_TIMES = ("0", "1", "2-9", "10-99", "100+")
_SHOWN = ("same_type", "other_type", "tokens_seen", "tokens_partly_seen")
GROUPS = {
    **{"knowledge": (*_SHOWN, "tokens_unseen")},
    **dict.fromkeys(("frequency", "token_frequency"), _TIMES),
}

_Intervals = Mapping[Any, Mapping[str, Any]]


class TrainingKnowledge(NamedTuple):
    """Counts of a training set's texts of entities, by type, and of its tokens; and its
    documents, as `identify` returns them.
    """

    entities: Mapping[str, Mapping[str, int]]
    tokens: Mapping[str, int]
    documents: Set[bytes]


def learn_training_set(docs: Iterable[Doc]) -> TrainingKnowledge:
    """Count the entities, tokens and documents of a training set, in one pass."""
    entities: defaultdict[str, Counter[str]] = defaultdict(Counter)
    tokens: Counter[str] = Counter()
    documents: set[bytes] = set()
    for doc in docs:
        tokens.update(token.text for token in doc)
        documents.add(identify(doc))
        for ent in doc.ents:
            entities[ent.text][ent.label_] += 1
    return TrainingKnowledge(dict(entities), tokens, documents)


def identify(doc: Doc) -> bytes:
    """Return the tokens of a doc as few bytes, equal for equal ones in any vocab."""
    return doc.to_array([ORTH]).tobytes()


def count_shared(golds: Iterable[Doc | Example], train: Set[bytes]) -> dict[str, int]:
    """Count the documents that stand in the training set too, and the `LONG` ones."""
    docs = map(get_reference, golds)
    found = Counter((len(doc) >= LONG, identify(doc) in train) for doc in docs)
    return {
        "documents": found[True, True] + found[False, True],
        "long_documents": found[True, True],
        "of_long_documents": found[True, True] + found[True, False],
    }


def group_entity(ent: Span, knowledge: TrainingKnowledge) -> dict[str, str]:
    """Return the group of a gold entity in each of `GROUPS`.

    "same_type" and "other_type" together are the seen entities of the scorer. For the
    others a token counts wherever it stood in training: an embedding learns it there.
    """
    labels = knowledge.entities.get(ent.text, {})
    counts = [knowledge.tokens.get(token.text, 0) for token in ent]
    if labels:
        known = "same_type" if ent.label_ in labels else "other_type"
    elif all(counts):
        known = "tokens_seen"
    else:
        known = "tokens_partly_seen" if any(counts) else "tokens_unseen"
    times = (sum(labels.values()), min(counts))
    ranges = (_TIMES[bisect_right((1, 2, 10, 100), n)] for n in times)
    return dict(zip(GROUPS, (known, *ranges), strict=True))


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
        self.matches: list[dict[str, Matches]] = []
        self.errors = ErrorCounter()
        self.reliability = ScoreCollector()
        super().__init__(examples)
        self.scores = scorer.summarize_counts(self.totals)

    def count(self, number: int, example: Example) -> Counts | None:
        """Count what the scorer does, tokens by chunk tag, and gold entities by group:
        the keys of the latter are ("chunk", tag, None) and (grouping, group, type or
        None).
        """
        gold = example.reference if self._golds is None else self._golds[number]
        known = self._knowledge
        views = scorer.match_entities(example, known and known.entities, gold)
        if not views:
            return None
        self.matches.append(views)
        self.errors.add_entities(number, example.reference, views[ALL])
        self.reliability.add(example, views[ALL])
        counts = scorer.count_matches(views)
        for tag, is_right in compare_chunks(example.reference, views[ALL]):
            counts["chunk", tag, None][0 if is_right else 2] += 1
        found = set(views[ALL].correct)
        for ent in gold.ents:
            i = 0 if (ent.label_, ent.start, ent.end) in found else 2
            of_ent = {} if known is None else group_entity(ent, known)
            for grouping, group in of_ent.items():
                counts[grouping, group, None][i] += 1
                counts[grouping, group, ent.label_][i] += 1
        return counts


def compare_chunks(gold: Doc, matches: Matches) -> Iterator[tuple[str, bool]]:
    """Yield which of `CHUNKS` each annotated token has, and whether it is predicted."""
    tags = []
    predicted = (*matches.ignored, *matches.spurious, *matches.correct)
    for spans in ((*matches.correct, *matches.missed), predicted):
        tags.append(["O"] * len(gold))
        for _, start, end in spans:
            inside = ["B", *"I" * (end - start - 2), "E"]
            tags[-1][start:end] = inside if end - start > 1 else ["S"] * (end - start)
    for token, tag, other in zip(gold, *tags, strict=True):
        if token.ent_iob:  # else annotation is missing
            yield tag, tag == other


def evaluate_entities(inputs: Inputs) -> dict[str, Any]:
    """Return what an `Evaluation` of entities holds: see `evaluate`."""
    join = choose_sentences(inputs)
    known = learn_training_set(inputs.read_train()) if inputs.train else None
    ours = EntityRun(inputs.predict(inputs.predictions), known)
    against = inputs.against
    theirs = against and EntityRun(inputs.predict(against), known)
    keys = [key for key in ours.list_keys() if key[0] != "chunk"]
    drawn = bootstrap_scores(ours.stack(keys), inputs.draws)
    none = dict.fromkeys(f"{key}_interval" for key in "prf")
    intervals = defaultdict(lambda: none, zip(keys, drawn, strict=True))
    schemes = {kind: score_schemes(ours.matches, KINDS[kind]) for kind in KINDS}

    def recall_chunk(run: EntityRun, tag: str) -> dict[str, Any]:
        return scorer.describe_recall(run.totals["chunk", tag, None])

    return {
        "setting": {
            **inputs.describe(ours),
            "train_entities": known and len(known.entities),
            "shared": known and count_shared(inputs.gold.docs, known.documents),
        },
        **_add_intervals(ours.scores, intervals),
        "joined": _score_joined(inputs, join, known, ours) if join else None,
        "averages": {kind: average_types(schemes[kind]["strict"]) for kind in KINDS},
        "schemes": schemes,
        "calibration": ours.reliability.summarize(),
        "comparison": against
        and theirs
        and {"model": against.name, **_compare(ours, theirs, inputs.draws)},
        "groups": _describe_groups(ours.totals, intervals) if known else {},
        "chunks": {
            tag: {
                **recall_chunk(ours, tag),
                "other": theirs and recall_chunk(theirs, tag)["recall"],
            }
            for tag in CHUNKS
        },
        "confusions": ours.errors.rank(),
    }


def choose_sentences(inputs: Inputs) -> int:
    """Choose how many sentences to join: what was asked for, by default `SENTENCES`
    where a pipeline is given single sentences, and else 0, none.
    """
    docs, join = find_golds(inputs.gold.docs), inputs.join
    is_possible = inputs.predictions.is_pipeline
    is_possible &= all(isinstance(gold, Doc) for gold in inputs.gold.docs)
    if join is None:
        is_sure = is_possible and docs and all(map(is_sentence, docs))
        return SENTENCES if is_sure else 0
    check_integers(0, join=join)
    is_possible &= not docs or any(doc.has_annotation("SENT_START") for doc in docs)
    if join and not is_possible:
        raise ValueError(
            f"'join' is {join}, but needs a pipeline, and gold Docs, no Examples, with "
            "sentence boundaries. Leave it out, or give these."
        )
    return join


def _score_joined(
    inputs: Inputs, join: int, known: TrainingKnowledge | None, ours: EntityRun
) -> dict[str, Any] | None:
    """Score texts of so many sentences, if any are made, and test how F1 differs: over
    the smallest texts that both have whole.
    """
    docs = list(regroup(inputs.gold.docs, repeat(join), enough=inf))
    if len(docs) == ours.n_read:
        return None
    run = EntityRun(inputs.predict(inputs.predictions, docs), known)
    sides = [(run, docs), (ours, inputs.gold.docs)]
    ends = [np.cumsum([len(doc) for doc in of if len(doc)]) for _, of in sides]
    common = np.intersect1d(ends[0], ends[1])
    sums = np.zeros((2, len(common), 1, 3), "int32")
    for i, (each, _) in enumerate(sides):
        places = np.searchsorted(common, ends[i][each.numbers])
        np.add.at(sums[i], places, each.stack([TOTALS["all"]]))
    (tested,) = compare_scores(sums[0], sums[1], inputs.draws)
    keys = ("difference", "interval", "p_value")
    reader = inputs.predictions.docs.config.get("corpora", {}).get("train")
    return {
        "sentences": join,
        "documents": run.n_read,
        **{key: run.scores[key] for key in SCORES},
        "difference": tested and {key: tested["f"][key] for key in keys},
        "is_trained_so": isinstance(reader, dict) and reader.get("@readers") == READER,
    }


def _add_intervals(scores: dict[str, Any], intervals: _Intervals) -> dict[str, Any]:
    for prefix in KINDS.values():
        total = intervals[prefix, "", None]
        scores |= {f"{prefix}_{key}": bounds for key, bounds in total.items()}
        for label, score in (scores[f"{prefix}_per_type"] or {}).items():
            score |= intervals[prefix, "", label]
        for length, score in (scores[f"{prefix}_per_length"] or {}).items():
            score |= intervals[prefix, length, None]
    return scores


def _describe_groups(totals: Counts, intervals: _Intervals) -> dict[str, list[Any]]:
    def describe(*key: str | None) -> dict[str, Any]:
        recall = scorer.describe_recall(totals[key])
        return {**recall, "interval": intervals[key]["r_interval"]}

    types = sorted({label for name, _, label in totals if label and name in GROUPS})
    return {
        name: [
            {
                "group": group,
                **describe(name, group, None),
                "per_type": {label: describe(name, group, label) for label in types},
            }
            for group in groups
        ]
        for name, groups in GROUPS.items()
    }


def _compare(ours: EntityRun, theirs: EntityRun, draws: Draws) -> dict[str, Any]:
    found = (run.scores[f"{ALL}_per_type"] or () for run in (ours, theirs))
    types = sorted(set().union(*found))
    of_types = {label: (ALL, "", label) for label in types}
    of_lengths = {length: (ALL, length, None) for length in LENGTHS}
    keys = [*TOTALS.values(), *of_types.values(), *of_lengths.values()]
    drawn = compare_scores(ours.stack(keys), theirs.stack(keys), draws)
    rows = dict(zip(keys, drawn, strict=True))
    return {
        **{kind: rows[key] for kind, key in TOTALS.items()},
        "per_type": {label: rows[key] for label, key in of_types.items()},
        "per_length": {length: rows[key] for length, key in of_lengths.items()},
    }
