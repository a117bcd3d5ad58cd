"""Entity scores on names seen in training and on names never seen there.

An entity is *seen* if its exact text stands as an entity, of any type, in the
training set. The multi hash embeddings report scores the two kinds apart, by
running `spacy evaluate` on two copies of the test set: in the "unseen" copy the
seen gold entities are marked missing, in the "seen" copy the unseen ones. Here
one pass counts all three, with spaCy's own rules and so its exact figures.

Those rules make precision no average of the two kinds: a prediction that touches
a missing token is ignored, but one on plain tokens outside every gold entity is
a false positive in both copies. Recall does divide up.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example

from ..corpora.entities import read_entity_texts
from .matching import Matches, SpanKey, match_spans

ALL, SEEN, UNSEEN = "ents", "ents_seen", "ents_unseen"
KINDS = {"all": ALL, "seen": SEEN, "unseen": UNSEEN}

#: Lengths in tokens by which entities are scored, gold and predicted ones.
LENGTHS = ("1", "2", "3", "4+")

REMEDY = (
    'Give it on loading: spacy.load(path, config={"components": {"ner": {"scorer": '
    '{"train": "train.spacy"}}}}), with your component\'s name for "ner"; or run '
    "`spacy hashembeds evaluate MODEL TEST --train train.spacy`."
)


def make_seen_unseen_ner_scorer(*, train: Path | None) -> "SeenUnseenNERScorer":
    """Build the scorer `spacy-hashembeds.seen_unseen_ner_scorer.v1`.

        [components.ner.scorer]
        @scorers = "spacy-hashembeds.seen_unseen_ner_scorer.v1"
        train = ${paths.train}

    To select checkpoints by entities the model has never met, set
    `ents_unseen_f = 1.0` and `ents_f = 0.0` in `[training.score_weights]`. The
    development set must hold unseen entities: `spacy train` drops a score that
    is None.

    train (Path, optional): The training set, a `.spacy` file or a folder of them.
        It is read once, on first scoring, so that a saved pipeline also loads
        where the file is gone, or with None; only scoring needs it.
    RETURNS (SeenUnseenNERScorer): The scorer, called with examples.
    """
    return SeenUnseenNERScorer(train)


class SeenUnseenNERScorer:
    """Scores seen and unseen entities, reading the training set when first called.

    train (Path, optional): The training set, a `.spacy` file or a folder of them.
    """

    def __init__(self, train: Path | None) -> None:
        self.train = train
        self._texts: frozenset[str] | None = None

    def __call__(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score examples: see `score_seen_unseen`.

        examples (Iterable[Example]): Predicted and gold docs; read once.
        RAISES (ValueError): If the training set is None or unreadable.
        RAISES (FileNotFoundError): If the training set is not where it was.
        RETURNS (dict[str, Any]): The scores.
        """
        if self._texts is None:
            self._texts = self._read_train()
        return score_seen_unseen(examples, self._texts, **kwargs)

    def _read_train(self) -> frozenset[str]:
        if self.train is None:
            raise ValueError(
                "Scoring seen and unseen entities needs the training set: expected "
                f"a .spacy file as the scorer's argument 'train', was: None. {REMEDY}"
            )
        try:
            return read_entity_texts(self.train)
        except (FileNotFoundError, ValueError) as error:
            message = "Scoring seen and unseen entities needs the training set."
            raise type(error)(f"{message} {error} {REMEDY}") from error


def score_seen_unseen(
    examples: Iterable[Example], train_texts: Collection[str], **kwargs: Any
) -> dict[str, Any]:
    """Score entities all together, the seen ones and the unseen ones, in one pass.

    Each of `ents`, `ents_seen` and `ents_unseen` gets the keys `_p`, `_r`, `_f`
    (fractions, 0 to 1), `_per_type` (for each type `p`, `r`, `f` and `support`),
    `_per_length` (likewise for each of `LENGTHS`) and `_support`: how many gold
    entities were counted. As in spaCy, all but `_support` are None where there was
    nothing to count, gold or predicted. A predicted entity is as long as the gold
    tokens that it is aligned with.

    examples (Iterable[Example]): Predicted and gold docs; read once.
    train_texts (Collection[str]): The texts of the training set's entities,
        preferably as a set.
    kwargs: The component's settings, which spaCy passes to every scorer; unused.
    RETURNS (dict[str, Any]): The scores.
    """
    return summarize_matches(
        match_entities(example, train_texts) for example in examples
    )


