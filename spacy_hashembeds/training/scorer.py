"""Entity scores on seen and unseen names.

An entity is *seen* if its exact text is an entity, of any type, in the training set.
Scores equal those of the multi hash embeddings report, which runs `spacy evaluate` on
two copies of the test set, with the gold entities of the other kind marked missing.
Predictions that overlap missing tokens are ignored. Predictions outside of all gold
entities are false positives in both copies.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from .docbin import read_entity_texts

# Label, start and end (exclusive), in gold tokens.
SpanKey = tuple[str, int, int]
#: True positives, false positives and false negatives, by key.
Counts = defaultdict[Any, list[int]]

ALL, SEEN, UNSEEN = "ents", "ents_seen", "ents_unseen"
KINDS = {"all": ALL, "seen": SEEN, "unseen": UNSEEN}

#: Groups of entities by length in tokens.
LENGTHS = ("1", "2", "3", "4+")

REMEDY = (
    'Set it on loading: spacy.load(path, config={"components": {"ner": {"scorer": '
    '{"train": "train.spacy"}}}}), with your component\'s name for "ner".'
)


def make_seen_unseen_ner_scorer(*, train: Path | None) -> "SeenUnseenNERScorer":
    """Score entities, those seen in training apart from the others.

    Scores are `ents_p`, `ents_r`, `ents_f`, `ents_per_type`, `ents_per_length` (in
    tokens) and `ents_support`, the number of gold entities. The prefix `ents_seen_`
    restricts them to entities whose exact text is an entity in the training set,
    `ents_unseen_` to all others. Predictions outside of all gold entities are errors in
    both.

    To select checkpoints by unseen entities, set `ents_unseen_f = 1.0` and
    `ents_f = 0.0` in `[training.score_weights]`. The development set must have unseen
    entities: `spacy train` drops scores that are None.

    train (Path, optional): The training set, a `.spacy` file or a folder of them, read
        once, at the first scoring: a saved pipeline loads without it, or with None.
    """
    return SeenUnseenNERScorer(train)


class Matches(NamedTuple):
    """Entities of a doc by outcome, as counted by `spacy.scorer.get_ner_prf`."""

    correct: tuple[SpanKey, ...] = ()
    spurious: tuple[SpanKey, ...] = ()
    #: Entities on tokens with missing annotation, or without aligned gold tokens.
    ignored: tuple[SpanKey, ...] = ()
    missed: tuple[SpanKey, ...] = ()


class SeenUnseenNERScorer:
    """Scores seen and unseen entities. Reads the training set at the first call."""

    def __init__(self, train: Path | None) -> None:
        self.train = train

    def __call__(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score examples: see `score_seen_unseen`."""
        return score_seen_unseen(examples, self._texts)

    @cached_property
    def _texts(self) -> frozenset[str]:
        message = "Scoring seen and unseen entities needs the training set."
        if self.train is None:
            raise ValueError(f"{message} 'train' of the scorer is None. {REMEDY}")
        try:
            return read_entity_texts(self.train)
        except (FileNotFoundError, ValueError) as error:
            raise type(error)(f"{message} {error} {REMEDY}") from error


def score_seen_unseen(
    examples: Iterable[Example], train_texts: Collection[str]
) -> dict[str, Any]:
    """Return the scores of `make_seen_unseen_ner_scorer`, 0 to 1.

    Each type and length has `p`, `r`, `f` and `support`. As in spaCy, scores without
    entities are None, except `_support`. The length of a predicted entity is the number
    of aligned gold tokens.
    """
    docs = (match_entities(example, train_texts) for example in examples)
    return summarize_counts(add_counts(map(count_matches, docs)))


def match_entities(
    example: Example, train_texts: Collection[str] | None, gold: Doc | None = None
) -> dict[str, Matches]:
    """Match the entities of a doc, by prefix (see `KINDS`). Skip kinds without
    annotation and, if `train_texts` is None, all except `ents`. Seen entities are
    determined by the texts in `gold`, by default the gold doc.
    """
    gold = example.reference if gold is None else gold
    if not gold.has_annotation("ENT_IOB"):
        return {}
    missing = gold.to_array(["ENT_IOB"]).reshape(-1) == 0
    golds: dict[str, list[SpanKey]] = {SEEN: [], UNSEEN: []}
    # each copy hides the entities of the other one
    hidden = {ALL: missing, SEEN: missing.copy(), UNSEEN: missing.copy()}
    for ent in gold.ents:
        is_seen = train_texts is not None and ent.text in train_texts
        own, other = (SEEN, UNSEEN) if is_seen else (UNSEEN, SEEN)
        golds[own].append((ent.label_, ent.start, ent.end))
        hidden[other][ent.start : ent.end] = True
    golds[ALL] = golds[SEEN] + golds[UNSEEN]
    predicted = align_predictions(example)
    return {
        prefix: match_spans(predicted, golds[prefix], hides)
        for prefix, hides in hidden.items()
        # as in spaCy, skip non-empty docs without any annotation
        if (train_texts is not None or prefix == ALL)
        and (len(hides) == 0 or not hides.all())
    }


