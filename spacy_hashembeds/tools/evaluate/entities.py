"""Entity scores with intervals, and errors."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain, repeat
from math import inf
from typing import Any

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...architectures.features import Value
from ...arguments import check_integers
from ...training import scorer
from ...training.features import find_stored, read_values
from ...training.joined import is_sentence, regroup
from ...training.prediction import find_inputs
from ...training.readers import JOINED_READER
from ...training.scorer import ALL, KINDS, LENGTHS, Counts, Matches
from .bootstrap import NO_INTERVALS, Draws, Run, bootstrap_scores, compare_scores
from .confusions import count_entity_errors
from .measures import average_types, collect_scores, score_schemes, summarize_scores
from .sources import NER, Inputs

#: Keys of all, seen and unseen entities.
TOTALS = {kind: (prefix, "", None) for kind, prefix in KINDS.items()}

#: Names of their precision, recall and F1.
ENTITY_SCORES = tuple(f"{prefix}_{key}" for prefix in KINDS.values() for key in "prf")

#: Chunk tags: outside, single, begin, inside, end. Source: Li, Fu and Ma, "Why
#: Attention?" (2020), §4.6 and table 5.
CHUNKS = ("O", "S", "B", "I", "E")

#: Default number of sentences to join.
SENTENCES = 10

#: Minimum tokens of a document that counts as shared. Shorter ones recur by chance: in
#: AnEM, 5% of the test sentences are in training, but none of ten tokens or more.
MIN_TOKENS = 10

#: Groups of gold entities by the training set: "knowledge" of text and tokens,
#: "frequency" of the text as an entity, "token_frequency" of the rarest token. Groups
#: have no precision, since spurious predictions belong to no group.
_FREQUENCIES = ("0", "1", "2-9", "10-99", "100+")
_KNOWLEDGE = ("same_type", "other_type", "tokens_seen", "tokens_partly_seen")
GROUPS = {
    "knowledge": (*_KNOWLEDGE, "tokens_unseen"),
    "frequency": _FREQUENCIES,
    "token_frequency": _FREQUENCIES,
}

#: Number of most frequent values of a feature that are groups.
_N_VALUES = 10


class TrainingKnowledge:
    """Counts of entity texts by type, and of tokens, in a training set; and the keys of
    its documents, by `_make_key`.
    """

    def __init__(self, docs: Iterable[Doc]) -> None:
        self.entities: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.tokens: Counter[str] = Counter()
        self.documents: set[bytes] = set()
        for doc in docs:
            self.tokens.update(token.text for token in doc)
            self.documents.add(_make_key(doc))
            for ent in doc.ents:
                self.entities[ent.text][ent.label_] += 1


def _make_key(doc: Doc) -> bytes:
    """Return the hashes of a doc's tokens, which do not depend on the vocab."""
    return doc.to_array([ORTH]).tobytes()


def count_shared(golds: Iterable[Doc], knowledge: TrainingKnowledge) -> dict[str, int]:
    """Count documents of at least `MIN_TOKENS` tokens, and those also in training."""
    keys = [_make_key(doc) for doc in golds if len(doc) >= MIN_TOKENS]
    return {"of": len(keys), "documents": sum(x in knowledge.documents for x in keys)}


def group_entity(ent: Span, knowledge: TrainingKnowledge) -> dict[str, str]:
    """Return the group of a gold entity in each of `GROUPS`.

    "same_type" and "other_type" together are the scorer's seen entities. In
    others, a token is seen if it occurs anywhere in training.
    """
    labels = knowledge.entities.get(ent.text, Counter())
    counts = [knowledge.tokens.get(token.text, 0) for token in ent]
    if labels:
        known = "same_type" if ent.label_ in labels else "other_type"
    elif all(counts):
        known = "tokens_seen"
    else:
        known = "tokens_partly_seen" if any(counts) else "tokens_unseen"
    times = (sum(labels.values()), min(counts))
    ranges = (_FREQUENCIES[bisect_right((1, 2, 10, 100), n)] for n in times)
    return dict(zip(GROUPS, (known, *ranges), strict=True))


class EntityRun(Run):
    """Counts entities, and records further data.

    golds (Sequence[Doc], optional): Docs whose entity texts decide which entities are
        seen. Default: the references.
    features (Sequence[str]): Features whose values at first tokens group gold entities.
    """

    def __init__(
        self,
        examples: Iterable[Example],
        knowledge: TrainingKnowledge | None,
        golds: Sequence[Doc] | None = None,
        features: Sequence[str] = (),
    ) -> None:
        self.features = features
        self._knowledge, self._golds = knowledge, golds
        self.matches: list[dict[str, Matches]] = []
        self.scored: list[dict[str, Any]] = []
        super().__init__(examples)
        self.scores = scorer.summarize_counts(self.totals)

    def count(self, number: int, example: Example) -> Counts | None:
        """Return the scorer's counts; of tokens by ("chunk", tag, None); and of gold
        entities by (grouping, group, None).
        """
        gold = example.reference if self._golds is None else self._golds[number]
        known = self._knowledge
        texts = None if known is None else known.entities
        views = scorer.match_entities(example, texts, gold)
        if not views:
            return None
        of_all = views[ALL]
        self.matches.append(views)
        self.scored.append(collect_scores(example, of_all))
        count_entity_errors(self.errors, number, example.reference, of_all)
        counts = scorer.count_matches(views)
        for tag, is_right in compare_chunks(example.reference, of_all):
            counts["chunk", tag, None][0 if is_right else 2] += 1
        found = {*of_all.correct}
        values = {attr: read_values(gold, attr) for attr in self.features}
        for ent in gold.ents:
            is_right = (ent.label_, ent.start, ent.end) in found
            groups = {} if known is None else group_entity(ent, known)
            for attr, of in values.items():
                if isinstance(value := of[ent.start], Value):
                    groups[attr] = f"{value!s:.40}"
            for grouping, group in groups.items():
                counts[grouping, group, None][0 if is_right else 2] += 1
        return counts

    def recall(self, *key: str | None) -> dict[str, Any]:
        """Return the number of gold entities of a key, and their recall."""
        found, _, missed = self.totals[key]
        support = found + missed
        return {"support": support, "recall": found / support if support else None}