def match_entities(
    example: Example, train_texts: Collection[str], gold: Doc | None = None
) -> dict[str, Matches]:
    """Say which entities of one doc are right: all, the seen and the unseen ones.

    example (Example): A predicted and a gold doc.
    train_texts (Collection[str]): As for `score_seen_unseen`.
    gold (Doc, optional): The doc whose texts are looked up in these, with the entities
        and tokens of the gold doc. None: the gold doc.
    RETURNS (dict[str, Matches]): Under the scores' prefixes; without those of which
        all annotation is missing. If `ents` is not there, none is.
    """
    gold = example.reference if gold is None else gold
    if not gold.has_annotation("ENT_IOB"):
        return {}
    predicted = _align_predictions(example)
    return {
        prefix: match_spans(predicted, golds, missing)
        for prefix, golds, missing in _gold_views(gold, train_texts)
        # As spaCy: skip where all is missing, unless there are no tokens at all.
        if len(missing) == 0 or not missing.all()
    }


def summarize_matches(docs: Iterable[Mapping[str, Matches]]) -> dict[str, Any]:
    """Score what was matched in each doc: see `score_seen_unseen`.

    docs (Iterable[Mapping[str, Matches]]): For each doc what `match_entities` returns;
        read once.
    RETURNS (dict[str, Any]): The scores.
    """
    counts = {prefix: _Counts() for prefix in KINDS.values()}
    for doc in docs:
        for prefix, matches in doc.items():
            counts[prefix].add(matches)
    scores: dict[str, Any] = {}
    for prefix, counted in counts.items():
        scores.update(counted.summarize(prefix))
    return scores


def find_length(start: int, end: int) -> str:
    """Say which of `LENGTHS` an entity has, given its first token and its end."""
    return LENGTHS[min(end - start, len(LENGTHS)) - 1]


def _align_predictions(example: Example) -> list[SpanKey]:
    """Express predicted entities in gold tokens; (label, 0, 0) where there are none."""
    to_gold = example.alignment.x2y
    aligned: list[SpanKey] = []
    for ent in example.predicted.ents:
        indices = to_gold[ent.start : ent.end]
        if len(indices):
            aligned.append((ent.label_, int(indices[0]), int(indices[-1]) + 1))
        else:
            aligned.append((ent.label_, 0, 0))
    return aligned


def _gold_views(
    gold: Doc, train_texts: Collection[str]
) -> Iterator[tuple[str, list[SpanKey], np.ndarray]]:
    """Give the doc as it stands in the test set and in its two copies.

    YIELDS (tuple[str, list[SpanKey], ndarray]): The scores' prefix, the gold
        entities, and whether each token is missing, shape (n_tokens,).
    """
    missing = gold.to_array(["ENT_IOB"]).reshape(-1) == 0
    seen_missing, unseen_missing = missing.copy(), missing.copy()
    seen: list[SpanKey] = []
    unseen: list[SpanKey] = []
    for ent in gold.ents:
        key = (ent.label_, ent.start, ent.end)
        if ent.text in train_texts:
            seen.append(key)
            unseen_missing[ent.start : ent.end] = True
        else:
            unseen.append(key)
            seen_missing[ent.start : ent.end] = True
    yield ALL, seen + unseen, missing
    yield SEEN, seen, seen_missing
    yield UNSEEN, unseen, unseen_missing


class _Counts:
    """Counts of one kind of entities, by type and by length."""

    def __init__(self) -> None:
        self._per_type: defaultdict[str, PRFScore] = defaultdict(PRFScore)
        self._per_length = {length: PRFScore() for length in LENGTHS}

    def add(self, matches: Matches) -> None:
        """Count the entities of a doc."""
        for key in matches.correct:
            for score in self._find(*key):
                score.tp += 1
        for key in matches.spurious:
            for score in self._find(*key):
                score.fp += 1
        for key in matches.missed:
            for score in self._find(*key):
                score.fn += 1
        for label, _, _ in matches.ignored:
            self._per_type[label]  # spaCy lists a type even if its spans are ignored

    def summarize(self, prefix: str) -> dict[str, Any]:
        """Score what was counted, under keys with this prefix."""
        total = sum(self._per_type.values(), PRFScore())
        if not len(total):
            names = ("p", "r", "f", "per_type", "per_length")
            return {
                **dict.fromkeys(f"{prefix}_{name}" for name in names),
                f"{prefix}_support": 0,
            }
        return {
            f"{prefix}_p": total.precision,
            f"{prefix}_r": total.recall,
            f"{prefix}_f": total.fscore,
            f"{prefix}_per_type": {
                label: _score(counts) for label, counts in self._per_type.items()
            },
            f"{prefix}_per_length": {
                length: _score(counts) if len(counts) else {**_NOTHING, "support": 0}
                for length, counts in self._per_length.items()
            },
            f"{prefix}_support": total.tp + total.fn,
        }

    def _find(self, label: str, start: int, end: int) -> tuple[PRFScore, PRFScore]:
        return self._per_type[label], self._per_length[find_length(start, end)]


#: What is scored of nothing. Of types spaCy has zeros.
_NOTHING: dict[str, None] = dict.fromkeys("prf")


def _score(counts: PRFScore) -> dict[str, Any]:
    return {**counts.to_dict(), "support": counts.tp + counts.fn}