def match_spans(
    predicted: Sequence[SpanKey], golds: Sequence[SpanKey], missing: np.ndarray
) -> Matches:
    """Classify the entities of a doc. `missing` masks tokens without annotation."""
    unmatched = dict.fromkeys(golds)
    correct, spurious, ignored = [], [], []
    for key in predicted:
        _, start, end = key
        if start == end or missing[start:end].any():
            ignored.append(key)
        elif key in unmatched:
            correct.append(key)
            del unmatched[key]
        else:
            spurious.append(key)
    return Matches(*map(tuple, (correct, spurious, ignored, unmatched)))


def count_matches(views: Mapping[str, Matches]) -> Counts:
    """Count the entities of a doc by (prefix, length or "", type or None)."""
    counts = make_counts()
    for prefix, matches in views.items():
        outcomes = (matches.correct, matches.spurious, matches.missed)
        for i, keys in enumerate(outcomes):
            for label, start, end in keys:
                length = LENGTHS[min(end - start, len(LENGTHS)) - 1]
                for key in (("", None), ("", label), (length, None)):
                    counts[prefix, *key][i] += 1
        for label, _, _ in matches.ignored:
            counts[prefix, "", label]  # spaCy lists types of ignored spans too
    return counts


def summarize_counts(
    totals: Mapping[Any, Sequence[int]],
    beside: Callable[[Any], dict[str, Any]] = lambda key: {},
) -> dict[str, Any]:
    """Compute scores from summed counts: see `score_seen_unseen`. `beside` returns
    additional scores of a key.
    """
    scores: dict[str, Any] = {}
    nothing = {**dict.fromkeys("prf"), "support": 0}

    def describe(*key: str | None) -> dict[str, Any]:
        own = describe_counts(totals[key]) if key in totals else nothing
        return own | beside(key)

    for prefix in KINDS.values():
        total = {**describe(prefix, "", None), "per_type": None, "per_length": None}
        if (prefix, "", None) in totals:
            labels = [x for found, _, x in totals if found == prefix and x is not None]
            total["per_type"] = {x: describe(prefix, "", x) for x in labels}
            total["per_length"] = {x: describe(prefix, x, None) for x in LENGTHS}
        scores |= {f"{prefix}_{key}": value for key, value in total.items()}
    return scores


def align_predictions(example: Example) -> list[SpanKey]:
    """Return predicted entities in gold tokens, (label, 0, 0) if unaligned."""
    aligned = []
    for ent in example.predicted.ents:
        at = example.alignment.x2y[ent.start : ent.end].tolist() or [0, -1]
        aligned.append((ent.label_, at[0], at[-1] + 1))
    return aligned


def make_counts() -> Counts:
    """Return empty counts."""
    return defaultdict(lambda: [0, 0, 0])


def add_counts(documents: Iterable[Mapping[Any, Sequence[int]]]) -> Counts:
    """Sum the counts of all documents."""
    totals = make_counts()
    for document in documents:
        for key, outcomes in document.items():
            total = totals[key]
            for i, n in enumerate(outcomes):
                total[i] += n
    return totals


def score_counts(counts: Any) -> np.ndarray:
    """Return precision, recall and F1, as `spacy.scorer.PRFScore` does, or NaN if all
    three counts are 0. *Shape:* (..., 3) -> (..., 3).
    """
    tp, fp, fn = np.moveaxis(np.asarray(counts, dtype="float64"), -1, 0)
    precision = tp / (tp + fp + 1e-100)
    recall = tp / (tp + fn + 1e-100)
    f_score = 2 * ((precision * recall) / (precision + recall + 1e-100))
    scores = np.stack([precision, recall, f_score], axis=-1)
    scores[tp + fp + fn == 0] = np.nan
    return scores


def describe_counts(outcomes: Sequence[int]) -> dict[str, Any]:
    """Return `p`, `r`, `f` and `support`, 0 without entities."""
    scores = np.nan_to_num(score_counts(outcomes)).tolist()
    support = int(outcomes[0] + outcomes[2])
    return {**dict(zip("prf", scores, strict=True)), "support": support}
