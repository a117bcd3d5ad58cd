"""What products of fewer bits change in the annotation of texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..display import Part, Sentence
from ..evaluation.bootstrap import Difference, Draws, compare_scores
from ..evaluation.categories import choose_labels
from ..evaluation.counts import score_counts
from ..evaluation.scorer import ALL, Matches, match_entities
from ..evaluation.tasks import Classes

#: What is annotated of a token.
ATTRIBUTES = [
    *("ORTH", "SPACY", "NORM", "LEMMA", "TAG", "POS", "MORPH", "HEAD", "DEP"),
    *("SENT_START", "ENT_IOB", "ENT_TYPE", "ENT_ID", "ENT_KB_ID"),
]

_DRAWS = Draws(samples=5000, seed=0)


@dataclass(frozen=True)
class Changes:
    """How many of the tokens, entities (and other spans) and categorised texts are
    annotated otherwise: (how many, of how many). An entity that is moved counts twice,
    as one that is gone and one that is new.
    """

    tokens: tuple[int, int]
    entities: tuple[int, int]
    texts: tuple[int, int]
    #: The largest difference between scores of a category.
    max_score_diff: float
    #: F1 of the entities of Docs that have some, 0 to 1, before and after ...
    f1: tuple[float, float] | None
    #: ... and after minus before, with an interval over Docs.
    f1_difference: Difference | None

    def check(self, most: float) -> None:
        """Check that no larger percentage is changed: of tokens, and of texts with
        categories; ten times as large of entities, which are few; and that F1 falls by
        no more points.
        """
        fall = 0.0 if self.f1 is None else 100 * (self.f1[0] - self.f1[1])
        found = {
            f"{_percent(*self.tokens):.3g} percent of tokens": _percent(*self.tokens),
            f"{_percent(*self.texts):.3g} percent of texts": _percent(*self.texts),
            f"{_percent(*self.entities):.3g} percent of entities": (
                _percent(*self.entities) / 10
            ),
            f"F1 by {-fall:.3g} points": fall,
        }
        if too_much := [what for what, n in found.items() if n > most]:
            raise ValueError(
                f"The new pipeline changes {', '.join(too_much)}, where up to {most:g} "
                "percent of tokens and texts, ten times that of entities, and as many "
                "points of F1 may be. Choose another precision, or let more be changed "
                "(--max-changed, or 'max_changed' in Python)."
            )

    def get_parts(self) -> Iterator[Part]:
        """Say how many there are of each."""
        names = {"tokens": self.tokens, "entities and other spans": self.entities}
        if self.texts[1]:
            names["texts' categories"] = self.texts
        for name, (n, of) in names.items():
            share = f" ({_percent(n, of):.3g} percent)" if of else ""
            yield Sentence(f"Changed: {n:,} of {of:,} {name}{share}", "info")
        if self.texts[1]:
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


def _percent(n: int, of: int) -> float:
    return 100 * n / max(1, of)


class ChangeCounter:
    """Counts what differs in one batch of texts after the other, by these classes of
    text classifiers.
    """

    def __init__(self, classes: Sequence[Classes]) -> None:
        self._classes = classes
        self._counts = {"tokens": (0, 0), "entities": (0, 0), "texts": (0, 0)}
        self._outcomes: list[tuple[list[int], list[int]]] = []
        self._max_score_diff = 0.0

    def count(
        self, golds: Sequence[str | Doc], befores: Sequence[Doc], afters: Sequence[Doc]
    ) -> None:
        """Count what differs in texts, of which Docs may have entities of their own."""
        for gold, before, after in zip(golds, befores, afters, strict=True):
            old, new = _find_spans(before), _find_spans(after)
            values, others = (doc.to_array(list(ATTRIBUTES)) for doc in (before, after))
            is_changed = (values != others).any(axis=1)
            for start, end, *_ in old ^ new:
                is_changed[start:end] = True
            self._add("tokens", int(is_changed.sum()), len(before))
            self._add("entities", len(old ^ new), len(old))
            if before.cats:
                is_other = self._choose(before.cats) != self._choose(after.cats)
                self._add("texts", int(is_other), 1)
                diffs = (
                    abs(before.cats[name] - after.cats[name]) for name in before.cats
                )
                self._max_score_diff = max(self._max_score_diff, *diffs)
            if isinstance(gold, Doc) and gold.has_annotation("ENT_IOB"):
                self._outcomes.append((_score(before, gold), _score(after, gold)))

    def _choose(self, cats: Mapping[str, float]) -> list[frozenset[str]]:
        return [choose_labels(cats, classes) for classes in self._classes]

    def _add(self, name: str, n: int, of: int) -> None:
        counted = self._counts[name]
        self._counts[name] = counted[0] + n, counted[1] + of

    def summarize(self) -> Changes:
        """Sum up what was counted."""
        outcomes = np.array(self._outcomes, dtype="int64").reshape(-1, 2, 1, 3)
        before, after = outcomes[:, 0], outcomes[:, 1]
        compared = compare_scores(after, before, _DRAWS)[0] if len(outcomes) else None
        f1, difference = None, None
        if compared is not None:
            old, new = np.nan_to_num(score_counts(outcomes.sum(axis=0)))[:, 0, 2]
            f1, difference = (float(old), float(new)), compared.f
        return Changes(
            **self._counts,
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
