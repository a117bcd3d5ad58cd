"""Entity scores on names seen in training and on names never seen there.

An entity is *seen* if its exact text is an entity, of any type, in the training set.
The scores are those that the multi hash embeddings report gets by running `spacy
evaluate` on two copies of the test set, in which the gold entities of the other kind
are marked missing, but they are counted in one pass. A prediction that overlaps a
missing token is ignored; a prediction outside of all gold entities is a false positive
in both copies.
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

# Label, first token, token after the last, in the gold doc's tokens.
SpanKey = tuple[str, int, int]
#: True positives, false positives and false negatives, by key.
Counts = defaultdict[Any, list[int]]

ALL, SEEN, UNSEEN = "ents", "ents_seen", "ents_unseen"
KINDS = {"all": ALL, "seen": SEEN, "unseen": UNSEEN}

#: Lengths, in tokens, by which gold and predicted entities are grouped.
LENGTHS = ("1", "2", "3", "4+")

REMEDY = (
    'Give it on loading: spacy.load(path, config={"components": {"ner": {"scorer": '
    '{"train": "train.spacy"}}}}), with your component\'s name for "ner".'
)


def make_seen_unseen_ner_scorer(*, train: Path | None) -> "SeenUnseenNERScorer":
    """Score entities, those seen in training apart from the others.

    Scores are `ents_p`, `ents_r`, `ents_f`, `ents_per_type`, `ents_per_length` (in
    tokens) and `ents_support`, the number of gold entities. The same scores begin with
    `ents_seen_` for entities whose exact text is an entity in the training set, and
    with `ents_unseen_` for all others. A prediction outside of any gold entity is an
    error in both kinds.

    To select checkpoints by entities that the model has not seen, set
    `ents_unseen_f = 1.0` and `ents_f = 0.0` in `[training.score_weights]`. The
    development set must have unseen entities: `spacy train` drops a score that is None.

    train (Path, optional): The training set, a `.spacy` file or a folder of them. It is
        read once, at the first scoring, so that a saved pipeline can be loaded without
        the file. It may be None.
    """
    return SeenUnseenNERScorer(train)


class Matches(NamedTuple):
    """The entities of one doc, divided as `spacy.scorer.get_ner_prf` counts them."""

    correct: tuple[SpanKey, ...] = ()
    spurious: tuple[SpanKey, ...] = ()
    #: Entities on tokens with missing annotation, or on no tokens of the gold doc.
    ignored: tuple[SpanKey, ...] = ()
    missed: tuple[SpanKey, ...] = ()


class SeenUnseenNERScorer:
    """Scores seen and unseen entities, reading the training set when first called."""

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
    """Return the scores of `make_seen_unseen_ner_scorer`, fractions, 0 to 1.

    Each type and length has `p`, `r`, `f` and `support`. As in spaCy, all scores except
    `_support` are None if there is nothing to count. The length of a predicted entity
    is the number of gold tokens with which it is aligned.
    """
    docs = (match_entities(example, train_texts) for example in examples)
    return summarize_counts(add_counts(map(count_matches, docs)))


def match_entities(
    example: Example, train_texts: Collection[str] | None, gold: Doc | None = None
) -> dict[str, Matches]:
    """Match the entities of one doc, by the prefixes of `KINDS`. A kind is left out if
    all of its annotation is missing. Whether an entity is seen is decided by its text
    in `gold`, by default the gold doc. Without `train_texts`, only `ents` is returned.
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
        # As in spaCy, skip docs without any annotation, except empty docs.
        if (train_texts is not None or prefix == ALL)
        and (len(hides) == 0 or not hides.all())
    }


def match_spans(
    predicted: Sequence[SpanKey], golds: Sequence[SpanKey], missing: np.ndarray
) -> Matches:
    """Divide the entities of one doc. `missing` marks tokens without annotation."""
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
    """Count the entities of one doc by (prefix, length or "", type or None)."""
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
    """Score the sums of counts of `count_matches`: see `score_seen_unseen`. The result
    of `beside` for a key is added to the scores of this key.
    """
    scores: dict[str, Any] = {}
    nothing = {**dict.fromkeys("prf"), "support": 0}

    def describe(*key: str | None) -> dict[str, Any]:
        of_key = describe_counts(totals[key]) if key in totals else nothing
        return of_key | beside(key)

    for prefix in KINDS.values():
        total = {**describe(prefix, "", None), "per_type": None, "per_length": None}
        if (prefix, "", None) in totals:
            labels = [x for found, _, x in totals if found == prefix and x is not None]
            total["per_type"] = {x: describe(prefix, "", x) for x in labels}
            total["per_length"] = {x: describe(prefix, x, None) for x in LENGTHS}
        scores |= {f"{prefix}_{key}": value for key, value in total.items()}
    return scores


def align_predictions(example: Example) -> list[SpanKey]:
    """Express predicted entities in gold tokens; (label, 0, 0) if there are none."""
    aligned = []
    for ent in example.predicted.ents:
        at = example.alignment.x2y[ent.start : ent.end].tolist() or [0, -1]
        aligned.append((ent.label_, at[0], at[-1] + 1))
    return aligned


def make_counts() -> Counts:
    """Make empty counts."""
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
    """Return precision, recall and F1, 0 to 1, as `spacy.scorer.PRFScore` does, and NaN
    where all three counts are 0. *Shape:* (..., 3) -> (..., 3).
    """
    tp, fp, fn = np.moveaxis(np.asarray(counts, dtype="float64"), -1, 0)
    precision = tp / (tp + fp + 1e-100)
    recall = tp / (tp + fn + 1e-100)
    f_score = 2 * ((precision * recall) / (precision + recall + 1e-100))
    scores = np.stack([precision, recall, f_score], axis=-1)
    scores[tp + fp + fn == 0] = np.nan
    return scores


def describe_counts(outcomes: Sequence[int]) -> dict[str, Any]:
    """Return `p`, `r`, `f` and `support` of counts, which are 0 without entities."""
    scores = np.nan_to_num(score_counts(outcomes)).tolist()
    support = int(outcomes[0] + outcomes[2])
    return {**dict(zip("prf", scores, strict=True)), "support": support}
