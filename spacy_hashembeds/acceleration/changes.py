"""Changes of annotation by products of fewer bits, counted by kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..display import Part, Sentence, Table
from ..evaluation.bootstrap import Difference, Draws, compare_scores
from ..evaluation.categories import choose_labels
from ..evaluation.counts import score_counts
from ..evaluation.scorer import ALL, Matches, match_entities
from ..evaluation.tasks import Classes

#: Kinds of annotation that are told apart, and the attributes of tokens that have them.
KINDS = {
    "words": ("ORTH", "SPACY"),
    "norms": ("NORM",),
    "lemmas": ("LEMMA",),
    "tags": ("TAG",),
    "parts of speech": ("POS",),
    "morphology": ("MORPH",),
    "heads": ("HEAD",),
    "dependencies": ("DEP",),
    "sentences": ("SENT_START",),
    "tokens of entities": ("ENT_IOB", "ENT_TYPE", "ENT_ID", "ENT_KB_ID"),
}
#: All of them.
ATTRIBUTES = [*chain(*KINDS.values())]
ENTITIES, CATEGORIES = "entities", "categories"
#: How many times as much of a kind may change: entities are few, and a moved one counts
#: twice.
ALLOWANCES = {ENTITIES: 10}

#: Where in these each kind begins.
_STARTS = [ATTRIBUTES.index(names[0]) for names in KINDS.values()]
_DRAWS = Draws(samples=5000, seed=0)
#: Of a normal distribution 95 percent are within so many deviations.
_Z = NormalDist().inv_cdf(0.975)


class Share(NamedTuple):
    """Count of what is changed, of how many, and the share's interval of 95 percent,
    of 0 to 1, over texts of this kind.
    """

    changed: int
    of: int
    interval: tuple[float, float]

    @property
    def percent(self) -> float:
        """The share, in percent."""
        return 100 * self.changed / max(1, self.of)

    def __str__(self) -> str:
        """Say the share, and its interval, in percent."""
        low, high = (f"{100 * bound:.2g}" for bound in self.interval)
        return f"{self.percent:.3g} percent ({low} to {high})"


def estimate_share(counts: np.ndarray) -> Share:
    """Estimate the share that is changed, by what is changed, and all, in each text.

    By Wilson (1927), with as many trials as tell as much: those of one text are alike,
    and count for fewer (Kish 1965, chapter 8, the design effect). *Shape:* `(n, 2)`.
    """
    changed, of = map(int, counts.sum(axis=0))
    if not of:  # what is new where there was nothing
        return Share(changed, of, (0.0, float(changed > 0)))
    n_texts, share = int((counts[:, 1] > 0).sum()), min(1.0, changed / of)
    if n_texts > 1 and 0 < share < 1:
        residuals = counts[:, 0] - share * counts[:, 1]
        variance = n_texts / (n_texts - 1) * (residuals**2).sum() / of**2
        effect = max(1.0, float(variance) / (share * (1 - share) / of))
    else:
        effect = 1.0
    trials = of / effect
    middle = share + _Z**2 / (2 * trials)
    spread = _Z * (share * (1 - share) / trials + _Z**2 / (4 * trials**2)) ** 0.5
    scale = 1 + _Z**2 / trials
    low, high = (middle - spread) / scale, (middle + spread) / scale
    return Share(changed, of, (max(0.0, low), min(1.0, high)))


def can_tell(n_tokens: int, most: float) -> bool:
    """Tell whether so many tokens, even if none is changed, show that no more than this
    percentage is.
    """
    unchanged = estimate_share(np.array([[0, n_tokens]]))
    return 100 * unchanged.interval[1] <= most


@dataclass(frozen=True)
class Changes:
    """Counts of what is annotated otherwise, by kind of annotation, of tokens, entities
    (and other spans) and texts with categories. An entity that is moved counts twice,
    as one that is gone and one that is new.
    """

    #: How many tokens have any of it, of how many.
    tokens: tuple[int, int]
    kinds: dict[str, Share]
    #: The largest difference between scores of a category.
    max_score_diff: float
    #: F1 of the entities of Docs that have some, 0 to 1, before and after ...
    f1: tuple[float, float] | None
    #: ... and after minus before, with an interval over Docs.
    f1_difference: Difference | None

    def check(self, most: float) -> None:
        """Check that no more than this is changed: see `describe_excess`."""
        found = self.describe_excess(most)
        if not found:
            return
        is_open = 100 * self._fall <= most and all(
            share.percent <= most * _allow(kind)
            for kind, share in self._find_excess(most).items()
        )
        remedy = "Give more texts, or choose" if is_open else "Choose"
        raise ValueError(
            f"The new pipeline changes {found}, where up to {most:g} "
            "percent of each kind of annotation may be, and ten times that of "
            "entities, to the end of an interval of 95 percent (in brackets), and as "
            f"many points of F1. {remedy} another precision, or let more be changed "
            "(--max-changed, or 'max_changed' in Python)."
        )

    def describe_excess(self, most: float) -> str:
        """Say of which kinds more than this percentage is changed, to the end of its
        interval (ten times that of entities), or if F1 falls by more points.
        """
        over = self._find_excess(most)
        found = [f"{share} of {kind}" for kind, share in over.items()]
        if 100 * self._fall > most:
            found.append(f"F1 by {-100 * self._fall:.3g} points")
        return ", ".join(found)

    @property
    def _fall(self) -> float:
        return 0.0 if self.f1 is None else self.f1[0] - self.f1[1]

    def _find_excess(self, most: float) -> dict[str, Share]:
        return {
            kind: share
            for kind, share in self.kinds.items()
            if share.changed and 100 * share.interval[1] > most * _allow(kind)
        }

    def get_parts(self) -> Iterator[Part]:
        """Say how much of each kind."""
        n, of = self.tokens
        share = f" ({100 * n / of:.3g} percent)" if of else ""
        yield Sentence(f"Changed: {n:,} of {of:,} tokens{share}", "info")
        rows = [
            (
                kind.capitalize(),
                f"{share.changed:,}",
                f"{share.of:,}",
                f"{share.percent:.3g}",
                "..".join(f"{100 * bound:.2g}" for bound in share.interval),
            )
            for kind, share in self.kinds.items()
            if share.changed
        ]
        yield Table(None, None, ("", "Changed", "Of", "Percent", "95 percent"), rows)
        if self.kinds[CATEGORIES].of:
            yield Sentence(f"Largest difference of scores: {self.max_score_diff:.3g}")
        if self.f1 is not None and self.f1_difference is not None:
            old, new = (100 * score for score in self.f1)
            difference, interval, _ = self.f1_difference
            bounds = [f"{100 * bound:+.2f}" for bound in interval or ()]
            between = f", 95 percent interval {' to '.join(bounds)}" if bounds else ""
            yield Sentence(
                f"F1 of entities: {old:.2f} before, {new:.2f} after "
                f"({100 * difference:+.2f}{between})",
                "info",
            )


def _allow(kind: str) -> int:
    return ALLOWANCES.get(kind, 1)


class ChangeCounter:
    """Counts what differs in one batch of texts after the other, by these classes of
    text classifiers.
    """

    def __init__(self, classes: Sequence[Classes]) -> None:
        self._classes = classes
        #: Of each text each kind, changed and all, and last the tokens.
        self._counts: list[list[tuple[int, int]]] = []
        self._outcomes: list[tuple[list[int], list[int]]] = []
        self._max_score_diff = 0.0

    def count(
        self, golds: Sequence[str | Doc], befores: Sequence[Doc], afters: Sequence[Doc]
    ) -> None:
        """Count what differs in texts, of which Docs may have entities of their own."""
        for gold, before, after in zip(golds, befores, afters, strict=True):
            old, new = _find_spans(before), _find_spans(after)
            values, others = (doc.to_array(list(ATTRIBUTES)) for doc in (before, after))
            differ = values != others
            is_changed = differ.any(axis=1)
            for start, end, *_ in old ^ new:
                is_changed[start:end] = True
            by_kind = np.logical_or.reduceat(differ, _STARTS, axis=1)
            n = len(before)
            self._counts.append(
                [
                    *((int(x), n) for x in by_kind.sum(axis=0)),
                    (len(old ^ new), len(old)),
                    self._count_categories(before, after),
                    (int(is_changed.sum()), n),
                ]
            )
            if isinstance(gold, Doc) and gold.has_annotation("ENT_IOB"):
                self._outcomes.append((_score(before, gold), _score(after, gold)))

    def _count_categories(self, before: Doc, after: Doc) -> tuple[int, int]:
        if not before.cats:
            return 0, 0
        diffs = (abs(before.cats[name] - after.cats[name]) for name in before.cats)
        self._max_score_diff = max(self._max_score_diff, *diffs)
        return int(self._choose(before.cats) != self._choose(after.cats)), 1

    def _choose(self, cats: Mapping[str, float]) -> list[frozenset[str]]:
        return [choose_labels(cats, classes) for classes in self._classes]

    def summarize(self) -> Changes:
        """Sum up what was counted."""
        names = (*KINDS, ENTITIES, CATEGORIES)
        counts = np.array(self._counts, dtype="int64").reshape(-1, len(names) + 1, 2)
        changed, of = map(int, counts[:, -1].sum(axis=0))
        outcomes = np.array(self._outcomes, dtype="int64").reshape(-1, 2, 1, 3)
        before, after = outcomes[:, 0], outcomes[:, 1]
        compared = compare_scores(after, before, _DRAWS)[0] if len(outcomes) else None
        f1, difference = None, None
        if compared is not None:
            old, new = np.nan_to_num(score_counts(outcomes.sum(axis=0)))[:, 0, 2]
            f1, difference = (float(old), float(new)), compared.f
        return Changes(
            tokens=(changed, of),
            kinds={name: estimate_share(counts[:, i]) for i, name in enumerate(names)},
            max_score_diff=self._max_score_diff,
            f1=f1,
            f1_difference=difference,
        )


def _find_spans(doc: Doc) -> set[tuple[int, int, str, str, str]]:
    """Find entities, and the spans of all groups."""
    return {
        (span.start, span.end, span.label_, span.kb_id_, span.id_)
        for spans in (doc.ents, *doc.spans.values())
        for span in spans
    }


def _score(doc: Doc, gold: Doc) -> list[int]:
    """Count true positives, false positives and false negatives."""
    matches = match_entities(Example(doc, gold), None).get(ALL, Matches())
    return [len(matches.correct), len(matches.spurious), len(matches.missed)]