def compare_chunks(gold: Doc, matches: Matches) -> Iterator[tuple[str, bool]]:
    """Yield the tag of each annotated token, and whether it is predicted."""
    tags = []
    predicted = (*matches.ignored, *matches.spurious, *matches.correct)
    for spans in ((*matches.correct, *matches.missed), predicted):
        tags.append(["O"] * len(gold))
        for _, start, end in spans:
            n = end - start
            tags[-1][start:end] = ["B", *"I" * (n - 2), "E"] if n > 1 else ["S"] * n
    for token, tag, other in zip(gold, *tags, strict=True):
        if token.ent_iob:  # 0 for missing annotation
            yield tag, tag == other


def evaluate_entities(
    inputs: Inputs, known: TrainingKnowledge | None, join: int
) -> tuple[Run, dict[str, Any]]:
    """Return the run and the data of an `Evaluation` of entities."""
    against = inputs.against
    features = {*chain(*map(find_inputs, inputs.pipelines))}
    features.intersection_update(chain(*map(find_stored, inputs.references)))
    ours = EntityRun(inputs.predict(inputs.predictions), known, None, sorted(features))
    theirs = against and EntityRun(inputs.predict(against), known)
    groups: dict[str, Any] = {**GROUPS} if known else {}
    for attr in ours.features:
        found = {x[1]: sum(n) for x, n in ours.totals.items() if x[0] == attr}
        groups[attr] = nlargest(_N_VALUES, found, key=found.__getitem__)
    # skip rare values of features
    keys = [x for x in ours.totals if x[0] not in groups or x[1] in groups[x[0]]]
    drawn = bootstrap_scores(ours.stack(keys), inputs.draws)
    intervals = defaultdict(lambda: NO_INTERVALS, zip(keys, drawn, strict=True))
    schemes = {kind: score_schemes(ours.matches, KINDS[kind]) for kind in KINDS}
    return ours, {
        **scorer.summarize_counts(ours.totals, intervals.__getitem__),
        "joined": _score_joined(inputs, join, known, ours) if join else None,
        "averages": {kind: average_types(schemes[kind]["strict"]) for kind in KINDS},
        "schemes": schemes,
        "calibration": summarize_scores(ours.scored, inputs.draws),
        "comparison": against
        and theirs
        and {"model": against.name, **_compare(ours, theirs, inputs.draws)},
        "groups": {
            name: [
                {
                    "group": group,
                    **ours.recall(name, group, None),
                    "interval": intervals[name, group, None]["r_interval"],
                }
                for group in of_name
            ]
            for name, of_name in groups.items()
        },
        "chunks": {
            tag: {
                **ours.recall("chunk", tag, None),
                "other": theirs and theirs.recall("chunk", tag, None)["recall"],
            }
            for tag in CHUNKS
        },
    }


def _compare(ours: EntityRun, theirs: EntityRun, draws: Draws) -> dict[str, Any]:
    keys = {*ours.totals, *theirs.totals}
    types = sorted(key for key in keys if key[0] == ALL and key[2])
    lengths = [(ALL, length, None) for length in LENGTHS]
    scored = [*TOTALS.values(), *types, *lengths]
    compared = compare_scores(ours.stack(scored), theirs.stack(scored), draws)
    rows = dict(zip(scored, compared, strict=True))
    return {
        **{kind: rows[key] for kind, key in TOTALS.items()},
        "per_type": {key[2]: rows[key] for key in types},
        "per_length": {key[1]: rows[key] for key in lengths},
    }


def choose_sentences(inputs: Inputs, task: str, join: int | None) -> int:
    """Return the number of sentences to join: `join` if given, otherwise `SENTENCES` if
    a pipeline predicts entities of single sentences, or else 0.
    """
    golds = inputs.gold.docs
    can_join = task == NER and inputs.predictions.is_pipeline
    can_join &= all(isinstance(gold, Doc) for gold in golds) and len(golds) > 0
    if join is None:
        return SENTENCES if can_join and all(map(is_sentence, golds)) else 0
    check_integers(0, join=join)
    known = (can_join and gold.has_annotation("SENT_START") for gold in golds)
    if join and not any(known):
        raise ValueError(
            f"'join' is {join}, but needs a pipeline that sets entities, and Docs (no "
            f"Examples) with sentence boundaries in '{inputs.gold.name}'. Omit it."
        )
    return join


def _score_joined(
    inputs: Inputs, join: int, known: TrainingKnowledge | None, ours: EntityRun
) -> dict[str, Any] | None:
    """Score texts of `join` sentences, and test the difference in F1 over the smallest
    units of whole documents in both forms. Return None if no documents can be joined.
    """
    docs = list(regroup(inputs.gold.docs, repeat(join), enough=inf))
    if len(docs) == ours.n_read:
        return None
    run = EntityRun(inputs.predict(inputs.predictions, docs), known)
    sides = [(run, docs), (ours, inputs.gold.docs)]
    ends = [np.cumsum([*map(len, of)]) for _, of in sides]
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
        **{key: run.scores[key] for key in ENTITY_SCORES},
        "difference": tested and {key: tested["f"][key] for key in keys},
        "is_trained_so": isinstance(reader, dict)
        and reader.get("@readers") == JOINED_READER,
    }
